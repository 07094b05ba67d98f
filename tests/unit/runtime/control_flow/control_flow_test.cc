#include "host/runtime/control_flow/control_flow.h"

#include <gmock/gmock.h>

#include <limits>
#include <thread>

#include "tests/support/status_matchers.h"
#include "tests/unit/runtime/control_flow/control_machine.h"

namespace ephost::runtime::control_flow_test {
namespace {

using graph::testing::GraphBuilder;
using graph::testing::tensor_type;
using test::IsOk;
using testing::boolean;
using testing::ControlMachine;
using ::testing::ElementsAre;
using testing::floats;
using testing::floats_of;
using ::testing::HasSubstr;
using testing::int64;
using ::testing::IsEmpty;

graph::ValueType float_type(graph::Shape shape) {
  return tensor_type(ElementType::kFloat, std::move(shape));
}
const graph::ValueType kOpen = tensor_type(ElementType::kFloat);
const graph::ValueType kInt64 = tensor_type(ElementType::kInt64, graph::Shape{});
const graph::ValueType kBool = tensor_type(ElementType::kBool, graph::Shape{});

// The type of values whose type is not stated.
graph::Graph typed(graph::Graph graph, const graph::ValueType& type) {
  for (graph::Value& value : graph.values) {
    if (value.type.kind == graph::ValueKind::kUnknown) value.type = type;
  }
  return graph;
}

// ---- If ---------------------------------------------------------------------------------------

// condition ? -x : x + x
graph::Graph choice(const graph::ValueType& type) {
  GraphBuilder builder;
  builder.input("condition", kBool).input("x", type);
  const graph::ValueId x = builder.value("x");
  GraphBuilder then_branch;
  then_branch.capture("x", x).node("Negate", {"x"}, {"a"}).output("a");
  GraphBuilder else_branch;
  else_branch.capture("x", x).node("Add", {"x", "x"}, {"b"}).output("b");
  builder.node("If", {"condition"}, {"y"})
      .subgraph("then_branch", typed(then_branch.build(), type))
      .subgraph("else_branch", typed(else_branch.build(), type));
  return typed(builder.output("y").build(), type);
}

TEST(ControlFlow, IfRunsTheBranchThatTheConditionNames) {
  for (const graph::ValueType& type : {float_type({2}), kOpen}) {
    ControlMachine machine(choice(type));
    for (int round = 0; round < 3; ++round) {
      EXPECT_THAT(floats_of(machine.run({boolean(true), floats({2}, {1, 2})})[0]),
                  ElementsAre(-1, -2));
      EXPECT_THAT(floats_of(machine.run({boolean(false), floats({2}, {1, 2})})[0]),
                  ElementsAre(2, 4));
    }
  }
}

TEST(ControlFlow, IfWritesIntoTheMemoryThatTheCallerBrings) {
  ControlMachine machine(choice(float_type({2})));
  std::vector<float> memory(2);
  std::vector<Value> outputs = {
      *Value::borrow(ElementType::kFloat, {2}, std::as_writable_bytes(std::span(memory)))};
  ASSERT_THAT(machine.run({boolean(true), floats({2}, {1, 2})}, outputs), IsOk());
  EXPECT_THAT(memory, ElementsAre(-1, -2));
}

TEST(ControlFlow, IfHandsOnWhatABranchOnlyCaptures) {
  GraphBuilder builder;
  builder.input("condition", kBool).input("x", kOpen).input("y", kOpen);
  GraphBuilder then_branch;
  then_branch.capture("x", builder.value("x")).output("x").output("x");
  GraphBuilder else_branch;
  else_branch.capture("y", builder.value("y")).output("y");
  else_branch.constant("c", graph::testing::float_tensor({7})).output("c");
  builder.node("If", {"condition"}, {"a", "b"})
      .subgraph("then_branch", typed(then_branch.build(), kOpen))
      .subgraph("else_branch", typed(else_branch.build(), kOpen));
  // A step that may work in place must not change the caller's inputs through the branch.
  builder.node("Relu", {"a"}, {"r"}).output("r").output("b");
  ControlMachine machine(typed(builder.build(), kOpen));
  const Value x = floats({2}, {-1, 2});
  auto outputs = machine.run({boolean(true), x, floats({1}, {5})});
  EXPECT_THAT(floats_of(outputs[0]), ElementsAre(0, 2));
  EXPECT_THAT(floats_of(outputs[1]), ElementsAre(-1, 2));
  EXPECT_THAT(floats_of(x), ElementsAre(-1, 2));
  outputs = machine.run({boolean(false), x, floats({1}, {5})});
  EXPECT_THAT(floats_of(outputs[0]), ElementsAre(5));
  EXPECT_THAT(floats_of(outputs[1]), ElementsAre(7));
}

TEST(ControlFlow, IfRefusesAConditionThatIsNotABool) {
  graph::Graph graph = choice(kOpen);
  graph.values[graph.inputs[0]].type = tensor_type(ElementType::kBool);
  ControlMachine machine(std::move(graph));
  std::vector<Value> outputs;
  const Status status =
      machine.run({*Value::allocate(ElementType::kBool, {2}), floats({1}, {1})}, outputs);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("the condition of If node \"y\" is bool[2]"));
}

// ---- Loop -------------------------------------------------------------------------------------

// total += x, and all totals stacked.
graph::Graph sum_loop(const graph::ValueType& type) {
  GraphBuilder builder;
  builder.input("count", kInt64).input("go", kBool).input("start", type).input("x", type);
  GraphBuilder body;
  body.input("i", kInt64).input("goes_on", kBool).input("total", type);
  body.capture("x", builder.value("x"));
  body.node("Add", {"total", "x"}, {"next"}).output("goes_on").output("next").output("next");
  builder.node("Loop", {"count", "go", "start"}, {"sum", "trace"})
      .subgraph("body", typed(body.build(), type));
  builder.output("sum").output("trace");
  return typed(builder.build(), kOpen);
}

TEST(ControlFlow, LoopCarriesValuesAndStacksOutputs) {
  for (const graph::ValueType& type : {float_type({2}), kOpen}) {
    ControlMachine machine(sum_loop(type));
    for (const int64_t count : {3, 40, 1, 3}) {
      const auto outputs =
          machine.run({int64(count), boolean(true), floats({2}, {0, 1}), floats({2}, {1, 2})});
      const auto n = static_cast<float>(count);
      EXPECT_THAT(floats_of(outputs[0]), ElementsAre(n, 1 + 2 * n));
      EXPECT_THAT(outputs[1].shape(), ElementsAre(count, 2));
      for (int64_t i = 0; i < count; ++i) {
        const auto k = static_cast<float>(i + 1);
        EXPECT_EQ(outputs[1].elements<float>()[static_cast<size_t>(2 * i)], k);
        EXPECT_EQ(outputs[1].elements<float>()[static_cast<size_t>(2 * i + 1)], 1 + 2 * k);
      }
    }
  }
}

TEST(ControlFlow, LoopWithoutIterationsGivesTheInitialValueAndAnEmptyStack) {
  ControlMachine machine(sum_loop(float_type({2})));
  for (const auto& [count, go] : {std::pair(0, true), std::pair(5, false), std::pair(-3, true)}) {
    const Value start = floats({2}, {4, 5});
    const auto outputs = machine.run({int64(count), boolean(go), start, floats({2}, {1, 2})});
    EXPECT_THAT(floats_of(outputs[0]), ElementsAre(4, 5));
    EXPECT_NE(outputs[0].bytes().data(), start.bytes().data());
    EXPECT_THAT(outputs[1].shape(), ElementsAre(0, 2));
  }
}

TEST(ControlFlow, LoopEndsWhenItsBodySaysSo) {
  GraphBuilder builder;
  builder.input("x", float_type({1}));
  GraphBuilder body;
  body.input("i", kInt64).input("goes_on", kBool).input("v", float_type({1}));
  body.node("Negate", {"v"}, {"w"}).node("IsPositive", {"w"}, {"positive"});
  body.output("positive").output("w");
  graph::Graph inner = typed(body.build(), float_type({1}));
  inner.values[inner.find_value("positive")].type = kBool;
  builder.node("Loop", {"", "", "x"}, {"y"}).subgraph("body", std::move(inner)).output("y");
  ControlMachine machine(typed(builder.build(), float_type({1})));
  EXPECT_THAT(floats_of(machine.run({floats({1}, {2})})[0]), ElementsAre(-2));
  EXPECT_THAT(floats_of(machine.run({floats({1}, {-2})})[0]), ElementsAre(-2));
}

// Fibonacci: (a, b) -> (b, a + b). The second value is passed on as the first.
TEST(ControlFlow, LoopPassesValuesOnFromOneToTheOther) {
  GraphBuilder builder;
  builder.input("count", kInt64).input("a", float_type({1})).input("b", float_type({1}));
  GraphBuilder body;
  body.input("i", kInt64).input("c", kBool).input("p", float_type({1}));
  body.input("q", float_type({1}));
  body.node("Add", {"p", "q"}, {"s"});
  body.output("c").output("q").output("s").output("p");
  builder.node("Loop", {"count", "", "a", "b"}, {"x", "y", "all"})
      .subgraph("body", typed(body.build(), float_type({1})));
  builder.output("x").output("y").output("all");
  ControlMachine machine(typed(builder.build(), kOpen));
  const auto outputs = machine.run({int64(7), floats({1}, {0}), floats({1}, {1})});
  EXPECT_THAT(floats_of(outputs[0]), ElementsAre(13));
  EXPECT_THAT(floats_of(outputs[1]), ElementsAre(21));
  EXPECT_THAT(floats_of(outputs[2]), ElementsAre(0, 1, 1, 2, 3, 5, 8));
}

TEST(ControlFlow, LoopKeepsTheIterationNumbersThatItsBodyPassesOn) {
  GraphBuilder builder;
  builder.input("count", kInt64).input("last", kInt64);
  GraphBuilder body;
  body.input("i", kInt64).input("c", kBool).input("before", kInt64);
  body.output("c").output("i").output("before").output("i");
  builder.node("Loop", {"count", "", "last"}, {"final", "befores", "numbers"})
      .subgraph("body", body.build());
  builder.output("final").output("befores").output("numbers");
  ControlMachine machine(typed(builder.build(), tensor_type(ElementType::kInt64)));
  const auto outputs = machine.run({int64(4), int64(-1)});
  EXPECT_THAT(outputs[0].elements<int64_t>(), ElementsAre(3));
  EXPECT_THAT(outputs[1].elements<int64_t>(), ElementsAre(-1, 0, 1, 2));
  EXPECT_THAT(outputs[2].elements<int64_t>(), ElementsAre(0, 1, 2, 3));
}

TEST(ControlFlow, LoopCarriesValuesWhoseShapesChange) {
  GraphBuilder builder;
  builder.input("count", kInt64).input("x", kOpen).input("step", kOpen);
  GraphBuilder body;
  body.input("i", kInt64).input("c", kBool).input("v", kOpen);
  body.capture("step", builder.value("step"));
  body.node("Add", {"v", "step"}, {"w"}).node("Positives", {"w"}, {"p"}).output("c").output("p");
  builder.node("Loop", {"count", "", "x"}, {"y"}).subgraph("body", typed(body.build(), kOpen));
  // A step after the loop reads its output.
  builder.node("Negate", {"y"}, {"z"}).output("z");
  ControlMachine machine(typed(builder.build(), kOpen));
  const std::vector<Value> inputs = {int64(3), floats({4}, {1, 2, 3, 4}), floats({1}, {-1})};
  for (int round = 0; round < 3; ++round) {
    EXPECT_THAT(floats_of(machine.run(inputs)[0]), ElementsAre(-1));
  }
}

TEST(ControlFlow, LoopCarriesAndStacksText) {
  const graph::ValueType text = tensor_type(ElementType::kString, graph::Shape{1});
  GraphBuilder builder;
  builder.input("count", kInt64).input("x", text);
  GraphBuilder body;
  body.input("i", kInt64).input("c", kBool).input("v", text);
  body.node("Shout", {"v"}, {"w"}).output("c").output("w").output("w").output("v");
  builder.node("Loop", {"count", "", "x"}, {"y", "all", "before"})
      .subgraph("body", typed(body.build(), text));
  builder.output("y").output("all").output("before");
  ControlMachine machine(typed(builder.build(), tensor_type(ElementType::kString)));
  const auto outputs = machine.run({int64(3), *Value::of_strings({1}, {"hey"})});
  EXPECT_THAT(outputs[0].strings(), ElementsAre("hey!!!"));
  EXPECT_THAT(outputs[1].strings(), ElementsAre("hey!", "hey!!", "hey!!!"));
  EXPECT_THAT(outputs[2].strings(), ElementsAre("hey", "hey!", "hey!!"));
}

TEST(ControlFlow, BodiesInBodiesReadEveryGraphAroundThem) {
  GraphBuilder builder;
  builder.input("count", kInt64).input("condition", kBool).input("x", float_type({1}));
  GraphBuilder outer;
  outer.input("i", kInt64).input("c", kBool).input("v", float_type({1}));
  outer.capture("x", builder.value("x")).capture("condition", builder.value("condition"));
  GraphBuilder then_branch;
  then_branch.capture("x", outer.value("x")).capture("v", outer.value("v"));
  then_branch.node("Add", {"v", "x"}, {"s"}).output("s");
  GraphBuilder else_branch;
  else_branch.capture("v", outer.value("v")).node("Negate", {"v"}, {"n"}).output("n");
  outer.node("If", {"condition"}, {"w"})
      .subgraph("then_branch", typed(then_branch.build(), float_type({1})))
      .subgraph("else_branch", typed(else_branch.build(), float_type({1})));
  outer.output("c").output("w");
  graph::Graph outer_body = outer.build();
  outer_body.values[outer_body.find_value("condition")].type = kBool;
  builder.node("Loop", {"count", "", "x"}, {"y"})
      .subgraph("body", typed(std::move(outer_body), float_type({1})));
  builder.output("y");
  ControlMachine machine(typed(builder.build(), float_type({1})));
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(floats_of(machine.run({int64(4), boolean(true), floats({1}, {3})})[0]),
                ElementsAre(15));
    EXPECT_THAT(floats_of(machine.run({int64(5), boolean(false), floats({1}, {3})})[0]),
                ElementsAre(-3));
  }
}

