#include <gmock/gmock.h>

#include "tests/support/status_matchers.h"
#include "tests/unit/runtime/control_flow/control_machine.h"

namespace ephost::runtime::scan_test {
namespace {

using graph::testing::GraphBuilder;
using graph::testing::tensor_type;
using test::IsOk;
using testing::ControlMachine;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::floats;
using testing::floats_of;
using ::testing::HasSubstr;

using Ints = std::vector<int64_t>;

graph::ValueType float_type(std::optional<graph::Shape> shape = std::nullopt) {
  return tensor_type(ElementType::kFloat, std::move(shape));
}

// Parameters of a Scan that adds each slice to a state and outputs each intermediate total.
struct SumScan {
  std::optional<graph::Shape> state;  // the body's; empty: unknown
  int32_t version = 9;
  std::vector<std::pair<std::string, int64_t>> lists;  // attributes of one element

  [[nodiscard]] graph::Graph build(size_t scanned = 1) const {
    GraphBuilder builder;
    if (version < 9) builder.input("lengths", tensor_type(ElementType::kInt64));
    builder.input("start", float_type());
    builder.input("x", float_type());
    if (scanned == 2) builder.input("z", float_type());
    GraphBuilder body;
    body.input("total", float_type(state)).input("slice", float_type(state));
    if (scanned == 2) body.input("other", float_type());
    body.node("Add", {"total", "slice"}, {"next"}).output("next").output("next");
    graph::Graph inner = body.build();
    inner.values[inner.find_value("next")].type = float_type(state);
    if (version < 9) {
      builder.node("Scan", {"lengths", "start", "x"}, {"sum", "sums"});
    } else if (scanned == 2) {
      builder.node("Scan", {"start", "x", "z"}, {"sum", "sums"});
    } else {
      builder.node("Scan", {"start", "x"}, {"sum", "sums"});
    }
    builder.attribute("num_scan_inputs", static_cast<int64_t>(scanned));
    for (const auto& [name, value] : lists) builder.attribute(name, Ints{value});
    builder.subgraph("body", std::move(inner)).output("sum").output("sums");
    graph::Graph graph = builder.build();
    for (const char* name : {"sum", "sums"}) {
      graph.values[graph.find_value(name)].type = float_type();
    }
    graph.nodes[0].since_version = version;
    return graph;
  }
};

const std::vector<float> kSix = {1, 2, 3, 4, 5, 6};

TEST(Scan, AddsUpTheRowsOfAMatrix) {
  for (const auto& state : {std::optional(graph::Shape{2}), std::optional<graph::Shape>()}) {
    ControlMachine machine(SumScan{.state = state}.build());
    for (int round = 0; round < 2; ++round) {
      const auto outputs = machine.run({floats({2}, {0, 10}), floats({3, 2}, kSix)});
      EXPECT_THAT(floats_of(outputs[0]), ElementsAre(9, 22));
      EXPECT_THAT(outputs[1].shape(), ElementsAre(3, 2));
      EXPECT_THAT(floats_of(outputs[1]), ElementsAre(1, 12, 4, 16, 9, 22));
    }
  }
}

TEST(Scan, GoesBackwards) {
  ControlMachine machine(SumScan{.lists = {{"scan_input_directions", 1}}}.build());
  auto outputs = machine.run({floats({2}, {0, 0}), floats({3, 2}, kSix)});
  EXPECT_THAT(floats_of(outputs[1]), ElementsAre(5, 6, 8, 10, 9, 12));
  ControlMachine reversed(SumScan{.lists = {{"scan_output_directions", 1}}}.build());
  outputs = reversed.run({floats({2}, {0, 0}), floats({3, 2}, kSix)});
  EXPECT_THAT(floats_of(outputs[1]), ElementsAre(9, 12, 4, 6, 1, 2));
}

TEST(Scan, GoesAlongOtherAxes) {
  for (const int64_t axis : {1, -1}) {
    ControlMachine machine(SumScan{.lists = {{"scan_input_axes", axis}}}.build());
    const auto outputs = machine.run({floats({2}, {0, 0}), floats({2, 3}, kSix)});
    EXPECT_THAT(floats_of(outputs[0]), ElementsAre(6, 15));
    EXPECT_THAT(outputs[1].shape(), ElementsAre(3, 2));
    EXPECT_THAT(floats_of(outputs[1]), ElementsAre(1, 4, 3, 9, 6, 15));
    ControlMachine stacked(SumScan{.lists = {{"scan_output_axes", axis}}}.build());
    const auto turned = stacked.run({floats({2}, {0, 0}), floats({3, 2}, kSix)});
    EXPECT_THAT(turned[1].shape(), ElementsAre(2, 3));
    EXPECT_THAT(floats_of(turned[1]), ElementsAre(1, 4, 9, 2, 6, 12));
  }
}

TEST(Scan, WithoutSlicesGivesTheStateAndAnEmptyStack) {
  ControlMachine machine(SumScan{.state = graph::Shape{2}}.build());
  const auto outputs = machine.run({floats({2}, {3, 4}), floats({0, 2}, {})});
  EXPECT_THAT(floats_of(outputs[0]), ElementsAre(3, 4));
  EXPECT_THAT(outputs[1].shape(), ElementsAre(0, 2));
}

// The slice itself is the next state and an element of the output; nothing is computed.
TEST(Scan, PassesSlicesOn) {
  for (const int64_t axis : {0, 1}) {
    GraphBuilder builder;
    builder.input("start", float_type()).input("x", float_type());
    GraphBuilder body;
    body.input("before", float_type()).input("slice", float_type());
    body.output("slice").output("before").output("slice");
    builder.node("Scan", {"start", "x"}, {"last", "befores", "slices"})
        .attribute("num_scan_inputs", int64_t{1})
        .attribute("scan_input_axes", Ints{axis})
        .subgraph("body", body.build());
    builder.output("last").output("befores").output("slices");
    graph::Graph graph = builder.build();
    for (graph::Value& value : graph.values) value.type = float_type();
    graph.nodes[0].since_version = 11;
    ControlMachine machine(std::move(graph));
    const auto outputs = machine.run({floats({2}, {0, 0}), floats({2, 2}, {1, 2, 3, 4})});
    const std::vector<float> slices =
        axis == 0 ? std::vector<float>{1, 2, 3, 4} : std::vector<float>{1, 3, 2, 4};
    EXPECT_THAT(floats_of(outputs[2]), ElementsAreArray(slices));
    EXPECT_THAT(floats_of(outputs[1]), ElementsAre(0, 0, slices[0], slices[1]));
    EXPECT_THAT(floats_of(outputs[0]), ElementsAre(slices[2], slices[3]));
  }
}

TEST(Scan, ScansTextAlongAnyAxis) {
  for (const int64_t axis : {0, 1}) {
    GraphBuilder builder;
    const graph::ValueType text = tensor_type(ElementType::kString);
    builder.input("x", text);
    GraphBuilder body;
    body.input("slice", text).node("Shout", {"slice"}, {"loud"}).output("loud");
    graph::Graph inner = body.build();
    for (graph::Value& value : inner.values) value.type = text;
    builder.node("Scan", {"x"}, {"y"})
        .attribute("num_scan_inputs", int64_t{1})
        .attribute("scan_input_axes", Ints{axis})
        .attribute("scan_output_axes", Ints{axis})
        .subgraph("body", std::move(inner));
    graph::Graph graph = builder.output("y").build();
    for (graph::Value& value : graph.values) value.type = text;
    graph.nodes[0].since_version = 9;
    ControlMachine machine(std::move(graph));
    const auto outputs = machine.run({*Value::of_strings({2, 2}, {"a", "b", "c", "d"})});
    EXPECT_THAT(outputs[0].strings(), ElementsAre("a!", "b!", "c!", "d!"));
  }
}

// ---- Version 8 --------------------------------------------------------------------------------

TEST(Scan, Version8GoesThroughABatch) {
  ControlMachine machine(SumScan{.version = 8}.build());
  const Value lengths = *Value::of<int64_t>({2}, Ints{3, 3});
  const auto outputs = machine.run({lengths, floats({2, 1}, {0, 100}), floats({2, 3, 1}, kSix)});
  EXPECT_THAT(outputs[0].shape(), ElementsAre(2, 1));
  EXPECT_THAT(floats_of(outputs[0]), ElementsAre(6, 115));
  EXPECT_THAT(outputs[1].shape(), ElementsAre(2, 3, 1));
  EXPECT_THAT(floats_of(outputs[1]), ElementsAre(1, 3, 6, 104, 109, 115));
}

TEST(Scan, Version8FillsShortSequencesWithZeros) {
  ControlMachine machine(SumScan{.version = 8}.build());
  const Value lengths = *Value::of<int64_t>({2}, Ints{1, 2});
  const auto outputs = machine.run({lengths, floats({2, 1}, {0, 100}), floats({2, 3, 1}, kSix)});
  EXPECT_THAT(floats_of(outputs[0]), ElementsAre(1, 109));
  EXPECT_THAT(floats_of(outputs[1]), ElementsAre(1, 0, 0, 104, 109, 0));
}

TEST(Scan, Version8ReversesWithinTheLengthOfEachSequence) {
  ControlMachine machine(SumScan{.version = 8, .lists = {{"directions", 1}}}.build());
  const Value lengths = *Value::of<int64_t>({2}, Ints{2, 3});
  const auto outputs = machine.run({lengths, floats({2, 1}, {0, 0}), floats({2, 3, 1}, kSix)});
  EXPECT_THAT(floats_of(outputs[1]), ElementsAre(2, 3, 0, 6, 11, 15));
}

// ---- Hostile models ---------------------------------------------------------------------------

void expect_refusal(graph::Graph graph, const std::vector<Value>& inputs, const std::string& text) {
  ControlMachine machine(std::move(graph));
  ASSERT_THAT(machine.status(), IsOk());
  std::vector<Value> outputs;
  const Status status = machine.run(inputs, outputs);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr(text));
}

TEST(Scan, RefusesInputsThatDisagree) {
  expect_refusal(SumScan{}.build(2),
                 {floats({1}, {0}), floats({3, 1}, {1, 2, 3}), floats({2, 1}, {1, 2})},
                 "differ in length: input 0 has 3, input 1 has 2");
  expect_refusal(SumScan{}.build(), {floats({1}, {0}), floats({}, {1})},
                 "scan input axis 0 is not in float[]");
  expect_refusal(SumScan{.lists = {{"scan_input_axes", 2}}}.build(),
                 {floats({1}, {0}), floats({3, 1}, {1, 2, 3})}, "scan input axis 2 is not in");
  expect_refusal(SumScan{.lists = {{"scan_output_axes", 5}}}.build(),
                 {floats({1}, {0}), floats({3, 1}, {1, 2, 3})}, "scan output axis 5 is not in");
}

TEST(Scan, Version8RefusesInputsThatDisagree) {
  const auto lengths = [](const Ints& values) {
    return *Value::of<int64_t>({static_cast<int64_t>(values.size())}, values);
  };
  const Value x = floats({2, 3, 1}, kSix);
  for (const Ints& wrong : {Ints{4, 1}, Ints{-1, 1}, Ints{1}, Ints{1, 1, 1}}) {
    expect_refusal(SumScan{.version = 8}.build(), {lengths(wrong), floats({2, 1}, {0, 0}), x},
                   "must be 2 int64 from 0 to 3");
  }
  expect_refusal(SumScan{.version = 8}.build(), {lengths({1, 1}), floats({3, 1}, {0, 0, 0}), x},
                 "differ in length");
  expect_refusal(SumScan{.version = 8}.build(),
                 {lengths({1, 1}), floats({2, 1}, {0, 0}), floats({2}, {1, 2})}, "scan input 0");
}

TEST(Scan, RefusesNodesThatDoNotFitTheirBodies) {
  const auto status_with = [](auto change) {
    graph::Graph graph = SumScan{}.build();
    change(graph.nodes[0]);
    return ControlMachine(std::move(graph)).status();
  };
  const auto set = [](std::string name, graph::AttributeValue value) {
    return [name, held = std::make_shared<graph::AttributeValue>(std::move(value))](
               graph::Node& node) mutable {
      std::erase_if(node.attributes, [&](const auto& other) { return other.name == name; });
      node.attributes.push_back({name, std::move(*held)});
    };
  };
  for (const int64_t count : {int64_t{0}, int64_t{-1}, int64_t{3}, int64_t{1} << 62}) {
    const Status status = status_with(set("num_scan_inputs", count));
    EXPECT_EQ(status.code(), StatusCode::kInvalidGraph);
    EXPECT_THAT(status.message(), HasSubstr("num_scan_inputs"));
  }
  EXPECT_THAT(status_with(set("scan_input_axes", Ints{0, 0})).message(),
              HasSubstr("not a list of 1 integers"));
  EXPECT_THAT(status_with(set("scan_output_directions", std::string("x"))).message(),
              HasSubstr("not a list of 1 integers"));
}

}  // namespace
}  // namespace ephost::runtime::scan_test
