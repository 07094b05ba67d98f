// Slice: bounds and steps as attributes (version 1) or inputs (10 and later).
#include <algorithm>

#include "plugins/cpu/registry.h"
#include "plugins/cpu/strided_copy.h"

namespace cpu {
namespace {

struct SliceList {
  Dims starts, ends, axes, steps;
};

class Slice final : public Kernel {
 public:
  explicit Slice(const NodeContext& context)
      : Kernel(context), has_attributes_(context.version() < 10) {
    if (!has_attributes_) return;
    attributes_.starts = Dims(context.node().get_ints("starts"));
    attributes_.ends = Dims(context.node().get_ints("ends"));
    attributes_.axes = Dims(context.node().get_ints("axes"));
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const SliceList list = complete(has_attributes_ ? attributes_ : read(run), shape.size());

    Dims out = shape;
    CopyPlan plan;
    plan.from_strides = dense_strides(shape);
    for (std::size_t i = 0; i < list.starts.size(); ++i) {
      const std::size_t axis = normalize_axis(list.axes[i], shape.size());
      const Range range = clamp(list.starts[i], list.ends[i], list.steps[i], shape[axis]);
      plan.from_offset += multiply_stride(range.start, plan.from_strides[axis]);
      plan.from_strides[axis] = multiply_stride(plan.from_strides[axis], list.steps[i]);
      out[axis] = range.count;
    }
    plan.extents = out;
    plan.to_strides = dense_strides(out);
    allocate_output(run, 0, x.element_type, out);
    strided_copy(plan, x, run, 0);
  }

 private:
  struct Range {
    int64_t start, count;
  };

  static SliceList read(const eph::Run& run) {
    SliceList list = {read_ints(*run.input(1)), read_ints(*run.input(2)), {}, {}};
    if (run.input(3) != nullptr) list.axes = read_ints(*run.input(3));
    if (run.input(4) != nullptr) list.steps = read_ints(*run.input(4));
    return list;
  }

  // Fills in what was left out and checks that the lists agree.
  static SliceList complete(SliceList list, std::size_t rank) {
    const std::size_t count = list.starts.size();
    if (list.axes.empty()) {
      for (std::size_t i = 0; i < count; ++i) list.axes.push_back(static_cast<int64_t>(i));
    }
    if (list.steps.empty()) list.steps = Dims(count, 1);
    if (list.ends.size() != count || list.axes.size() != count || list.steps.size() != count) {
      fail("starts, ends, axes and steps have different lengths");
    }
    std::array<bool, kMaxRank> seen = {};
    for (std::size_t i = 0; i < count; ++i) {
      bool& slot = seen[normalize_axis(list.axes[i], rank)];
      if (slot) fail("axis " + std::to_string(list.axes[i]) + " is given twice");
      slot = true;
      if (list.steps[i] == 0) fail("a step is 0");
    }
    return list;
  }

  // As Python slices: negative bounds count from the end, bounds outside are moved to the edge.
  static Range clamp(int64_t start, int64_t end, int64_t step, int64_t extent) {
    const int64_t low = step > 0 ? 0 : -1;
    const int64_t high = step > 0 ? extent : extent - 1;
    const auto place = [&](int64_t bound) {
      return std::clamp(bound < 0 ? bound + extent : bound, low, high);
    };
    const int64_t first = place(start);
    const int64_t last = place(end);
    const int64_t distance = step > 0 ? last - first : first - last;
    if (distance <= 0) return {0, 0};
    const uint64_t stride =
        step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
    return {first, static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / stride + 1)};
  }

  bool has_attributes_;
  SliceList attributes_;
};

constexpr KernelEntry kEntries[] = {
    {"Slice", 1, 1, {}, kInputTypes<kAny>, &make<Slice>},
    {"Slice",
     10,
     kNewest,
     {.required = 3, .same_type = 0b11110},
     kInputTypes<kAny, kIndices, kIndices, kIndices, kIndices>,
     &make<Slice>},
};

}  // namespace

Table slice_kernels() { return kEntries; }

}  // namespace cpu