// ---- Hostile models ---------------------------------------------------------------------------

TEST(ControlFlow, NamesTheIterationThatFails) {
  GraphBuilder builder;
  builder.input("count", kInt64).input("x", float_type({1}));
  GraphBuilder body;
  body.input("i", kInt64).input("c", kBool).input("v", float_type({1}));
  body.node("Fail", {"v"}, {"w"}).output("c").output("w");
  builder.node("Loop", {"count", "", "x"}, {"y"})
      .subgraph("body", typed(body.build(), float_type({1})));
  ControlMachine machine(typed(builder.output("y").build(), float_type({1})));
  std::vector<Value> outputs;
  const Status status = machine.run({int64(3), floats({1}, {1})}, outputs);
  EXPECT_EQ(status.code(), StatusCode::kEngineError);
  EXPECT_THAT(status.message(), HasSubstr("it broke"));
  EXPECT_THAT(status.message(), HasSubstr("(while running iteration 0 of Loop node \"y\")"));
}

TEST(ControlFlow, AnEndlessLoopEndsWhenTheCallerCancels) {
  for (const bool with_node : {true, false}) {
    GraphBuilder builder;
    builder.input("count", kInt64).input("x", float_type({1}));
    GraphBuilder body;
    body.input("i", kInt64).input("c", kBool).input("v", float_type({1}));
    body.output("c");
    if (with_node) body.node("Stop", {"v"}, {"w"}).output("w");
    if (!with_node) body.output("v");
    builder.node("Loop", {"count", "", "x"}, {"y"})
        .subgraph("body", typed(body.build(), float_type({1})));
    ControlMachine machine(typed(builder.output("y").build(), float_type({1})));
    testing::observed().stop = false;
    testing::observed().calls_before_stop = 5;
    std::thread canceller;
    if (!with_node) canceller = std::thread([] { testing::observed().stop = true; });
    std::vector<Value> outputs;
    const int64_t endless = std::numeric_limits<int64_t>::max();
    const Status status =
        machine.run({int64(endless), floats({1}, {1})}, outputs, &testing::observed().stop);
    if (canceller.joinable()) canceller.join();
    EXPECT_EQ(status.code(), StatusCode::kCancelled);
    EXPECT_THAT(status.message(), HasSubstr("the run was cancelled"));
    // The other thread may cancel before the first iteration.
    EXPECT_THAT(status.message(), HasSubstr(with_node ? "iteration 5 of Loop" : ""));
  }
}

