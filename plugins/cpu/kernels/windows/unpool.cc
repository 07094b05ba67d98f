// MaxUnpool: writes elements back to the positions that MaxPool's indices give, and zeros
// elsewhere.
#include <algorithm>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/windows/window.h"

namespace ephost_cpu {
namespace {

class MaxUnpool final : public Kernel {
 public:
  explicit MaxUnpool(const NodeContext& context)
      : Kernel(context),
        kernel_(read_extents(context.node(), "kernel_shape", 1)),
        strides_(read_extents(context.node(), "strides", 1)),
        pads_(read_extents(context.node(), "pads", 0)) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const Dims indexed = indexed_shape(shape);
    if (!(dims_of(*run.input(1)) == shape)) {
      fail("indices of shape " + to_string(eph::shape_of(*run.input(1))) + " differ from X " +
           to_string(shape));
    }
    Dims out = indexed;
    if (run.input(2) != nullptr) out = read_ints(*run.input(2));
    bool fits = out.size() == indexed.size();
    for (std::size_t d = 0; fits && d < out.size(); ++d) fits = out[d] >= 0;
    if (!fits) fail("output_shape " + to_string(out) + " does not fit X " + to_string(shape));
    const eph_value& y = allocate_output(run, 0, x.element_type, out);
    dispatch_size(element_size(x.element_type), [&](auto tag) {
      using T = typename decltype(tag)::type;
      place(indexed, out, element_count(shape), data<const T>(x), run.input_data<int64_t>(1),
            data<T>(y));
    });
  }

 private:
  // The shape that indices count in: that of the pooled tensor as far as it is known.
  [[nodiscard]] Dims indexed_shape(const Dims& x) const {
    const std::size_t spatial = x.size() < 3 ? 0 : x.size() - 2;
    if (spatial == 0 || kernel_.size() != spatial ||
        (!strides_.empty() && strides_.size() != spatial) ||
        (!pads_.empty() && pads_.size() != 2 * spatial)) {
      fail("kernel_shape, strides or pads do not match X " + to_string(x));
    }
    Dims shape = {x[0], x[1]};
    for (std::size_t d = 0; d < spatial; ++d) {
      if (x[d + 2] >= kExtentLimit) fail("an extent is too large");
      const int64_t stride = strides_.empty() ? 1 : strides_[d];
      const int64_t pads = pads_.empty() ? 0 : pads_[d] + pads_[d + spatial];
      const int64_t extent = (x[d + 2] - 1) * stride + kernel_[d] - pads;
      if (extent < 0) fail("pads are larger than what X " + to_string(x) + " came from");
      shape.push_back(x[d + 2] == 0 ? 0 : extent);
    }
    return shape;
  }

  template <class T>
  static void place(const Dims& indexed, const Dims& out, int64_t count, const T* x,
                    const int64_t* indices, T* y) {
    std::fill_n(y, element_count(out), T{});
    const int64_t limit = element_count(indexed);
    const bool same = indexed == out;
    for (int64_t i = 0; i < count; ++i) {
      if (indices[i] < 0 || indices[i] >= limit) {
        fail("index " + std::to_string(indices[i]) + " is out of range for " + to_string(indexed));
      }
      y[same ? indices[i] : find(indices[i], indexed, out)] = x[i];
    }
  }

  // The element of the output that an index refers to.
  static int64_t find(int64_t index, const Dims& indexed, const Dims& out) {
    int64_t offset = 0;
    int64_t stride = 1;
    for (std::size_t d = out.size(); d-- > 0;) {
      const int64_t at = index % indexed[d];
      index /= indexed[d];
      if (at >= out[d]) fail("an index lies outside of output_shape " + to_string(out));
      offset += at * stride;
      stride *= out[d];
    }
    return offset;
  }

  Dims kernel_, strides_, pads_;
};

constexpr KernelEntry kUnpoolKernels[] = {
    {"MaxUnpool", 9, kNewest, kTwoInputs, kInputTypes<kAllFloats, kInt64, kInt64>,
     &make<MaxUnpool>},
};

}  // namespace

Table unpool_kernels() { return kUnpoolKernels; }

}  // namespace ephost_cpu
