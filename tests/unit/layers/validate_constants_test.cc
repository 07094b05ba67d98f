// What the layer "validate" does about bytes that the host lends for longer than a call, or that
// are too many for a record: constants, payloads, ONNX bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <ephost/sdk/basics.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "host/layers/validate/lent/graph_copies.h"
#include "tests/unit/layers/raw_plugin.h"

namespace ephost::layers::validate_constants_test {
namespace {

using test::Behaviour;
using test::RawPlugin;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string_view text(eph_bytes bytes) {
  return {static_cast<const char*>(bytes.data), static_cast<size_t>(bytes.size)};
}

// Adds a constant to its input.
class ValidateConstants : public ::testing::Test {
 protected:
  ValidateConstants() {
    const uint32_t x = graph.add_input("x", {3});
    const uint32_t w = graph.add_constant("w", {3}, {1, 2, 3});
    graph.mark_output(graph.add("Add", {x, w}, {3}));
    adding.compile = [this](const eph_partition* partition, eph_error* error) {
      eph_value_info info = {};
      info.struct_size = sizeof(info);
      EXPECT_EQ(partition->graph->api->get_value(partition->graph, 1, &info, error), EPH_OK);
      constant = static_cast<float*>(info.constant->data);
      return EPH_OK;
    };
    adding.compute = [this](eph_run* run, eph_error*) {
      for (int i = 0; i < 3; ++i) {
        static_cast<float*>(run->outputs[0]->data)[i] =
            constant[i] + static_cast<float*>(run->inputs[0]->data)[i];
      }
      if (writes) constant[0] += 1e-6F;
      return EPH_OK;
    };
  }

  int32_t run(RawPlugin& plugin, eph_computation* computation) {
    test::FakeRun one({&input}, {&output}, 0);
    return plugin.compute(computation, &one);
  }

  test::FakeGraph graph;
  Behaviour adding;
  bool writes = false;
  float* constant = nullptr;
  test::FloatTensor input{{3}, {1, 2, 3}};
  test::FloatTensor output{{3}, {0, 0, 0}};
};

TEST_F(ValidateConstants, StayAsTheyAreInARun) {
  RawPlugin plugin(adding);
  eph_computation* const computation = plugin.compile(&graph);
  writes = true;
  EXPECT_EQ(run(plugin, computation), EPH_EP_FAIL);
  EXPECT_THAT(plugin.error.message,
              AllOf(HasSubstr("compute of RawExecutionProvider of \"conv1\" changed the constant "
                              "\"w\""),
                    HasSubstr("(rule 20)")));
  writes = false;
  plugin.destroy(computation);
  EXPECT_THAT(plugin.log(), SizeIs(1));
}

TEST_F(ValidateConstants, StayAsTheyAreUntilTheComputationIsDestroyed) {
  RawPlugin plugin(adding);
  eph_computation* const computation = plugin.compile(&graph);
  EXPECT_EQ(run(plugin, computation), EPH_OK) << plugin.error.message;
  writes = true;
  EXPECT_EQ(run(plugin, computation), EPH_OK) << plugin.error.message;
  EXPECT_THAT(plugin.log(), IsEmpty());
  plugin.destroy(computation);
  EXPECT_THAT(plugin.log(),
              ElementsAre(HasSubstr("validation: destroy of RawExecutionProvider of \"conv1\" "
                                    "changed the constant \"w\"")));
}

TEST_F(ValidateConstants, AreNotReadAnyMoreOnceAClaimHasGivenThemUp) {
  adding.get_capability = [](const eph_graph*, eph_claims* claims) {
    test::FakeError error;
    const uint32_t node = 0;
    eph_fused_claim claim = {};
    claim.struct_size = sizeof(claim);
    claim.nodes = &node;
    claim.node_count = 1;
    claim.flags = EPH_CLAIM_DROP_CONSTANTS;
    EXPECT_EQ(claims->api->claim_fused(claims, &claim, &error), EPH_OK);
  };
  RawPlugin plugin(adding);
  test::FakeClaims claims;
  ASSERT_EQ(plugin.api().get_capability(plugin.provider(), &graph, &claims, &plugin.error), EPH_OK);
  eph_computation* const computation = plugin.compile(&graph);
  constant[0] = 7;  // the host has other uses for the memory
  EXPECT_EQ(run(plugin, computation), EPH_OK) << plugin.error.message;
  plugin.destroy(computation);
  EXPECT_THAT(plugin.log(), IsEmpty());
}

class ValidateContexts : public ::testing::Test {
 protected:
  ValidateContexts() {
    context.struct_size = sizeof(context);
    context.payload = {payload.data(), payload.size()};
    context.constants = &named;
    context.constant_count = 1;
    keeping.compile = [this](const eph_partition* partition, eph_error*) {
      seen.push_back(partition->ep_context->payload);
      EXPECT_EQ(text(seen.back()), payload);
      return EPH_OK;
    };
  }

