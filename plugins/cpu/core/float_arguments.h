// FloatArguments: for kernels whose inputs may be of several types while they compute in float or
// double. Inputs of another type are converted into scratch memory, outputs of another type are
// computed there and converted at the end. Everything else is read and written in place. float16
// and bfloat16 only get here where a kernel lists them itself; else widening.h has made them float.
#pragma once

#include <array>
#include <cstdint>
#include <ephost/sdk/computation.hpp>

#include "plugins/cpu/core/kernel.h"

namespace ephost_cpu {

// The type that such a kernel computes in: double for double, float for the others.
[[nodiscard]] constexpr int32_t compute_type(int32_t element_type) {
  return element_type == EPH_ELEMENT_DOUBLE ? EPH_ELEMENT_DOUBLE : EPH_ELEMENT_FLOAT;
}

// Calls f(Tag<T>{}) with the T that elements of that type are computed in.
template <class F>
void dispatch_compute_type(int32_t element_type, F&& f) {
  dispatch<float, double>(compute_type(element_type), f);
}

class FloatArguments {
 public:
  static constexpr std::size_t kMaxOutputs = 8;

  explicit FloatArguments(eph::Run& run) : run_(run) {}

  // The elements of input i; null if it is omitted.
  template <class T>
  [[nodiscard]] const T* input(uint32_t i) {
    return static_cast<const T*>(input_as(i, eph::element_type_of<T>()));
  }

  // Gives output i, which must be wanted, that type and shape; returns memory for its elements. If
  // that is not the output's own memory, `finish` fills the output.
  template <class T>
  [[nodiscard]] T* output(uint32_t i, int32_t element_type, const Dims& shape) {
    return static_cast<T*>(output_as(i, element_type, shape, eph::element_type_of<T>()));
  }
  // The same; null if the output is not wanted.
  template <class T>
  [[nodiscard]] T* optional_output(uint32_t i, int32_t element_type, const Dims& shape) {
    return run_.output(i) == nullptr ? nullptr : output<T>(i, element_type, shape);
  }

  // To be called once all outputs are computed.
  void finish();

 private:
  struct Pending {
    uint32_t output;
    const void* from;
    int32_t type;
    int64_t count;
  };

  const void* input_as(uint32_t i, int32_t type);
  void* output_as(uint32_t i, int32_t element_type, const Dims& shape, int32_t type);

  eph::Run& run_;
  std::array<Pending, kMaxOutputs> pending_;
  std::size_t pending_count_ = 0;
};

}  // namespace ephost_cpu
