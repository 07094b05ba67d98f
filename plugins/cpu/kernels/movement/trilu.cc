// Trilu: one triangle of each matrix, zeros elsewhere.
#include <algorithm>
#include <cstring>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"

namespace ephost_cpu {
namespace {

class Trilu final : public Kernel {
 public:
  explicit Trilu(const NodeContext& context)
      : Kernel(context), upper_(context.node().get_int("upper", 1) != 0) {
    const int32_t type = context.input_type(0);
    if (type != EPH_ELEMENT_UNDEFINED && type != EPH_ELEMENT_STRING) allow_inplace(0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    if (shape.size() < 2) fail("the input " + to_string(shape) + " holds no matrices");
    const int64_t rows = shape[shape.size() - 2];
    const int64_t columns = shape.back();
    const int64_t diagonal = run.input(1) != nullptr ? read_int(*run.input(1)) : 0;
    allocate_output(run, 0, x.element_type, shape);
    if (element_count(shape) == 0) return;
    const int64_t all_rows = element_count(shape, 0, shape.size() - 1);
    if (x.element_type == EPH_ELEMENT_STRING) {
      for (int64_t row = 0; row < all_rows; ++row) {
        const Kept kept = kept_of(row % rows, columns, diagonal);
        copy_texts(run, row * columns, columns, kept);
      }
      return;
    }
    const int64_t size = element_size(x.element_type);
    const char* from = data<const char>(x);
    char* to = static_cast<char*>(run.output(0)->data);
    parallel_for(all_rows, 0.1 * static_cast<double>(columns), [=, this](int64_t row, int64_t end) {
      for (; row < end; ++row) {
        const Kept kept = kept_of(row % rows, columns, diagonal);
        copy_row(from + row * columns * size, to + row * columns * size, columns, size, kept);
      }
    });
  }

 private:
  // The columns of a row that are kept: [begin, end).
  struct Kept {
    int64_t begin, end;
  };

  [[nodiscard]] Kept kept_of(int64_t row, int64_t columns, int64_t diagonal) const {
    // The first column right of the diagonal's element, or on it; without overflow.
    const int64_t bound = std::clamp(diagonal, -row - 1, columns) + row;
    if (upper_) return {std::clamp<int64_t>(bound, 0, columns), columns};
    return {0, std::clamp<int64_t>(bound + 1, 0, columns)};
  }

  static void copy_row(const char* from, char* to, int64_t columns, int64_t size, Kept kept) {
    const auto bytes = [size](int64_t count) { return static_cast<std::size_t>(count * size); };
    if (kept.begin > 0) std::memset(to, 0, bytes(kept.begin));
    if (from != to && kept.end > kept.begin) {
      std::memcpy(to + kept.begin * size, from + kept.begin * size, bytes(kept.end - kept.begin));
    }
    if (kept.end < columns) std::memset(to + kept.end * size, 0, bytes(columns - kept.end));
  }

  static void copy_texts(eph::Run& run, int64_t first, int64_t columns, Kept kept) {
    const auto* texts = run.input_data<eph_string>(0);
    for (int64_t i = 0; i < columns; ++i) {
      const bool keeps = i >= kept.begin && i < kept.end;
      run.set_string(0, static_cast<uint64_t>(first + i),
                     keeps ? eph::view(texts[first + i]) : std::string_view());
    }
  }

  bool upper_;
};

constexpr KernelEntry kTriluKernels[] = {
    {"Trilu", 14, kNewest, {}, kInputTypes<kAny, kInt64>, &make<Trilu>},
};

}  // namespace

Table trilu_kernels() { return kTriluKernels; }

}  // namespace ephost_cpu
