// Concat and Split.
#include <algorithm>

#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/movement/strided_copy.h"

namespace ephost_cpu {
namespace {

// Whether all extents before the axis are 1.
bool is_outermost(int64_t axis, eph::ArrayView<int64_t> shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  if (axis < -rank || axis >= rank) return false;
  const auto* end = shape.begin() + (axis < 0 ? axis + rank : axis);
  return std::all_of(shape.begin(), end, [](int64_t extent) { return extent == 1; });
}

class Concat final : public Kernel {
 public:
  explicit Concat(const NodeContext& context)
      : Kernel(context), axis_(context.node().get_int("axis", 1)) {
    if (context.node().attribute("axis") == nullptr) fail("attribute 'axis' is missing");
    declare_parts(context);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    Dims out = dims_of(*run.input(0));
    const std::size_t axis = normalize_axis(axis_, out.size());
    for (uint32_t i = 1; i < run.input_count(); ++i) add_extent(run, i, axis, out);
    allocate_output(run, 0, run.input(0)->element_type, out);
    if (element_count(out) == 0) return;

    CopyPlan plan;
    plan.to_strides = dense_strides(out);
    for (uint32_t i = 0; i < run.input_count(); ++i) {
      plan.extents = dims_of(*run.input(i));
      plan.from_strides = dense_strides(plan.extents);
      strided_copy(plan, *run.input(i), run, 0);
      plan.to_offset += plan.extents[axis] * plan.to_strides[axis];
    }
  }

 private:
  // If the axis is outermost, the inputs lie one after the other in the output.
  void declare_parts(const NodeContext& context) {
    const auto out = context.output_extents(0);
    const std::optional<int64_t> size = context.fixed_element_size(0);
    if (!out || !size || !is_outermost(axis_, *out)) return;
    int64_t offset = 0;
    for (uint32_t i = 0; i < context.node().inputs().size(); ++i) {
      const auto shape = context.input_extents(i);
      if (!shape) return;
      allow_input_part(i, 0, offset);
      offset += element_count(*shape) * *size;
    }
  }

  static void add_extent(const eph::Run& run, uint32_t i, std::size_t axis, Dims& out) {
    if (run.input(i) == nullptr) fail("input " + std::to_string(i) + " is missing");
    const Dims shape = dims_of(*run.input(i));
    bool fits = shape.size() == out.size();
    for (std::size_t d = 0; fits && d < out.size(); ++d) fits = d == axis || shape[d] == out[d];
    if (!fits) {
      fail("input " + std::to_string(i) + " of shape " + to_string(shape) +
           " differs from the first one, " + to_string(dims_of(*run.input(0))) +
           ", in more than axis " + std::to_string(axis));
    }
    out[axis] = checked_add(out[axis], shape[axis]);
  }

  int64_t axis_;
};

// Sizes come from an attribute (up to version 11) or an input; without them the parts are equal,
// but for the last one, which may be shorter from version 18 on.
class Split final : public Kernel {
 public:
  explicit Split(const NodeContext& context)
      : Kernel(context),
        axis_(context.node().get_int("axis", 0)),
        attribute_(context.node().get_ints("split").to_vector()),
        parts_(context.output_count()),
        sizes_are_input_(context.version() >= 13),
        may_be_uneven_(context.version() >= 18) {
    const auto parts = static_cast<int64_t>(parts_);
    const int64_t stated = context.node().get_int("num_outputs", parts);
    if (stated != parts) {
      fail("attribute num_outputs=" + std::to_string(stated) + ", but there are " +
           std::to_string(parts) + " outputs");
    }
    declare_parts(context);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const std::size_t axis = normalize_axis(axis_, shape.size());
    const eph::ArrayView<int64_t> sizes = find_sizes(run);
    check(sizes, shape[axis]);

    CopyPlan plan;
    plan.from_strides = dense_strides(shape);
    for (uint32_t i = 0; i < parts_; ++i) {
      plan.extents = shape;
      plan.extents[axis] = sizes.empty() ? equal_part(shape[axis], i) : sizes[i];
      if (run.output(i) != nullptr) {
        allocate_output(run, i, x.element_type, plan.extents);
        plan.to_strides = dense_strides(plan.extents);
        strided_copy(plan, x, run, i);
      }
      plan.from_offset += multiply_stride(plan.extents[axis], plan.from_strides[axis]);
    }
  }

 private:
  // The shapes of the outputs tell where each begins, if they are the ones that `run` will compute.
  void declare_parts(const NodeContext& context) {
    const auto whole = context.input_extents(0);
    const std::optional<int64_t> size = context.fixed_element_size(0);
    if (!whole || !size || !is_outermost(axis_, *whole)) return;
    int64_t offset = 0;
    for (uint32_t i = 0; i < parts_; ++i) {
      const auto shape = context.output_extents(i);
      if (!shape) return;
      allow_output_part(0, i, offset);
      offset += element_count(*shape) * *size;
    }
  }

  [[nodiscard]] eph::ArrayView<int64_t> find_sizes(const eph::Run& run) const {
    if (!sizes_are_input_) return attribute_;
    if (run.input(1) == nullptr) return {};
    if (run.input(1)->rank != 1) fail("input 'split' does not have rank 1");
    return eph::elements<int64_t>(*run.input(1));
  }

  [[nodiscard]] int64_t equal_part(int64_t extent, int64_t index) const {
    const auto parts = static_cast<int64_t>(parts_);
    const int64_t part = extent / parts + (extent % parts != 0 ? 1 : 0);
    if (index > extent / std::max<int64_t>(part, 1)) return 0;
    return std::min(part, extent - index * part);
  }

  void check(eph::ArrayView<int64_t> sizes, int64_t extent) const {
    if (sizes.empty()) {
      if (may_be_uneven_ || extent % static_cast<int64_t>(parts_) == 0) return;
      fail("an extent of " + std::to_string(extent) + " cannot be split into " +
           std::to_string(parts_) + " equal parts");
    }
    int64_t sum = 0;
    bool negative = false;
    for (const int64_t size : sizes) {
      sum = checked_add(sum, size);
      negative = negative || size < 0;
    }
    if (negative || sizes.size() != parts_ || sum != extent) {
      fail(std::to_string(sizes.size()) + " sizes that add up to " + std::to_string(sum) +
           " do not split an extent of " + std::to_string(extent) + " into " +
           std::to_string(parts_) + " parts");
    }
  }

  int64_t axis_;
  std::vector<int64_t> attribute_;
  std::size_t parts_;
  bool sizes_are_input_;
  bool may_be_uneven_;
};

constexpr KernelEntry kConcatKernels[] = {
    {"Concat", 4, kNewest, kAllAlike, kVariadicTypes<kAny>, &make<Concat>},
    {"Split", 2, 11, {}, kInputTypes<kAny>, &make<Split>},
    {"Split", 13, kNewest, {}, kInputTypes<kAny, kInt64>, &make<Split>},
};

}  // namespace

Table concat_kernels() { return kConcatKernels; }

}  // namespace ephost_cpu
