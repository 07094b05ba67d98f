// Slice: bounds and steps as attributes (version 1) or inputs (10 and later).
#include <algorithm>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/movement/strided_copy.h"

namespace ephost_cpu {
namespace {

struct SliceList {
  Dims starts, ends, axes, steps;
};

class Slice final : public Kernel {
 public:
  explicit Slice(const NodeContext& context)
      : Kernel(context), has_attributes_(context.version() < 10) {
    if (has_attributes_) {
      attributes_.starts = Dims(context.node().get_ints("starts"));
      attributes_.ends = Dims(context.node().get_ints("ends"));
      attributes_.axes = Dims(context.node().get_ints("axes"));
    }
    declare_part(context);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const auto input = [&](uint32_t i) { return run.input(i); };
    const CopyPlan plan = plan_copy(has_attributes_ ? attributes_ : read(input), dims_of(x));
    allocate_output(run, 0, x.element_type, plan.extents);
    strided_copy(plan, x, run, 0);
  }

 private:
  struct Range {
    int64_t start, count;
  };

  // If the bounds are constant and select adjacent elements, the output is a part of the input.
  void declare_part(const NodeContext& context) {
    const std::optional<Dims> shape = context.input_shape(0);
    const std::optional<int64_t> size = context.fixed_element_size(0);
    bool is_known = shape && size;
    for (std::size_t i = 1; i < 5 && !has_attributes_; ++i) {
      is_known = is_known && (!context.has_input(i) || context.constant(i) != nullptr);
    }
    if (!is_known) return;
    try {
      const auto input = [&](uint32_t i) { return context.constant(i); };
      const CopyPlan plan = plan_copy(has_attributes_ ? attributes_ : read(input), *shape);
      if (is_contiguous(plan)) allow_output_part(0, 0, plan.from_offset * *size);
    } catch (const eph::Failure&) {
      // `run` reports it.
    }
  }

  template <class Input>
  static SliceList read(const Input& input) {
    SliceList list = {read_ints(*input(1)), read_ints(*input(2)), {}, {}};
    if (input(3) != nullptr) list.axes = read_ints(*input(3));
    if (input(4) != nullptr) list.steps = read_ints(*input(4));
    return list;
  }

  static CopyPlan plan_copy(const SliceList& given, const Dims& shape) {
    const SliceList list = complete(given, shape.size());
    CopyPlan plan;
    plan.extents = shape;
    plan.from_strides = dense_strides(shape);
    for (std::size_t i = 0; i < list.starts.size(); ++i) {
      const std::size_t axis = normalize_axis(list.axes[i], shape.size());
      const Range range = clamp(list.starts[i], list.ends[i], list.steps[i], shape[axis]);
      plan.from_offset += multiply_stride(range.start, plan.from_strides[axis]);
      plan.from_strides[axis] = multiply_stride(plan.from_strides[axis], list.steps[i]);
      plan.extents[axis] = range.count;
    }
    plan.to_strides = dense_strides(plan.extents);
    return plan;
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

  // As in Python slices, negative bounds count from the end, and bounds outside are clamped.
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

constexpr KernelEntry kSliceKernels[] = {
    {"Slice", 1, 1, {}, kInputTypes<kAny>, &make<Slice>},
    {"Slice",
     10,
     kNewest,
     {.required = 3, .same_type = 0b11110},
     kInputTypes<kAny, kIndices, kIndices, kIndices, kIndices>,
     &make<Slice>},
};

}  // namespace

Table slice_kernels() { return kSliceKernels; }

}  // namespace ephost_cpu
