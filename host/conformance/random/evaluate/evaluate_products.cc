// MatMul and Gemm.
#include <algorithm>

#include "host/conformance/random/evaluate/evaluate.h"

namespace ephost::conformance {
namespace {

BoundedTensor transposed(const BoundedTensor& x) {
  BoundedTensor y = zeros({x.dims[1], x.dims[0]});
  const auto rows = static_cast<std::size_t>(x.dims[0]);
  const auto columns = static_cast<std::size_t>(x.dims[1]);
  for (std::size_t i = 0; i < x.numbers.size(); ++i) {
    y.numbers[i % columns * rows + i / columns] = x.numbers[i];
  }
  return y;
}

Outputs matmul(const Invocation& node) {
  BoundedTensor a = node.input(0), b = node.input(1);
  require(!a.dims.empty() && !b.dims.empty(), "a scalar");
  const bool is_row = a.dims.size() == 1, is_column = b.dims.size() == 1;
  if (is_row) a.dims.insert(a.dims.begin(), 1);
  if (is_column) b.dims.push_back(1);
  const auto rows = a.dims.end()[-2], depth = a.dims.end()[-1], columns = b.dims.end()[-1];
  require(b.dims.end()[-2] == depth, "factors that differ in their common extent");
  const Dims of_a(a.dims.begin(), a.dims.end() - 2), of_b(b.dims.begin(), b.dims.end() - 2);
  BoundedTensor y = zeros(broadcast(of_a, of_b));
  const auto matrices_a = broadcast_positions(of_a, y.dims);
  const auto matrices_b = broadcast_positions(of_b, y.dims);
  y.numbers.clear();
  for (std::size_t matrix = 0; matrix < matrices_a.size(); ++matrix) {
    const Bounded* from_a =
        a.numbers.data() + static_cast<int64_t>(matrices_a[matrix]) * rows * depth;
    const Bounded* from_b =
        b.numbers.data() + static_cast<int64_t>(matrices_b[matrix]) * depth * columns;
    for (int64_t i = 0; i < rows * columns; ++i) {
      Sum sum;
      for (int64_t k = 0; k < depth; ++k) {
        sum.add_product(from_a[i / columns * depth + k], from_b[k * columns + i % columns]);
      }
      y.numbers.push_back(sum.total());
    }
  }
  if (!is_row) y.dims.push_back(rows);
  if (!is_column) y.dims.push_back(columns);
  return {std::move(y)};
}

Outputs gemm(const Invocation& node) {
  BoundedTensor a = node.input(0), b = node.input(1);
  require(a.dims.size() == 2 && b.dims.size() == 2, "factors that are not matrices");
  if (node.integer("transA", 0) != 0) a = transposed(a);
  if (node.integer("transB", 0) != 0) b = transposed(b);
  require(a.dims[1] == b.dims[0], "factors that differ in their common extent");
  const Bounded alpha{node.real("alpha", 1), 0}, beta{node.real("beta", 1), 0};
  BoundedTensor y = zeros({a.dims[0], b.dims[1]});
  std::vector<std::size_t> of_c;
  if (node.has_input(2)) of_c = broadcast_positions(node.input(2).dims, y.dims);
  const auto columns = static_cast<std::size_t>(b.dims[1]);
  const auto depth = static_cast<std::size_t>(a.dims[1]);
  for (std::size_t i = 0; i < y.numbers.size(); ++i) {
    Sum sum;
    for (std::size_t k = 0; k < depth; ++k) {
      sum.add_product(a.numbers[i / columns * depth + k], b.numbers[k * columns + i % columns]);
    }
    y.numbers[i] = alpha * sum.total();
    if (of_c.empty()) continue;
    const Bounded addend = node.input(2).numbers[of_c[i]];
    // With a factor of 0 libraries do not read it.
    const bool may_be_ignored = beta.value == 0 && !std::isfinite(addend.value);
    y.numbers[i] = may_be_ignored ? unspecified() : y.numbers[i] + beta * addend;
  }
  return {std::move(y)};
}

}  // namespace

const Evaluations& product_evaluations() {
  static const Evaluations kEvaluations = {{"Gemm", &gemm}, {"MatMul", &matmul}};
  return kEvaluations;
}

}  // namespace ephost::conformance
