#include "host/runtime/values/readable_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "host/graph/types.h"
#include "host/runtime/values/sparse_tensor.h"
#include "tests/support/status_matchers.h"

namespace ephost::runtime::readable_inputs_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Value numbers(const std::vector<float>& elements) {
  return *Value::of<float>({static_cast<int64_t>(elements.size())}, elements);
}

Value sparse() {
  return *Value::of_sparse({.format = SparseFormat::kCoo,
                            .shape = {2, 3},
                            .values = numbers({1, 2}),
                            .indices = {0, 1}});
}

// A number that lies an odd number of bytes behind the address of another.
class Misaligned {
 public:
  explicit Misaligned(float number) { std::memcpy(&memory_[1], &number, sizeof(number)); }
  Value value() {
    return *Value::borrow(ElementType::kFloat, {1}, std::span(memory_).subspan(1, sizeof(float)));
  }

 private:
  alignas(8) std::array<std::byte, 8> memory_{};
};

bool is_aligned(const Value& value) {
  return graph::is_aligned(value.bytes().data(), value.element_type());
}

TEST(ReadableInputs, ReplaceSparseTensorsWithinOneLimit) {
  const Value dense = numbers({5});
  const Value coo = sparse();
  const std::vector<const Value*> given = {&dense, &coo, nullptr, &coo};
  ReadableInputs inputs;
  const auto made = inputs.make(given, 48);
  ASSERT_THAT(made, IsOk());
  ASSERT_EQ(made->size(), 4U);
  EXPECT_EQ((*made)[0], &dense);
  EXPECT_THAT((*made)[1]->elements<float>(), ElementsAre(1, 2, 0, 0, 0, 0));
  EXPECT_EQ((*made)[2], nullptr);
  EXPECT_THAT((*made)[3]->elements<float>(), ElementsAre(1, 2, 0, 0, 0, 0));
  ReadableInputs others;
  EXPECT_THAT(others.make(given, 47).status().message(), HasSubstr("but 23 remain"));
}

TEST(ReadableInputs, LeaveInputsAloneWhereAllCanBeRead) {
  const Value dense = numbers({5});
  const std::vector<const Value*> given = {&dense, nullptr};
  ReadableInputs inputs;
  EXPECT_EQ(inputs.make(given, 0)->data(), given.data());
}

TEST(ReadableInputs, CopyTensorsThatAreNotAligned) {
  Misaligned three(3);
  const Value misaligned = three.value();
  ASSERT_FALSE(is_aligned(misaligned));
  const Value dense = numbers({5});
  const std::vector<const Value*> given = {&misaligned, &dense};
  ReadableInputs inputs;
  const auto made = inputs.make(given, 0);
  ASSERT_THAT(made, IsOk());
  EXPECT_TRUE(is_aligned(*(*made)[0]));
  EXPECT_THAT((*made)[0]->elements<float>(), ElementsAre(3));
  EXPECT_EQ((*made)[1], &dense);
}

TEST(ReadableInputs, LeaveTensorsWithoutElementsWhereverTheyLie) {
  alignas(8) std::array<std::byte, 8> memory{};
  const Value empty = *Value::borrow(ElementType::kFloat, {0}, std::span(memory).subspan(1, 0));
  const std::vector<const Value*> given = {&empty};
  ReadableInputs inputs;
  EXPECT_EQ(inputs.make(given, 0)->data(), given.data());
}

TEST(ReadableInputs, NeedNoCopiesOfPartsThatWereMadeWithThem) {
  Misaligned three(3);
  const Value sequence = *Value::sequence({three.value()});
  EXPECT_TRUE(is_aligned(sequence.parts()[0]));
  EXPECT_THAT(sequence.parts()[0].elements<float>(), ElementsAre(3));
  const Value map = *Value::map(*Value::of<int64_t>({1}, std::vector<int64_t>{7}), three.value());
  EXPECT_TRUE(is_aligned(map.parts()[1]));
  EXPECT_THAT(map.parts()[1].elements<float>(), ElementsAre(3));
}

TEST(IsAligned, FollowsTheTypeOfTheElements) {
  alignas(16) static const std::array<std::byte, 16> memory{};
  const auto admits = [](size_t offset, ElementType type) {
    return graph::is_aligned(&memory[offset], type);
  };
  EXPECT_TRUE(admits(1, ElementType::kInt8));
  EXPECT_TRUE(admits(1, ElementType::kInt4));
  EXPECT_TRUE(admits(1, ElementType::kString));
  EXPECT_TRUE(admits(2, ElementType::kFloat16));
  EXPECT_FALSE(admits(1, ElementType::kFloat16));
  EXPECT_FALSE(admits(2, ElementType::kFloat));
  EXPECT_FALSE(admits(4, ElementType::kInt64));
  EXPECT_TRUE(admits(4, ElementType::kComplex64));
  EXPECT_FALSE(admits(4, ElementType::kComplex128));
  EXPECT_TRUE(admits(8, ElementType::kComplex128));
}

}  // namespace
}  // namespace ephost::runtime::readable_inputs_test