TEST(ControlFlow, RefusesElementsOfAStackThatDiffer) {
  GraphBuilder builder;
  builder.input("count", kInt64).input("x", kOpen).input("step", kOpen);
  GraphBuilder body;
  body.input("i", kInt64).input("c", kBool).input("v", kOpen);
  body.capture("step", builder.value("step"));
  body.node("Add", {"v", "step"}, {"w"}).node("Positives", {"w"}, {"p"});
  body.output("c").output("w").output("p");
  builder.node("Loop", {"count", "", "x"}, {"y", "all"})
      .subgraph("body", typed(body.build(), kOpen));
  ControlMachine machine(typed(builder.output("all").build(), kOpen));
  std::vector<Value> outputs;
  const Status status = machine.run({int64(3), floats({2}, {2, 3}), floats({1}, {-1})}, outputs);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(),
              HasSubstr("came out as float[1], earlier iterations gave float[2]"));
  EXPECT_THAT(status.message(), HasSubstr("iteration 1"));
}

// A Loop node with one carried value, with the defects that a test asks for.
Status status_of_loop(std::initializer_list<std::string_view> inputs,
                      std::initializer_list<std::string_view> outputs, graph::Graph body,
                      std::string attribute = "body") {
  GraphBuilder builder;
  builder.input("count", kInt64).input("x", float_type({1}));
  builder.node("Loop", inputs, outputs).subgraph(std::move(attribute), std::move(body));
  return ControlMachine(typed(builder.output("y").build(), float_type({1}))).status();
}

