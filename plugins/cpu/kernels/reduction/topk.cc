// TopK: the largest or smallest elements along an axis, in order; equal ones by ascending index.
#include <algorithm>
#include <bit>
#include <type_traits>

#include "plugins/cpu/core/registry.h"

namespace ephost_cpu {
namespace {

// Sorting works on integers with the order of the elements, so that it is compiled once.
struct Ranked {
  uint64_t key;
  int64_t index;
};

bool ranks_before(const Ranked& a, const Ranked& b) {
  return a.key != b.key ? a.key > b.key : a.index < b.index;
}

template <class T>
uint64_t key_of(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    // NaN ranks above everything; both zeros are equal.
    if (value != value) return UINT64_MAX;
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
    const auto bits = std::bit_cast<Bits>(value + T{0});
    return (bits & kSign) != 0 ? static_cast<Bits>(~bits) : bits | kSign;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<uint64_t>(int64_t{value}) ^ (uint64_t{1} << 63);
  } else {
    return value;
  }
}

class TopK final : public Kernel {
 public:
  explicit TopK(const NodeContext& context)
      : Kernel(context),
        axis_(context.node().get_int("axis", -1)),
        largest_(context.node().get_int("largest", 1) != 0),
        attribute_k_(context.node().get_int("k", -1)),
        k_is_input_(context.version() >= 10) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const std::size_t axis = normalize_axis(axis_, shape.size());
    const int64_t k = k_is_input_ ? read_int(*run.input(1)) : attribute_k_;
    if (k < 0 || k > shape[axis]) {
      fail("k=" + std::to_string(k) + " is outside of an extent of " + std::to_string(shape[axis]));
    }
    Dims out = shape;
    out[axis] = k;
    if (run.output(0) != nullptr) allocate_output(run, 0, x.element_type, out);
    if (run.output(1) != nullptr) allocate_output(run, 1, EPH_ELEMENT_INT64, out);
    if (element_count(out) == 0) return;

    const auto bytes = checked_multiply(k, sizeof(Ranked));
    auto* ranked = static_cast<Ranked*>(run.scratch(static_cast<uint64_t>(bytes)));
    dispatch<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
             uint64_t>(x.element_type, [&](auto tag) {
      select<typename decltype(tag)::type>(run, shape, axis, k, ranked);
    });
  }

 private:
  template <class T>
  void select(const eph::Run& run, const Dims& shape, std::size_t axis, int64_t k,
              Ranked* ranked) const {
    const T* x = run.input_data<T>(0);
    T* values = run.output(0) != nullptr ? data<T>(*run.output(0)) : nullptr;
    int64_t* indices = run.output(1) != nullptr ? data<int64_t>(*run.output(1)) : nullptr;
    const int64_t extent = shape[axis];
    const int64_t inner = element_count(shape, axis + 1, shape.size());
    const int64_t lines = element_count(shape, 0, axis) * inner;
    for (int64_t line = 0; line < lines; ++line) {
      const T* from = x + line / inner * extent * inner + line % inner;
      const auto rank = [&](int64_t i) {
        const uint64_t key = key_of(from[i * inner]);
        return Ranked{largest_ ? key : ~key, i};
      };
      // A heap of the best so far, with the worst of them on top.
      for (int64_t i = 0; i < k; ++i) ranked[i] = rank(i);
      std::make_heap(ranked, ranked + k, ranks_before);
      for (int64_t i = k; i < extent; ++i) {
        const Ranked candidate = rank(i);
        if (candidate.key <= ranked->key) continue;
        std::pop_heap(ranked, ranked + k, ranks_before);
        ranked[k - 1] = candidate;
        std::push_heap(ranked, ranked + k, ranks_before);
      }
      std::sort_heap(ranked, ranked + k, ranks_before);
      for (int64_t i = 0; i < k; ++i) {
        const int64_t to = (line / inner * k + i) * inner + line % inner;
        if (values != nullptr) values[to] = from[ranked[i].index * inner];
        if (indices != nullptr) indices[to] = ranked[i].index;
      }
    }
  }

  int64_t axis_;
  bool largest_;
  int64_t attribute_k_;
  bool k_is_input_;
};

constexpr KernelEntry kTopkKernels[] = {
    {"TopK", 1, 1, {}, kInputTypes<kFloat>, &make<TopK>},
    {"TopK", 10, kNewest, kTwoInputs, kInputTypes<kNumbers, kInt64>, &make<TopK>},
};

}  // namespace

Table topk_kernels() { return kTopkKernels; }

}  // namespace ephost_cpu
