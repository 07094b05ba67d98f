#include "host/runtime/values/sparse_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "host/graph/types.h"
#include "tests/support/status_matchers.h"

namespace ephost::runtime::sparse_value_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

Value numbers(std::vector<float> values, std::vector<int64_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<int64_t>(values.size())};
  return *Value::of<float>(std::move(shape), values);
}

std::vector<float> dense_of(SparseTensor sparse) {
  const auto value = Value::of_sparse(std::move(sparse));
  EXPECT_THAT(value, IsOk());
  if (!value.ok()) return {};
  const auto dense = value->to_dense();
  EXPECT_THAT(dense, IsOk());
  const std::span<const float> elements = dense->elements<float>();
  return {elements.begin(), elements.end()};
}

std::string refusal_of(SparseTensor sparse) {
  const Status status = Value::of_sparse(std::move(sparse)).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  return status.message();
}

SparseTensor coo(std::vector<int64_t> indices) {
  return {.shape = {2, 3}, .values = numbers({1, 2}), .indices = std::move(indices)};
}
SparseTensor csr(std::vector<int64_t> columns, std::vector<int64_t> outer) {
  return {.format = SparseFormat::kCsr,
          .shape = {3, 3},
          .values = numbers({1, 2, 3}),
          .indices = std::move(columns),
          .outer_indices = std::move(outer)};
}
// Two blocks of 2 by 1 in 4 by 3.
SparseTensor blocks(std::vector<int64_t> indices) {
  return {.format = SparseFormat::kBlockSparse,
          .shape = {4, 3},
          .values = numbers({1, 2, 3, 4}, {2, 2, 1}),
          .indices = std::move(indices)};
}

TEST(SparseValue, IsDenseFromLinearIndices) {
  EXPECT_THAT(dense_of(coo({5, 0})), ElementsAre(2, 0, 0, 0, 0, 1));
}

TEST(SparseValue, IsDenseFromAnIndexForEachDimension) {
  EXPECT_THAT(dense_of(coo({1, 2, 0, 1})), ElementsAre(0, 2, 0, 0, 0, 1));
  EXPECT_THAT(dense_of({.shape = {2, 1, 2}, .values = numbers({7}), .indices = {1, 0, 1}}),
              ElementsAre(0, 0, 0, 7));
}

TEST(SparseValue, IsDenseFromCsr) {
  EXPECT_THAT(dense_of(csr({2, 0, 1}, {0, 1, 1, 3})), ElementsAre(0, 0, 1, 0, 0, 0, 2, 3, 0));
}

TEST(SparseValue, IsDenseFromBlocks) {
  EXPECT_THAT(dense_of(blocks({1, 0, 0, 2})), ElementsAre(0, 0, 3, 0, 0, 4, 1, 0, 0, 2, 0, 0));
}

TEST(SparseValue, HoldsWhatTheLastOfEqualIndicesStates) {
  EXPECT_THAT(dense_of(coo({4, 4})), ElementsAre(0, 0, 0, 0, 2, 0));
}

TEST(SparseValue, MayBeEmptyOrAScalar) {
  EXPECT_THAT(dense_of({.shape = {2}, .values = numbers({}, {0})}), ElementsAre(0, 0));
  EXPECT_THAT(dense_of({.shape = {0, 4}, .values = numbers({}, {0})}), ElementsAre());
  EXPECT_THAT(dense_of({.shape = {}, .values = numbers({3}), .indices = {0}}), ElementsAre(3));
  EXPECT_THAT(dense_of({.format = SparseFormat::kCsr, .shape = {1, 2}, .values = numbers({}, {0})}),
              ElementsAre(0, 0));
  EXPECT_THAT(dense_of({.format = SparseFormat::kBlockSparse,
                        .shape = {2, 2},
                        .values = numbers({}, {0, 2, 1})}),
              ElementsAre(0, 0, 0, 0));
}

