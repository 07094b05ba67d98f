#include "host/runtime/values/value.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/status_matchers.h"

namespace ephost::runtime::value_test {
namespace {

using test::IsOk;

TEST(Value, OwnsZeroedAlignedMemory) {
  const Value value = *Value::allocate(ElementType::kFloat, {2, 3});
  EXPECT_EQ(value.element_count(), 6U);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(value.bytes().data()) % 64, 0U);
  for (const float element : value.elements<float>()) EXPECT_EQ(element, 0);
}

TEST(Value, HasAnEmptyTensorWithAShape) {
  const Value value = *Value::allocate(ElementType::kInt64, {0, 5});
  EXPECT_TRUE(value.has_value());
  EXPECT_EQ(value.element_count(), 0U);
}

TEST(Value, RefusesShapesWithoutASize) {
  const auto code = [](ElementType type, std::vector<int64_t> shape) {
    return Value::allocate(type, std::move(shape)).status().code();
  };
  EXPECT_EQ(code(ElementType::kFloat, {-1}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(ElementType::kUndefined, {1}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(ElementType::kFloat, {std::numeric_limits<int64_t>::max(), 4}),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code(ElementType::kString, {-1}), StatusCode::kInvalidArgument);
}

TEST(Value, ReportsMemoryThatIsNotThere) {
  const auto result = Value::allocate(ElementType::kUint8, {int64_t{1} << 60});
  EXPECT_EQ(result.status().code(), StatusCode::kOutOfMemory);
  EXPECT_NE(result.status().message().find("out of memory"), std::string::npos);
}

TEST(Value, BorrowsExactlyTheBytesOfItsShape) {
  std::vector<float> memory(4, 1.0F);
  const auto bytes = std::as_writable_bytes(std::span(memory));
  EXPECT_THAT(Value::borrow(ElementType::kFloat, {4}, bytes), IsOk());
  EXPECT_EQ(Value::borrow(ElementType::kFloat, {5}, bytes).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(Value, BorrowsNothingAtTheNullAddress) {
  const std::span<std::byte> nothing(static_cast<std::byte*>(nullptr), 16);
  const auto refused = Value::borrow(ElementType::kFloat, {4}, nothing);
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("null address"), std::string::npos);
  EXPECT_THAT(Value::borrow(ElementType::kFloat, {0}, nothing.first(0)), IsOk());
}

TEST(Value, CopiesElements) {
  const std::vector<int32_t> numbers = {1, 2, 3};
  const Value value = *Value::of<int32_t>({3}, numbers);
  EXPECT_EQ(value.elements<int32_t>()[2], 3);
  EXPECT_TRUE(value.elements<float>().empty());
  EXPECT_EQ(Value::of<int32_t>({4}, numbers).status().code(), StatusCode::kInvalidArgument);
}

TEST(Value, HoldsText) {
  const Value value = *Value::of_strings({2}, {"a", "b"});
  EXPECT_EQ(value.strings()[1], "b");
  EXPECT_EQ(Value::of_strings({3}, {"a"}).status().code(), StatusCode::kInvalidArgument);
}

TEST(Value, MakesSequencesOfOneKind) {
  const Value number = *Value::allocate(ElementType::kFloat, {2});
  const Value text = *Value::of_strings({1}, {"a"});
  const Value sequence = *Value::sequence({number, number});
  EXPECT_EQ(sequence.kind(), ValueKind::kSequence);
  EXPECT_EQ(sequence.element_type(), ElementType::kFloat);
  EXPECT_EQ(sequence.parts()[1].bytes().data(), number.bytes().data());
  EXPECT_EQ(Value::sequence({number, text}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Value::sequence({number, Value()}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Value::sequence({}, ElementType::kInt8)->element_type(), ElementType::kInt8);
  EXPECT_TRUE(sequence.elements<float>().empty());
}

TEST(Value, MakesMapsWithAsManyValuesAsKeys) {
  const Value keys = *Value::of_strings({2}, {"a", "b"});
  const Value numbers = *Value::allocate(ElementType::kFloat, {2});
  const Value map = *Value::map(keys, numbers);
  EXPECT_EQ(map.kind(), ValueKind::kMap);
  EXPECT_EQ(map.element_type(), ElementType::kString);
  EXPECT_EQ(map.parts()[0].strings()[1], "b");
  EXPECT_THAT(Value::map(keys, *Value::sequence({numbers, numbers})), IsOk());
  EXPECT_EQ(Value::map(numbers, numbers).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Value::map(keys, *Value::allocate(ElementType::kFloat, {3})).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(Value, HoldsNothing) {
  EXPECT_FALSE(Value().has_value());
  EXPECT_EQ(Value().kind(), ValueKind::kNone);
  EXPECT_TRUE(Value().parts().empty());
}

}  // namespace
}  // namespace ephost::runtime::value_test
