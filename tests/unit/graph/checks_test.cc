#include "host/graph/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/graph/graph_builder.h"

namespace ephost::graph::checks_test {
namespace {

using testing::GraphBuilder;
using ::testing::HasSubstr;

Graph valid_graph() {
  return GraphBuilder()
      .input("x")
      .constant("w", testing::float_tensor({1, 2}))
      .node("Add", {"x", "w"}, {"a"})
      .node("Relu", {"a"}, {"y"})
      .output("y")
      .build();
}

// x, w, a, y are values 0 to 3.
void expect_refusal(const std::function<void(Graph&)>& damage, const std::string& message) {
  Graph graph = valid_graph();
  damage(graph);
  const Status status = check_graph(graph);
  EXPECT_EQ(status.code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(status.message(), HasSubstr(message));
}

TEST(Checks, AcceptsAValidGraph) { EXPECT_EQ(check_graph(valid_graph()).message(), ""); }

TEST(Checks, RefusesIdsOutOfRange) {
  expect_refusal([](Graph& g) { g.outputs = {9}; }, "graph output 9 is not a value");
  expect_refusal([](Graph& g) { g.inputs = {9}; }, "graph input 9 is not a value");
  expect_refusal([](Graph& g) { g.nodes[1].inputs = {9}; }, "has an input out of range");
  expect_refusal([](Graph& g) { g.nodes[1].outputs = {9}; }, "has an output out of range");
  expect_refusal([](Graph& g) { g.values[1].initializer = 5; },
                 "value \"w\" has no initializer at its index");
}

TEST(Checks, RefusesAnnotationsOfNothingAndInDisorder) {
  const std::string missing = "a quantization annotation names a value that does not exist";
  expect_refusal([](Graph& g) { g.annotations = {{.value = 9}}; }, missing);
  expect_refusal(
      [](Graph& g) {
        g.annotations = {{.value = 1, .parameters = {{"S", 9}}}};
      },
      missing);
  for (const ValueId second : {0U, 1U}) {
    expect_refusal(
        [&](Graph& g) {
          g.annotations = {{.value = 1}, {.value = second}};
        },
        "is out of order");
  }
}

TEST(Checks, RefusesToKeepWhatIsNoConstant) {
  expect_refusal([](Graph& g) { g.nodes[1].kept_constants = {9}; },
                 "keeps a value that is not a constant");
  expect_refusal([](Graph& g) { g.nodes[1].kept_constants = {0}; },
                 "keeps a value that is not a constant");
  expect_refusal([](Graph& g) { g.nodes[1].kept_constants = {1}; }, "out of date");
  Graph graph = valid_graph();
  graph.nodes[1].kept_constants = {1};
  connect(graph);
  EXPECT_EQ(check_graph(graph).message(), "");
}

TEST(Checks, RefusesBadNames) {
  expect_refusal([](Graph& g) { g.values[2].name = "x"; }, "two values are named \"x\"");
  expect_refusal([](Graph& g) { g.values[2].name = ""; }, "value #2 has no name");
}

TEST(Checks, RefusesAValueWithTwoSources) {
  expect_refusal([](Graph& g) { g.nodes[1].outputs = {2}; }, "value \"a\" has two sources");
  expect_refusal([](Graph& g) { g.nodes[1].outputs = {0}; }, "value \"x\" has two sources");
  expect_refusal([](Graph& g) { g.inputs = {0, 0}; }, "listed twice as graph input");
}

TEST(Checks, RefusesAUsedValueWithoutSource) {
  expect_refusal([](Graph& g) { g.inputs = {}; }, "uses value \"x\", which nothing produces");
  expect_refusal(
      [](Graph& g) {
        g.nodes.pop_back();
        connect(g);
      },
      "graph output \"y\" has no producer");
}

TEST(Checks, RefusesAnOrderThatIsNotTopological) {
  expect_refusal(
      [](Graph& g) {
        std::swap(g.nodes[0], g.nodes[1]);
        connect(g);
      },
      "Relu node \"y\" uses value \"a\" before it is produced");
}

TEST(Checks, RefusesInitializersThatDoNotFitTheirShape) {
  expect_refusal([](Graph& g) { g.initializers[0].shape = {3}; },
                 "initializer \"w\" has 8 bytes, but its shape needs 12");
  expect_refusal([](Graph& g) { g.initializers[0].type = ElementType::kString; },
                 "initializer \"w\" has too few or too many strings");
  expect_refusal([](Graph& g) { g.initializers.emplace_back(); },
                 "an initializer does not belong to a value");
  expect_refusal([](Graph& g) { g.values[3].initializer = 0; }, "shares another's initializer");
}

TEST(Checks, RefusesAttributeTensorsThatDoNotFitTheirShape) {
  expect_refusal(
      [](Graph& g) {
        Tensor tensor = testing::float_tensor({1});
        tensor.shape = {2};
        g.nodes[0].attributes.push_back({"value", tensor});
      },
      "attribute \"value\" of Add node \"a\" has 4 bytes, but its shape needs 8");
}

TEST(Checks, RefusesStaleConnections) {
  expect_refusal([](Graph& g) { g.values[0].consumers = {}; }, "\"x\" are out of date");
  expect_refusal([](Graph& g) { g.values[0].consumers = {0, 1}; }, "\"x\" are out of date");
  expect_refusal([](Graph& g) { g.values[3].producer = 0; }, "\"y\" are out of date");
  expect_refusal([](Graph& g) { g.values[3].is_graph_output = false; }, "\"y\" are out of date");
  expect_refusal([](Graph& g) { g.nodes[1].implicit_inputs = {0}; }, "are out of date");
}

TEST(Checks, RefusesACaptureWithoutEnclosingGraph) {
  expect_refusal(
      [](Graph& g) {
        g.inputs.clear();
        g.values[0].outer = 0;
      },
      "value \"x\" is captured, but no graph encloses");
}

TEST(Checks, NamesThePlaceInASubgraph) {
  GraphBuilder outer;
  outer.input("cond");
  Graph body = GraphBuilder().capture("c", 99).node("Relu", {"c"}, {"r"}).output("r").build();
  body.name = "then";
  Graph graph = outer.node("If", {"cond"}, {"y"}).output("y").build();
  graph.nodes[0].attributes.push_back({"then_branch", std::make_unique<Graph>(std::move(body))});
  EXPECT_THAT(check_graph(graph).message(),
              HasSubstr("in graph \"then\" of If node \"y\": value \"c\" captures a value"));
}

Graph nest(uint32_t depth) {
  GraphBuilder builder;
  builder.constant("c", testing::float_tensor({1})).node("If", {"c"}, {"y"}).output("y");
  if (depth > 1) builder.subgraph("then_branch", nest(depth - 1));
  return builder.build();
}

TEST(Checks, LimitsNesting) {
  EXPECT_EQ(check_graph(nest(kMaxNesting)).message(), "");
  EXPECT_THAT(check_graph(nest(kMaxNesting + 1)).message(),
              HasSubstr("nested more than 64 levels"));
}

}  // namespace
}  // namespace ephost::graph::checks_test
