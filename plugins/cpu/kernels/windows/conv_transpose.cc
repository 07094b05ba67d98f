// ConvTranspose: a matrix product of the weights with the pixels gives columns, which are added to
// the output where their windows lie. With few input channels in a group the pixels are weighted
// and added directly.
#include <algorithm>
#include <type_traits>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"
#include "plugins/cpu/core/work_area.h"
#include "plugins/cpu/kernels/matrix/product.h"
#include "plugins/cpu/kernels/windows/columns.h"

namespace ephost_cpu {
namespace {

struct TransposedShape {
  Dims x, weights, y;
  ColumnShape columns;                                    // of a plane of the output
  int64_t groups = 1, in_channels = 0, out_channels = 0;  // channels of one group

  [[nodiscard]] int64_t images() const { return x[0]; }
  [[nodiscard]] int64_t in_plane() const { return columns.positions(); }
  [[nodiscard]] int64_t out_plane() const { return element_count(columns.plane); }
  [[nodiscard]] ProductShape product() const {
    return {
        .m = out_channels * columns.taps(), .k = in_channels, .n = in_plane(), .transpose_a = true};
  }
};

class ConvTranspose final : public Kernel {
 public:
  explicit ConvTranspose(const NodeContext& context)
      : Kernel(context),
        attributes_(context.node()),
        groups_(context.node().get_int("group", 1)),
        output_padding_(context.node().get_ints("output_padding")),
        output_shape_(context.node().get_ints("output_shape")),
        products_(context.settings().onednn, nullptr) {
    if (groups_ < 1) fail("attribute group=" + std::to_string(groups_) + " is not positive");
    const std::optional<Dims> x = context.input_shape(0);
    const std::optional<Dims> weights = context.input_shape(1);
    const int32_t type = context.input_type(0);
    if (!x || !weights || type == EPH_ELEMENT_UNDEFINED || type == EPH_ELEMENT_DOUBLE) return;
    const TransposedShape shape = make_shape(*x, *weights);
    if (is_empty(shape) || !uses_product(shape)) return;
    WorkArea area;
    take_memory(area, shape);
    workspace_bytes_ = area.used();
    set_workspace(workspace_bytes_);
  }

  std::unique_ptr<eph::State> create_state() override { return products_.create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const eph_value& x = *run.input(0);
    const TransposedShape shape = make_shape(dims_of(x), dims_of(*run.input(1)));
    const eph_value* bias = run.input(2);
    if (bias != nullptr && element_count(eph::shape_of(*bias)) != shape.y[1]) {
      fail("bias of shape " + to_string(eph::shape_of(*bias)) +
           " does not have an element for each of " + std::to_string(shape.y[1]) +
           " output channels");
    }
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* y = data<T>(allocate_output(run, 0, x.element_type, shape.y));
      if (element_count(shape.y) == 0) return;
      fill(shape, optional_data<T>(run, 2), y);
      if (!is_empty(shape)) {
        convolve(run, state, shape, run.input_data<T>(0), run.input_data<T>(1), y);
      }
    });
  }

 private:
  struct Memory {
    float* columns;
    void* scratch;
  };

  static bool is_empty(const TransposedShape& shape) {
    return element_count(shape.x) == 0 || element_count(shape.weights) == 0 ||
           element_count(shape.y) == 0;
  }

  static bool uses_product(const TransposedShape& shape) { return shape.in_channels >= 4; }

  Memory take_memory(WorkArea& area, const TransposedShape& shape) {
    const ProductShape product = shape.product();
    const uint64_t scratch = products_.prepare(product);
    return {area.take<float>(checked_multiply(product.m, product.n)),
            area.take_bytes(static_cast<int64_t>(scratch))};
  }

  template <class T>
  static void fill(const TransposedShape& shape, const T* bias, T* y) {
    const int64_t plane = shape.out_plane();
    for (int64_t p = 0; p < shape.y[0] * shape.y[1]; ++p) {
      std::fill_n(y + p * plane, plane, bias != nullptr ? bias[p % shape.y[1]] : T{0});
    }
  }

  template <class T>
  void convolve(eph::Run& run, eph::State* state, const TransposedShape& shape, const T* x,
                const T* weights, T* y) {
    if constexpr (std::is_same_v<T, float>) {
      if (uses_product(shape)) return multiply(run, state, shape, x, weights, y);
    }
    add_pixels(shape, x, weights, y);
  }

