// DeformConv: a convolution whose window elements are each displaced by an offset of their own and
// weighted by a mask. The displaced elements are interpolated and form columns for a matrix
// product.
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/kernels/matrix/product.h"
#include "plugins/cpu/kernels/windows/window.h"

namespace ephost_cpu {
namespace {

constexpr std::size_t kMaxSpatial = 3;
constexpr int64_t kDeformBlock = 64;

struct DeformShape {
  Dims x, weights, input, out;  // `input` and `out`: spatial extents, and the output's shape
  Window window;
  int64_t groups = 1, offset_groups = 1;

  [[nodiscard]] int64_t taps() const { return element_count(window.kernel); }
  [[nodiscard]] int64_t positions() const { return element_count(window.output); }
  [[nodiscard]] int64_t in_channels() const { return x[1] / groups; }
  // The product of one group: all its output channels from all its columns, added to the output.
  [[nodiscard]] ProductShape product() const {
    return {.m = weights[0] / groups,
            .k = in_channels() * taps(),
            .n = positions(),
            .accumulates = true};
  }
};

template <class T>
struct DeformInputs {
  const T *x, *weights, *offsets, *bias, *mask;
};

// The elements around a displaced one and their weights, for a block of positions.
template <class T>
struct Corners {
  std::array<std::array<int64_t, kDeformBlock>, 1 << kMaxSpatial> indices;
  std::array<std::array<T, kDeformBlock>, 1 << kMaxSpatial> weights;
};

class DeformConv final : public Kernel {
 public:
  explicit DeformConv(const NodeContext& context)
      : Kernel(context),
        attributes_(context.node()),
        groups_(context.node().get_int("group", 1)),
        offset_groups_(context.node().get_int("offset_group", 1)),
        products_(context.settings().onednn, nullptr) {
    if (groups_ < 1 || offset_groups_ < 1) fail("attribute group or offset_group is not positive");
  }

  std::unique_ptr<eph::State> create_state() override { return products_.create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const eph_value& x = *run.input(0);
    const DeformShape shape = make_shape(dims_of(x), dims_of(*run.input(1)));
    check_inputs(run, shape);
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const DeformInputs<T> from = {run.input_data<T>(0), run.input_data<T>(1),
                                    run.input_data<T>(2), optional_data<T>(run, 3),
                                    optional_data<T>(run, 4)};
      T* y = data<T>(allocate_output(run, 0, x.element_type, shape.out));
      if (element_count(shape.out) == 0) return;
      const int64_t plane = shape.positions();
      for (int64_t p = 0; p < shape.out[0] * shape.out[1]; ++p) {
        std::fill_n(y + p * plane, plane,
                    from.bias != nullptr ? from.bias[p % shape.out[1]] : T{0});
      }
      if (element_count(shape.x) != 0 && element_count(shape.weights) != 0) {
        convolve(run, state, shape, from, y);
      }
    });
  }

 private:
  [[nodiscard]] DeformShape make_shape(const Dims& x, const Dims& weights) const {
    if (x.size() < 3 || weights.size() != x.size()) {
      fail("X " + to_string(x) + " and W " + to_string(weights) +
           " need the same rank and a spatial dimension");
    }
    if (x.size() - 2 > kMaxSpatial) {
      fail_unsupported(std::to_string(x.size() - 2) + " spatial dimensions are not supported");
    }
    if (weights[0] % groups_ != 0 || x[1] % groups_ != 0 || weights[1] != x[1] / groups_ ||
        x[1] % offset_groups_ != 0) {
      fail("X " + to_string(x) + " and W " + to_string(weights) +
           " do not agree on channels with " + std::to_string(groups_) + " groups and " +
           std::to_string(offset_groups_) + " offset groups");
    }
    DeformShape shape;
    shape.x = x;
    shape.weights = weights;
    shape.groups = groups_;
    shape.offset_groups = offset_groups_;
    Dims kernel;
    for (std::size_t d = 2; d < x.size(); ++d) {
      shape.input.push_back(x[d]);
      kernel.push_back(weights[d]);
    }
    const Dims& stated = attributes_.kernel_shape();
    if (!stated.empty() && !(stated == kernel)) {
      fail("kernel_shape " + to_string(stated) + " differs from W " + to_string(weights));
    }
    shape.window = attributes_.resolve(kernel, shape.input);
    shape.out = {x[0], weights[0]};
    for (const int64_t extent : shape.window.output) shape.out.push_back(extent);
    return shape;
  }

