#include "host/optimize/identity_removal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "host/graph/checks.h"
#include "host/optimize/identity_rules.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::optimize::identity_removal_test {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Shape;
using graph::Tensor;
using graph::testing::GraphBuilder;
using graph::testing::int64_tensor;
using graph::testing::make_tensor;
using graph::testing::node_names;
using graph::testing::tensor_type;
using graph::testing::value_names;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

uint64_t remove(Graph& graph, const PassSelection& passes = {}) {
  const uint64_t removed = remove_identities(graph, passes);
  EXPECT_EQ(check_graph(graph).message(), "");
  return removed;
}

TEST(IdentityRemoval, GivesConsumersTheInput) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .node("Identity", {"x"}, {"a"})
                    .node("Identity", {"a"}, {"b"})
                    .node("Add", {"a", "b"}, {"y"})
                    .output("y")
                    .build();
  EXPECT_EQ(remove(graph), 2u);
  EXPECT_THAT(node_names(graph), ElementsAre("y"));
  EXPECT_THAT(value_names(graph, graph.nodes[0].inputs), ElementsAre("x", "x"));
}

TEST(IdentityRemoval, LeavesWhatTheCallerKeepsAndWhatIsNextToIt) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .node("Identity", {"x"}, {"far"})
                    .node("Identity", {"far"}, {"before"})
                    .node("Dropout", {"before"}, {"kept"})
                    .node("Identity", {"kept"}, {"after"})
                    .node("Neg", {"after"}, {"y"})
                    .output("y")
                    .build();
  graph.nodes[2].since_version = 13;
  const auto keeps = [](const Graph& level, graph::NodeId node) {
    return level.nodes[node].op_type == "Dropout";
  };
  EXPECT_EQ(remove_identities(graph, {}, keeps), 1u);
  EXPECT_EQ(check_graph(graph).message(), "");
  EXPECT_THAT(node_names(graph), ElementsAre("before", "kept", "after", "y"));
  EXPECT_EQ(remove(graph), 3u);
}

TEST(IdentityRemoval, MovesAnnotationsToTheValueThatStays) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .node("Relu", {"x"}, {"r"})
                    .node("Identity", {"r"}, {"i"})
                    .node("Neg", {"i"}, {"n"})
                    .node("Identity", {"n"}, {"y"})
                    .output("y")
                    .build();
  const auto id = [&](const char* name) { return graph.find_value(name); };
  graph.annotations = {{.value = id("i"), .parameters = {{"of", id("i")}}}, {.value = id("n")}};
  EXPECT_EQ(remove(graph), 2u);
  ASSERT_EQ(graph.annotations.size(), 2u);
  EXPECT_EQ(graph.annotations[0].value, id("r"));
  EXPECT_EQ(graph.annotations[0].parameters[0].second, id("r"));
  EXPECT_EQ(graph.annotations[1].value, id("y"));
}

TEST(IdentityRemoval, LetsTheProducerOfAGraphOutputTakeItsName) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .node("Relu", {"x"}, {"r"})
                    .node("Neg", {"r"}, {"z"})
                    .node("Identity", {"r"}, {"y"})
                    .output("y")
                    .output("z")
                    .build();
  EXPECT_EQ(remove(graph), 1u);
  EXPECT_THAT(node_names(graph), ElementsAre("r", "z"));
  EXPECT_THAT(value_names(graph, graph.nodes[0].outputs), ElementsAre("y"));
  EXPECT_THAT(value_names(graph, graph.nodes[1].inputs), ElementsAre("y"));
  EXPECT_THAT(value_names(graph, graph.outputs), ElementsAre("y", "z"));
}

TEST(IdentityRemoval, KeepsWhatGivesAGraphOutputItsName) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .constant("c", int64_tensor({1}))
                    .node("Relu", {"x"}, {"r"})
                    .node("Identity", {"x"}, {"of_input"})
                    .node("Identity", {"r"}, {"of_output"})
                    .node("Identity", {"c"}, {"of_constant"})
                    .output("r")
                    .output("of_input")
                    .output("of_output")
                    .output("of_constant")
                    .build();
  EXPECT_EQ(remove(graph), 0u);
}

