#include <ephost/element_info.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace ephost::element_info_test {
namespace {

TEST(ElementInfo, NamesTypesAsOnnxDoes) {
  EXPECT_EQ(element_type_name(ElementType::kBfloat16), "bfloat16");
  EXPECT_EQ(element_type_name(static_cast<ElementType>(99)), "undefined");
}

TEST(ElementInfo, PacksFourBitElementsInPairs) {
  EXPECT_EQ(element_bits(ElementType::kInt4), 4U);
  EXPECT_EQ(tensor_bytes(ElementType::kInt4, std::array<int64_t, 1>{3}), 2U);
}

TEST(ElementInfo, PacksTwoBitElementsInFours) {
  EXPECT_EQ(element_bits(ElementType::kUint2), 2U);
  EXPECT_EQ(tensor_bytes(ElementType::kUint2, std::array<int64_t, 1>{5}), 2U);
}

TEST(ElementInfo, HasNoSizeForStringsAndOverflow) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(tensor_bytes(ElementType::kString, std::array<int64_t, 1>{3}));
  EXPECT_FALSE(tensor_bytes(ElementType::kFloat, std::array<int64_t, 2>{kMost, 8}));
}

}  // namespace
}  // namespace ephost::element_info_test