  void check_inputs(const eph::Run& run, const DeformShape& shape) const {
    const auto spatial = static_cast<int64_t>(shape.input.size());
    const int64_t masks = checked_multiply(offset_groups_, shape.taps());
    Dims offsets = shape.out;
    offsets[1] = checked_multiply(masks, spatial);
    Dims mask = shape.out;
    mask[1] = masks;
    expect(run.input(2), "offset", offsets);
    expect(run.input(3), "B", {shape.weights[0]});
    expect(run.input(4), "mask", mask);
  }

  static void expect(const eph_value* value, const char* name, const Dims& expected) {
    if (value == nullptr || dims_of(*value) == expected) return;
    fail(std::string("input '") + name + "' has shape " + to_string(eph::shape_of(*value)) +
         ", expected " + to_string(expected));
  }

  template <class T>
  void convolve(eph::Run& run, eph::State* state, const DeformShape& shape,
                const DeformInputs<T>& from, T* y) {
    const ProductShape product = shape.product();
    const int64_t rows = checked_multiply(shape.x[1], shape.taps());
    const int64_t count = checked_multiply(rows, shape.positions());
    auto* columns =
        static_cast<T*>(run.scratch(static_cast<uint64_t>(checked_multiply(count, sizeof(T)))));
    void* scratch = nullptr;
    if constexpr (std::is_same_v<T, float>) {
      const uint64_t bytes = products_.prepare(product);
      if (bytes != 0) scratch = run.scratch(bytes);
    }
    for (int64_t n = 0; n < shape.x[0]; ++n) {
      fill_columns(shape, from, n, columns);
      for (int64_t g = 0; g < shape.groups; ++g) {
        const T* weights = from.weights + g * product.m * product.k;
        const T* right = columns + g * product.k * product.n;
        T* out = y + (n * shape.groups + g) * product.m * product.n;
        if constexpr (std::is_same_v<T, float>) {
          products_.multiply(run, state, product, weights, right, nullptr, out, scratch);
        } else {
          add_product(product, weights, right, out);
        }
      }
    }
  }

