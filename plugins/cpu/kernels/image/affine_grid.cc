// AffineGrid: the grid for GridSample that an affine map gives for the pixels of the output.
#include <array>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"

namespace ephost_cpu {
namespace {

class AffineGrid final : public Kernel {
 public:
  explicit AffineGrid(const NodeContext& context)
      : Kernel(context), aligns_(context.node().get_int("align_corners", 0) != 0) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& theta = *run.input(0);
    const Dims shape = dims_of(theta);
    const Dims size = read_ints(*run.input(1));
    const std::size_t spatial = size.size() < 2 ? 0 : size.size() - 2;
    const auto count = static_cast<int64_t>(spatial);
    if ((spatial != 2 && spatial != 3) || !(shape == Dims{size[0], count, count + 1})) {
      fail("theta " + to_string(shape) + " and size " + to_string(size) + " are incompatible");
    }
    Dims out = {size[0]};
    for (std::size_t d = 2; d < size.size(); ++d) {
      if (size[d] < 0) fail("size " + to_string(size) + " has a negative extent");
      out.push_back(size[d]);
    }
    out.push_back(count);
    dispatch<float, double>(theta.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* y = data<T>(allocate_output(run, 0, theta.element_type, out));
      if (element_count(out) == 0) return;
      fill(out, run.input_data<T>(0), y);
    });
  }

 private:
  // Where pixel `index` lies when the extent reaches from -1 to 1.
  template <class T>
  [[nodiscard]] T place(int64_t index, int64_t extent) const {
    const auto at = static_cast<double>(index);
    const auto length = static_cast<double>(extent);
    if (!aligns_) return static_cast<T>((2 * at + 1) / length - 1);
    return static_cast<T>(extent == 1 ? 0 : 2 * at / (length - 1) - 1);
  }

  template <class T>
  void fill(const Dims& out, const T* theta, T* y) const {
    const std::size_t spatial = out.size() - 2;
    const auto count = static_cast<int64_t>(spatial);
    const int64_t pixels = element_count(out, 1, out.size() - 1);
    const double cost = 10.0 * static_cast<double>(spatial);
    parallel_for(out[0] * pixels, cost, [=, &out, this](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        // Coordinates in the order x, y, z, and 1 for the translation.
        std::array<T, 4> base;
        base[spatial] = T{1};
        int64_t rest = p % pixels;
        for (std::size_t d = 0; d < spatial; ++d) {
          const int64_t extent = out[spatial - d];
          base[d] = place<T>(rest % extent, extent);
          rest /= extent;
        }
        const T* row = theta + p / pixels * count * (count + 1);
        for (int64_t i = 0; i < count; ++i, row += count + 1) {
          T sum = 0;
          for (std::size_t j = 0; j <= spatial; ++j) sum += row[j] * base[j];
          y[p * count + i] = sum;
        }
      }
    });
  }

  bool aligns_;
};

constexpr KernelEntry kAffineGridKernels[] = {
    {"AffineGrid", 20, kNewest, kTwoInputs, kInputTypes<kFloat, kInt64>, &make<AffineGrid>},
};

}  // namespace

Table affine_grid_kernels() { return kAffineGridKernels; }

}  // namespace ephost_cpu
