// Values within other values: inputs of a Concat, outputs of a Split.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/plan/check/checker.h"
#include "host/plan/order/live_bytes.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/plan/planned.h"

namespace ephost::plan::parts_test {
namespace {

using graph::ElementType;
using graph::Shape;
using graph::testing::float_tensor;
using graph::testing::GraphBuilder;
using graph::testing::tensor_type;
using test::IsOk;
using ::testing::HasSubstr;
using testing::plan_graph;
using testing::Planned;

// Gives every value whose name ends in a digit n a tensor of n times 64 bytes, others one of 64.
// Joins and splits place their parts side by side.
class Parts {
 public:
  Parts& input(std::string_view name) {
    builder_.input(name);
    return *this;
  }
  Parts& constant(std::string_view name) {
    builder_.constant(name, float_tensor(std::vector<float>(16)));
    return *this;
  }
  Parts& node(std::string_view op_type, std::initializer_list<std::string_view> inputs,
              std::initializer_list<std::string_view> outputs) {
    builder_.node(op_type, inputs, outputs);
    return *this;
  }
  Parts& output(std::string_view name) {
    builder_.output(name);
    return *this;
  }

  Planned plan(const AllocationOptions& options = {}) {
    Graph graph = builder_.build();
    for (graph::Value& value : graph.values) {
      value.type = tensor_type(ElementType::kFloat, Shape{units(value.name), 16});
    }
    Planned planned = plan_graph(std::move(graph));
    for (size_t pc = 0; pc < planned.notes.size(); ++pc) note(planned, pc);
    planned.allocate(options);
    const Status status = check(planned);
    EXPECT_THAT(status, IsOk());
    return planned;
  }

  static Status check(const Planned& planned) {
    const auto traits = testing::to_traits(planned.notes);
    const Status status =
        check_allocation(planned.graph, planned.execution, traits, planned.allocation);
    const auto pattern = plan_memory(planned.allocation);
    return status.ok() ? check_memory(planned.allocation, *pattern) : status;
  }

 private:
  static int64_t units(const std::string& name) {
    return name.back() >= '0' && name.back() <= '9' ? name.back() - '0' : 1;
  }
  static void note(Planned& planned, size_t pc) {
    const Step& step = planned.execution.steps[pc];
    const std::string& op = planned.graph.nodes[step.node].op_type;
    const bool joins = op == "Concat";
    if (!joins && op != "Split") return;
    const std::vector<ValueId>& parts = joins ? step.inputs : step.outputs;
    uint64_t offset = 0;
    for (uint32_t i = 0; i < parts.size(); ++i) {
      const SlotPart part = {joins ? i : 0, joins ? 0 : i, offset};
      (joins ? planned.notes[pc].input_parts : planned.notes[pc].output_parts).push_back(part);
      offset += static_cast<uint64_t>(units(planned.graph.values[parts[i]].name)) * 64;
    }
  }

