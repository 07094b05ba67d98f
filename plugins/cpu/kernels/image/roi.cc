// RoiAlign and MaxRoiPool: pool regions of interest of a feature map to a fixed size.
#include <algorithm>
#include <array>
#include <cmath>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/core/registry.h"

namespace ephost_cpu {
namespace {

// Coordinates that need more samples in a row of a bin are not real ones.
constexpr double kMaxSamples = 1 << 16;
constexpr int64_t kMaxPooled = int64_t{1} << 31;

int64_t read_pooled_extent(const eph::NodeView& node, std::string_view name) {
  const int64_t extent = node.get_int(name, 1);
  if (extent < 1 || extent >= kMaxPooled) {
    fail("attribute " + std::string(name) + "=" + std::to_string(extent) + " is not positive");
  }
  return extent;
}

// The regions of RoiAlign that are to be pooled.
template <class T>
struct AlignTask {
  const T *x, *rois;
  const int64_t* images;
  int64_t channels, height, width;
  T* y;
};

class RoiAlign final : public Kernel {
 public:
  explicit RoiAlign(const NodeContext& context)
      : Kernel(context),
        scale_(static_cast<double>(context.node().get_float("spatial_scale", 1))),
        out_height_(read_pooled_extent(context.node(), "output_height")),
        out_width_(read_pooled_extent(context.node(), "output_width")),
        samples_(context.node().get_int("sampling_ratio", 0)) {
    const std::string_view mode = context.node().get_string("mode", "avg");
    const std::string_view coordinates =
        context.node().get_string("coordinate_transformation_mode",
                                  context.version() < 16 ? "output_half_pixel" : "half_pixel");
    if (mode != "avg" && mode != "max") {
      fail("attribute mode '" + std::string(mode) + "' is unknown");
    }
    if (coordinates != "half_pixel" && coordinates != "output_half_pixel") {
      fail("attribute coordinate_transformation_mode '" + std::string(coordinates) +
           "' is unknown");
    }
    if (samples_ < 0 || static_cast<double>(samples_) > kMaxSamples) {
      fail("attribute sampling_ratio=" + std::to_string(samples_) + " is negative, or too large");
    }
    takes_maximum_ = mode == "max";
    half_pixel_ = coordinates == "half_pixel";
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const Dims rois = dims_of(*run.input(1));
    const Dims indices = dims_of(*run.input(2));
    if (shape.size() != 4 || rois.size() != 2 || rois[1] != 4 || !(indices == Dims{rois[0]})) {
      fail("X " + to_string(shape) + ", rois " + to_string(rois) + " and batch_indices " +
           to_string(indices) + " are incompatible");
    }
    const Dims out = {rois[0], shape[1], out_height_, out_width_};
    const auto* images = run.input_data<int64_t>(2);
    for (int64_t r = 0; r < rois[0]; ++r) {
      if (images[r] < 0 || images[r] >= shape[0]) {
        fail("batch index " + std::to_string(images[r]) + " is out of range for " +
             std::to_string(shape[0]) + " images");
      }
    }
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* y = data<T>(allocate_output(run, 0, x.element_type, out));
      if (element_count(out) == 0) return;
      if (shape[2] == 0 || shape[3] == 0) fail("there is nothing to pool in " + to_string(shape));
      const AlignTask<T> task = {
          run.input_data<T>(0), run.input_data<T>(1), images, shape[1], shape[2], shape[3], y};
      check_regions(task.rois, rois[0]);
      pool(task, rois[0]);
    });
  }

 private:
  // A region in the feature map's coordinates, cut into bins of `bin` extents with a grid of
  // samples each. Index 0 is y, 1 is x.
  struct Region {
    std::array<double, 2> start, bin;
    std::array<int64_t, 2> samples;
  };

  template <class T>
  [[nodiscard]] std::array<double, 2> extents_of(const T* roi) const {
    std::array<double, 2> extents;
    for (std::size_t d = 0; d < 2; ++d) {
      const double extent =
          (static_cast<double>(roi[3 - d]) - static_cast<double>(roi[1 - d])) * scale_;
      extents[d] = half_pixel_ ? extent : std::max(extent, 1.0);
    }
    return extents;
  }

  template <class T>
  void check_regions(const T* rois, int64_t count) const {
    for (int64_t r = 0; r < count; ++r) {
      const std::array<double, 2> extents = extents_of(rois + 4 * r);
      const bool usable = extents[0] / static_cast<double>(out_height_) <= kMaxSamples &&
                          extents[1] / static_cast<double>(out_width_) <= kMaxSamples;
      if (!usable) fail("region " + std::to_string(r) + " has coordinates that are out of range");
    }
  }