TEST(IdentityRemoval, OneOfTwoNamesForAnOutputStays) {
  Graph graph = GraphBuilder()
                    .input("x")
                    .node("Relu", {"x"}, {"r"})
                    .node("Identity", {"r"}, {"y"})
                    .node("Identity", {"r"}, {"z"})
                    .output("y")
                    .output("z")
                    .build();
  EXPECT_EQ(remove(graph), 1u);
  EXPECT_THAT(value_names(graph, graph.outputs), ElementsAre("y", "z"));
}

TEST(IdentityRemoval, WorksInBodiesAndKeepsWhatTheyCapture) {
  GraphBuilder main;
  main.input("c").input("x").node("Identity", {"x"}, {"captured"});
  GraphBuilder body;
  body.capture("captured", main.value("captured"));
  body.node("Identity", {"captured"}, {"inner"}).node("Neg", {"inner"}, {"n"});
  body.node("Identity", {"n"}, {"out"}).output("out");
  main.node("If", {"c"}, {"y"}).subgraph("then_branch", body.build()).output("y");
  Graph graph = main.build();
  EXPECT_EQ(remove(graph), 2u);
  EXPECT_THAT(node_names(graph), ElementsAre("captured", "y"));
  const Graph& then_branch = *graph.nodes[1].subgraph("then_branch");
  EXPECT_THAT(node_names(then_branch), ElementsAre("n"));
  EXPECT_THAT(value_names(then_branch, then_branch.nodes[0].inputs), ElementsAre("captured"));
  EXPECT_THAT(value_names(then_branch, then_branch.outputs), ElementsAre("out"));
}

TEST(IdentityRemoval, IsLinearInReadersOfOneValue) {
  GraphBuilder builder;
  builder.input("x");
  Graph graph = builder.build();
  constexpr uint32_t kCount = 200000;
  for (uint32_t i = 0; i < kCount; ++i) {
    const graph::ValueId made = graph.add_value({.name = std::to_string(i)});
    graph.add_node({.op_type = "Identity", .inputs = {0}, .outputs = {made}});
  }
  const graph::ValueId last = graph.add_value({.name = "y"});
  graph.add_node({.op_type = "Neg", .inputs = {kCount}, .outputs = {last}});
  graph.outputs.push_back(last);
  graph::connect(graph);
  EXPECT_EQ(remove_identities(graph, {}), kCount);
}

// One node with input x of float[2,3], another input and further attributes.
struct IdentityCase {
  std::string op;
  int32_t version = 13;
  std::vector<Tensor> constants = {};
  std::vector<graph::Attribute> attributes = {};
  Shape shape = {2, 3};
};

Graph make(IdentityCase sample) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, sample.shape));
  builder.node(sample.op, {"x"}, {"y"}).node("Neg", {"y"}, {"z"}).output("z");
  for (size_t i = 0; i < sample.constants.size(); ++i) {
    builder.constant("c" + std::to_string(i), std::move(sample.constants[i]));
  }
  Graph graph = builder.build();
  graph.nodes[0].since_version = sample.version;
  graph.nodes[0].attributes = std::move(sample.attributes);
  for (size_t i = 0; i < sample.constants.size(); ++i) {
    graph.nodes[0].inputs.push_back(graph.find_value("c" + std::to_string(i)));
  }
  graph::connect(graph);
  return graph;
}

std::vector<graph::Attribute> one_attribute(std::string name, graph::AttributeValue value) {
  std::vector<graph::Attribute> attributes;
  attributes.push_back({std::move(name), std::move(value)});
  return attributes;
}
std::vector<graph::Attribute> integers(std::string name, std::vector<int64_t> numbers) {
  return one_attribute(std::move(name), std::move(numbers));
}

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