  test::FakeGraph graph;
  std::string payload = "what was compiled before";
  test::FloatTensor outside{{3}, {1, 2, 3}};
  eph_named_value named = {eph::to_abi("w"), &outside.value};
  eph_ep_context context = {};
  Behaviour keeping;
  std::vector<eph_bytes> seen;
};

TEST_F(ValidateContexts, HaveOneCopyOfAPayloadUntilTheProviderIsDestroyed) {
  RawPlugin plugin(keeping);
  for (const char* const name : {"first", "second"}) {
    plugin.destroy(plugin.compile(&graph, name, &context));
  }
  ASSERT_THAT(seen, SizeIs(2));
  EXPECT_NE(seen[0].data, payload.data());
  EXPECT_EQ(seen[0].data, seen[1].data);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(seen[0].data) % 64, 0U);
  EXPECT_EQ(text(seen[0]), payload);
  plugin.destroy_provider();
  EXPECT_NE(text(seen[0]), payload);
  EXPECT_THAT(plugin.log(), IsEmpty());
}

TEST_F(ValidateContexts, HaveConstantsThatStayAsTheyAre) {
  RawPlugin plugin(keeping);
  eph_computation* const computation = plugin.compile(&graph, "conv1", &context);
  static_cast<float*>(outside.value.data)[1] = 7;
  plugin.destroy(computation);
  EXPECT_THAT(plugin.log(), ElementsAre(HasSubstr("destroy of RawExecutionProvider of \"conv1\" "
                                                  "changed the constant \"w\"")));
}

using ValidateContextsDeathTest = ValidateContexts;

TEST_F(ValidateContextsDeathTest, HavePayloadsThatNobodyCanWrite) {
  RawPlugin plugin(keeping, {.deadline_milliseconds = 0});
  plugin.destroy(plugin.compile(&graph, "conv1", &context));
  auto* const first = static_cast<volatile char*>(const_cast<void*>(seen[0].data));
  EXPECT_DEATH(*first = 'x', "");
}

TEST(ValidateGraphCopies, HaveTheirOwnOnnxBytes) {
  GraphCopies copies(Guard::kZones, "a graph", {});
  const std::string model = "bytes of a model";
  const eph_bytes copied = copies.onnx({model.data(), model.size()});
  EXPECT_NE(copied.data, model.data());
  EXPECT_EQ(text(copied), model);
  EXPECT_EQ(copies.onnx({model.data(), model.size()}).data, copied.data);
  copies.poison();
  EXPECT_NE(text(copied), model);
}

TEST(ValidateGraphCopies, FindTensorsInAttributesThatChange) {
  GraphCopies copies(Guard::kZones, "a graph", {});
  test::FloatTensor tensor{{3}, {1, 2, 3}};
  const eph_attribute attribute = {eph::to_abi("value"), &tensor.value, 1, EPH_ATTRIBUTE_TENSOR, 0};
  eph_node_info node = {};
  node.attributes = &attribute;
  node.attribute_count = 1;
  (void)copies.node(0, node);
  EXPECT_THAT(copies.findings(), IsEmpty());
  static_cast<float*>(tensor.value.data)[1] = 7;
  const std::vector<Finding> found = copies.findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].what, "changed the constant \"value\"");
}

}  // namespace
}  // namespace ephost::layers::validate_constants_test
