// ArgMax and ArgMin.
#include <algorithm>
#include <array>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"

namespace ephost_cpu {
namespace {

class ArgExtreme final : public Kernel {
 public:
  ArgExtreme(const NodeContext& context, bool maximum)
      : Kernel(context),
        maximum_(maximum),
        axis_(context.node().get_int("axis", 0)),
        keep_(context.node().get_int("keepdims", 1) == 1),
        last_(context.node().get_int("select_last_index", 0) != 0) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const std::size_t axis = normalize_axis(axis_, shape.size());
    if (shape[axis] == 0) fail("an empty axis has no maximum or minimum");
    Dims out = shape;
    out[axis] = 1;
    if (!keep_) out.erase(axis);
    const eph_value& y = allocate_output(run, 0, EPH_ELEMENT_INT64, out);
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
    const int64_t outer = element_count(shape, 0, axis);
    const int64_t tiles = (inner + kColumns - 1) / kColumns;
    const double cost =
        static_cast<double>(extent) * static_cast<double>(std::min(inner, kColumns));
    parallel_for(outer * tiles, cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t o = i / tiles;
        const int64_t column = i % tiles * kColumns;
        const T* from = data<const T>(x) + o * extent * inner + column;
        find_columns(from, extent, inner, std::min(kColumns, inner - column),
                     y + o * inner + column);
      }
    });
  }

  // Finds the extreme in each of `columns` lines of `extent` elements that lie `stride` apart.
  template <class T>
  void find_columns(const T* x, int64_t extent, int64_t stride, int64_t columns, int64_t* y) const {
    const auto pick = [&](const auto& wins) {
      if (columns == 1) {
        *y = find_line(x, extent, stride, wins);
        return;
      }
      std::array<T, kColumns> best;
      std::copy_n(x, columns, best.begin());
      std::fill_n(y, columns, 0);
      for (int64_t i = 1; i < extent; ++i) {
        const T* row = x + i * stride;
        for (int64_t j = 0; j < columns; ++j) {
          const bool better = wins(row[j], best[static_cast<std::size_t>(j)]);
          y[j] = better ? i : y[j];
          best[static_cast<std::size_t>(j)] = better ? row[j] : best[static_cast<std::size_t>(j)];
        }
      }
    };
    if (maximum_ && last_) return pick([](T a, T b) { return a >= b; });
    if (maximum_) return pick([](T a, T b) { return a > b; });
    if (last_) return pick([](T a, T b) { return a <= b; });
    pick([](T a, T b) { return a < b; });
  }

  template <class T, class Wins>
  static int64_t find_line(const T* x, int64_t extent, int64_t stride, const Wins& wins) {
    T best = *x;
    int64_t at = 0;
    for (int64_t i = 1; i < extent; ++i) {
      if (!wins(x[i * stride], best)) continue;
      best = x[i * stride];
      at = i;
    }
    return at;
  }

  static constexpr int64_t kColumns = 64;

  bool maximum_;
  int64_t axis_;
  bool keep_, last_;
};

template <bool kMaximum>
std::unique_ptr<Kernel> make_arg_extreme(const NodeContext& context) {
  return std::make_unique<ArgExtreme>(context, kMaximum);
}

constexpr KernelEntry kArgKernels[] = {
    {"ArgMax", 1, kNewest, {}, kInputTypes<kNumbers>, &make_arg_extreme<true>},
    {"ArgMin", 1, kNewest, {}, kInputTypes<kNumbers>, &make_arg_extreme<false>},
};

}  // namespace

Table arg_kernels() { return kArgKernels; }

}  // namespace ephost_cpu
