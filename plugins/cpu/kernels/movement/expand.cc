// Expand and Tile: repeating a tensor.
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/elementwise/broadcast.h"
#include "plugins/cpu/kernels/movement/strided_copy.h"

namespace ephost_cpu {
namespace {

class Expand final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const Dims requested = read_ints(*run.input(1));
    for (const int64_t extent : requested) {
      if (extent < 0) fail("shape " + to_string(requested) + " has a negative extent");
    }
    if (requested.size() > kMaxRank) fail("the requested shape has too many dimensions");
    CopyPlan plan;
    plan.extents = broadcast_shape(shape, requested);
    plan.from_strides = broadcast_strides(shape, plan.extents);
    plan.to_strides = dense_strides(checked(plan.extents));
    allocate_output(run, 0, x.element_type, plan.extents);
    strided_copy(plan, x, run, 0);
  }

 private:
  // Throws if the number of elements overflows.
  static const Dims& checked(const Dims& shape) {
    (void)element_count(shape);
    return shape;
  }
};

// Each dimension becomes two: the repetitions, for which the input has stride 0, and the extent.
class Tile final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const Dims repeats = read_ints(*run.input(1));
    if (repeats.size() != shape.size()) {
      fail("repeats " + to_string(repeats) + " do not match the input " + to_string(shape));
    }
    Dims out;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (repeats[i] < 0) fail("repeats " + to_string(repeats) + " are negative");
      out.push_back(checked_multiply(shape[i], repeats[i]));
    }
    allocate_output(run, 0, x.element_type, out);
    if (element_count(out) == 0) return;

    const Dims from = dense_strides(shape);
    const Dims to = dense_strides(out);
    CopyPlan plan;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      plan.extents.push_back(repeats[i]);
      plan.from_strides.push_back(0);
      plan.to_strides.push_back(to[i] * shape[i]);
      plan.extents.push_back(shape[i]);
      plan.from_strides.push_back(from[i]);
      plan.to_strides.push_back(to[i]);
    }
    strided_copy(plan, x, run, 0);
  }
};

constexpr auto& kExpandTypes = kInputTypes<kAny, kInt64>;

constexpr KernelEntry kExpandKernels[] = {
    {"Expand", 8, kNewest, kTwoInputs, kExpandTypes, &make<Expand>},
    {"Tile", 6, kNewest, kTwoInputs, kExpandTypes, &make<Tile>},
};

}  // namespace

Table expand_kernels() { return kExpandKernels; }

}  // namespace ephost_cpu
