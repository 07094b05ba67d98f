#include "host/session/pipeline/function_expansion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/support/allocation_counter.h"
#include "tests/support/function_bytes.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::session::function_expansion_test {
namespace {

using graph::NodeId;
using graph::testing::GraphBuilder;
using test::function_of_x;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kDomain = "local";
constexpr int64_t kOpset = 17;

// y = Neg(Sqrt(x))
graph::Function inner() {
  return function_of_x(kDomain, "Inner", {{"Sqrt", {"x"}, {"t"}}, {"Neg", {"t"}, {"y"}}});
}
// y = Inner(Abs(x))
graph::Function outer() {
  return function_of_x(kDomain, "Outer", {{"Abs", {"x"}, {"t"}}, {"Inner", {"t"}, {"y"}, kDomain}});
}

// A model at the stage at which the pipeline inlines functions. No provider claims anything.
PreparedModel prepared_of(GraphBuilder& builder, std::vector<graph::Function> functions) {
  PreparedModel prepared;
  prepared.model.graph = builder.build();
  prepared.model.ir_version = 8;
  prepared.model.opset_imports = {{"", kOpset}, {kDomain, 1}};
  prepared.model.functions = std::move(functions);
  for (graph::Node& node : prepared.model.graph.nodes) {
    if (node.op_type == "Inner" || node.op_type == "Outer") node.domain = kDomain;
    node.since_version = node.op_type == "HardSwish" ? 14 : 1;
  }
  for (graph::Value& value : prepared.model.graph.values) {
    value.type = graph::testing::tensor_type(ElementType::kFloat, graph::Shape{4});
  }
  return prepared;
}

class FunctionInliningTest : public ::testing::Test {
 protected:
  // The operators after a round in which providers claimed the nodes `taken`; empty if nothing was
  // inlined.
  std::vector<std::string> inline_once(PreparedModel& prepared,
                                       std::initializer_list<NodeId> taken = {}) {
    std::vector<uint32_t>& owner = prepared.main.partitioning.owner;
    owner.assign(prepared.model.graph.nodes.size(), partition::kUnassigned);
    for (const NodeId node : taken) owner[node] = 0;
    const auto is_new = inlining_.inline_unclaimed(prepared, made_);
    EXPECT_THAT(is_new, IsOk());
    std::vector<std::string> operators;
    if (!is_new.ok() || !*is_new) return operators;
    for (const graph::Node& node : prepared.model.graph.nodes) operators.push_back(node.op_type);
    return operators;
  }

