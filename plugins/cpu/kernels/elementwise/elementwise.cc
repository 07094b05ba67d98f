#include "plugins/cpu/kernels/elementwise/elementwise.h"

#include <cmath>
#include <optional>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/kernels/elementwise/broadcast.h"

namespace ephost_cpu {
namespace {

const char* advance(const void* data, int64_t elements, int64_t size) {
  return static_cast<const char*>(data) + elements * size;
}
char* advance(void* data, int64_t elements, int64_t size) {
  return static_cast<char*>(data) + elements * size;
}

// The number of elements if computing them on one thread is cheaper; 0 otherwise, or if unknown.
int64_t small_count(std::optional<eph::ArrayView<int64_t>> shape, double cost) {
  if (!shape) return 0;
  const int64_t count = element_count(*shape);
  return static_cast<double>(count) * cost <= kParallelWork ? count : 0;
}

// The stride of `from` in a flat loop over `to`: 1, or 0 for a single element; nothing if one
// stride is not enough.
std::optional<int64_t> flat_stride(eph::ArrayView<int64_t> from, eph::ArrayView<int64_t> to) {
  if (is_equal(from, to)) return 1;
  if (from.size() <= to.size() && element_count(from) == 1) return 0;
  return std::nullopt;
}

uint64_t byte_count(int64_t elements, int64_t size) {
  return static_cast<uint64_t>(elements) * static_cast<uint64_t>(size);
}

CPU_SIMD int32_t count_beyond(const float* x, float largest, int64_t count) {
  int32_t beyond = 0;
  for (int64_t i = 0; i < count; ++i) beyond += std::fabs(x[i]) <= largest ? 0 : 1;
  return beyond;
}

}  // namespace

void FlatUnary::prepare(const NodeContext& context, const UnaryOperation& operation) {
  const auto x = context.input_extents(0);
  const auto y = context.output_extents(0);
  count_ = small_count(y, operation.cost);
  if (count_ == 0 || !x || !is_equal(*x, *y)) return;
  if (context.input_type(0) != context.output_type(0)) return;
  loop_ = operation.loop;
  op_ = operation.op;
  x_bytes_ = byte_count(count_, operation.x_size);
  y_bytes_ = byte_count(count_, operation.y_size);
  compute_directly<&FlatUnary::compute_flat>();
}

// The sizes are compared to stay inside the memory, whatever shapes the host has stated.
int32_t FlatUnary::compute_flat(eph_computation* handle, void* state, eph_run* run,
                                eph_error* error) noexcept {
  const auto& self = *static_cast<const FlatUnary*>(handle);
  const eph_value& x = *run->inputs[0];
  const eph_value& y = *run->outputs[0];
  if (x.byte_size != self.x_bytes_ || y.byte_size != self.y_bytes_ || y.data == nullptr) {
    return do_compute(handle, state, run, error);
  }
  self.loop_(self.op_, x.data, y.data, self.count_);
  return EPH_OK;
}

void FlatBinary::prepare(const NodeContext& context, const BinaryOperation& operation) {
  const auto a = context.input_extents(0);
  const auto b = context.input_extents(1);
  const auto y = context.output_extents(0);
  count_ = small_count(y, operation.cost);
  if (count_ == 0 || !a || !b) return;
  const int32_t type = context.input_type(0);
  if (context.input_type(1) != type || context.output_type(0) != type) return;
  const std::optional<int64_t> a_stride = flat_stride(*a, *y);
  const std::optional<int64_t> b_stride = flat_stride(*b, *y);
  if (!a_stride || !b_stride || *a_stride + *b_stride == 0) return;
  loop_ = operation.loop;
  op_ = operation.op;
  a_stride_ = *a_stride;
  b_stride_ = *b_stride;
  a_bytes_ = byte_count(a_stride_ == 0 ? 1 : count_, operation.a_size);
  b_bytes_ = byte_count(b_stride_ == 0 ? 1 : count_, operation.b_size);
  y_bytes_ = byte_count(count_, operation.y_size);
  compute_directly<&FlatBinary::compute_flat>();
}

int32_t FlatBinary::compute_flat(eph_computation* handle, void* state, eph_run* run,
                                 eph_error* error) noexcept {
  const auto& self = *static_cast<const FlatBinary*>(handle);
  const eph_value& a = *run->inputs[0];
  const eph_value& b = *run->inputs[1];
  const eph_value& y = *run->outputs[0];
  if (a.byte_size != self.a_bytes_ || b.byte_size != self.b_bytes_ ||
      y.byte_size != self.y_bytes_ || y.data == nullptr) {
    return do_compute(handle, state, run, error);
  }
  self.loop_(self.op_, a.data, self.a_stride_, b.data, self.b_stride_, y.data, self.count_);
  return EPH_OK;
}

bool are_within(const float* x, float largest, int64_t count) {
  return count_beyond(x, largest, count) == 0;
}

void apply_unary(const UnaryOperation& operation, const void* x, void* y, int64_t count) {
  parallel_for(count, operation.cost, [&](int64_t begin, int64_t end) {
    operation.loop(operation.op, advance(x, begin, operation.x_size),
                   advance(y, begin, operation.y_size), end - begin);
  });
}

void apply_binary(const BinaryOperation& operation, const void* a, const Dims& a_shape,
                  const void* b, const Dims& b_shape, void* y, const Dims& y_shape) {
  const Broadcast<2> broadcast(y_shape, {a_shape, b_shape});
  broadcast.for_each_row(operation.cost,
                         [&](int64_t at, const auto& offsets, const auto& strides, int64_t count) {
                           operation.loop(operation.op, advance(a, offsets[0], operation.a_size),
                                          strides[0], advance(b, offsets[1], operation.b_size),
                                          strides[1], advance(y, at, operation.y_size), count);
                         });
}

}  // namespace ephost_cpu
