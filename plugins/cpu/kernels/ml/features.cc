// Features of ai.onnx.ml: ArrayFeatureExtractor, Binarizer, FeatureVectorizer, Imputer, Normalizer,
// Scaler.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "plugins/cpu/kernels/ml/ml.h"

namespace ephost_cpu {
namespace {

// Selects columns of the last axis.
class ArrayFeatureExtractor final : public Kernel {
 public:
  using Kernel::Kernel;

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    if (shape.empty()) fail("the input is a scalar");
    const auto columns = eph::elements<int64_t>(*run.input(1));
    const int64_t width = shape.back();
    if (columns.empty()) fail("no indices are given");
    for (const int64_t column : columns) {
      if (column < 0 || column >= width) {
        fail("index " + std::to_string(column) + " is outside of 0.." + std::to_string(width - 1));
      }
    }
    const auto taken = static_cast<int64_t>(columns.size());
    Dims out = shape;
    out[out.size() - 1] = taken;
    if (shape.size() == 1) out = {1, taken};
    const eph_value& y = allocate_output(run, 0, x.element_type, out);
    const int64_t rows = element_count(shape, 0, shape.size() - 1);
    for (int64_t i = 0; i < rows * taken; ++i) {
      const int64_t from = i / taken * width + columns[static_cast<std::size_t>(i % taken)];
      if (x.element_type == EPH_ELEMENT_STRING) {
        run.set_string(0, static_cast<uint64_t>(i), eph::view(data<const eph_string>(x)[from]));
        continue;
      }
      const auto size = static_cast<std::size_t>(element_size(x.element_type));
      std::memcpy(data<char>(y) + static_cast<std::size_t>(i) * size,
                  data<const char>(x) + static_cast<std::size_t>(from) * size, size);
    }
  }
};

class Binarizer final : public Kernel {
 public:
  explicit Binarizer(const NodeContext& context)
      : Kernel(context), threshold_(context.node().get_float("threshold", 0)) {
    allow_inplace_if_equal(context, 0);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const eph_value& y = allocate_output(run, 0, x.element_type, shape);
    dispatch<float, double, int32_t, int64_t>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto* from = data<const T>(x);
      std::transform(from, from + element_count(shape), data<T>(y), [&](T number) {
        return static_cast<double>(number) > threshold_ ? T{1} : T{0};
      });
    });
  }

 private:
  double threshold_;
};

class FeatureVectorizer final : public Kernel {
 public:
  explicit FeatureVectorizer(const NodeContext& context)
      : Kernel(context), widths_(ints_of(context.node(), "inputdimensions")) {
    for (const int64_t width : widths_) {
      if (width < 0) fail("attribute 'inputdimensions' has a negative size");
    }
  }

 protected:
  // A row that is shorter than its stated size is padded with zeros, a longer one is truncated.
  void run(eph::Run& run, eph::State*) override {
    std::vector<Features> inputs;
    std::vector<int64_t> widths;
    int64_t total = 0;
    for (uint32_t i = 0; i < run.input_count(); ++i) {
      if (run.input(i) == nullptr) fail("input " + std::to_string(i) + " is missing");
      inputs.emplace_back(*run.input(i));
      widths.push_back(i < widths_.size() ? widths_[i] : inputs.back().columns());
      total = checked_add(total, widths.back());
      if (inputs.back().rows() != inputs[0].rows())
        fail("the inputs have different numbers of rows");
    }
    ScoreTable table(run, 0, inputs[0].rows(), total);
    std::vector<double> joined;
    for (int64_t row = 0; row < inputs[0].rows(); ++row) {
      joined.clear();
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::vector<double>& part = inputs[i].row(row);
        const auto width = static_cast<std::size_t>(widths[i]);
        const std::size_t kept = std::min(width, part.size());
        joined.insert(joined.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(kept));
        joined.resize(joined.size() + width - kept);
      }
      table.set(row, joined);
    }
  }

 private:
  std::vector<int64_t> widths_;
};

