// What a worker may do with the arguments of compute.
#include "host/worker/tables/remote_run.h"

#include "host/worker/transport/channel_page.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/worker/tables/replayed_calls.h"

namespace ephost::worker::remote_run_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

std::string make_tensor(int64_t count) {
  wire::Callback callback = asking(wire::RUN_MAKE_TENSOR);
  callback.set_element_type(EPH_ELEMENT_FLOAT);
  callback.add_shape(count);
  return callback.SerializeAsString();
}

std::string make_sequence(uint32_t base, const std::vector<uint32_t>& inserted) {
  wire::Callback callback = asking(wire::RUN_MAKE_SEQUENCE);
  callback.set_number(base);
  for (const uint32_t number : inserted) callback.add_numbers(number);
  return callback.SerializeAsString();
}

std::string set_output(uint32_t number) {
  wire::Callback callback = asking(wire::RUN_SET_OUTPUT);
  callback.set_number(number);
  return callback.SerializeAsString();
}

std::string write_tensor(uint32_t number, const std::vector<float>& elements) {
  wire::Callback callback = asking(wire::RUN_WRITE_TENSORS);
  wire::TensorContent& content = *callback.add_contents();
  content.set_number(number);
  content.set_content(elements.data(), elements.size() * sizeof(float));
  return callback.SerializeAsString();
}

std::string allocate(int64_t count) {
  wire::Callback callback = asking(wire::RUN_ALLOCATE_OUTPUT);
  callback.set_element_type(EPH_ELEMENT_FLOAT);
  callback.add_shape(count);
  return callback.SerializeAsString();
}

// In the hot area, once the worker has the staging memory.
class AnswerOfCompute : public ReplayedCalls {
 protected:
  void SetUp() override { ASSERT_THAT(compute(Replay().relay()), IsOk()); }
};

TEST_F(AnswerOfCompute, IsTakenWithItsMessage) {
  const auto code = compute(Replay().answer(plain_answer(7, "seven", 5)));
  ASSERT_THAT(code, IsOk());
  EXPECT_EQ(*code, 7);
  EXPECT_EQ(error_.message, "seven");
}

TEST_F(AnswerOfCompute, MayHaveAnyCode) {
  const auto code = compute(Replay().answer(plain_answer(INT32_MIN, "", 0)));
  ASSERT_THAT(code, IsOk());
  EXPECT_EQ(*code, INT32_MIN);
}

TEST_F(AnswerOfCompute, MayEndWithItsMessage) {
  const auto code =
      compute(Replay().answer_hot(plain_answer(0, std::string(48, 'a'), 48), 16 + 48));
  ASSERT_THAT(code, IsOk());
  EXPECT_EQ(error_.message, std::string(48, 'a'));
}

TEST_F(AnswerOfCompute, IsNotShorterThanItsHeader) {
  EXPECT_THAT(rejection(Replay().answer_hot(plain_answer(0, "", 0), 15)),
              HasSubstr("it sent an answer of compute that is too short"));
}

TEST_F(AnswerOfCompute, IsNotLongerThanTheHotArea) {
  EXPECT_THAT(rejection(Replay().answer_hot(plain_answer(0, "", 0), kHotAreaBytes + 1)),
              HasSubstr("it sent an answer of " + std::to_string(kHotAreaBytes + 1) + " bytes"));
}

TEST_F(AnswerOfCompute, HasNoMessageThatIsLongerByAByte) {
  EXPECT_THAT(rejection(Replay().answer_hot(plain_answer(0, "", 49), 16 + 48)),
              HasSubstr("with a message that is longer than itself"));
}

TEST_F(AnswerOfCompute, HasNoMessageWithoutEnd) {
  EXPECT_THAT(rejection(Replay().answer_hot(plain_answer(0, "", UINT64_MAX), 64)),
              HasSubstr("with a message that is longer than itself"));
}

