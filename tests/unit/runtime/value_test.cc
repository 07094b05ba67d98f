#include <ephost/value.h>
#include <gtest/gtest.h>

#include <limits>

namespace ephost {
namespace {

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
  EXPECT_EQ(result.status().code(), StatusCode::kFail);
  EXPECT_NE(result.status().message().find("out of memory"), std::string::npos);
}

TEST(Value, BorrowsExactlyTheBytesOfItsShape) {
  std::vector<float> memory(4, 1.0F);
  const auto bytes = std::as_writable_bytes(std::span(memory));
  EXPECT_TRUE(Value::borrow(ElementType::kFloat, {4}, bytes).ok());
  EXPECT_EQ(Value::borrow(ElementType::kFloat, {5}, bytes).status().code(),
            StatusCode::kInvalidArgument);
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

}  // namespace
}  // namespace ephost