  GraphBuilder builder_;
};

uint64_t peak(const Planned& planned) { return plan_memory(planned.allocation)->blocks[0].bytes; }

TEST(Parts, InputsOfAConcatAreMadeInItsOutput) {
  const Planned planned = Parts()
                              .input("x")
                              .node("Conv", {"x"}, {"a2"})
                              .node("Conv", {"x"}, {"b"})
                              .node("Concat", {"a2", "b"}, {"c3"})
                              .node("Conv", {"c3"}, {"y"})
                              .output("y")
                              .plan();
  EXPECT_EQ(planned.place("a2"), "Reuse c3");
  EXPECT_EQ(planned.place("b"), "Reuse c3 + 128");
  ASSERT_EQ(planned.allocation.buffers.size(), 2U);
  EXPECT_EQ(planned.allocation.buffers[0].first_pc, 0U);
  EXPECT_EQ(peak(planned), 192U);
  EXPECT_EQ(plan_memory(planned.allocation)->offsets[planned.id("b")], 128U);
}

TEST(Parts, OutputsOfASplitAreViewsOfItsInput) {
  const Planned planned = Parts()
                              .input("x")
                              .node("Conv", {"x"}, {"a3"})
                              .node("Split", {"a3"}, {"b2", "c"})
                              .node("Relu", {"c"}, {"d"})
                              .node("Conv", {"b2", "d"}, {"y"})
                              .output("y")
                              .plan();
  EXPECT_EQ(planned.place("b2"), "Reuse a3");
  EXPECT_EQ(planned.place("c"), "Reuse a3 + 128");
  EXPECT_EQ(planned.place("d"), "Reuse a3 + 128");  // in place, as b2 lies elsewhere
  EXPECT_EQ(peak(planned), 192U);
}

TEST(Parts, AnInPlaceStepNeverOverwritesAPartThatIsReadLater) {
  const Planned planned = Parts()
                              .input("x")
                              .node("Conv", {"x"}, {"a2"})
                              .node("Split", {"a2"}, {"b", "c"})
                              .node("Relu", {"a2"}, {"d2"})
                              .node("Conv", {"b", "d2"}, {"y"})
                              .output("y")
                              .plan();
  EXPECT_EQ(planned.place("d2"), "Allocate");
}

TEST(Parts, AChainInPlaceBecomesAPart) {
  const Planned planned = Parts()
                              .input("x")
                              .node("Conv", {"x"}, {"a"})
                              .node("Relu", {"a"}, {"b"})
                              .node("Conv", {"x"}, {"c"})
                              .node("Concat", {"c", "b"}, {"d2"})
                              .node("Relu", {"d2"}, {"e2"})
                              .node("Conv", {"e2"}, {"y"})
                              .output("y")
                              .plan();
  EXPECT_EQ(planned.place("a"), "Reuse d2 + 64");
  EXPECT_EQ(planned.place("b"), "Reuse d2 + 64");
  EXPECT_EQ(planned.place("e2"), "Reuse d2");
  EXPECT_EQ(planned.allocation.buffers.size(), 2U);
}

TEST(Parts, APartThatIsReadAfterTheConcatIsNotOverwritten) {
  const Planned planned = Parts()
                              .input("x")
                              .node("Conv", {"x"}, {"a"})
                              .node("Conv", {"x"}, {"b"})
                              .node("Concat", {"a", "b"}, {"c2"})
                              .node("Relu", {"c2"}, {"d2"})
                              .node("Conv", {"a", "d2"}, {"y"})
                              .output("y")
                              .plan();
  EXPECT_EQ(planned.place("a"), "Reuse c2");
  EXPECT_EQ(planned.place("d2"), "Allocate");
}

TEST(Parts, ConcatsOfConcatsShareOneBuffer) {
  const Planned planned = Parts()
                              .input("x")
                              .node("Conv", {"x"}, {"a"})
                              .node("Conv", {"x"}, {"b"})
                              .node("Concat", {"a", "b"}, {"c2"})
                              .node("Conv", {"x"}, {"d"})
                              .node("Concat", {"d", "c2"}, {"e3"})
                              .node("Conv", {"e3"}, {"y"})
                              .output("y")
                              .plan();
  EXPECT_EQ(planned.place("a"), "Reuse e3 + 64");
  EXPECT_EQ(planned.place("b"), "Reuse e3 + 128");
  EXPECT_EQ(planned.place("c2"), "Reuse e3 + 64");
}

TEST(Parts, AreMadeInAGraphOutput) {
  const Planned planned = Parts()
                              .input("x")
                              .node("Conv", {"x"}, {"a"})
                              .node("Conv", {"x"}, {"b"})
                              .node("Concat", {"a", "b"}, {"y2"})
                              .output("y2")
                              .plan();
  EXPECT_EQ(planned.place("y2"), "AllocateOutput");
  EXPECT_EQ(planned.place("b"), "Reuse y2 + 64");
  EXPECT_TRUE(plan_memory(planned.allocation)->blocks.empty());
}

TEST(Parts, WhatCannotMoveIsCopied) {
  // A graph input, a constant, a graph output, and a repeated value.
  const Planned planned = Parts()
                              .input("x")
                              .constant("w")
                              .node("Conv", {"x"}, {"z"})
                              .node("Conv", {"x"}, {"a"})
                              .node("Concat", {"x", "w", "z", "a", "a"}, {"y5"})
                              .node("Conv", {"y5"}, {"y"})
                              .output("y")
                              .output("z")
                              .plan();
  EXPECT_EQ(planned.place("x"), "PreExisting");
  EXPECT_EQ(planned.place("w"), "AllocateStatically");
  EXPECT_EQ(planned.place("z"), "AllocateOutput");
  EXPECT_EQ(planned.place("a"), "Reuse y5 + 192");
}

TEST(Parts, NeverRaiseThePeak) {
  // The whole of c5, live from the first step on, would add to the large b9 beside it.
  Parts parts;
  parts.input("x").node("Conv", {"x"}, {"a"}).node("Conv", {"x"}, {"b9"});
  parts.node("Conv", {"b9"}, {"e"}).node("Conv", {"e"}, {"d4"});
  parts.node("Concat", {"a", "d4"}, {"c5"}).node("Conv", {"c5"}, {"y"}).output("y");
  const Planned planned = parts.plan();
  EXPECT_EQ(planned.place("a"), "Allocate");
  EXPECT_EQ(planned.place("d4"), "Allocate");
  EXPECT_EQ(peak(planned), 11U * 64U);
}

TEST(Parts, OnlyTheStepThatRaisesThePeakCopies) {
  // A split's input lives as long as the small part that is read at the end, beside a large value;
  // the concat of the first steps costs nothing.
  Parts parts;
  parts.input("x").node("Conv", {"x"}, {"a"}).node("Conv", {"x"}, {"b"});
  parts.node("Concat", {"a", "b"}, {"c2"}).node("Conv", {"c2"}, {"d4"});
  parts.node("Split", {"d4"}, {"e", "f3"}).node("Conv", {"f3"}, {"g8"});
  parts.node("Conv", {"g8"}, {"h8"}).node("Conv", {"e", "h8"}, {"y"}).output("y");
  const Planned planned = parts.plan();
  EXPECT_EQ(planned.place("b"), "Reuse c2 + 64");
  EXPECT_EQ(planned.place("e"), "Allocate");
  EXPECT_EQ(peak(planned), 17U * 64U);
}

TEST(Parts, AreCopiedWhereThePlanMustDoWithoutThem) {
  Parts parts;
  parts.input("x").node("Conv", {"x"}, {"a"}).node("Conv", {"x"}, {"b"});
  parts.node("Concat", {"a", "b"}, {"c2"}).node("Conv", {"c2"}, {"y"}).output("y");
  const Planned planned = parts.plan({.enable_parts = false});
  EXPECT_EQ(planned.place("a"), "Allocate");
}

TEST(Parts, ThatBeginBetweenAlignedAddressesAreCopied) {
  Parts parts;
  parts.input("x").node("Conv", {"x"}, {"a"}).node("Conv", {"x"}, {"b"});
  parts.node("Concat", {"a", "b"}, {"c2"}).node("Conv", {"c2"}, {"y"}).output("y");
  Planned planned = parts.plan();
  planned.notes[2].input_parts[1].offset = 32;
  planned.allocate();
  EXPECT_EQ(planned.place("b"), "Allocate");
  planned.notes[2].input_parts[1].offset = 128;  // ends beyond the output
  planned.allocate();
  EXPECT_EQ(planned.place("b"), "Allocate");
}

// What the checker refuses.

Planned joined() {
  Parts parts;
  parts.input("x").node("Conv", {"x"}, {"a"}).node("Conv", {"x"}, {"b"});
  parts.node("Concat", {"a", "b"}, {"c2"}).node("Conv", {"c2", "b"}, {"y"}).output("y");
  return parts.plan();
}

void expect_refused(const Planned& planned, const std::string& message) {
  const Status status = Parts::check(planned);
  EXPECT_EQ(status.code(), StatusCode::kFail);
  EXPECT_THAT(status.message(), HasSubstr(message));
}

TEST(Parts, TheCheckerRefusesAPartInAnotherPlace) {
  Planned planned = joined();
  planned.allocation.values[planned.id("b")].offset = 0;
  expect_refused(planned, "at step 1 value \"b\" overwrites value \"a\", which is still needed");
  planned = joined();
  planned.allocation.values[planned.id("b")].offset = 32;
  expect_refused(planned, "value \"b\" is not an aligned part of the buffer of value \"c2\"");
  planned.allocation.values[planned.id("b")].offset = 128;
  expect_refused(planned, "value \"b\" is not an aligned part of the buffer of value \"c2\"");
}

TEST(Parts, TheCheckerRefusesAPartThatIsNotPermitted) {
  Planned planned = joined();
  planned.notes[2].input_parts.clear();
  expect_refused(planned, "at step 2 value \"c2\" overwrites value \"a\", which is still needed");
  planned = joined();
  std::swap(planned.notes[2].input_parts[0].offset, planned.notes[2].input_parts[1].offset);
  expect_refused(planned, "at step 2 value \"c2\" overwrites value \"a\", which is still needed");
}

TEST(Parts, TheCheckerRefusesAViewOfWhatWasOverwritten) {
  Parts parts;
  parts.input("x").node("Conv", {"x"}, {"a2"}).node("Relu", {"a2"}, {"b2"});
  parts.node("Split", {"a2"}, {"c", "d"}).node("Conv", {"b2", "c", "d"}, {"y"}).output("y");
  Planned planned = parts.plan();
  EXPECT_EQ(planned.place("d"), "Reuse a2 + 64");
  planned.notes[2].output_parts[1].offset = 0;
  expect_refused(planned, "at step 2 value \"d\" overwrites value \"a2\", which is still needed");
}

}  // namespace
}  // namespace ephost::plan::parts_test
