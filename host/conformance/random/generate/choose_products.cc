// MatMul and Gemm, of every rank and with every kind of second factor.
#include <algorithm>

#include "host/conformance/random/generate/random_graph.h"

namespace ephost::conformance {
namespace {

const std::vector<int64_t>& widths() {
  static const std::vector<int64_t> kWidths = {1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33};
  return kWidths;
}

// Batch dimensions for the other factor: none, or ones that broadcast with those of x.
Dims batch_dims(RandomGraph& graph, const std::string& x) {
  const Dims& dims = graph.dims(x);
  if (dims.size() <= 2 || graph.dice().one_in(2)) {
    return graph.dice().one_in(8) ? Dims{graph.dice().roll(1, 3)} : Dims{};
  }
  Dims batch;
  for (std::size_t i = 0; i + 2 < dims.size(); ++i) {
    batch.push_back(graph.is_open(x, i) || graph.dice().one_in(2) ? 1 : dims[i]);
  }
  if (graph.dice().one_in(3)) batch.erase(batch.begin());
  return batch;
}

bool add_matmul(RandomGraph& graph) {
  const std::string x = *graph.pick();
  const Dims& dims = graph.dims(x);
  if (dims.empty()) return false;
  Dims other = batch_dims(graph, x);
  const bool is_left = dims.size() == 1 ? graph.dice().one_in(3) : !graph.dice().one_in(5);
  const int64_t depth = is_left || dims.size() == 1 ? dims.back() : dims.end()[-2];
  const int64_t width = graph.dice().pick(widths());
  if (graph.dice().one_in(12)) {
    other = {depth};
  } else {
    other.insert(other.end(), {is_left ? depth : width, is_left ? width : depth});
  }
  std::vector<std::string> inputs = {x, graph.weights(other, Range::weights(depth))};
  if (!is_left) std::reverse(inputs.begin(), inputs.end());
  return graph.add(Draft("MatMul", inputs)).has_value();
}

// The product of two values, the second one transposed where that makes them fit.
bool add_product_of_values(RandomGraph& graph) {
  const std::string x = *graph.pick();
  const std::string other = graph.pick_like(x).value_or(x);
  const std::size_t rank = graph.dims(x).size();
  if (rank < 2) return graph.add(Draft("MatMul", {x, other})).has_value();
  Dims perm(rank);
  for (std::size_t i = 0; i < rank; ++i) perm[i] = static_cast<int64_t>(i);
  std::swap(perm[rank - 1], perm[rank - 2]);
  const auto transposed = graph.add(Draft("Transpose", {other}).integers("perm", perm));
  return transposed && graph.add(Draft("MatMul", {x, *transposed}));
}

bool add_gemm(RandomGraph& graph) {
  const auto found = graph.pick(2, 2);
  if (!found) return false;
  Dice& dice = graph.dice();
  const std::string& x = *found;
  const bool swaps_a = dice.one_in(4), swaps_b = dice.one_in(3);
  const int64_t rows = graph.dims(x)[swaps_a ? 1 : 0], depth = graph.dims(x)[swaps_a ? 0 : 1];
  const int64_t columns = dice.pick(widths());
  Draft draft("Gemm", {x, graph.weights(swaps_b ? Dims{columns, depth} : Dims{depth, columns},
                                        Range::weights(depth))});
  const std::vector<Dims> addends = {{columns}, {columns}, {1, columns}, {1, 1},
                                     {1},       {},        {rows, 1},    {rows, columns}};
  if (graph.opset() < 11 || !dice.one_in(4)) {
    draft.read(graph.weights(dice.pick(addends), {-2, 2}));
  }
  if (swaps_a) draft.integer("transA", 1);
  if (swaps_b) draft.integer("transB", 1);
  if (dice.one_in(3)) draft.real("alpha", dice.real(-2, 2));
  if (dice.one_in(3)) draft.real("beta", dice.one_in(4) ? 0 : dice.real(-2, 2));
  return graph.add(draft).has_value();
}

// Gemm wants a matrix.
bool add_flattened_gemm(RandomGraph& graph) {
  const auto x = graph.pick(1, 5);
  if (!x) return false;
  const auto matrix = graph.add(Draft("Flatten", {*x}).integer("axis", 1));
  return matrix && add_gemm(graph);
}

}  // namespace

const Choices& product_choices() {
  static const Choices kChoices = {
      {14, &add_matmul}, {2, &add_product_of_values}, {8, &add_gemm}, {3, &add_flattened_gemm}};
  return kChoices;
}

}  // namespace ephost::conformance
