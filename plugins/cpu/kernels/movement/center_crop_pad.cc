// CenterCropPad: pads axes with zeros or crops them, equally on both sides.
#include <optional>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/movement/padding.h"

namespace ephost_cpu {
namespace {

class CenterCropPad final : public Kernel {
 public:
  explicit CenterCropPad(const NodeContext& context) : Kernel(context) {
    if (context.node().attribute("axes") != nullptr) axes_ = Dims(context.node().get_ints("axes"));
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const Dims shape = dims_of(*run.input(0));
    const Dims target = read_ints(*run.input(1));
    const std::size_t count = axes_ ? axes_->size() : shape.size();
    if (target.size() != count) {
      fail("shape " + to_string(target) + " does not have an extent for each of " +
           std::to_string(count) + " axes");
    }
    Dims out = shape;
    Dims before(shape.size(), 0);
    std::array<bool, kMaxRank> seen = {};
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t axis = axes_ ? normalize_axis((*axes_)[i], shape.size()) : i;
      if (seen[axis]) fail("axis " + std::to_string(axis) + " is given twice");
      seen[axis] = true;
      if (target[i] < 0) fail("shape " + to_string(target) + " has a negative extent");
      out[axis] = target[i];
      // The larger half of an odd difference is at the end.
      const int64_t difference = target[i] - shape[axis];
      before[axis] = difference / 2;
    }
    pad_with(run, before, out, nullptr);
  }

 private:
  std::optional<Dims> axes_;
};

constexpr KernelEntry kCenterCropPadKernels[] = {
    {"CenterCropPad", 18, kNewest, kTwoInputs, kInputTypes<kAny, kIndices>, &make<CenterCropPad>},
};

}  // namespace

Table center_crop_pad_kernels() { return kCenterCropPadKernels; }

}  // namespace ephost_cpu
