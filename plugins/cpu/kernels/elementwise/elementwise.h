// Kernels that compute each element of the output from one element of each input, as templates over
// the operation. An operation is a class in the anonymous namespace of its file:
//
//   struct Double : Stateless {                        // or with a constructor from NodeContext
//     static constexpr double kCost = 0.2;             // nanoseconds for an element, roughly
//     template <class T> CPU_INLINE T operator()(T x) const { return x + x; }
//   };
//
// Loops over float are compiled for several instruction sets, those over other types for the
// compiler's default one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/core/simd.h"
#include "plugins/cpu/core/types.h"

namespace ephost_cpu {

// An operation without attributes.
struct Stateless {
  Stateless() = default;
  explicit Stateless(const NodeContext&) {}
};

// The operation of two operands that adds them, where integers need not wrap around.
struct PlainSum {
  static constexpr double kCost = 0.25;
  template <class T>
  CPU_INLINE T operator()(T a, T b) const {
    return a + b;
  }
};

template <class Op>
CPU_SIMD void unary_simd(Op op, const float* x, float* y, int64_t count) {
  CPU_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) y[i] = op(x[i]);
}

// Whether the magnitudes of all numbers are at most `largest`; false if one is NaN.
[[nodiscard]] bool are_within(const float* x, float largest, int64_t count);

// For operations that are accurate up to a magnitude kLargest of float, and have `exact` beyond.
template <class Op>
void unary_limited(Op op, const float* x, float* y, int64_t count) {
  constexpr int64_t kBlock = 256;
  for (int64_t at = 0; at < count; at += kBlock) {
    const int64_t length = std::min(kBlock, count - at);
    if (are_within(x + at, Op::kLargest, length)) {
      unary_simd(op, x + at, y + at, length);
    } else {
      for (int64_t i = at; i < at + length; ++i) y[i] = op.exact(x[i]);
    }
  }
}

// Strides are 0 or 1, and not both are 0 where count > 1.
template <class Op, class A, class B, class R>
CPU_INLINE void binary_strided(Op op, const A* a, int64_t a_stride, const B* b, int64_t b_stride,
                               R* y, int64_t count) {
  if (a_stride == 1 && b_stride == 1) {
    CPU_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) y[i] = op(a[i], b[i]);
  } else if (a_stride == 1) {
    const B scalar = *b;
    CPU_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) y[i] = op(a[i], scalar);
  } else {
    const A scalar = *a;
    CPU_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) y[i] = op(scalar, b[i * b_stride]);
  }
}

template <class Op>
CPU_SIMD void binary_simd(Op op, const float* a, int64_t a_stride, const float* b, int64_t b_stride,
                          float* y, int64_t count) {
  binary_strided(op, a, a_stride, b, b_stride, y, count);
}

// The loops behind pointers of one type each, so that the walk over broadcast operands and threads
// is compiled once and not for every operation and element type.
using UnaryLoop = void (*)(const void* op, const void* x, void* y, int64_t count);
using BinaryLoop = void (*)(const void* op, const void* a, int64_t a_stride, const void* b,
                            int64_t b_stride, void* y, int64_t count);

template <class Op, class T, class R>
void unary_loop(const void* op, const void* x, void* y, int64_t count) {
  const Op& typed = *static_cast<const Op*>(op);
  const T* from = static_cast<const T*>(x);
  R* to = static_cast<R*>(y);
  if constexpr (std::is_same_v<T, float> && std::is_same_v<R, float>) {
    if constexpr (requires { Op::kLargest; }) {
      unary_limited(typed, from, to, count);
    } else {
      unary_simd(typed, from, to, count);
    }
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = typed(from[i]);
  }
}

template <class Op, class A, class B, class R>
void binary_loop(const void* op, const void* a, int64_t a_stride, const void* b, int64_t b_stride,
                 void* y, int64_t count) {
  const Op& typed = *static_cast<const Op*>(op);
  const A* left = static_cast<const A*>(a);
  const B* right = static_cast<const B*>(b);
  R* to = static_cast<R*>(y);
  if constexpr (std::is_same_v<A, float> && std::is_same_v<B, float> && std::is_same_v<R, float>) {
    binary_simd(typed, left, a_stride, right, b_stride, to, count);
  } else {
    binary_strided(typed, left, a_stride, right, b_stride, to, count);
  }
}

