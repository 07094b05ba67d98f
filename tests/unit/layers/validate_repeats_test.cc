// What the layer "validate" finds by running a computation again with its memory arranged in other
// ways.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "host/layers/validate/runs/arrangement.h"
#include "host/layers/validate/runs/result_comparison.h"
#include "tests/unit/layers/raw_plugin.h"

namespace ephost::layers::validate_repeats_test {
namespace {

using test::Behaviour;
using test::RawPlugin;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kWorkspace = 3 * sizeof(float);

float* floats(const eph_value& value) { return static_cast<float*>(value.data); }

class ValidateRepeats : public ::testing::Test {
 protected:
  // The message of a run of `compute`, with two inputs and an output, of three floats each; empty
  // where it succeeds.
  std::string message_of(const std::function<void(eph_run&)>& compute) {
    Behaviour behaviour;
    behaviour.describe = [this](eph_computation_info* info) {
      info->workspace_bytes = kWorkspace;
      info->may_inplace = pairs.data();
      info->may_inplace_count = pairs.size();
      info->aliases = aliases.data();
      info->alias_count = aliases.size();
      info->input_parts = input_parts.data();
      info->input_part_count = input_parts.size();
      info->output_parts = output_parts.data();
      info->output_part_count = output_parts.size();
    };
    runs = 0;
    behaviour.compute = [&](eph_run* run, eph_error*) {
      ++runs;
      compute(*run);
      return EPH_OK;
    };
    RawPlugin plugin(behaviour);
    eph_computation* const computation = plugin.compile(&graph);
    test::FakeRun run({&input, &other}, {is_in_place ? &input : &output}, kWorkspace);
    const int32_t code = plugin.compute(computation, &run);
    plugin.destroy(computation);
    EXPECT_EQ(code != EPH_OK, !plugin.error.message.empty());
    return plugin.error.message;
  }