  void multiply(eph::Run& run, eph::State* state, const TransposedShape& shape, const float* x,
                const float* weights, float* y) {
    WorkArea needed;
    take_memory(needed, shape);
    WorkArea area(run, needed.used(), workspace_bytes_);
    const Memory memory = take_memory(area, shape);
    const int64_t in_group = shape.in_channels * shape.in_plane();
    const int64_t out_group = shape.out_channels * shape.out_plane();
    const int64_t taps = shape.columns.taps();
    const int64_t positions = shape.in_plane();
    const double cost = 0.5 * static_cast<double>(taps) * static_cast<double>(positions);
    for (int64_t g = 0; g < shape.images() * shape.groups; ++g) {
      const float* group_weights =
          weights + g % shape.groups * shape.in_channels * shape.out_channels * taps;
      products_.multiply(run, state, shape.product(), group_weights, x + g * in_group, nullptr,
                         memory.columns, memory.scratch);
      parallel_for(shape.out_channels, cost, [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
          add_columns(
              shape.columns, [&](int64_t t) { return memory.columns + (c * taps + t) * positions; },
              [](int64_t) { return 1.0F; }, y + g * out_group + c * shape.out_plane());
        }
      });
    }
  }

  template <class T>
  static void add_pixels(const TransposedShape& shape, const T* x, const T* weights, T* y) {
    const int64_t taps = shape.columns.taps();
    const int64_t positions = shape.in_plane();
    const double cost =
        static_cast<double>(taps * shape.in_channels) * static_cast<double>(positions);
    parallel_for(shape.images() * shape.y[1], cost, [=, &shape](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t group = p / shape.out_channels;  // of all images
        const int64_t c = p % shape.out_channels;
        for (int64_t i = 0; i < shape.in_channels; ++i) {
          const T* pixels = x + (group * shape.in_channels + i) * positions;
          const int64_t in = group % shape.groups * shape.in_channels + i;
          const T* taps_of = weights + (in * shape.out_channels + c) * taps;
          add_columns(
              shape.columns, [=](int64_t) { return pixels; }, [=](int64_t t) { return taps_of[t]; },
              y + p * shape.out_plane());
        }
      }
    });
  }

  [[nodiscard]] TransposedShape make_shape(const Dims& x, const Dims& weights) const {
    if (x.size() < 3 || weights.size() != x.size()) {
      fail("X " + to_string(x) + " and W " + to_string(weights) +
           " need the same rank and a spatial dimension");
    }
    if (weights[0] != x[1] || x[1] % groups_ != 0) {
      fail("X " + to_string(x) + " and W " + to_string(weights) +
           " do not agree on channels with " + std::to_string(groups_) + " groups");
    }
    Dims input;
    Dims kernel;
    for (std::size_t d = 2; d < x.size(); ++d) {
      input.push_back(x[d]);
      kernel.push_back(weights[d]);
    }
    const Dims& stated = attributes_.kernel_shape();
    if (!stated.empty() && !(stated == kernel)) {
      fail("kernel_shape " + to_string(stated) + " differs from W " + to_string(weights));
    }
    TransposedShape shape;
    shape.x = x;
    shape.weights = weights;
    shape.groups = groups_;
    shape.in_channels = x[1] / groups_;
    shape.out_channels = weights[1];
    Dims extents;
    shape.columns.window =
        attributes_.resolve_transposed(kernel, input, output_padding_, output_shape_, extents);
    shape.columns.plane = extents;
    shape.y = {x[0], checked_multiply(weights[1], groups_)};
    for (const int64_t extent : extents) shape.y.push_back(extent);
    return shape;
  }

  WindowAttributes attributes_;
  int64_t groups_;
  Dims output_padding_, output_shape_;
  Products products_;
  uint64_t workspace_bytes_ = 0;
};

constexpr KernelEntry kConvTransposeKernels[] = {
    {"ConvTranspose", 1, kNewest, kTwoOrThreeAlike, kThreeFloats, &make<ConvTranspose>},
};

}  // namespace

Table conv_transpose_kernels() { return kConvTransposeKernels; }

}  // namespace ephost_cpu