graph::Graph plain_body() {
  GraphBuilder body;
  body.input("i", kInt64).input("c", kBool).input("v", float_type({1}));
  return body.output("c").output("v").build();
}

TEST(ControlFlow, RefusesNodesThatDoNotFitTheirBodies) {
  EXPECT_THAT(status_of_loop({"count", "", "x"}, {"y"}, plain_body()), IsOk());
  const auto expect_refusal = [](const Status& status, const std::string& text) {
    EXPECT_EQ(status.code(), StatusCode::kInvalidGraph);
    EXPECT_THAT(status.message(), HasSubstr(text));
  };
  expect_refusal(status_of_loop({"count", "", "x"}, {"y"}, plain_body(), "corpus"),
                 "Loop node \"y\" has no body \"body\"");
  expect_refusal(status_of_loop({"count", "", "x", "x"}, {"y"}, plain_body()),
                 "a body of 3 inputs; the operator gives it 4");
  expect_refusal(status_of_loop({"count"}, {"y"}, plain_body()), "gives it 2");
  expect_refusal(status_of_loop({"count", "", "x"}, {"y", "z"}, plain_body()),
                 "has 2 outputs; its body gives 1");
  graph::Graph few = plain_body();
  few.outputs.pop_back();
  graph::connect(few);
  expect_refusal(status_of_loop({"count", "", "x"}, {"y"}, std::move(few)),
                 "a body of 1 outputs; the operator needs 2");
}

}  // namespace
}  // namespace ephost::runtime::control_flow_test