TEST(SparseValue, HasElementsOfAllTypesOfWholeBytes) {
  for (int32_t type = 1; type <= 26; ++type) {
    const auto element = static_cast<ElementType>(type);
    if (element == ElementType::kString) continue;
    const uint32_t bits = graph::element_bits(element);
    Value values = *Value::allocate(element, {1});
    for (std::byte& byte : values.mutable_bytes()) byte = std::byte{0xa5};
    const auto sparse = Value::of_sparse({.shape = {3}, .values = values, .indices = {1}});
    ASSERT_EQ(sparse.ok(), bits >= 8) << type;
    if (!sparse.ok()) continue;
    EXPECT_EQ(sparse->kind(), ValueKind::kSparseTensor);
    EXPECT_EQ(sparse->element_type(), element);
    EXPECT_THAT(sparse->shape(), ElementsAre(3));
    EXPECT_TRUE(sparse->bytes().empty());
    const auto dense = sparse->to_dense();
    ASSERT_THAT(dense, IsOk()) << type;
    const size_t size = bits / 8;
    for (size_t i = 0; i < 3 * size; ++i) {
      EXPECT_EQ(dense->bytes()[i], std::byte{i / size == 1 ? uint8_t{0xa5} : uint8_t{0}});
    }
  }
}

TEST(SparseValue, HasStrings) {
  const Value words = *Value::of_strings({2}, {"a", "b"});
  const auto sparse = Value::of_sparse({.shape = {4}, .values = words, .indices = {3, 1}});
  ASSERT_THAT(sparse, IsOk());
  EXPECT_THAT(sparse->to_dense()->strings(), ElementsAre("", "b", "", "a"));
}

TEST(SparseValue, RefusesIndicesThatAreOutside) {
  EXPECT_THAT(refusal_of(coo({6, 0})), HasSubstr("index 0 is 6, which is outside of the tensor"));
  EXPECT_THAT(refusal_of(coo({0, -1})), HasSubstr("index 1 is -1"));
  EXPECT_THAT(refusal_of(coo({0, kHuge})), HasSubstr("index 1 is"));
  EXPECT_THAT(refusal_of(coo({0, 0, 0, 3})),
              HasSubstr("the index of value 1 in dimension 1 is 3, which is outside"));
  EXPECT_THAT(refusal_of(coo({2, 0, 0, 0})), HasSubstr("value 0 in dimension 0 is 2"));
  EXPECT_THAT(refusal_of(csr({0, 3, 0}, {0, 1, 2, 3})), HasSubstr("the column of value 1 is 3"));
  EXPECT_THAT(refusal_of(csr({0, -1, 0}, {0, 1, 2, 3})), HasSubstr("the column of value 1 is -1"));
  EXPECT_THAT(refusal_of(blocks({2, 0, 0, 0})), HasSubstr("the row of block 0 is 2"));
  EXPECT_THAT(refusal_of(blocks({0, 0, 0, 3})), HasSubstr("the column of block 1 is 3"));
  EXPECT_THAT(refusal_of(blocks({0, 0, -1, 0})), HasSubstr("the row of block 1 is -1"));
}

TEST(SparseValue, RefusesOuterIndicesThatDoNotAscend) {
  for (const std::vector<int64_t>& outer : {std::vector<int64_t>{},
                                            {0},
                                            {0, 1, 3},
                                            {0, 1, 2, 3, 3},
                                            {1, 1, 2, 3},
                                            {0, 1, 2, 2},
                                            {0, 2, 1, 3},
                                            {0, -1, 2, 3},
                                            {0, 1, kHuge, 3}}) {
    EXPECT_THAT(refusal_of(csr({0, 1, 2}, outer)),
                HasSubstr("its outer indices are not 4 ascending numbers from 0 to 3"));
  }
}

