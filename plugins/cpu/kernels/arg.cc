// ArgMax and ArgMin.
#include "plugins/cpu/registry.h"

namespace cpu {
namespace {

class ArgExtreme final : public Kernel {
 public:
  ArgExtreme(const NodeContext& context, bool maximum)
      : Kernel(context),
        maximum_(maximum),
        axis_(context.node().get_int("axis", 0)),
        keep_(context.node().get_int("keepdims", 1) != 0),
        last_(context.node().get_int("select_last_index", 0) != 0) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const std::size_t axis = normalize_axis(axis_, shape.size());
    if (shape[axis] == 0) fail("there is no extreme among no elements");
    Dims out = shape;
    out[axis] = 1;
    if (!keep_) out.erase(axis);
    const eph_value& y = allocate_output(run, 0, EPH_INT64, out);
    dispatch<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
             uint64_t>(x.element_type, [&](auto tag) {
      find<typename decltype(tag)::type>(x, shape, axis, data<int64_t>(y));
    });
  }

 private:
  template <class T>
  void find(const eph_value& x, const Dims& shape, std::size_t axis, int64_t* y) const {
    const int64_t extent = shape[axis];
    const int64_t inner = element_count(shape, axis + 1, shape.size());
    const int64_t lines = element_count(shape, 0, axis) * inner;
    for (int64_t line = 0; line < lines; ++line) {
      const T* from = data<const T>(x) + line / inner * extent * inner + line % inner;
      int64_t best = 0;
      for (int64_t i = 1; i < extent; ++i) {
        const T candidate = from[i * inner];
        const T champion = from[best * inner];
        const bool better = maximum_ ? candidate > champion : candidate < champion;
        if (better || (last_ && candidate == champion)) best = i;
      }
      y[line] = best;
    }
  }

  bool maximum_;
  int64_t axis_;
  bool keep_, last_;
};

template <bool kMaximum>
std::unique_ptr<Kernel> make_extreme(const NodeContext& context) {
  return std::make_unique<ArgExtreme>(context, kMaximum);
}

constexpr KernelEntry kEntries[] = {
    {"ArgMax", 1, kNewest, {}, kInputTypes<kNumbers>, &make_extreme<true>},
    {"ArgMin", 1, kNewest, {}, kInputTypes<kNumbers>, &make_extreme<false>},
};

}  // namespace

Table arg_kernels() { return kEntries; }

}  // namespace cpu
