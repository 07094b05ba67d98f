#include "host/graph/types.h"

#include <gtest/gtest.h>

#include <limits>

namespace ephost::graph::types_test {
namespace {

TEST(Types, KnowsTheSizeAndNameOfEachElementType) {
  EXPECT_EQ(element_bits(ElementType::kFloat), 32u);
  EXPECT_EQ(element_bits(ElementType::kComplex128), 128u);
  EXPECT_EQ(element_bits(ElementType::kInt4), 4u);
  EXPECT_EQ(element_bits(ElementType::kInt2), 2u);
  EXPECT_EQ(element_bits(ElementType::kFloat8E8M0), 8u);
  EXPECT_EQ(element_bits(ElementType::kString), 0u);
  EXPECT_EQ(element_type_name(ElementType::kBfloat16), "bfloat16");
  EXPECT_EQ(element_type_name(ElementType::kFloat4E2M1), "float4e2m1");
  EXPECT_EQ(element_type_name(ElementType::kFloat8E8M0), "float8e8m0");
  EXPECT_EQ(element_type_name(ElementType::kUint2), "uint2");
  EXPECT_EQ(element_type_name(ElementType::kInt2), "int2");
  EXPECT_EQ(element_type_name(static_cast<ElementType>(27)), "undefined");
  EXPECT_EQ(element_type_name(static_cast<ElementType>(99)), "undefined");
  EXPECT_EQ(element_type_name(static_cast<ElementType>(-1)), "undefined");
}

TEST(Types, PacksFourBitElementsTwoToAByte) {
  EXPECT_EQ(byte_size(ElementType::kUint4, Shape{3}), 2u);
  EXPECT_EQ(byte_size(ElementType::kUint4, Shape{2, 2}), 2u);
}

TEST(Types, PacksTwoBitElementsFourToAByte) {
  EXPECT_EQ(byte_size(ElementType::kUint2, Shape{0}), 0u);
  EXPECT_EQ(byte_size(ElementType::kUint2, Shape{4}), 1u);
  EXPECT_EQ(byte_size(ElementType::kInt2, Shape{5}), 2u);
  EXPECT_EQ(byte_size(ElementType::kInt2, Shape{3, 3}), 3u);
  const int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(byte_size(ElementType::kInt2, Shape{huge}), uint64_t{1} << 61);
}

TEST(Types, SizesDenseTensors) {
  EXPECT_EQ(byte_size(ElementType::kFloat, Shape{2, 3}), 24u);
  EXPECT_EQ(byte_size(ElementType::kDouble, Shape{}), 8u);
  EXPECT_EQ(byte_size(ElementType::kInt8, Shape{5, 0}), 0u);
}

TEST(Types, GivesNoSizeForDynamicShapesStringsAndOverflow) {
  EXPECT_FALSE(byte_size(ElementType::kFloat, Shape{2, kUnknownDim}));
  EXPECT_FALSE(byte_size(ElementType::kString, Shape{2}));
  const int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(byte_size(ElementType::kDouble, Shape{huge}));
  EXPECT_FALSE(element_count(Shape{huge, 2}));
  EXPECT_EQ(element_count(Shape{huge, huge, 0}), 0u);
}

TEST(Types, NumbersSymbolicDimensionsBelowTheUnknownOne) {
  EXPECT_TRUE(is_symbolic_dim(symbolic_dim(0)));
  EXPECT_EQ(dim_symbol(symbolic_dim(7)), 7u);
  EXPECT_FALSE(is_symbolic_dim(kUnknownDim));
  EXPECT_FALSE(is_static({1, kUnknownDim}));
  EXPECT_TRUE(is_static({}));
}

TEST(Types, PrintsTensorsWithSymbolsAndUnknownDimensions) {
  const std::vector<std::string> symbols{"batch"};
  const ValueType type{.kind = ValueKind::kTensor,
                       .element = ElementType::kFloat,
                       .shape = Shape{1, symbolic_dim(0), kUnknownDim, symbolic_dim(9)}};
  EXPECT_EQ(to_string(type, symbols), "float[1,batch,?,?]");
  EXPECT_EQ(to_string({.kind = ValueKind::kTensor, .element = ElementType::kInt8}, {}), "int8");
  EXPECT_EQ(to_string({}, {}), "?");
}

TEST(Types, PrintsNestedTypes) {
  const auto tensor = std::make_shared<const ValueType>(ValueType{
      .kind = ValueKind::kTensor, .element = ElementType::kInt64, .shape = Shape{kUnknownDim}});
  const auto sequence =
      std::make_shared<const ValueType>(ValueType{.kind = ValueKind::kSequence, .nested = tensor});
  EXPECT_EQ(to_string(*sequence, {}), "seq(int64[?])");
  EXPECT_EQ(to_string({.kind = ValueKind::kOptional, .nested = sequence}, {}),
            "optional(seq(int64[?]))");
  const ValueType map{.kind = ValueKind::kMap, .element = ElementType::kString, .nested = tensor};
  EXPECT_EQ(to_string(map, {}), "map(string,int64[?])");
}

TEST(Types, BlobsShareTheirOwner) {
  Blob copy;
  {
    const Blob blob = make_blob({std::byte{1}, std::byte{2}});
    copy = blob;
  }
  ASSERT_EQ(copy.bytes.size(), 2u);
  EXPECT_EQ(copy.bytes[1], std::byte{2});
}

}  // namespace
}  // namespace ephost::graph::types_test
