// Transpose, DepthToSpace and SpaceToDepth: the same elements in another order.
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/movement/strided_copy.h"

namespace ephost_cpu {
namespace {

// Writes dimension order[i] of `x`, seen as `shape`, as dimension i of the output, seen likewise.
void permute(const eph_value& x, const Dims& shape, const Dims& order, eph::Run& run) {
  const Dims strides = dense_strides(shape);
  CopyPlan plan;
  for (const int64_t axis : order) {
    plan.extents.push_back(shape[static_cast<std::size_t>(axis)]);
    plan.from_strides.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  plan.to_strides = dense_strides(plan.extents);
  strided_copy(plan, x, run, 0);
}

class Transpose final : public Kernel {
 public:
  explicit Transpose(const NodeContext& context)
      : Kernel(context), order_(context.node().get_ints("perm")) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const Dims order = resolve(shape.size());
    Dims out;
    for (const int64_t axis : order) out.push_back(shape[static_cast<std::size_t>(axis)]);
    allocate_output(run, 0, x.element_type, out);
    permute(x, shape, order, run);
  }

 private:
  [[nodiscard]] Dims resolve(std::size_t rank) const {
    Dims order;
    if (order_.empty()) {
      for (std::size_t i = rank; i-- > 0;) order.push_back(static_cast<int64_t>(i));
      return order;
    }
    std::array<bool, kMaxRank> seen = {};
    for (const int64_t axis : order_) {
      const auto known = static_cast<int64_t>(rank);
      if (axis < 0 || axis >= known || seen[static_cast<std::size_t>(axis)]) break;
      seen[static_cast<std::size_t>(axis)] = true;
      order.push_back(axis);
    }
    if (order.size() != rank || order_.size() != rank) {
      fail("perm " + to_string(order_) + " is not a permutation of the axes of a tensor of rank " +
           std::to_string(rank));
    }
    return order;
  }

  Dims order_;  // empty: the axes in reverse
};

struct Image {
  int64_t batch, channels, height, width;
};

Image image_of(const eph_value& x) {
  const Dims shape = dims_of(x);
  if (shape.size() != 4) fail("the input " + to_string(shape) + " does not have rank 4");
  return {shape[0], shape[1], shape[2], shape[3]};
}

int64_t block_size(const NodeContext& context) {
  const int64_t block = context.node().get_int("blocksize", 0);
  if (block <= 0 || block > (int64_t{1} << 20)) {
    fail("attribute blocksize=" + std::to_string(block) + " is not positive, or too large");
  }
  return block;
}

class DepthToSpace final : public Kernel {
 public:
  explicit DepthToSpace(const NodeContext& context) : Kernel(context), block_(block_size(context)) {
    const std::string_view mode = context.node().get_string("mode", "DCR");
    if (mode != "DCR" && mode != "CRD")
      fail("attribute mode '" + std::string(mode) + "' is unknown");
    depth_first_ = mode == "DCR";
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const auto [n, c, h, w] = image_of(x);
    const int64_t b = block_;
    if (c % (b * b) != 0) {
      fail(std::to_string(c) + " channels are not a multiple of the square of blocksize " +
           std::to_string(b));
    }
    const int64_t depth = c / (b * b);
    allocate_output(run, 0, x.element_type,
                    {n, depth, checked_multiply(h, b), checked_multiply(w, b)});
    if (depth_first_) {
      permute(x, {n, b, b, depth, h, w}, {0, 3, 4, 1, 5, 2}, run);
    } else {
      permute(x, {n, depth, b, b, h, w}, {0, 1, 4, 2, 5, 3}, run);
    }
  }

 private:
  int64_t block_;
  bool depth_first_;
};

class SpaceToDepth final : public Kernel {
 public:
  explicit SpaceToDepth(const NodeContext& context)
      : Kernel(context), block_(block_size(context)) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const auto [n, c, h, w] = image_of(x);
    const int64_t b = block_;
    if (h % b != 0 || w % b != 0) {
      fail("height and width of " + to_string(dims_of(x)) + " are not multiples of blocksize " +
           std::to_string(b));
    }
    allocate_output(run, 0, x.element_type, {n, checked_multiply(c, b * b), h / b, w / b});
    permute(x, {n, c, h / b, b, w / b, b}, {0, 3, 5, 1, 2, 4}, run);
  }

 private:
  int64_t block_;
};

constexpr KernelEntry kTransposeKernels[] = {
    {"Transpose", 1, kNewest, {}, kInputTypes<kAnyWidth>, &make<Transpose>},
    {"DepthToSpace", 1, kNewest, {}, kInputTypes<kAny>, &make<DepthToSpace>},
    {"SpaceToDepth", 1, kNewest, {}, kInputTypes<kAny>, &make<SpaceToDepth>},
};

}  // namespace

Table transpose_kernels() { return kTransposeKernels; }

}  // namespace ephost_cpu