struct UnaryOperation {
  UnaryLoop loop;
  const void* op;  // borrowed
  double cost;
  int64_t x_size, y_size;  // bytes of an element
};
void apply_unary(const UnaryOperation& operation, const void* x, void* y, int64_t count);

struct BinaryOperation {
  BinaryLoop loop;
  const void* op;  // borrowed
  double cost;
  int64_t a_size, b_size, y_size;  // bytes of an element
};
void apply_binary(const BinaryOperation& operation, const void* a, const Dims& a_shape,
                  const void* b, const Dims& b_shape, void* y, const Dims& y_shape);

// y[i] = op(x[i]). y may be x.
template <class T, class R, class Op>
void map_elements(const Op& op, const void* x, void* y, int64_t count) {
  apply_unary({&unary_loop<Op, T, R>, &op, Op::kCost, sizeof(T), sizeof(R)}, x, y, count);
}

// y = op(a, b) over the broadcast shape of a and b, which y has. y may be a or b if that has the
// same shape.
template <class A, class B, class R, class Op>
void broadcast_binary(const Op& op, const void* a, const Dims& a_shape, const void* b,
                      const Dims& b_shape, void* y, const Dims& y_shape) {
  apply_binary({&binary_loop<Op, A, B, R>, &op, Op::kCost, sizeof(A), sizeof(B), sizeof(R)}, a,
               a_shape, b, b_shape, y, y_shape);
}

// Bases of kernels whose call is a single loop if types and shapes are known in advance and the
// work is too little for a second thread: the host then calls the loop, without the checks and
// preparations of Kernel::compute.
class FlatUnary : public Kernel {
 protected:
  using Kernel::Kernel;
  // To be called by constructors, where the type of the input is known. The operation takes it and
  // gives the same; its `op` lives as long as the kernel.
  void prepare(const NodeContext& context, const UnaryOperation& operation);

 private:
  static int32_t compute_flat(eph_computation* handle, void* state, eph_run* run,
                              eph_error* error) noexcept;

  UnaryLoop loop_ = nullptr;
  const void* op_ = nullptr;
  int64_t count_ = 0;
  uint64_t x_bytes_ = 0, y_bytes_ = 0;
};

class FlatBinary : public Kernel {
 protected:
  using Kernel::Kernel;
  // As above, for inputs of one type. Other broadcasts than that of a single element are left to
  // `run`.
  void prepare(const NodeContext& context, const BinaryOperation& operation);

 private:
  static int32_t compute_flat(eph_computation* handle, void* state, eph_run* run,
                              eph_error* error) noexcept;

  BinaryLoop loop_ = nullptr;
  const void* op_ = nullptr;
  int64_t count_ = 0;
  int64_t a_stride_ = 0, b_stride_ = 0;
  uint64_t a_bytes_ = 0, b_bytes_ = 0, y_bytes_ = 0;
};

// One input, an output of its type and shape, for the element types Ts.
template <class Op, class... Ts>
class UnaryKernel final : public FlatUnary {
 public:
  explicit UnaryKernel(const NodeContext& context) : FlatUnary(context), op_(context) {
    allow_inplace(0);
    const int32_t type = context.input_type(0);
    if (((eph::element_type_of<Ts>() == type) || ...)) {
      dispatch<Ts...>(type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        prepare(context, {&unary_loop<Op, T, T>, &op_, Op::kCost, sizeof(T), sizeof(T)});
      });
    }
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const eph_value& y = allocate_output(run, 0, x.element_type, shape);
    dispatch<Ts...>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      map_elements<T, T>(op_, x.data, y.data, element_count(shape));
    });
  }

 private:
  Op op_;
};

template <class Op>
inline constexpr Factory kFloatUnary = &make<UnaryKernel<Op, float, double>>;

}  // namespace ephost_cpu
