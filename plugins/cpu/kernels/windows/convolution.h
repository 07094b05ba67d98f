// Convolutions of float through oneDNN: they use the layouts it is fastest with, their inputs and
// outputs are dense, and constant weights are packed once.
#pragma once

#include <cstdint>
#include <ephost/sdk/computation.hpp>
#include <memory>

#include "plugins/cpu/core/kernel.h"
#include "plugins/cpu/kernels/windows/window.h"

namespace ephost_cpu {

struct ConvolutionShape {
  Dims x;        // N, C, then one to three spatial extents
  Dims weights;  // M, C / groups, then the window's extents
  int64_t groups = 1;
  bool has_bias = false;
  Window window;
  bool is_exact = false;  // all sums are integers that float represents: their order doesn't matter

  friend bool operator==(const ConvolutionShape& a, const ConvolutionShape& b) {
    // Within one kernel, the others follow from these.
    return a.x == b.x && a.weights == b.weights && a.has_bias == b.has_bias;
  }
};

// The shape of a convolution of one or more spatial dimensions. Throws if X, W, the groups or the
// attributes are incompatible.
[[nodiscard]] ConvolutionShape make_convolution_shape(const WindowAttributes& attributes,
                                                      int64_t groups, const Dims& x,
                                                      const Dims& weights, bool has_bias);

// The convolutions of one kernel. A plan is made for each shape that occurs, and kept.
class Convolutions {
 public:
  // `constant_weights` is null, or the elements of the constant that every convolution uses.
  Convolutions(std::shared_ptr<const OneDnn> onednn, const void* constant_weights);
  ~Convolutions();

  // Makes the plan and packs the weights now instead of at the first run; returns the bytes of
  // memory that `convolve` needs for it. No extent may be 0.
  uint64_t prepare(const ConvolutionShape& shape);

  // Whether equal pixels and equal weights give equal numbers, bit for bit, wherever they lie. They
  // do nearly always; oneDNN has no such primitive for a few windows with AVX2.
  [[nodiscard]] bool adds_evenly(const ConvolutionShape& shape);

  [[nodiscard]] std::unique_ptr<eph::State> create_state() const;

  // `state` comes from create_state. No extent may be 0; `bias` is null without one. `weights` are
  // not read if they are constant. Takes its memory from the run's workspace if that is large
  // enough (`workspace_bytes`), else as scratch.
  void convolve(eph::Run& run, eph::State* state, const ConvolutionShape& shape, const float* x,
                const float* weights, const float* bias, float* y, uint64_t workspace_bytes);

 private:
  class Plans;
  std::unique_ptr<Plans> plans_;
};

}  // namespace ephost_cpu