TEST(SparseValue, RefusesPartsThatDoNotFit) {
  EXPECT_THAT(refusal_of(coo({1})), HasSubstr("it has 2 values and 1 indices"));
  EXPECT_THAT(refusal_of(coo({1, 1, 1})), HasSubstr("it has 2 values and 3 indices"));
  EXPECT_THAT(refusal_of(csr({1}, {0, 1, 2, 3})), HasSubstr("it has 3 values and 1 columns"));
  EXPECT_THAT(refusal_of(blocks({1})), HasSubstr("it has 2 blocks and 1 indices"));
  SparseTensor sparse = coo({0, 1});
  sparse.outer_indices = {0};
  EXPECT_THAT(refusal_of(sparse), HasSubstr("only CSR has outer indices"));
  sparse = csr({0, 1, 2}, {0, 1, 2, 3});
  sparse.shape = {9};
  EXPECT_THAT(refusal_of(sparse), HasSubstr("CSR is for tensors of two dimensions"));
  sparse = blocks({0, 0, 0, 0});
  sparse.shape = {3, 3};
  EXPECT_THAT(refusal_of(sparse), HasSubstr("blocks of 2 do not divide dimension 0"));
  sparse.shape = {4, 1, 1};
  EXPECT_THAT(refusal_of(sparse), HasSubstr("blocks are for tensors of two dimensions"));
  sparse = blocks({0, 0, 0, 0});
  sparse.values = numbers({1, 2});
  EXPECT_THAT(refusal_of(sparse), HasSubstr("its values are not blocks"));
  sparse = coo({0, 1});
  sparse.values = numbers({1, 2}, {2, 1});
  EXPECT_THAT(refusal_of(sparse), HasSubstr("its values do not have one dimension"));
  sparse.values = Value();
  EXPECT_THAT(refusal_of(sparse), HasSubstr("its values are not a tensor"));
  sparse = coo({0, 1});
  sparse.format = SparseFormat::kUndefined;
  EXPECT_THAT(refusal_of(sparse), HasSubstr("its format is not COO, CSR or block sparse"));
}

TEST(SparseValue, RefusesShapesWithoutASize) {
  SparseTensor sparse = coo({0, 1});
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{-1}, {kHuge, kHuge}, {kHuge, 2}, {2, -3}}) {
    sparse.shape = shape;
    EXPECT_THAT(refusal_of(sparse), HasSubstr("its shape has a negative extent or is too large"));
  }
}

TEST(SparseValue, BecomesDenseWithinALimitOnly) {
  const Value large =
      *Value::of_sparse({.shape = {kHuge / 8}, .values = numbers({1}), .indices = {0}});
  EXPECT_EQ(large.to_dense().status().code(), StatusCode::kInvalidArgument);
  const Value small = *Value::of_sparse(coo({0, 1}));
  EXPECT_THAT(small.to_dense(24), IsOk());
  EXPECT_THAT(small.to_dense(23).status().message(),
              HasSubstr("needs 24 bytes, but 23 remain of session.sparse_initializers_max_bytes"));
}

TEST(SparseValue, IsNoPartOfOtherValues) {
  const Value sparse = *Value::of_sparse(coo({0, 1}));
  EXPECT_THAT(Value::sequence({sparse}).status().message(),
              HasSubstr("sequences and maps cannot hold sparse tensors"));
  EXPECT_EQ(Value::map(numbers({1}), sparse).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Value::of_sparse({.shape = {1}, .values = sparse, .indices = {0}}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(SparseValue, ShowsItsParts) {
  const Value sparse = *Value::of_sparse(csr({2, 0, 1}, {0, 1, 1, 3}));
  ASSERT_NE(sparse.sparse(), nullptr);
  EXPECT_EQ(sparse.sparse()->format, SparseFormat::kCsr);
  EXPECT_THAT(sparse.sparse()->outer_indices, ElementsAre(0, 1, 1, 3));
  EXPECT_EQ(sparse.sparse()->values.elements<float>()[2], 3);
  EXPECT_EQ(numbers({1}).sparse(), nullptr);
  EXPECT_EQ(sparse.element_count(), 0U);
}

}  // namespace
}  // namespace ephost::runtime::sparse_value_test