  static void add_product(const ProductShape& shape, const double* a, const double* b, double* y) {
    const double cost = 0.5 * static_cast<double>(shape.k) * static_cast<double>(shape.n);
    parallel_for(shape.m, cost, [=, &shape](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t c = 0; c < shape.k; ++c) {
          const double factor = a[i * shape.k + c];
          for (int64_t j = 0; j < shape.n; ++j) y[i * shape.n + j] += factor * b[c * shape.n + j];
        }
      }
    });
  }

  // For each channel and element of the window, a row with a number for each position.
  template <class T>
  static void fill_columns(const DeformShape& shape, const DeformInputs<T>& from, int64_t image,
                           T* columns) {
    const int64_t taps = shape.taps();
    const int64_t positions = shape.positions();
    const int64_t plane = element_count(shape.input);
    const int64_t channels = shape.x[1] / shape.offset_groups;  // of an offset group
    const double cost =
        static_cast<double>(positions) * (20.0 + 4.0 * static_cast<double>(channels));
    parallel_for(shape.offset_groups * taps, cost, [=, &shape, &from](int64_t begin, int64_t end) {
      Corners<T> corners;
      for (int64_t row = begin; row < end; ++row) {
        const int64_t first_channel = row / taps * channels;
        const int64_t masks = image * shape.offset_groups * taps + row;
        const T* mask = from.mask != nullptr ? from.mask + masks * positions : nullptr;
        for (int64_t p = 0; p < positions; p += kDeformBlock) {
          const int64_t count = std::min(kDeformBlock, positions - p);
          find_corners(shape, from, masks, row % taps, p, count, corners);
          for (int64_t c = first_channel; c < first_channel + channels; ++c) {
            T* to = columns + (c * taps + row % taps) * positions + p;
            blend(shape, corners, count, from.x + (image * shape.x[1] + c) * plane, to);
            for (int64_t i = 0; mask != nullptr && i < count; ++i) to[i] *= mask[p + i];
          }
        }
      }
    });
  }

  // `masks` numbers the rows of the mask; the offsets have one for each dimension.
  template <class T>
  static void find_corners(const DeformShape& shape, const DeformInputs<T>& from, int64_t masks,
                           int64_t tap, int64_t first, int64_t count, Corners<T>& corners) {
    const std::size_t spatial = shape.input.size();
    const int64_t positions = shape.positions();
    for (int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      std::array<int64_t, kMaxSpatial> low = {};
      std::array<T, kMaxSpatial> fraction = {};
      int64_t position = first + i;
      int64_t element = tap;
      for (std::size_t d = spatial; d-- > 0;) {
        const Window& window = shape.window;
        const int64_t start = position % window.output[d] * window.strides[d] -
                              window.pads_begin[d] +
                              element % window.kernel[d] * window.dilations[d];
        position /= window.output[d];
        element /= window.kernel[d];
        const int64_t offset =
            (masks * static_cast<int64_t>(spatial) + static_cast<int64_t>(d)) * positions;
        T x = static_cast<T>(start) + from.offsets[offset + first + i];
        // Coordinates beyond the borders, and NaN, have no element.
        if (!(x > T{-2})) x = T{-2};
        if (x > static_cast<T>(shape.input[d])) x = static_cast<T>(shape.input[d]);
        const T floor = std::floor(x);
        low[d] = static_cast<int64_t>(floor);
        fraction[d] = x - floor;
      }
      for (std::size_t corner = 0; corner < std::size_t{1} << spatial; ++corner) {
        int64_t index = 0;
        T weight = 1;
        for (std::size_t d = 0; d < spatial; ++d) {
          const bool upper = (corner >> d & 1) != 0;
          const int64_t where = low[d] + (upper ? 1 : 0);
          const bool inside = where >= 0 && where < shape.input[d];
          weight = inside ? weight * (upper ? fraction[d] : 1 - fraction[d]) : T{0};
          index = index * shape.input[d] + (inside ? where : 0);
        }
        corners.indices[corner][at] = index;
        corners.weights[corner][at] = weight;
      }
    }
  }

  template <class T>
  static void blend(const DeformShape& shape, const Corners<T>& corners, int64_t count, const T* x,
                    T* y) {
    std::fill_n(y, count, T{0});
    for (std::size_t corner = 0; corner < std::size_t{1} << shape.input.size(); ++corner) {
      const int64_t* indices = corners.indices[corner].data();
      const T* weights = corners.weights[corner].data();
      for (int64_t i = 0; i < count; ++i) {
        y[i] += weights[i] == T{0} ? T{0} : weights[i] * x[indices[i]];
      }
    }
  }

  WindowAttributes attributes_;
  int64_t groups_, offset_groups_;
  Products products_;
};

constexpr Inputs kDeformConvInputs = {.required = 3, .same_type = 0b11111};

constexpr KernelEntry kDeformConvKernels[] = {
    {"DeformConv", 19, kNewest, kDeformConvInputs,
     kInputTypes<kFloat, kFloat, kFloat, kFloat, kFloat>, &make<DeformConv>},
};

}  // namespace

Table deform_conv_kernels() { return kDeformConvKernels; }

}  // namespace ephost_cpu