  template <class T>
  [[nodiscard]] Region make_region(const T* roi) const {
    Region region;
    const std::array<double, 2> extents = extents_of(roi);
    const std::array<int64_t, 2> bins = {out_height_, out_width_};
    for (std::size_t d = 0; d < 2; ++d) {
      region.start[d] = static_cast<double>(roi[1 - d]) * scale_ - (half_pixel_ ? 0.5 : 0.0);
      region.bin[d] = extents[d] / static_cast<double>(bins[d]);
      const auto adaptive = static_cast<int64_t>(std::ceil(region.bin[d]));
      region.samples[d] = samples_ > 0 ? samples_ : std::max<int64_t>(adaptive, 0);
    }
    return region;
  }

  template <class T>
  void pool(const AlignTask<T>& task, int64_t regions) const {
    const int64_t bins = out_height_ * out_width_;
    const double cost = 50.0 * static_cast<double>(bins);
    parallel_for(regions * task.channels, cost, [&, this](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t r = p / task.channels;
        const Region region = make_region(task.rois + 4 * r);
        const int64_t plane = task.images[r] * task.channels + p % task.channels;
        const T* x = task.x + plane * task.height * task.width;
        for (int64_t bin = 0; bin < bins; ++bin) {
          task.y[p * bins + bin] = pool_bin(task, region, x, bin / out_width_, bin % out_width_);
        }
      }
    });
  }

  template <class T>
  T pool_bin(const AlignTask<T>& task, const Region& region, const T* x, int64_t row,
             int64_t column) const {
    const auto [height, width] = region.samples;
    if (height == 0 || width == 0) return T{0};
    T sum = 0;
    T best = 0;
    for (int64_t i = 0; i < height; ++i) {
      const double at_y = region.start[0] + region.bin[0] * place(row, i, height);
      for (int64_t j = 0; j < width; ++j) {
        const double at_x = region.start[1] + region.bin[1] * place(column, j, width);
        const Sample<T> parts = sample(task, x, at_y, at_x);
        sum += parts[0] + parts[1] + parts[2] + parts[3];
        const T largest = *std::max_element(parts.begin(), parts.end());
        best = i == 0 && j == 0 ? largest : std::max(best, largest);
      }
    }
    return takes_maximum_ ? best : sum / static_cast<T>(height * width);
  }

  // Where sample `i` of `count` lies, in bins.
  static double place(int64_t bin, int64_t i, int64_t count) {
    return static_cast<double>(bin) + (static_cast<double>(i) + 0.5) / static_cast<double>(count);
  }

  // The four elements around a place, each times its weight in the bilinear interpolation, which is
  // their sum; zeros farther than one element outside. Mode max takes the largest of these
  // products, as the data and code beside ONNX's text do and ONNX Runtime does: not the largest of
  // the sums.
  template <class T>
  using Sample = std::array<T, 4>;
  template <class T>
  static Sample<T> sample(const AlignTask<T>& task, const T* x, double at_y, double at_x) {
    const auto height = static_cast<double>(task.height);
    const auto width = static_cast<double>(task.width);
    if (!(at_y >= -1 && at_y <= height && at_x >= -1 && at_x <= width)) return {};
    at_y = std::clamp(at_y, 0.0, height - 1);
    at_x = std::clamp(at_x, 0.0, width - 1);
    const auto top = static_cast<int64_t>(at_y);
    const auto left = static_cast<int64_t>(at_x);
    const int64_t bottom = std::min(top + 1, task.height - 1);
    const int64_t right = std::min(left + 1, task.width - 1);
    const T down = static_cast<T>(at_y - static_cast<double>(top));
    const T over = static_cast<T>(at_x - static_cast<double>(left));
    const T* upper = x + top * task.width;
    const T* lower = x + bottom * task.width;
    return {(1 - down) * (1 - over) * upper[left], (1 - down) * over * upper[right],
            down * (1 - over) * lower[left], down * over * lower[right]};
  }

  double scale_;
  int64_t out_height_, out_width_, samples_;
  bool takes_maximum_ = false, half_pixel_ = false;
};