using RemoteRunValues = ReplayedCalls;

// x is value 1, so the tensor is value 2.
TEST_F(RemoteRunValues, AreStillThereAfterASequenceWasRefused) {
  const std::vector<float> elements(1000, 3);
  const auto code = compute(Replay()
                                .ask(make_tensor(1000))
                                .ask(make_sequence(2, {}))
                                .ask(write_tensor(2, elements))
                                .ask(set_output(2))
                                .relay());
  ASSERT_THAT(code, IsOk());
  EXPECT_EQ(*code, EPH_OK) << error_.message;
  ASSERT_EQ(output().byte_size, 4000U);
  EXPECT_EQ(static_cast<const float*>(output().data)[999], 3);
}

TEST_F(RemoteRunValues, CannotBeWrittenAsASequence) {
  EXPECT_THAT(rejection(Replay()
                            .ask(make_tensor(1000))
                            .ask(make_sequence(0, {2}))
                            .ask(write_tensor(3, std::vector<float>(1000, 3)))
                            .relay()),
              HasSubstr("wrote 4000 bytes at 0 of value 3 of a run, which is not a tensor"));
}

TEST_F(RemoteRunValues, CannotBeWrittenWithAnotherSize) {
  EXPECT_THAT(rejection(Replay()
                            .ask(make_tensor(1000))
                            .ask(write_tensor(2, std::vector<float>(1001, 3)))
                            .relay()),
              HasSubstr("wrote 4004 bytes at 0 of value 2 of a run, which is not a tensor"));
}

TEST_F(RemoteRunValues, ExistBeforeTheyAreNamed) {
  EXPECT_THAT(rejection(Replay().ask(set_output(3)).relay()),
              HasSubstr("names value 3 of a run, which does not exist"));
}

TEST_F(RemoteRunValues, AreWrittenInPieces) {
  wire::Callback callback = asking(wire::RUN_WRITE_TENSORS);
  for (const uint64_t first : {0, 2}) {
    const auto before = static_cast<float>(first);
    const std::vector<float> piece = {before + 1, before + 2};
    wire::TensorContent& content = *callback.add_contents();
    content.set_number(2);
    content.set_offset(first * sizeof(float));
    content.set_content(piece.data(), piece.size() * sizeof(float));
  }
  const auto code = compute(
      Replay().ask(make_tensor(4)).ask(callback.SerializeAsString()).ask(set_output(2)).relay());
  ASSERT_THAT(code, IsOk());
  const auto* const elements = static_cast<const float*>(output().data);
  EXPECT_THAT(std::vector(elements, elements + 4), ::testing::ElementsAre(1, 2, 3, 4));
}

TEST_F(RemoteRunValues, AreNotWrittenBeyondTheirEnd) {
  for (const uint64_t offset : {uint64_t{13}, uint64_t{17}, UINT64_MAX}) {
    SCOPED_TRACE(offset);
    ReplayedCalls::start();
    wire::Callback callback = asking(wire::RUN_WRITE_TENSORS);
    wire::TensorContent& content = *callback.add_contents();
    content.set_number(2);
    content.set_offset(offset);
    content.set_content("1234");
    EXPECT_THAT(rejection(Replay().ask(make_tensor(4)).ask(callback.SerializeAsString()).relay()),
                HasSubstr("wrote 4 bytes at " + std::to_string(offset) + " of value 2 of a run"));
  }
}

using LateOutputs = ReplayedCalls;

TEST_F(LateOutputs, TakeFewDescriptorsHoweverOftenTheyAreAllocated) {
  Replay replay;
  for (int64_t i = 1; i <= 2000; ++i) replay.ask(allocate(i % 2 == 0 ? i : 10000 + i));
  replay.relay();
  ASSERT_THAT(compute(Replay().relay()), IsOk());
  const auto code = compute(replay, 40);
  ASSERT_THAT(code, IsOk());
  EXPECT_EQ(*code, EPH_OK) << error_.message;
}

