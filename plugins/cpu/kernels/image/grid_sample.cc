// GridSample: samples the input at a grid of coordinates, in any number of spatial dimensions. For
// a block of grid points the elements to read and their weights are found once and used for all
// channels.
#include <algorithm>
#include <array>
#include <cmath>

#include "plugins/cpu/core/float_arguments.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"

namespace ephost_cpu {
namespace {

enum class SampleMode { kNearest, kLinear, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

constexpr int64_t kMaxPoints = 32;
// Taps of all points of a block: kMaxPoints in up to three dimensions, fewer in more.
constexpr int64_t kBlockTaps = kMaxPoints * 64;

struct GridShape {
  Dims in, out;  // spatial
  int64_t images = 0, channels = 0;
  int64_t points = 0;  // of a block
};

// One dimension of one point: up to four elements and their weights.
struct AxisTaps {
  std::array<int64_t, 4> indices = {};
  std::array<double, 4> weights = {};
  int64_t count = 0;
};

class GridSample final : public Kernel {
 public:
  explicit GridSample(const NodeContext& context)
      : Kernel(context),
        mode_(parse_sample_mode(context.node().get_string("mode", "linear"))),
        padding_(parse_padding(context.node().get_string("padding_mode", "zeros"))),
        aligns_(context.node().get_int("align_corners", 0) != 0) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    if (x.element_type == EPH_ELEMENT_BOOL && mode_ != SampleMode::kNearest) {
      fail_unsupported("bool elements can only be sampled with mode 'nearest'");
    }
    const Dims shape = dims_of(x);
    const GridShape grid = make_shape(shape, dims_of(*run.input(1)));
    Dims out = {shape[0], shape[1]};
    for (const int64_t extent : grid.out) out.push_back(extent);
    dispatch_compute_type(type_to_compute_in(x.element_type), [&](auto tag) {
      using T = typename decltype(tag)::type;
      FloatArguments arguments(run);
      T* y = arguments.output<T>(0, x.element_type, out);
      if (element_count(out) == 0) return;
      if (element_count(grid.in) == 0) fail("there is nothing to sample in " + to_string(shape));
      sample(grid, arguments.input<T>(0), arguments.input<T>(1), y);
      arguments.finish();
    });
  }

 private:
  // Wide integers are computed in double.
  static int32_t type_to_compute_in(int32_t type) {
    return (eph::type_bit(type) & kWideInts) != 0 ? int32_t{EPH_ELEMENT_DOUBLE} : type;
  }

  static SampleMode parse_sample_mode(std::string_view text) {
    if (text == "nearest") return SampleMode::kNearest;
    if (text == "linear" || text == "bilinear") return SampleMode::kLinear;
    if (text == "cubic" || text == "bicubic") return SampleMode::kCubic;
    fail("attribute mode '" + std::string(text) + "' is unknown");
  }
  static Padding parse_padding(std::string_view text) {
    if (text == "zeros") return Padding::kZeros;
    if (text == "border") return Padding::kBorder;
    if (text == "reflection") return Padding::kReflection;
    fail("attribute padding_mode '" + std::string(text) + "' is unknown");
  }

  [[nodiscard]] int64_t taps_of_axis() const {
    return mode_ == SampleMode::kNearest ? 1 : mode_ == SampleMode::kLinear ? 2 : 4;
  }

  [[nodiscard]] GridShape make_shape(const Dims& x, const Dims& grid) const {
    const std::size_t spatial = x.size() < 3 ? 0 : x.size() - 2;
    if (spatial == 0 || grid.size() != x.size() || grid[0] != x[0] ||
        grid.back() != static_cast<int64_t>(spatial)) {
      fail("X " + to_string(x) + " and grid " + to_string(grid) + " are incompatible");
    }
    GridShape shape = {{}, {}, x[0], x[1]};
    int64_t taps = 1;
    for (std::size_t d = 0; d < spatial; ++d) {
      taps *= taps_of_axis();
      if (taps > kBlockTaps) {
        fail_unsupported("a point in " + std::to_string(spatial) +
                         " dimensions has too many neighbours");
      }
      shape.in.push_back(x[d + 2]);
      shape.out.push_back(grid[d + 1]);
    }
    shape.points = std::min(kMaxPoints, kBlockTaps / taps);
    return shape;
  }

  // A coordinate mirrored at both ends of [low, high] until it lies inside.
  static double reflect(double x, double low, double high) {
    const double range = high - low;
    if (range <= 0) return low;
    double distance = std::fmod(std::fabs(x - low), 2 * range);
    if (distance > range) distance = 2 * range - distance;
    return low + distance;
  }

  // The element at an integer coordinate, -1 for none.
  [[nodiscard]] int64_t pad(int64_t index, int64_t extent) const {
    if (index >= 0 && index < extent) return index;
    if (padding_ == Padding::kZeros) return -1;
    if (padding_ == Padding::kBorder) return std::clamp<int64_t>(index, 0, extent - 1);
    const double low = aligns_ ? 0 : -0.5;
    const double mirrored =
        reflect(static_cast<double>(index), low, static_cast<double>(extent - 1) - low);
    return std::clamp<int64_t>(static_cast<int64_t>(mirrored), 0, extent - 1);
  }