  FunctionInlining inlining_;
  MadeComputations made_;
};

TEST_F(FunctionInliningTest, AsksOnlyAboutModelsThatHaveSomethingToInline) {
  GraphBuilder plain, call, op;
  plain.input("x").node("Sqrt", {"x"}, {"y"}).output("y");
  call.input("x").node("Inner", {"x"}, {"y"}).output("y");
  op.input("x").node("HardSwish", {"x"}, {"y"}).output("y");
  EXPECT_FALSE(*FunctionInlining().may_inline(prepared_of(plain, {inner()})));
  EXPECT_TRUE(*FunctionInlining().may_inline(prepared_of(call, {inner()})));
  EXPECT_TRUE(*FunctionInlining().may_inline(prepared_of(op, {})));
}

TEST_F(FunctionInliningTest, InlinesOneLevelAtATime) {
  GraphBuilder builder;
  builder.input("x").node("Outer", {"x"}, {"y"}).output("y");
  PreparedModel prepared = prepared_of(builder, {inner(), outer()});
  EXPECT_THAT(inline_once(prepared), ElementsAre("Abs", "Inner"));
  EXPECT_EQ(prepared.model.functions.size(), 2U) << "Inner is still called";
  EXPECT_THAT(inline_once(prepared), ElementsAre("Abs", "Sqrt", "Neg"));
  EXPECT_TRUE(prepared.model.functions.empty());
  EXPECT_TRUE(inline_once(prepared).empty());
  ASSERT_EQ(prepared.inlined.size(), 2U);
  EXPECT_EQ(prepared.inlined[0].call, "Outer node \"y\"");
  EXPECT_EQ(prepared.inlined[0].nodes, 2U);
  EXPECT_EQ(prepared.inlined[1].domain, kDomain);
}

TEST_F(FunctionInliningTest, LeavesCallsAloneThatAProviderTook) {
  GraphBuilder builder;
  builder.input("x").node("Inner", {"x"}, {"a"}).node("Inner", {"a"}, {"y"}).output("y");
  PreparedModel prepared = prepared_of(builder, {inner()});
  EXPECT_THAT(inline_once(prepared, {1}), ElementsAre("Sqrt", "Neg", "Inner"));
  EXPECT_TRUE(inline_once(prepared, {2}).empty());
}

TEST_F(FunctionInliningTest, AFunctionUnderTheNameOfAnOperatorIsInlinedWhoeverTakesIt) {
  GraphBuilder builder;
  builder.input("x").node("Abs", {"x"}, {"y"}).output("y");
  PreparedModel prepared =
      prepared_of(builder, {function_of_x("", "Abs", {{"Neg", {"x"}, {"y"}}})});
  EXPECT_THAT(inline_once(prepared, {0}), ElementsAre("Neg"));
}

TEST_F(FunctionInliningTest, OperatorsComeAfterTheModelsFunctions) {
  GraphBuilder builder;
  builder.input("x").node("HardSwish", {"x"}, {"a"}).node("Inner", {"a"}, {"y"}).output("y");
  PreparedModel prepared = prepared_of(builder, {inner()});
  EXPECT_THAT(inline_once(prepared), ElementsAre("HardSwish", "Sqrt", "Neg"));
  EXPECT_THAT(inline_once(prepared), ElementsAre("HardSigmoid", "Mul", "Sqrt", "Neg"));
}

TEST_F(FunctionInliningTest, KeepsWhatIsKnownOfNodes) {
  GraphBuilder builder;
  builder.input("x").node("Abs", {"x"}, {"a"}).node("Inner", {"a"}, {"b"});
  builder.node("Ceil", {"b"}, {"y"}).output("y");
  PreparedModel prepared = prepared_of(builder, {inner()});
  const graph::Graph other;
  prepared.failures.push_back({0, &prepared.model.graph, {0, 1}, "p", Status()});
  prepared.failures.push_back({0, &other, {1, 2}, "p", Status()});
  prepared.context.partitions.resize(2);
  prepared.context.partitions[0].place.graph = &prepared.model.graph;
  prepared.context.partitions[0].place.node = 2;
  prepared.context.partitions[1].place.graph = &other;
  prepared.context.partitions[1].place.node = 2;
  const auto kernels = std::pair(0U, static_cast<const graph::Graph*>(&prepared.model.graph));
  made_.kernels[kernels].resize(3);
  ASSERT_EQ(inline_once(prepared).size(), 4U);
  // A failure at a call holds for all nodes of its body.
  EXPECT_THAT(prepared.failures[0].nodes, ElementsAre(0, 1, 2));
  EXPECT_THAT(prepared.failures[1].nodes, ElementsAre(1, 2)) << "of another graph";
  EXPECT_EQ(prepared.context.partitions[0].place.node, 3U);
  EXPECT_EQ(prepared.context.partitions[1].place.node, 2U);
  EXPECT_EQ(made_.kernels[kernels].size(), 4U);
}

TEST_F(FunctionInliningTest, FailsForACallThatMakesNoSense) {
  GraphBuilder builder;
  builder.input("x").node("Inner", {"x", "x"}, {"y"}).output("y");
  PreparedModel prepared = prepared_of(builder, {inner()});
  prepared.main.partitioning.owner = {partition::kUnassigned};
  const auto refused = inlining_.inline_unclaimed(prepared, made_);
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(refused.status().message(), HasSubstr("inlining Inner node \"y\": "));
}

TEST_F(FunctionInliningTest, RefusesDeepNests) {
  std::vector<graph::Function> functions = {inner()};
  for (uint32_t i = 0; i <= FunctionInlining::kMaxDepth; ++i) {
    const std::string callee = i == 0 ? "Inner" : "F" + std::to_string(i - 1);
    functions.push_back(
        function_of_x(kDomain, "F" + std::to_string(i), {{callee, {"x"}, {"y"}, kDomain}}));
  }
  GraphBuilder builder;
  builder.input("x").node("Inner", {"x"}, {"y"}).output("y");
  PreparedModel prepared = prepared_of(builder, functions);
  prepared.model.graph.nodes[0].op_type = "F" + std::to_string(FunctionInlining::kMaxDepth);
  Result<bool> inlined = true;
  for (uint32_t round = 0; inlined.ok() && *inlined; ++round) {
    ASSERT_LE(round, FunctionInlining::kMaxDepth);
    prepared.main.partitioning.owner = {partition::kUnassigned};
    inlined = inlining_.inline_unclaimed(prepared, made_);
  }
  EXPECT_EQ(inlined.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(inlined.status().message(), HasSubstr("more than 64 deep"));
}

TEST_F(FunctionInliningTest, GrowsTheModelByNoMoreThanItsLimit) {
  const auto inlined = [&](uint64_t max_growth) {
    GraphBuilder builder;
    builder.input("x").node("Inner", {"x"}, {"a"}).node("Inner", {"a"}, {"y"}).output("y");
    PreparedModel prepared = prepared_of(builder, {inner()});
    prepared.main.partitioning.owner.assign(2, partition::kUnassigned);
    return FunctionInlining(max_growth).inline_unclaimed(prepared, made_);
  };
  EXPECT_THAT(inlined(10), IsOk()) << "two nodes and three values each";
  EXPECT_EQ(inlined(9).status().code(), StatusCode::kInvalidGraph);
  EXPECT_EQ(inlined(9).status().message(),
            "inlining Inner node \"y\" would let the model grow by more than 9 nodes and values; "
            "its functions multiply, use them less often or raise "
            "session.function_inlining_max_nodes");
}

TEST_F(FunctionInliningTest, EndsWhenItIsCancelled) {
  GraphBuilder builder;
  builder.input("x").node("Inner", {"x"}, {"y"}).output("y");
  PreparedModel prepared = prepared_of(builder, {inner()});
  prepared.main.partitioning.owner = {partition::kUnassigned};
  const std::atomic<bool> cancelled = true;
  prepared.cancellation = Cancellation(&cancelled);
  EXPECT_EQ(inlining_.inline_unclaimed(prepared, made_).status().code(), StatusCode::kCancelled);
}

// The work of inlining a chain of `count` calls of different functions, measured in allocations,
// which do not depend on the machine.
uint64_t allocations_of_inlining(size_t count) {
  GraphBuilder builder;
  builder.input("v0");
  std::vector<graph::Function> functions;
  for (size_t i = 0; i < count; ++i) {
    const std::string name = "F" + std::to_string(i);
    functions.push_back(function_of_x(kDomain, name, {{"Neg", {"x"}, {"y"}}}));
    builder.node(name, {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
  }
  PreparedModel prepared =
      prepared_of(builder.output("v" + std::to_string(count)), std::move(functions));
  for (graph::Node& node : prepared.model.graph.nodes) node.domain = kDomain;
  prepared.main.partitioning.owner.assign(count, partition::kUnassigned);
  FunctionInlining inlining;
  MadeComputations made;
  const uint64_t before = test::allocations_of_this_thread();
  EXPECT_TRUE(*inlining.may_inline(prepared));
  EXPECT_TRUE(*inlining.inline_unclaimed(prepared, made));
  EXPECT_EQ(prepared.inlined.size(), count);
  return test::allocations_of_this_thread() - before;
}

TEST(FunctionInliningWork, GrowsNoFasterThanTheNumberOfFunctions) {
  EXPECT_LT(allocations_of_inlining(4000), 5 * allocations_of_inlining(1000));
}

}  // namespace
}  // namespace ephost::session::function_expansion_test