class MaxRoiPool final : public Kernel {
 public:
  explicit MaxRoiPool(const NodeContext& context)
      : Kernel(context),
        scale_(static_cast<double>(context.node().get_float("spatial_scale", 1))),
        pooled_(context.node().get_ints("pooled_shape")) {
    if (pooled_.size() != 2 || pooled_[0] < 1 || pooled_[1] < 1 || pooled_[0] >= kMaxPooled ||
        pooled_[1] >= kMaxPooled) {
      fail("attribute pooled_shape=" + to_string(pooled_) + " is not a positive height and width");
    }
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const Dims rois = dims_of(*run.input(1));
    if (shape.size() != 4 || rois.size() != 2 || rois[1] != 5) {
      fail("X " + to_string(shape) + " and rois " + to_string(rois) + " are incompatible");
    }
    const Dims out = {rois[0], shape[1], pooled_[0], pooled_[1]};
    dispatch<float, double>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* regions = run.input_data<T>(1);
      T* y = data<T>(allocate_output(run, 0, x.element_type, out));
      check_regions(regions, rois[0], shape[0]);
      if (element_count(out) == 0) return;
      pool(shape, run.input_data<T>(0), regions, rois[0], y);
    });
  }

 private:
  template <class T>
  void check_regions(const T* rois, int64_t count, int64_t images) const {
    for (int64_t r = 0; r < count; ++r) {
      const auto image = static_cast<double>(rois[5 * r]);
      if (!(image >= 0 && image < static_cast<double>(images))) {
        fail("batch index " + std::to_string(image) + " is out of range for " +
             std::to_string(images) + " images");
      }
      for (int64_t i = 1; i < 5; ++i) {
        const double scaled = static_cast<double>(rois[5 * r + i]) * scale_;
        if (!(std::fabs(scaled) < 0x1p31))
          fail("region " + std::to_string(r) + " has coordinates that are out of range");
      }
    }
  }

  // Elements [first, last) of an extent that bin `index` of `count` covers; the region reaches from
  // `start` to `end`, both inclusive.
  static std::array<int64_t, 2> range(int64_t start, int64_t end, int64_t index, int64_t count,
                                      int64_t extent) {
    const auto bin =
        static_cast<double>(std::max<int64_t>(end - start + 1, 1)) / static_cast<double>(count);
    const double first = std::floor(static_cast<double>(index) * bin);
    const double last = std::ceil(static_cast<double>(index + 1) * bin);
    return {std::clamp<int64_t>(static_cast<int64_t>(first) + start, 0, extent),
            std::clamp<int64_t>(static_cast<int64_t>(last) + start, 0, extent)};
  }

  template <class T>
  void pool(const Dims& shape, const T* x, const T* rois, int64_t regions, T* y) const {
    const int64_t bins = pooled_[0] * pooled_[1];
    const int64_t plane = shape[2] * shape[3];
    parallel_for(
        regions * shape[1], static_cast<double>(plane),
        [=, &shape, this](int64_t begin, int64_t end) {
          for (int64_t p = begin; p < end; ++p) {
            const T* roi = rois + p / shape[1] * 5;
            std::array<int64_t, 4> corners;
            for (std::size_t i = 0; i < 4; ++i) {
              corners[i] =
                  static_cast<int64_t>(std::round(static_cast<double>(roi[i + 1]) * scale_));
            }
            const T* from = x + (static_cast<int64_t>(roi[0]) * shape[1] + p % shape[1]) * plane;
            for (int64_t b = 0; b < bins; ++b) {
              const auto rows = range(corners[1], corners[3], b / pooled_[1], pooled_[0], shape[2]);
              const auto columns =
                  range(corners[0], corners[2], b % pooled_[1], pooled_[1], shape[3]);
              y[p * bins + b] = maximum(from, shape[3], rows, columns);
            }
          }
        });
  }

  // 0 for an empty bin.
  template <class T>
  static T maximum(const T* x, int64_t width, const std::array<int64_t, 2>& rows,
                   const std::array<int64_t, 2>& columns) {
    if (rows[0] >= rows[1] || columns[0] >= columns[1]) return T{0};
    T best = x[rows[0] * width + columns[0]];
    for (int64_t i = rows[0]; i < rows[1]; ++i) {
      for (int64_t j = columns[0]; j < columns[1]; ++j) best = std::max(best, x[i * width + j]);
    }
    return best;
  }

  double scale_;
  Dims pooled_;
};

constexpr Inputs kAlignInputs = {.required = 3, .same_type = 0b11};
constexpr auto& kAlignTypes = kInputTypes<kFloat, kFloat, kInt64>;

constexpr KernelEntry kRoiKernels[] = {
    {"RoiAlign", 10, kNewest, kAlignInputs, kAlignTypes, &make<RoiAlign>},
    {"MaxRoiPool", 1, kNewest, kTwoAlike, kTwoFloats, &make<MaxRoiPool>},
};

}  // namespace

Table roi_kernels() { return kRoiKernels; }

}  // namespace ephost_cpu
