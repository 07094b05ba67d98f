#include <ephost/value.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/status_matchers.h"

namespace ephost::value_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;

TEST(ApiValue, IsZeroedAndAligned) {
  auto value = Value::allocate(ElementType::kFloat, {2, 3});
  ASSERT_THAT(value, IsOk());
  EXPECT_EQ(value->kind(), ValueKind::kTensor);
  EXPECT_THAT(value->shape(), ElementsAre(2, 3));
  EXPECT_THAT(value->elements<float>(), ::testing::Each(0.0F));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(value->bytes().data()) % 64, 0U);
}

TEST(ApiValue, WithoutContentIsOfNoKind) {
  const Value none;
  EXPECT_FALSE(none.has_value());
  EXPECT_TRUE(none.shape().empty());
  EXPECT_TRUE(none.bytes().empty());
  EXPECT_NE(none.handle(), nullptr);
}

TEST(ApiValue, CopiesShareTheMemory) {
  auto value = Value::allocate(ElementType::kInt32, {2});
  ASSERT_THAT(value, IsOk());
  Value copy = *value;
  copy.mutable_elements<int32_t>()[1] = 7;
  EXPECT_THAT(value->elements<int32_t>(), ElementsAre(0, 7));
  copy = copy;  // NOLINT(clang-diagnostic-self-assign-overloaded)
  EXPECT_THAT(copy.elements<int32_t>(), ElementsAre(0, 7));
}

TEST(ApiValue, HasElementsOfItsOwnTypeOnly) {
  auto value = Value::of<int64_t>({2}, std::array<int64_t, 2>{5, 6});
  ASSERT_THAT(value, IsOk());
  EXPECT_THAT(value->elements<int64_t>(), ElementsAre(5, 6));
  EXPECT_TRUE(value->elements<double>().empty());
}

TEST(ApiValue, WantsAsManyElementsAsTheShapeHas) {
  const auto value = Value::of<int64_t>({3}, std::array<int64_t, 2>{5, 6});
  EXPECT_EQ(value.status().code(), StatusCode::kInvalidArgument);
}

TEST(ApiValue, ReportsAShapeThatCannotBe) {
  const auto value = Value::allocate(ElementType::kFloat, {-1});
  EXPECT_EQ(value.status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(value.status().message().empty());
}

TEST(ApiValue, BorrowsMemoryOfItsSizeOnly) {
  std::array<float, 4> memory = {1, 2, 3, 4};
  const auto bytes = std::as_writable_bytes(std::span(memory));
  auto value = Value::borrow(ElementType::kFloat, {4}, bytes);
  ASSERT_THAT(value, IsOk());
  EXPECT_EQ(value->bytes().data(), bytes.data());
  EXPECT_FALSE(Value::borrow(ElementType::kFloat, {3}, bytes).ok());
}

TEST(ApiValue, ReleasesTheOwnerOfSharedMemoryWithTheLastCopy) {
  auto memory = std::make_shared<std::array<float, 2>>();
  const std::weak_ptr<std::array<float, 2>> watched = memory;
  const auto bytes = std::as_writable_bytes(std::span(*memory));
  const std::array<int64_t, 1> shape = {2};
  auto value = Value::share(ElementType::kFloat, shape, bytes, std::move(memory));
  ASSERT_THAT(value, IsOk());
  {
    const Value copy = *std::move(value);
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

TEST(ApiValue, KeepsTheOwnerOfSharedMemoryAfterAFailure) {
  auto memory = std::make_shared<std::array<float, 2>>();
  const auto bytes = std::as_writable_bytes(std::span(*memory));
  const std::array<int64_t, 1> shape = {3};
  EXPECT_FALSE(Value::share(ElementType::kFloat, shape, bytes, memory).ok());
  EXPECT_EQ(memory.use_count(), 1);
}

TEST(ApiValue, HasStringsWithZeros) {
  const std::vector<std::string> strings = {"a", std::string("b\0c", 3), ""};
  const auto value = Value::of_strings({3}, strings);
  ASSERT_THAT(value, IsOk());
  EXPECT_EQ(value->strings(), strings);
  EXPECT_TRUE(value->bytes().empty());
  EXPECT_FALSE(Value::of_strings({2}, strings).ok());
}

TEST(ApiValue, OfASequenceHasItsParts) {
  const std::vector<Value> parts = {*Value::of<float>({1}, std::array{1.0F}),
                                    *Value::of<float>({2}, std::array{2.0F, 3.0F})};
  const auto sequence = Value::sequence(parts);
  ASSERT_THAT(sequence, IsOk());
  EXPECT_EQ(sequence->kind(), ValueKind::kSequence);
  ASSERT_EQ(sequence->parts().size(), 2U);
  EXPECT_THAT(sequence->parts()[1].elements<float>(), ElementsAre(2.0F, 3.0F));
}

TEST(ApiValue, OfAMapHasKeysAndValues) {
  const auto keys = Value::of<int64_t>({2}, std::array<int64_t, 2>{1, 2});
  const auto values = Value::of<float>({2}, std::array{0.5F, 0.25F});
  const auto map = Value::map(*keys, *values);
  ASSERT_THAT(map, IsOk());
  EXPECT_THAT(map->parts()[0].elements<int64_t>(), ElementsAre(1, 2));
  EXPECT_FALSE(Value::map(*values, *keys).ok());
}

TEST(ApiValue, TellsAnOlderProgramNoMoreThanItKnows) {
  const auto value = Value::allocate(ElementType::kFloat, {2});
  ASSERT_THAT(value, IsOk());
  ephost_value_info info = {};
  info.struct_size = offsetof(ephost_value_info, shape);
  ephost_api_v1()->value->get_info(value->handle(), &info);
  EXPECT_EQ(info.element_type, EPHOST_ELEMENT_FLOAT);
  EXPECT_EQ(info.shape, nullptr);
}

}  // namespace
}  // namespace ephost::value_test