TEST_F(LateOutputs, FailWhereTheHostHasNoDescriptorLeft) {
  if (kNeedsDescriptors) GTEST_SKIP() << "the sanitizer opens some itself";
  ASSERT_THAT(compute(Replay().relay()), IsOk());
  // More than is left of the staging memory of the input.
  const auto failed = compute(Replay().ask(allocate(20'000)).relay(), 0);
  ASSERT_THAT(failed, IsOk());
  EXPECT_EQ(*failed, EPH_FAIL);
  EXPECT_THAT(error_.message, HasSubstr("Too many open files"));
  const auto code = compute(Replay().ask(allocate(20'000)).relay());
  ASSERT_THAT(code, IsOk());
  EXPECT_EQ(*code, EPH_OK) << error_.message;
}

class MemoryOfTheHost : public ReplayedCalls {
 protected:
  void SetUp() override {
    if (EPH_BUILD_FLAGS != 0) GTEST_SKIP() << "the sanitizer needs more memory in the worker";
    start({.memory = uint64_t{64} << 20});
  }

  // With the message in `error_`.
  int32_t code_of(const Replay& replay) {
    const auto code = compute(replay);
    EXPECT_THAT(code, IsOk());
    return code.ok() ? *code : EPH_EP_FAIL;
  }
};

TEST_F(MemoryOfTheHost, IsLimitedForOutputs) {
  EXPECT_EQ(code_of(Replay().ask(allocate(16'000'000)).ask(allocate(16'500'000)).relay()), EPH_OK);
  EXPECT_EQ(code_of(Replay().ask(allocate(17'000'000)).relay()), EPH_OUT_OF_MEMORY);
  EXPECT_THAT(error_.message, HasSubstr("may take 67108864 bytes"));
  EXPECT_EQ(code_of(Replay().ask(allocate(INT64_MAX / 2)).relay()), EPH_OUT_OF_MEMORY);
  EXPECT_THAT(error_.message, HasSubstr("may take 67108864 bytes"));
  EXPECT_EQ(code_of(Replay().ask(allocate(100)).relay()), EPH_OK);
}

TEST_F(MemoryOfTheHost, IsLimitedForValuesThatAreMadeInACall) {
  EXPECT_EQ(code_of(Replay().ask(make_tensor(6'000'000), 3).relay()), EPH_OUT_OF_MEMORY);
  EXPECT_THAT(error_.message, HasSubstr("has 48000000 bytes when it asks for 24000000 more"));
  const std::string sequence = make_sequence(0, std::vector<uint32_t>(100'000, 2));
  EXPECT_EQ(code_of(Replay().ask(make_tensor(1)).ask(sequence, 20).relay()), EPH_OUT_OF_MEMORY);
  EXPECT_EQ(code_of(Replay().ask(make_tensor(6'000'000), 2).relay()), EPH_OK);
}

class RemoteRunObjects : public ReplayedCalls {
 protected:
  RemoteRunObjects() : ReplayedCalls(runtime::testing::sequence_line()) {}
};

TEST_F(RemoteRunObjects, AreStillThereAfterTheOutputRefusedThem) {
  const std::vector<float> elements(1000, 3);
  const auto code = compute(Replay()
                                .ask(make_tensor(1000))
                                .ask(set_output(2))
                                .ask(write_tensor(2, elements))
                                .ask(make_sequence(0, {2}))
                                .ask(set_output(3))
                                .relay());
  ASSERT_THAT(code, IsOk());
  EXPECT_EQ(*code, EPH_OK) << error_.message;
  ASSERT_EQ(output().byte_size, sizeof(eph_value));
  const auto* const element = static_cast<const eph_value*>(output().data);
  EXPECT_EQ(static_cast<const float*>(element->data)[999], 3);
}

}  // namespace
}  // namespace ephost::worker::remote_run_test
