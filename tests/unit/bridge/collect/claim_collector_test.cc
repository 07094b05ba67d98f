#include "host/bridge/collect/claim_collector.h"

#include <gtest/gtest.h>

#include "host/bridge/abi_text.h"
#include "host/bridge/error_sink.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::bridge::claim_collector_test {
namespace {

using graph::testing::GraphBuilder;

class ClaimCollectorTest : public ::testing::Test {
 protected:
  int32_t claim(const std::vector<uint32_t>& nodes, std::string_view name = {}, uint32_t flags = 0,
                uint64_t token = 0) {
    const eph_fused_claim claim = {
        sizeof(eph_fused_claim), to_abi(name), nodes.data(), nodes.size(), flags, 0, token};
    return claims_.api->claim_fused(&claims_, &claim, &error_);
  }

  const graph::Graph graph_ = GraphBuilder()
                                  .input("x")
                                  .node("Relu", {"x"}, {"a"})
                                  .node("Other", {"a"}, {"y"})
                                  .output("y")
                                  .build();
  const eph_kernel_def kernel_ = {EPH_STRING("Relu"), {}, 1, 100, nullptr, 0};
  const KernelIndex kernels_{{&kernel_, 1}};
  ErrorSink error_;
  ClaimCollector claims_{"x", graph_, kernels_};
};

TEST_F(ClaimCollectorTest, CollectsClaimsOnSingleNodes) {
  EXPECT_EQ(claims_.api->claim_node(&claims_, 1, &error_), EPH_OK);
  const Capability capability = claims_.take();
  ASSERT_EQ(capability.claims.size(), 1U);
  EXPECT_EQ(capability.claims[0].nodes, (std::vector<graph::NodeId>{1}));
  EXPECT_FALSE(capability.claims[0].fused);
}

TEST_F(ClaimCollectorTest, CopiesAFusedClaim) {
  std::vector<uint32_t> nodes = {0, 1};
  std::string name = "mine";
  EXPECT_EQ(claim(nodes, name, EPH_CLAIM_DROP_CONSTANTS, UINT64_MAX), EPH_OK);
  nodes = {7, 7};
  name = "????";
  const Capability capability = claims_.take();
  ASSERT_EQ(capability.claims.size(), 1U);
  EXPECT_EQ(capability.claims[0].nodes, (std::vector<graph::NodeId>{0, 1}));
  EXPECT_EQ(capability.claims[0].name, "mine");
  EXPECT_TRUE(capability.claims[0].fused);
  EXPECT_TRUE(capability.claims[0].drop_constants);
  EXPECT_EQ(capability.claims[0].token, UINT64_MAX);
}

TEST_F(ClaimCollectorTest, KeepsOneNodeMoreThanTheGraphHas) {
  EXPECT_EQ(claim(std::vector<uint32_t>(1000, 0)), EPH_OK);
  EXPECT_EQ(claims_.take().claims[0].nodes.size(), 3U);
}

TEST_F(ClaimCollectorTest, RefusesNodesAtANullPointer) {
  const eph_fused_claim claim = {sizeof(eph_fused_claim), {}, nullptr, 2, 0, 0};
  EXPECT_EQ(claims_.api->claim_fused(&claims_, &claim, &error_), EPH_EP_FAIL);
  EXPECT_TRUE(claims_.take().claims.empty());
}

TEST_F(ClaimCollectorTest, SaysWhichNodesAKernelFits) {
  EXPECT_EQ(claims_.api->has_kernel(&claims_, 0), 1);
  EXPECT_EQ(claims_.api->has_kernel(&claims_, 1), 0);
  EXPECT_EQ(claims_.api->has_kernel(&claims_, 99), 0);
}

TEST_F(ClaimCollectorTest, KeepsTheReasonsForNodesOfTheGraphOnly) {
  std::string reason = "too small";
  claims_.api->decline(&claims_, 1, to_abi(reason));
  reason = "?????????";
  claims_.api->decline(&claims_, 99, to_abi(reason));
  const Capability capability = claims_.take();
  ASSERT_EQ(capability.declines.size(), 1U);
  EXPECT_EQ(capability.declines[0].node, 1U);
  EXPECT_EQ(capability.declines[0].reason, "too small");
}

TEST_F(ClaimCollectorTest, ClaimsForKernelsWhatTheyFitAndDeclinesTheRest) {
  const Capability capability = capability_of_kernels(graph_, kernels_, {});
  ASSERT_EQ(capability.claims.size(), 1U);
  EXPECT_EQ(capability.claims[0].nodes, (std::vector<graph::NodeId>{0}));
  ASSERT_EQ(capability.declines.size(), 1U);
  EXPECT_EQ(capability.declines[0].reason, "no kernel for the operator");
}

TEST_F(ClaimCollectorTest, LeavesNodesWithAnOwnerToIt) {
  const std::vector<uint32_t> owner = {0, partition::kUnassigned};
  const Capability capability = capability_of_kernels(graph_, kernels_, owner);
  EXPECT_TRUE(capability.claims.empty());
  EXPECT_EQ(capability.declines.size(), 1U);
}

TEST_F(ClaimCollectorTest, ExplainsMissingKernelsOfNodesThatAreNeitherClaimedNorDeclined) {
  Capability silent;
  explain_missing_kernels(graph_, kernels_, {}, silent);
  ASSERT_EQ(silent.declines.size(), 1U) << "a kernel fits node 0";
  EXPECT_EQ(silent.declines[0].node, 1U);
  EXPECT_EQ(silent.declines[0].reason, "no kernel for the operator");
  Capability answered;
  answered.declines.push_back({1, "too small"});
  explain_missing_kernels(graph_, kernels_, {}, answered);
  EXPECT_EQ(answered.declines.size(), 1U);
  Capability claimed;
  claimed.claims.push_back({{0, 1}, true, {}, false});
  explain_missing_kernels(graph_, kernels_, {}, claimed);
  EXPECT_TRUE(claimed.declines.empty());
  const std::vector<uint32_t> owner = {partition::kUnassigned, 0};
  Capability owned;
  explain_missing_kernels(graph_, kernels_, owner, owned);
  EXPECT_TRUE(owned.declines.empty());
  Capability without_kernels;
  explain_missing_kernels(graph_, KernelIndex(), {}, without_kernels);
  EXPECT_TRUE(without_kernels.declines.empty());
}

}  // namespace
}  // namespace ephost::bridge::claim_collector_test