  // `given` is normalised: -1 and 1 are the ends of the extent.
  [[nodiscard]] AxisTaps find_taps(double given, int64_t extent) const {
    const auto length = static_cast<double>(extent);
    double x = aligns_ ? (given + 1) / 2 * (length - 1) : ((given + 1) * length - 1) / 2;
    if (mode_ == SampleMode::kNearest) x = std::nearbyint(x);
    const double low = aligns_ ? 0 : -0.5;
    const double high = length - 1 - low;
    if (!(x >= low && x <= high)) {
      // Cubic weights follow from where the point is; its four elements are clamped one by one, as
      // in PyTorch.
      if (padding_ == Padding::kBorder && mode_ != SampleMode::kCubic) {
        x = std::clamp(x, 0.0, length - 1);
      }
      if (padding_ == Padding::kReflection) x = reflect(x, low, high);
    }
    // NaN, and coordinates too far outside for an integer.
    if (!(x > -4e9)) x = -4e9;
    if (x > 4e9) x = 4e9;
    AxisTaps taps;
    const auto add = [&](int64_t index, double weight) {
      const auto at = static_cast<std::size_t>(taps.count++);
      taps.indices[at] = pad(index, extent);
      taps.weights[at] = weight;
    };
    if (mode_ == SampleMode::kNearest) {
      // Reflected, it may lie halfway between two elements.
      add(static_cast<int64_t>(std::nearbyint(x)), 1);
      return taps;
    }
    const double floor = std::floor(x);
    const auto first = static_cast<int64_t>(floor);
    const double fraction = x - floor;
    if (mode_ == SampleMode::kLinear) {
      add(first, 1 - fraction);
      add(first + 1, fraction);
    } else {
      for (int64_t k = -1; k < 3; ++k) {
        add(first + k, cubic(std::fabs(fraction - static_cast<double>(k))));
      }
    }
    return taps;
  }

  static double cubic(double x) {
    constexpr double kA = -0.75;
    if (x <= 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
    return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA;
  }

  // Tap k of point p is at k * stride + p. Weights are 0 outside.
  template <class T>
  struct Block {
    std::array<int64_t, kBlockTaps> offsets;
    std::array<T, kBlockTaps> weights;
    int64_t stride = 0;
    int64_t taps = 0;
  };

  template <class T>
  void fill_block(const GridShape& shape, const T* grid, int64_t points, Block<T>& block) const {
    const std::size_t spatial = shape.in.size();
    for (int64_t p = 0; p < points; ++p) {
      block.taps = 1;
      block.offsets[static_cast<std::size_t>(p)] = 0;
      block.weights[static_cast<std::size_t>(p)] = 1;
      for (std::size_t d = 0; d < spatial; ++d) {
        // The grid has x before y.
        const T given =
            grid[p * static_cast<int64_t>(spatial) + static_cast<int64_t>(spatial - 1 - d)];
        add_axis(find_taps(static_cast<double>(given), shape.in[d]), shape.in[d], p, block);
      }
    }
  }

  // Combines every tap so far with every tap of the axis, from the last to the first, in place.
  template <class T>
  static void add_axis(const AxisTaps& axis, int64_t extent, int64_t p, Block<T>& block) {
    for (int64_t k = block.taps; k-- > 0;) {
      const auto from = static_cast<std::size_t>(k * block.stride + p);
      const int64_t offset = block.offsets[from];
      const T weight = block.weights[from];
      for (int64_t j = axis.count; j-- > 0;) {
        const auto to = static_cast<std::size_t>((k * axis.count + j) * block.stride + p);
        const int64_t index = axis.indices[static_cast<std::size_t>(j)];
        block.offsets[to] = offset * extent + std::max<int64_t>(index, 0);
        block.weights[to] =
            index < 0 ? T{0} : weight * static_cast<T>(axis.weights[static_cast<std::size_t>(j)]);
      }
    }
    block.taps *= axis.count;
  }

  template <class T>
  void sample(const GridShape& shape, const T* x, const T* grid, T* y) const {
    const int64_t in = element_count(shape.in);
    const int64_t out = element_count(shape.out);
    const auto spatial = static_cast<int64_t>(shape.in.size());
    const int64_t at_once = shape.points;
    const int64_t blocks = (out + at_once - 1) / at_once;
    const double cost =
        static_cast<double>(at_once) * (20.0 + 4.0 * static_cast<double>(shape.channels));
    parallel_for(shape.images * blocks, cost, [=, &shape, this](int64_t begin, int64_t end) {
      Block<T> block;
      for (int64_t b = begin; b < end; ++b) {
        const int64_t image = b / blocks;
        const int64_t first = b % blocks * at_once;
        const int64_t points = std::min(at_once, out - first);
        block.stride = at_once;
        fill_block(shape, grid + (image * out + first) * spatial, points, block);
        for (int64_t c = image * shape.channels; c < (image + 1) * shape.channels; ++c) {
          blend(block, points, x + c * in, y + c * out + first);
        }
      }
    });
  }

  template <class T>
  static void blend(const Block<T>& block, int64_t points, const T* x, T* y) {
    for (int64_t k = 0; k < block.taps; ++k) {
      const int64_t* offsets = block.offsets.data() + k * block.stride;
      const T* weights = block.weights.data() + k * block.stride;
      for (int64_t p = 0; p < points; ++p) {
        // Elements outside contribute nothing, even if the element read instead is not finite.
        const T term = weights[p] == T{0} ? T{0} : weights[p] * x[offsets[p]];
        y[p] = k == 0 ? term : y[p] + term;
      }
    }
  }

  SampleMode mode_;
  Padding padding_;
  bool aligns_;
};

constexpr uint64_t kValues = kFloat | kInts | kBool;

constexpr KernelEntry kGridSampleKernels[] = {
    {"GridSample", 16, kNewest, kTwoInputs, kInputTypes<kValues, kFloat>, &make<GridSample>},
};

}  // namespace

Table grid_sample_kernels() { return kGridSampleKernels; }

}  // namespace ephost_cpu
