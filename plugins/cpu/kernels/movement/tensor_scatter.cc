// TensorScatter: a cache with some of its positions along one axis overwritten, for each member of
// the batch from a position of its own on.
#include <cstring>

#include "plugins/cpu/core/registry.h"

namespace ephost_cpu {
namespace {

class TensorScatter final : public Kernel {
 public:
  explicit TensorScatter(const NodeContext& context)
      : Kernel(context), axis_(context.node().get_int("axis", -2)) {
    const std::string_view mode = context.node().get_string("mode", "linear");
    if (mode != "linear" && mode != "circular") {
      fail("attribute mode '" + std::string(mode) + "' is unknown");
    }
    circular_ = mode == "circular";
    require_inplace(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& past = *run.input(0);
    const eph_value& update = *run.input(1);
    const Dims shape = dims_of(past);
    const std::size_t axis = normalize_axis(axis_, shape.size());
    if (axis == 0) fail("axis 0 is the batch and cannot be written along");
    const int64_t capacity = shape[axis];
    Dims expected = shape;
    const Dims given = dims_of(update);
    if (given.size() == shape.size()) expected[axis] = given[axis];
    if (!(given == expected) || given[axis] > capacity) {
      fail("update " + to_string(given) + " does not fit past_cache " + to_string(shape));
    }
    check_indices(run, shape[0], capacity, given[axis]);
    copy_reshaped(run, past, 0, shape);
    const int64_t size = element_size(past.element_type);
    const int64_t row = element_count(shape, axis + 1, shape.size()) * size;
    const int64_t outer = element_count(shape, 1, axis);
    const auto* from = data<const char>(update);
    auto* to = data<char>(*run.output(0));
    const auto* indices = run.input(2) != nullptr ? run.input_data<int64_t>(2) : nullptr;
    if (row == 0 || given[axis] == 0) return;
    for (int64_t o = 0; o < shape[0] * outer; ++o, to += capacity * row) {
      const int64_t start = indices != nullptr ? indices[o / outer] % capacity : 0;
      for (int64_t s = 0; s < given[axis]; ++s, from += row) {
        std::memcpy(to + (start + s) % capacity * row, from, static_cast<std::size_t>(row));
      }
    }
  }

 private:
  void check_indices(const eph::Run& run, int64_t batch, int64_t capacity, int64_t length) const {
    const eph_value* value = run.input(2);
    if (value == nullptr) return;
    if (!(dims_of(*value) == Dims{batch})) {
      fail("write_indices have shape " + to_string(eph::shape_of(*value)) + ", expected " +
           to_string(Dims{batch}));
    }
    const auto* indices = data<const int64_t>(*value);
    for (int64_t b = 0; b < batch; ++b) {
      const bool fits = indices[b] >= 0 && (circular_ || indices[b] <= capacity - length);
      if (!fits) {
        fail("write index " + std::to_string(indices[b]) + " is out of range for " +
             std::to_string(length) + " positions in a cache of " + std::to_string(capacity));
      }
    }
  }

  int64_t axis_;
  bool circular_ = false;
};

constexpr KernelEntry kTensorScatterKernels[] = {
    {"TensorScatter", 24, kNewest, kTwoAlike, kInputTypes<kFixedSize, kFixedSize, kInt64>,
     &make<TensorScatter>},
};

}  // namespace

Table tensor_scatter_kernels() { return kTensorScatterKernels; }

}  // namespace ephost_cpu