class Imputer final : public Kernel {
 public:
  explicit Imputer(const NodeContext& context)
      : Kernel(context),
        floats_(context.node().get_floats("imputed_value_floats").to_vector()),
        integers_(ints_of(context.node(), "imputed_value_int64s")),
        replaced_float_(context.node().get_float("replaced_value_float", 0)),
        replaced_integer_(context.node().get_int("replaced_value_int64", 0)) {}

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    dispatch<float, double, int32_t, int64_t>(x.element_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_floating_point_v<T>) {
        replace<T>(run, floats_, static_cast<T>(replaced_float_));
      } else {
        replace<T>(run, integers_, static_cast<T>(replaced_integer_));
      }
    });
  }

 private:
  template <class T, class Values>
  static void replace(eph::Run& run, const Values& values, T replaced) {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    const int64_t width = shape.empty() ? 1 : shape.back();
    const auto count = static_cast<int64_t>(values.size());
    if (count != 1 && (count != width || count == 0)) {
      fail(std::to_string(count) + " imputed values do not fit " + std::to_string(width) +
           " features");
    }
    T* y = data<T>(allocate_output(run, 0, x.element_type, shape));
    const auto* from = data<const T>(x);
    for (int64_t i = 0; i < element_count(shape); ++i) {
      bool is_missing = from[i] == replaced;
      if constexpr (std::is_floating_point_v<T>) {
        is_missing = is_missing || (std::isnan(replaced) && std::isnan(from[i]));
      }
      const T imputed =
          static_cast<T>(values[static_cast<std::size_t>(count == 1 ? 0 : i % width)]);
      y[i] = is_missing ? imputed : from[i];
    }
  }

  std::vector<float> floats_;
  std::vector<int64_t> integers_;
  float replaced_float_;
  int64_t replaced_integer_;
};

class Normalizer final : public Kernel {
 public:
  explicit Normalizer(const NodeContext& context)
      : Kernel(context), norm_(context.node().get_string("norm", "MAX")) {
    if (norm_ != "MAX" && norm_ != "L1" && norm_ != "L2") fail(quoted(norm_) + " is not a norm");
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    Features features(x);
    float* y = data<float>(allocate_output(run, 0, EPH_ELEMENT_FLOAT, dims_of(x)));
    for (int64_t row = 0; row < features.rows(); ++row) {
      const std::vector<double>& numbers = features.row(row);
      const double divisor = divisor_of(numbers);
      for (const double number : numbers) {
        *y++ = static_cast<float>(divisor == 0 ? number : number / divisor);
      }
    }
  }

 private:
  [[nodiscard]] double divisor_of(const std::vector<double>& numbers) const {
    double sum = 0;
    if (norm_ == "MAX") {
      return numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end());
    }
    for (const double number : numbers) sum += norm_ == "L1" ? std::abs(number) : number * number;
    return norm_ == "L1" ? sum : std::sqrt(sum);
  }

  std::string norm_;
};

class Scaler final : public Kernel {
 public:
  explicit Scaler(const NodeContext& context)
      : Kernel(context),
        offset_(context.node().get_floats("offset").to_vector()),
        scale_(context.node().get_floats("scale").to_vector()) {
    if (offset_.empty()) offset_.push_back(0);
    if (scale_.empty()) scale_.push_back(1);
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    Features features(x);
    const auto width = static_cast<std::size_t>(features.columns());
    for (const std::size_t count : {offset_.size(), scale_.size()}) {
      if (count == 1 || count == width) continue;
      fail(std::to_string(count) + " factors do not fit " + std::to_string(width) + " features");
    }
    float* y = data<float>(allocate_output(run, 0, EPH_ELEMENT_FLOAT, dims_of(x)));
    for (int64_t row = 0; row < features.rows(); ++row) {
      const std::vector<double>& numbers = features.row(row);
      for (std::size_t i = 0; i < width; ++i) {
        const double offset = offset_[offset_.size() == 1 ? 0 : i];
        const double scale = scale_[scale_.size() == 1 ? 0 : i];
        *y++ = static_cast<float>((numbers[i] - offset) * scale);
      }
    }
  }

 private:
  std::vector<float> offset_;
  std::vector<float> scale_;
};

constexpr auto& kOfFeatures = kInputTypes<kFeatures>;
constexpr auto& kExtractorTypes = kInputTypes<kFeatures | kString, kInt64>;

constexpr KernelEntry kMlFeatureKernels[] = {
    {"ArrayFeatureExtractor", 1, 1, kTwoInputs, kExtractorTypes, &make<ArrayFeatureExtractor>,
     kMlDomain},
    {"Binarizer", 1, 1, {}, kOfFeatures, &make<Binarizer>, kMlDomain},
    {"FeatureVectorizer", 1, 1, {}, kVariadicTypes<kFeatures>, &make<FeatureVectorizer>, kMlDomain},
    {"Imputer", 1, 1, {}, kOfFeatures, &make<Imputer>, kMlDomain},
    {"Normalizer", 1, 1, {}, kOfFeatures, &make<Normalizer>, kMlDomain},
    {"Scaler", 1, 1, {}, kOfFeatures, &make<Scaler>, kMlDomain},
};

}  // namespace

Table ml_feature_kernels() { return kMlFeatureKernels; }

}  // namespace ephost_cpu