std::vector<IdentityCase> identities() {
  std::vector<IdentityCase> samples;
  const auto add = [&](IdentityCase sample) { samples.push_back(std::move(sample)); };
  for (const char* op : {"Identity", "Concat", "Sum", "Max", "Min", "Mean"}) add({.op = op});
  add({.op = "Dropout", .version = 7});
  add({.op = "Dropout", .version = 1, .attributes = one_attribute("is_test", int64_t{1})});
  add({.op = "Cast", .attributes = one_attribute("to", int64_t{1})});
  add({.op = "Reshape", .constants = {int64_tensor({2, 3})}});
  add({.op = "Reshape", .constants = {int64_tensor({0, -1})}});
  add({.op = "Reshape", .constants = {int64_tensor({-1, 3})}, .shape = {graph::kUnknownDim, 3}});
  add({.op = "Flatten"});
  add({.op = "Squeeze"});
  add({.op = "Transpose", .attributes = integers("perm", {0, 1})});
  add({.op = "Transpose", .shape = {5}});
  add({.op = "Pad", .constants = {int64_tensor({0, 0, 0, 0})}});
  add({.op = "Pad", .version = 2, .attributes = integers("pads", {0, 0, 0, 0})});
  add({.op = "Slice", .constants = {int64_tensor({0, 0}), int64_tensor({2, 7})}});
  add({.op = "Slice",
       .constants = {int64_tensor({0}), int64_tensor({kEnd}), int64_tensor({-1}),
                     int64_tensor({1})},
       .shape = {2, graph::kUnknownDim}});
  add({.op = "Expand", .constants = {int64_tensor({1, 3})}});
  add({.op = "Tile", .constants = {int64_tensor({1, 1})}});
  return samples;
}

std::vector<IdentityCase> others() {
  std::vector<IdentityCase> samples;
  const auto add = [&](IdentityCase sample) { samples.push_back(std::move(sample)); };
  add({.op = "Neg"});
  add({.op = "Concat", .constants = {int64_tensor({1})}});
  add({.op = "Dropout", .version = 1});  // is in training mode by default
  add({.op = "Dropout",
       .constants = {make_tensor<float>(ElementType::kFloat, {}, {0.5F}),
                     make_tensor<char>(ElementType::kBool, {}, {1})}});
  add({.op = "Cast", .attributes = one_attribute("to", int64_t{11})});
  add({.op = "Reshape", .constants = {int64_tensor({3, 2})}});
  add({.op = "Reshape", .constants = {int64_tensor({6})}});
  add({.op = "Reshape", .constants = {int64_tensor({-1, -1})}, .shape = {-1, -1}});
  add({.op = "Reshape",
       .version = 14,
       .constants = {int64_tensor({0, 3})},
       .attributes = one_attribute("allowzero", int64_t{1})});
  add({.op = "Flatten", .attributes = one_attribute("axis", int64_t{0})});
  add({.op = "Squeeze", .shape = {1, 3}});
  add({.op = "Squeeze", .shape = {graph::kUnknownDim, 3}});
  add({.op = "Transpose"});
  add({.op = "Transpose", .attributes = integers("perm", {1, 0})});
  add({.op = "Transpose", .attributes = integers("perm", {})});
  add({.op = "Pad", .constants = {int64_tensor({0, 1, 0, 0})}});
  add({.op = "Slice", .constants = {int64_tensor({0}), int64_tensor({1})}});
  add({.op = "Slice", .constants = {int64_tensor({1}), int64_tensor({9})}});
  add({.op = "Slice",
       .constants = {int64_tensor({0}), int64_tensor({9})},
       .shape = {graph::kUnknownDim, 3}});
  add({.op = "Slice",
       .constants = {int64_tensor({0}), int64_tensor({9}), int64_tensor({0}), int64_tensor({2})}});
  add({.op = "Expand", .constants = {int64_tensor({4, 2, 3})}});
  add({.op = "Expand", .constants = {int64_tensor({2})}, .shape = {2, 1}});
  add({.op = "Tile", .constants = {int64_tensor({2, 1})}});
  return samples;
}

