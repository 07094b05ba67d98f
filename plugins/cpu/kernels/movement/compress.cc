// Compress: the slices along an axis for which a condition holds.
#include <algorithm>
#include <optional>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/movement/element_mover.h"

namespace ephost_cpu {
namespace {

class Compress final : public Kernel {
 public:
  explicit Compress(const NodeContext& context) : Kernel(context) {
    if (context.node().attribute("axis") != nullptr) axis_ = context.node().get_int("axis", 0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    Dims shape = dims_of(x);
    if (run.input(1)->rank != 1) fail("condition does not have rank 1");
    std::size_t axis = 0;
    if (axis_) {
      axis = normalize_axis(*axis_, shape.size());
    } else {
      shape = {element_count(shape)};
    }
    // Slices beyond the end of the condition are left out.
    const int64_t asked = std::min(run.input(1)->shape[0], shape[axis]);
    const auto* condition = run.input_data<uint8_t>(1);
    const int64_t kept =
        std::count_if(condition, condition + asked, [](uint8_t byte) { return byte != 0; });
    Dims out = shape;
    out[axis] = kept;
    allocate_output(run, 0, x.element_type, out);
    if (element_count(out) == 0) return;

    const int64_t outer = element_count(shape, 0, axis);
    const int64_t inner = element_count(shape, axis + 1, shape.size());
    ElementMover mover(run);
    int64_t to = 0;
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < asked; ++i) {
        if (condition[i] == 0) continue;
        mover.copy(to, (o * shape[axis] + i) * inner, inner);
        to += inner;
      }
    }
  }

 private:
  std::optional<int64_t> axis_;
};

constexpr KernelEntry kCompressKernels[] = {
    {"Compress", 9, kNewest, kTwoInputs, kInputTypes<kAny, kBool>, &make<Compress>},
};

}  // namespace

Table compress_kernels() { return kCompressKernels; }

}  // namespace ephost_cpu