  test::FloatTensor input{{3}, {1, 2, 3}};
  test::FloatTensor other{{3}, {10, 20, 30}};
  test::FloatTensor output{{3}, {0, 0, 0}};
  test::FakeGraph graph;
  std::vector<eph_slot_pair> pairs;
  std::vector<eph_slot_pair> aliases;
  std::vector<eph_slot_part> input_parts;
  std::vector<eph_slot_part> output_parts;
  bool is_in_place = false;  // the host has given the output the memory of the first input
  int runs = 0;
};

TEST_F(ValidateRepeats, FindNothingInAComputationThatKeepsItsPromises) {
  pairs = {{0, 0}, {1, 0}};
  EXPECT_EQ(message_of([](eph_run& run) {
              for (int i = 0; i < 3; ++i) {
                floats(*run.outputs[0])[i] = floats(*run.inputs[0])[i] + floats(*run.inputs[1])[i];
              }
            }),
            "");
  EXPECT_EQ(runs, 3);
  EXPECT_THAT(output.values(), ::testing::ElementsAre(11, 22, 33));
}

TEST_F(ValidateRepeats, FindAPairThatIsOverwrittenBeforeItIsRead) {
  const auto reversed = [](eph_run& run) {
    for (int i = 0; i < 3; ++i) floats(*run.outputs[0])[i] = floats(*run.inputs[0])[2 - i];
  };
  EXPECT_EQ(message_of(reversed), "");
  pairs = {{0, 0}};
  EXPECT_THAT(message_of(reversed),
              AllOf(HasSubstr("gives another result in output 0 from element 2 on where inputs and "
                              "outputs share memory as it allows"),
                    HasSubstr("(rule 25)")));
  EXPECT_THAT(output.values(), ::testing::ElementsAre(3, 2, 1));  // of the run before
}

TEST_F(ValidateRepeats, FindAHostThatSharesMemoryWithoutLeave) {
  const auto doubling = [](eph_run& run) {
    for (int i = 0; i < 3; ++i) floats(*run.outputs[0])[i] = 2 * floats(*run.inputs[0])[i];
  };
  is_in_place = true;
  EXPECT_THAT(message_of(doubling), AllOf(HasSubstr("was given output 0 in the memory of input 0"),
                                          HasSubstr("defect of the host")));
  pairs = {{0, 0}};
  EXPECT_EQ(message_of(doubling), "");
}

TEST_F(ValidateRepeats, FindAnAliasThatIsNotCopiedWhereThePointersDiffer) {
  is_in_place = true;
  pairs = {{0, 0}};
  EXPECT_THAT(message_of([](eph_run& run) {
                if (run.inputs[0]->data == run.outputs[0]->data) return;
                for (int i = 0; i < 3; ++i) floats(*run.outputs[0])[i] = 0;
              }),
              HasSubstr("gives another result in output 0 from element 0 on where outputs have "
                        "memory of their own"));
}

TEST_F(ValidateRepeats, FindWorkspaceThatIsReadBeforeItIsWritten) {
  EXPECT_THAT(message_of([](eph_run& run) {
                uint8_t first = 0;
                std::memcpy(&first, run.workspace, 1);
                for (int i = 0; i < 3; ++i) floats(*run.outputs[0])[i] = first;
              }),
              AllOf(HasSubstr("gives another result in output 0 from element 0 on where workspace, "
                              "scratch memory and outputs contained other bytes"),
                    HasSubstr("(rule 25)")));
}

TEST_F(ValidateRepeats, FindOutputsThatAreAddedTo) {
  EXPECT_THAT(message_of([](eph_run& run) {
                uint8_t* const bytes = static_cast<uint8_t*>(run.outputs[0]->data);
                for (int i = 0; i < 12; ++i) bytes[i] = static_cast<uint8_t>(bytes[i] + 3);
              }),
              HasSubstr("contained other bytes"));
}

TEST_F(ValidateRepeats, FindElementsThatNobodyWrites) {
  EXPECT_THAT(message_of([](eph_run& run) { floats(*run.outputs[0])[0] = 1; }),
              AllOf(HasSubstr("left output 0 from element 1 on unwritten"), HasSubstr("rule 25")));
}

TEST_F(ValidateRepeats, LeaveRandomComputationsAlone) {
  float next = 0;
  EXPECT_EQ(message_of([&](eph_run& run) {
              for (int i = 0; i < 3; ++i) floats(*run.outputs[0])[i] = ++next;
            }),
            "");
}

TEST_F(ValidateRepeats, FindAnAliasWhoseBytesChange) {
  const auto doubling = [](eph_run& run) {
    for (int i = 0; i < 3; ++i) floats(*run.outputs[0])[i] = 2 * floats(*run.inputs[0])[i];
  };
  EXPECT_EQ(message_of(doubling), "");
  aliases = {{0, 0}};
  EXPECT_THAT(message_of(doubling), AllOf(HasSubstr("changed input 0"), HasSubstr("(rule 25)")));
}

TEST_F(ValidateRepeats, FindAPartOfAnInputWhoseBytesChange) {
  const auto negating = [](eph_run& run) {
    for (int i = 0; i < 3; ++i) floats(*run.outputs[0])[i] = -floats(*run.inputs[0])[i];
  };
  output_parts = {{0, 0, 0}};
  EXPECT_THAT(message_of(negating), AllOf(HasSubstr("changed input 0"), HasSubstr("(rule 25)")));
}

TEST_F(ValidateRepeats, FindPartsOfAnOutputThatAreOverwrittenBeforeTheyAreRead) {
  const auto joining = [](bool clears) {
    return [clears](eph_run& run) {
      float* const joined = floats(*run.outputs[0]);
      if (clears) std::memset(joined, 0, 32 * sizeof(float));
      for (int i = 0; i < 2; ++i) std::memmove(joined + 16 * i, run.inputs[i]->data, 64);
    };
  };
  input = test::FloatTensor({16}, std::vector<float>(16, 1));
  other = test::FloatTensor({16}, std::vector<float>(16, 2));
  output = test::FloatTensor({32}, std::vector<float>(32, 0));
  EXPECT_EQ(message_of(joining(true)), "");
  input_parts = {{0, 0, 0}, {1, 0, 64}};
  EXPECT_EQ(message_of(joining(false)), "");
  EXPECT_THAT(message_of(joining(true)),
              AllOf(HasSubstr("gives another result in output 0 from element 0 on where inputs and "
                              "outputs share memory as it allows"),
                    HasSubstr("(rule 25)")));
}

TEST_F(ValidateRepeats, FindOutputsOfOpenShapeThatNobodyAsksMemoryFor) {
  const uint32_t x = graph.add_input("x", {-1});
  graph.mark_output(graph.add("Neg", {x}, {-1}));
  const auto negating = [](bool asks) {
    return [asks](eph_run& run) {
      eph_value& result = *run.outputs[0];
      test::FakeError error;
      if (result.data == nullptr && asks) {
        EXPECT_EQ(
            run.api->allocate_output(&run, 0, EPH_ELEMENT_FLOAT, run.inputs[0]->shape, 1, &error),
            EPH_OK);
      }
      if (result.data == nullptr) return;
      for (int i = 0; i < 3; ++i) floats(result)[i] = -floats(*run.inputs[0])[i];
    };
  };
  EXPECT_EQ(message_of(negating(true)), "");
  EXPECT_THAT(message_of(negating(false)),
              AllOf(HasSubstr("succeeded and gave output 0 no memory"), HasSubstr("(rule 25)")));
}

TEST(ValidateArrangement, KeepsTogetherWhatOverlaps) {
  test::FloatTensor whole({4}, {1, 2, 3, 4});
  test::FloatTensor apart({4}, {1, 2, 3, 4});
  test::FloatTensor part = whole;
  part.value.data = floats(whole.value) + 1;
  part.value.byte_size = 2 * sizeof(float);
  const test::FakeRun run({&whole, &apart}, {&part}, 0);
  const Arrangement planned = as_planned(run);
  EXPECT_EQ(planned.region_count, 2U);
  EXPECT_NE(planned.inputs[0].region, planned.inputs[1].region);
  EXPECT_EQ(planned.outputs[0].region, planned.inputs[0].region);
  EXPECT_EQ(planned.outputs[0].offset, sizeof(float));
  EXPECT_TRUE(shares_memory(as_planned(run)));
  EXPECT_FALSE(shares_memory(as_separate(run, {})));
}

TEST(ValidateArrangement, KeepsTogetherWhatMustShare) {
  test::FloatTensor a({3}, {1, 2, 3});
  test::FloatTensor b({3}, {1, 2, 3});
  test::FloatTensor out({3}, {0, 0, 0});
  const test::FakeRun run({&a, &b}, {&out}, 0);
  Sharing sharing;
  sharing.must_share = {{1, 0}, {7, 0}, {0, 9}};
  sharing.may_inplace = {{0, 0}};
  for (const Arrangement& arranged : {as_separate(run, sharing), as_shared(run, sharing, 64)}) {
    EXPECT_EQ(arranged.inputs[1].region, arranged.outputs[0].region);
    EXPECT_NE(arranged.inputs[0].region, arranged.outputs[0].region);
  }
}

TEST(ValidateArrangement, SharesPartsAtMultiplesOfTheAlignment) {
  test::FloatTensor first({16}, std::vector<float>(16, 1));
  test::FloatTensor second({16}, std::vector<float>(16, 2));
  test::FloatTensor joined({32}, std::vector<float>(32, 0));
  const test::FakeRun run({&first, &second}, {&joined}, 0);
  Sharing sharing;
  sharing.input_parts = {{0, 0, 0}, {1, 0, 64}};
  const Arrangement shared = as_shared(run, sharing, 64);
  EXPECT_EQ(shared.inputs[0].region, shared.outputs[0].region);
  EXPECT_EQ(shared.inputs[1].region, shared.outputs[0].region);
  EXPECT_EQ(shared.inputs[1].offset, 64U);
  EXPECT_NE(as_shared(run, sharing, 128).inputs[1].region, shared.outputs[0].region);
}

TEST(ValidateArrangement, UsesEachInputAndOutputInOnePairOnly) {
  test::FloatTensor a({3}, {1, 2, 3});
  test::FloatTensor b({3}, {1, 2, 3});
  test::FloatTensor out({3}, {0, 0, 0});
  const test::FakeRun run({&a, &b}, {&out}, 0);
  Sharing sharing;
  sharing.may_inplace = {{0, 0}, {1, 0}, {7, 0}, {0, 9}};
  const Arrangement shared = as_shared(run, sharing, 64);
  EXPECT_EQ(shared.inputs[0].region, shared.outputs[0].region);
  EXPECT_NE(shared.inputs[1].region, shared.outputs[0].region);
}

template <class T>
std::span<const std::byte> bytes(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

TEST(ValidateComparison, TakesFloatsWithinATolerance) {
  const std::vector<float> expected = {1, 1000, std::numeric_limits<float>::quiet_NaN()};
  const std::vector<float> close = {1.0005F, 1000.5F, -std::numeric_limits<float>::quiet_NaN()};
  const std::vector<float> wrong = {1, 1002, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_EQ(first_difference(bytes(close), bytes(expected), EPH_ELEMENT_FLOAT), std::nullopt);
  EXPECT_EQ(first_difference(bytes(wrong), bytes(expected), EPH_ELEMENT_FLOAT), 1U);
  const std::vector<int32_t> integers = {1, 2, 3};
  const std::vector<int32_t> others = {1, 2, 4};
  EXPECT_EQ(first_difference(bytes(integers), bytes(integers), EPH_ELEMENT_INT32), std::nullopt);
  EXPECT_EQ(first_difference(bytes(others), bytes(integers), EPH_ELEMENT_INT32), 2U);
}

// Neighbours of 1 and of its like, and what lies some units further.
TEST(ValidateComparison, TakesShortFloatsWithinUnitsInTheirLastPlace) {
  struct Case {
    int32_t type;
    uint16_t one, close, wrong;
  };
  for (const Case& c : {Case{EPH_ELEMENT_BFLOAT16, 0x3F80, 0x3F81, 0x3F84},
                        Case{EPH_ELEMENT_FLOAT16, 0x3C00, 0x3C01, 0x3C04}}) {
    const std::vector<uint16_t> expected = {c.one, c.one};
    EXPECT_EQ(
        first_difference(bytes(std::vector<uint16_t>{c.one, c.close}), bytes(expected), c.type),
        std::nullopt);
    EXPECT_EQ(
        first_difference(bytes(std::vector<uint16_t>{c.one, c.wrong}), bytes(expected), c.type),
        1U);
  }
  const std::vector<uint8_t> one = {0x38, 0x38, 0x38};  // float8e4m3fn
  EXPECT_EQ(first_difference(bytes(std::vector<uint8_t>{0x38, 0x39, 0x38}), bytes(one),
                             EPH_ELEMENT_FLOAT8E4M3FN),
            std::nullopt);
  EXPECT_EQ(first_difference(bytes(std::vector<uint8_t>{0x38, 0x38, 0x3C}), bytes(one),
                             EPH_ELEMENT_FLOAT8E4M3FN),
            2U);
}

}  // namespace
}  // namespace ephost::layers::validate_repeats_test