TEST(IdentityRules, KnowWhatChangesNothing) {
  for (IdentityCase& sample : identities()) {
    const std::string op = sample.op + " " + std::to_string(sample.version);
    const Graph graph = make(std::move(sample));
    EXPECT_TRUE(identity_pass(graph, 0).has_value()) << op;
  }
}

TEST(IdentityRules, LeaveWhatMayChangeSomething) {
  size_t index = 0;
  for (IdentityCase& sample : others()) {
    const std::string op = sample.op + ", #" + std::to_string(index++);
    const Graph graph = make(std::move(sample));
    EXPECT_FALSE(identity_pass(graph, 0).has_value()) << op;
  }
}

TEST(IdentityRules, LeaveADropoutWhoseMaskIsUsed) {
  const auto dropout = [](bool is_used) {
    GraphBuilder builder;
    builder.input("x").node("Dropout", {"x"}, {"y", "mask"}).node("Neg", {"y"}, {"z"});
    builder.output("z");
    if (is_used) builder.output("mask");
    Graph graph = builder.build();
    graph.nodes[0].since_version = 13;
    return graph;
  };
  EXPECT_TRUE(identity_pass(dropout(false), 0).has_value());
  EXPECT_FALSE(identity_pass(dropout(true), 0).has_value());
}

TEST(IdentityRules, LeaveOperatorsOfOtherDomains) {
  Graph graph = make({.op = "Identity"});
  graph.nodes[0].domain = "example.test";
  EXPECT_FALSE(identity_pass(graph, 0).has_value());
}

TEST(Passes, EachEliminationCanBeSwitchedOff) {
  std::vector<Pass> seen;
  for (IdentityCase& sample : identities()) {
    Graph graph = make(std::move(sample));
    const Pass pass = *identity_pass(graph, 0);
    seen.push_back(pass);
    EXPECT_EQ(remove(graph, PassSelection().disable(pass)), 0u) << pass_name(pass);
    EXPECT_EQ(remove(graph), 1u) << pass_name(pass);
  }
  for (size_t i = static_cast<size_t>(Pass::kEliminateIdentity); i < kPassCount; ++i) {
    EXPECT_THAT(seen, ::testing::Contains(static_cast<Pass>(i)));
  }
}

TEST(Passes, AreChosenByLevelAndName) {
  const std::vector<std::string> disabled = {"EliminatePad", "ConstantFolding"};
  const auto some = PassSelection::create("all", disabled);
  ASSERT_THAT(some, IsOk());
  EXPECT_FALSE(some->runs(Pass::kEliminatePad));
  EXPECT_FALSE(some->runs(Pass::kConstantFolding));
  EXPECT_TRUE(some->runs(Pass::kEliminateCast));
  EXPECT_EQ(some->disabled_names(), "ConstantFolding;EliminatePad");
  const auto none = PassSelection::create("disable_all", {});
  ASSERT_THAT(none, IsOk());
  EXPECT_FALSE(none->runs(Pass::kDeadCodeElimination));
  for (const char* level : {"basic", "extended", "all"}) {
    EXPECT_EQ(PassSelection::create(level, {})->disabled_names(), "");
  }
}

TEST(Passes, ThatDoNotExistAreRefusedWithTheNearest) {
  const std::vector<std::string> wrong = {"EliminatPad"};
  const auto refused = PassSelection::create("all", wrong);
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.status().message(),
            "there is no optimizer \"EliminatPad\"; did you mean \"EliminatePad\"?");
  EXPECT_EQ(PassSelection::create("most", {}).status().message(),
            "there is no optimization level \"most\"; there are disable_all, basic, extended, all");
}

}  // namespace
}  // namespace ephost::optimize::identity_removal_test
