#include "plugins/cpu/kernels/recurrent/recurrent.h"

#include <algorithm>
#include <string>

#include "plugins/cpu/core/parallel.h"

namespace ephost_cpu {
namespace {

void expect_shape(const eph_value* value, const char* name, const Dims& expected) {
  if (value == nullptr) return;
  const Dims shape = dims_of(*value);
  if (!(shape == expected)) {
    fail(std::string("input '") + name + "' has shape " + to_string(shape) + ", expected " +
         to_string(expected));
  }
}

}  // namespace

RecurrentAttributes::RecurrentAttributes(const eph::NodeView& node, int64_t gate_count,
                                         const std::vector<std::string_view>& defaults)
    : batch_first(node.get_int("layout", 0) != 0),
      gates(gate_count),
      hidden_size(node.get_int("hidden_size", 0)),
      clip(node.get_float("clip", 0)) {
  const std::string_view direction = node.get_string("direction", "forward");
  if (direction == "bidirectional") {
    directions = 2;
  } else if (direction == "reverse") {
    first_is_reverse = true;
  } else if (direction != "forward") {
    fail("attribute direction '" + std::string(direction) + "' is unknown");
  }
  if (clip < 0) fail("attribute clip=" + std::to_string(clip) + " is negative");
  activations = read_activations(node, directions, defaults);
}

RecurrentShape RecurrentAttributes::check(const Dims& x, const Dims& w, const Dims& r) const {
  if (x.size() != 3 || w.size() != 3 || r.size() != 3) {
    fail("X " + to_string(x) + ", W " + to_string(w) + " and R " + to_string(r) +
         " must have rank 3");
  }
  const RecurrentShape shape = {batch_first ? x[1] : x[0], batch_first ? x[0] : x[1], x[2], r[2],
                                directions};
  const auto count = static_cast<int64_t>(directions);
  const int64_t rows = checked_multiply(gates, shape.hidden);
  if (!(w == Dims{count, rows, shape.input}) || !(r == Dims{count, rows, shape.hidden})) {
    fail("W " + to_string(w) + " and R " + to_string(r) + " do not fit X " + to_string(x) +
         " with " + std::to_string(directions) + " directions");
  }
  if (hidden_size != 0 && hidden_size != shape.hidden) {
    fail("attribute hidden_size=" + std::to_string(hidden_size) + " differs from R " +
         to_string(r));
  }
  return shape;
}

void RecurrentAttributes::check_optional(const eph::Run& run, const RecurrentShape& shape) const {
  const auto count = static_cast<int64_t>(directions);
  const Dims state =
      batch_first ? Dims{shape.batch, count, shape.hidden} : Dims{count, shape.batch, shape.hidden};
  expect_shape(run.input(3), "B", {count, checked_multiply(2 * gates, shape.hidden)});
  expect_shape(run.input(4), "sequence_lens", {shape.batch});
  expect_shape(run.input(5), "initial_h", state);
  expect_shape(run.input(6), "initial_c", state);
  expect_shape(run.input(7), "P", {count, checked_multiply(3, shape.hidden)});
  if (run.input(4) == nullptr) return;
  const auto* lengths = run.input_data<int32_t>(4);
  for (int64_t b = 0; b < shape.batch; ++b) {
    if (lengths[b] < 0 || lengths[b] > shape.steps) {
      fail("a sequence of length " + std::to_string(lengths[b]) + " does not fit into " +
           std::to_string(shape.steps) + " steps");
    }
  }
}

void multiply_rows(const ProductShape& shape, const double* a, const double* b, const double* bias,
                   double* y) {
  const double cost = 0.5 * static_cast<double>(shape.k) * static_cast<double>(shape.n);
  parallel_for(shape.m, cost, [=, &shape](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t j = 0; j < shape.n; ++j) {
        double sum = shape.accumulates ? y[i * shape.n + j] : 0;
        if (bias != nullptr) sum += bias[j];
        for (int64_t c = 0; c < shape.k; ++c) sum += a[i * shape.k + c] * b[j * shape.k + c];
        y[i * shape.n + j] = sum;
      }
    }
  });
}

}  // namespace ephost_cpu
