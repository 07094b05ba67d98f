#include "plugins/cpu/elementwise.h"

#include "plugins/cpu/broadcast.h"
#include "plugins/cpu/parallel.h"

namespace cpu {
namespace {

const char* advance(const void* data, int64_t elements, int64_t size) {
  return static_cast<const char*>(data) + elements * size;
}
char* advance(void* data, int64_t elements, int64_t size) {
  return static_cast<char*>(data) + elements * size;
}

}  // namespace

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

}  // namespace cpu
