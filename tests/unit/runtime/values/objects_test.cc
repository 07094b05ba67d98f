// Values that are not tensors, in frames and bodies.
#include <gmock/gmock.h>

#include "host/runtime/values/composite.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/runtime/control_flow/control_machine.h"

namespace ephost::runtime::objects_test {
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
using testing::observed;

const graph::ValueType kFloat = tensor_type(ElementType::kFloat);
const graph::ValueType kText = tensor_type(ElementType::kString);
const graph::ValueType kInt64 = tensor_type(ElementType::kInt64, graph::Shape{});
const graph::ValueType kBool = tensor_type(ElementType::kBool, graph::Shape{});

graph::ValueType wrap(graph::ValueKind kind, const graph::ValueType& nested) {
  return {.kind = kind, .nested = std::make_shared<const graph::ValueType>(nested)};
}
const graph::ValueType kFloats = wrap(graph::ValueKind::kSequence, kFloat);
const graph::ValueType kTexts = wrap(graph::ValueKind::kSequence, kText);
const graph::ValueType kOptionalFloat = wrap(graph::ValueKind::kOptional, kFloat);
const graph::ValueType kOptionalFloats = wrap(graph::ValueKind::kOptional, kFloats);

graph::ValueType map_type(ElementType key, const graph::ValueType& value) {
  graph::ValueType type = wrap(graph::ValueKind::kMap, value);
  type.element = key;
  return type;
}

// One node over `inputs`, which are named a, b, ...; its output is y.
graph::Graph single(std::string_view op, const std::vector<graph::ValueType>& inputs,
                    const graph::ValueType& output) {
  constexpr std::string_view kNames[] = {"a", "b"};
  GraphBuilder builder;
  for (size_t i = 0; i < inputs.size(); ++i) builder.input(kNames[i], inputs[i]);
  if (inputs.size() == 1) builder.node(op, {"a"}, {"y"});
  if (inputs.size() == 2) builder.node(op, {"a", "b"}, {"y"});
  graph::Graph graph = builder.output("y").build();
  graph.values[graph.outputs[0]].type = output;
  return graph;
}

Value sequence(std::vector<Value> elements) { return *Value::sequence(std::move(elements)); }

std::vector<float> firsts(const Value& value) {
  std::vector<float> numbers;
  for (const Value& part : value.parts()) numbers.push_back(part.elements<float>()[0]);
  return numbers;
}

std::string failure(graph::Graph graph, const std::vector<Value>& inputs) {
  ControlMachine machine(std::move(graph));
  std::vector<Value> outputs;
  return machine.status().ok() ? machine.run(inputs, outputs).to_string()
                               : machine.status().to_string();
}

// ---- Sequences --------------------------------------------------------------------------------

TEST(Objects, AreMadeOfTensorsWhichAreCopied) {
  ControlMachine machine(single("SeqMake", {kFloat, kFloat}, kFloats));
  const Value a = floats({2}, {1, 2});
  const Value result = machine.run({a, floats({1}, {3})})[0];
  ASSERT_EQ(result.kind(), ValueKind::kSequence);
  EXPECT_EQ(result.element_type(), ElementType::kFloat);
  EXPECT_THAT(firsts(result), ElementsAre(1, 3));
  EXPECT_THAT(result.parts()[0].shape(), ElementsAre(2));
  EXPECT_NE(result.parts()[0].bytes().data(), a.bytes().data());
}

TEST(Objects, ShareTheElementsOfSequencesAndLeaveTheCallersAlone) {
  ControlMachine machine(single("SeqAppend", {kFloats, kFloat}, kFloats));
  const Value given = sequence({floats({1}, {1}), floats({1}, {2})});
  for (int round = 0; round < 2; ++round) {
    const Value result = machine.run({given, floats({1}, {3})})[0];
    EXPECT_THAT(firsts(result), ElementsAre(1, 2, 3));
    EXPECT_EQ(result.parts()[0].bytes().data(), given.parts()[0].bytes().data());
    EXPECT_THAT(firsts(given), ElementsAre(1, 2));
  }
}

TEST(Objects, CopyBorrowedMemoryBeforeTheyLeave) {
  std::vector<float> memory = {7};
  const Value borrowed =
      *Value::borrow(ElementType::kFloat, {1}, std::as_writable_bytes(std::span(memory)));
  ControlMachine machine(single("SeqPass", {kFloats}, kFloats));
  const Value result = machine.run({sequence({borrowed})})[0];
  memory[0] = 8;
  EXPECT_THAT(firsts(result), ElementsAre(7));
}

TEST(Objects, GiveCopiesOfTheirElements) {
  ControlMachine machine(single("SeqFirst", {kFloats}, kFloat));
  const Value given = sequence({floats({2}, {4, 5})});
  const Value result = machine.run({given})[0];
  EXPECT_THAT(floats_of(result), ElementsAre(4, 5));
  EXPECT_NE(result.bytes().data(), given.parts()[0].bytes().data());
}

TEST(Objects, HoldText) {
  ControlMachine machine(single("SeqText", {kText}, kTexts));
  const Value result = machine.run({*Value::of_strings({1}, {"given"})})[0];
  ASSERT_EQ(result.parts().size(), 2U);
  EXPECT_THAT(result.parts()[0].strings(), ElementsAre("", "made"));
  EXPECT_THAT(result.parts()[1].strings(), ElementsAre("given"));
}

TEST(Objects, HoldMaps) {
  const graph::ValueType type = map_type(ElementType::kString, kFloat);
  ControlMachine machine(single("SeqMap", {kText, kFloat}, type));
  const Value result = machine.run({*Value::of_strings({2}, {"x", "y"}), floats({2}, {1, 2})})[0];
  ASSERT_EQ(result.kind(), ValueKind::kMap);
  EXPECT_THAT(result.parts()[0].strings(), ElementsAre("x", "y"));
  EXPECT_THAT(floats_of(result.parts()[1]), ElementsAre(1, 2));
}

TEST(Objects, EmptySequencesHaveTheElementTypeOfTheModel) {
  ControlMachine machine(single("SeqPass", {kFloats}, kFloats));
  const Value result = machine.run({sequence({})})[0];
  EXPECT_EQ(result.kind(), ValueKind::kSequence);
  EXPECT_EQ(result.element_type(), ElementType::kFloat);
}

TEST(Objects, AreReleasedAfterTheirLastReader) {
  GraphBuilder builder;
  builder.input("a", kFloats).node("SeqPass", {"a"}, {"s"}).node("SeqFirst", {"s"}, {"x"});
  builder.node("SeqProbe", {"x"}, {"y"}).output("y");
  graph::Graph graph = builder.build();
  for (graph::Value& value : graph.values) {
    if (value.type.kind == graph::ValueKind::kUnknown) value.type = kFloat;
  }
  graph.values[graph.find_value("s")].type = kFloats;
  ControlMachine machine(std::move(graph));
  bool released = false;
  const Value given = sequence({floats({1}, {1})});
  // The frame's input was moved into s, which is released, so only this test holds the value,
  // twice.
  const std::vector<Value> inputs = {given};
  observed().probe = [&] { released = ValueAccess::owner_count(given) == 2; };
  std::vector<Value> outputs;
  ASSERT_THAT(machine.run(inputs, outputs), IsOk());
  EXPECT_TRUE(released);
  EXPECT_EQ(ValueAccess::owner_count(given), 2);
}

// ---- Optionals --------------------------------------------------------------------------------

TEST(Objects, OptionalsHaveContentOrNot) {
  ControlMachine machine(single("SeqPass", {kOptionalFloat}, kOptionalFloat));
  EXPECT_THAT(floats_of(machine.run({floats({1}, {5})})[0]), ElementsAre(5));
  EXPECT_FALSE(machine.run({Value()})[0].has_value());
  EXPECT_THAT(floats_of(machine.run({floats({1}, {6})})[0]), ElementsAre(6));
  ControlMachine none(single("SeqNone", {kFloat}, kOptionalFloats));
  EXPECT_FALSE(none.run({floats({1}, {5})})[0].has_value());
}

// ---- Refusals ---------------------------------------------------------------------------------

TEST(Objects, RefuseInputsOfAnotherType) {
  const auto message = [](const Value& value) {
    return failure(single("SeqPass", {kFloats}, kFloats), {value});
  };
  EXPECT_THAT(message(sequence({int64(1)})),
              HasSubstr("got a sequence of 1 int64 tensors, the model wants seq(float"));
  EXPECT_THAT(message(floats({1}, {1})), HasSubstr("got float[1], the model wants seq(float"));
  EXPECT_THAT(message(Value()), HasSubstr("got an empty optional, the model wants seq(float"));
  EXPECT_THAT(failure(single("Relu", {kFloat}, kFloat), {sequence({})}),
              HasSubstr("got a sequence of 0 undefined tensors, the model wants float"));
}

TEST(Objects, RefuseOutputsOfAnotherType) {
  EXPECT_THAT(failure(single("SeqTensor", {kFloat}, kFloats), {floats({1}, {1})}),
              HasSubstr("came out as float[1], but seq(float) was inferred for it"));
  EXPECT_THAT(failure(single("SeqPass", {kFloat}, kFloats), {floats({1}, {1})}),
              HasSubstr("came out as float[1], but seq(float) was inferred for it"));
  EXPECT_THAT(
      failure(single("SeqPass", {kFloats}, kFloat), {sequence({})}),
      HasSubstr("came out as a sequence of 0 undefined tensors, but float was inferred for it"));
  EXPECT_THAT(failure(single("SeqNone", {kFloat}, kFloats), {floats({1}, {1})}),
              HasSubstr("came out as an empty optional, but seq(float) was inferred for it"));
}

TEST(Objects, RefuseWhatAPluginMayNotHandIn) {
  EXPECT_THAT(failure(single("SeqStranger", {kFloat}, kFloats), {floats({1}, {1})}),
              HasSubstr("neither an input nor an element of one"));
  EXPECT_THAT(failure(single("SeqFar", {kFloats}, kFloats), {sequence({floats({1}, {1})})}),
              HasSubstr("1 elements from 7 on are not in a sequence of 1"));
  EXPECT_THAT(failure(single("SeqMake", {kFloat, kInt64}, kFloats), {floats({1}, {1}), int64(2)}),
              HasSubstr("a sequence cannot hold float[1] and int64[]"));
  EXPECT_THAT(failure(single("SeqMap", {kFloat, kFloat}, map_type(ElementType::kFloat, kFloat)),
                      {floats({1}, {1}), floats({1}, {1})}),
              HasSubstr("a map cannot be made of keys float[1] and values float[1]"));
}

// ---- Bodies -----------------------------------------------------------------------------------

// Appends `element`, which the body captures, once in each iteration.
graph::Graph growing_loop(const graph::ValueType& carried) {
  GraphBuilder builder;
  builder.input("count", kInt64).input("start", carried).input("element", kFloat);
  GraphBuilder body;
  body.input("i", kInt64).input("go", kBool).input("s", kFloats);
  body.capture("element", builder.value("element"));
  body.node("SeqAppend", {"s", "element"}, {"t"}).output("go").output("t");
  graph::Graph inner = body.build();
  inner.values[inner.find_value("t")].type = kFloats;
  inner.values[inner.find_value("element")].type = kFloat;
  builder.node("Loop", {"count", "", "start"}, {"y"}).subgraph("body", std::move(inner));
  graph::Graph graph = builder.output("y").build();
  graph.values[graph.outputs[0]].type = kFloats;
  return graph;
}

TEST(Objects, GrowInALoopWithoutBeingCopied) {
  ControlMachine machine(growing_loop(kFloats));
  observed().in_place = 0;
  const Value start = sequence({floats({1}, {1})});
  const Value result = machine.run({int64(1000), start, floats({1}, {2})})[0];
  EXPECT_EQ(result.parts().size(), 1001U);
  EXPECT_EQ(start.parts().size(), 1U);
  // All except the first, and those for which the array had to grow.
  EXPECT_GT(observed().in_place, 980);
  EXPECT_EQ(machine.run({int64(2), start, floats({1}, {2})})[0].parts().size(), 3U);
  EXPECT_EQ(machine.run({int64(0), start, floats({1}, {2})})[0].parts().size(), 1U);
}

TEST(Objects, ComeOutOfBranches) {
  GraphBuilder builder;
  builder.input("condition", kBool).input("s", kFloats);
  const graph::ValueId s = builder.value("s");
  GraphBuilder then_branch;
  then_branch.capture("s", s).node("SeqPass", {"s"}, {"a"}).output("a");
  graph::Graph first = then_branch.build();
  for (graph::Value& value : first.values) value.type = kFloats;
  GraphBuilder else_branch;
  else_branch.capture("s", s).output("s");
  graph::Graph second = else_branch.build();
  for (graph::Value& value : second.values) value.type = kFloats;
  builder.node("If", {"condition"}, {"y"})
      .subgraph("then_branch", std::move(first))
      .subgraph("else_branch", std::move(second));
  graph::Graph graph = builder.output("y").build();
  graph.values[graph.outputs[0]].type = kFloats;
  ControlMachine machine(std::move(graph));
  const Value given = sequence({floats({1}, {1}), floats({1}, {2})});
  for (const bool condition : {true, false, true}) {
    EXPECT_THAT(firsts(machine.run({boolean(condition), given})[0]), ElementsAre(1, 2));
  }
}

TEST(Objects, AreMappedElementByElement) {
  GraphBuilder builder;
  builder.input("s", kFloats).input("x", kFloat);
  GraphBuilder body;
  body.input("e", kFloat).input("x", kFloat);
  body.node("Add", {"e", "x"}, {"sum"}).output("sum").output("e");
  graph::Graph inner = body.build();
  inner.values[inner.find_value("sum")].type = kFloat;
  builder.node("SequenceMap", {"s", "x"}, {"y", "z"}).subgraph("body", std::move(inner));
  graph::Graph graph = builder.output("y").output("z").build();
  for (const graph::ValueId id : graph.outputs) graph.values[id].type = kFloats;
  ControlMachine machine(std::move(graph));
  const Value given = sequence({floats({1}, {1}), floats({2}, {2, 3})});
  const std::vector<Value> results = machine.run({given, floats({1}, {10})});
  EXPECT_THAT(firsts(results[0]), ElementsAre(11, 12));
  EXPECT_THAT(firsts(results[1]), ElementsAre(1, 2));
  EXPECT_TRUE(machine.run({sequence({}), floats({1}, {10})})[0].parts().empty());
}

}  // namespace
}  // namespace ephost::runtime::objects_test
