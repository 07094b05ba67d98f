// GroupNorm of com.microsoft: normalises groups of channels, which are the last dimension or the
// second one, and may multiply the result with a sigmoid of it.
#include <cmath>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"

namespace ephost_cpu {
namespace {

// Where element `i` of channel `c` of an image lies.
struct ImageLayout {
  int64_t channels, area;
  bool channels_last;

  [[nodiscard]] int64_t at(int64_t channel, int64_t i) const {
    return channels_last ? i * channels + channel : channel * area + i;
  }
};

// Inputs: X, gamma and beta, which have a number for each channel.
class GroupNorm final : public Kernel {
 public:
  explicit GroupNorm(const NodeContext& context)
      : Kernel(context),
        groups_(context.node().get_int("groups", 0)),
        epsilon_(context.node().get_float("epsilon", 1e-5F)),
        activates_(context.node().get_int("activation", 0) == 1),
        channels_last_(context.node().get_int("channels_last", 1) != 0) {
    if (groups_ < 1) fail("attribute groups=" + std::to_string(groups_) + " is not positive");
    const int64_t activation = context.node().get_int("activation", 0);
    if (activation != 0 && activation != 1) {
      fail("attribute activation=" + std::to_string(activation) + " is neither 0 nor 1");
    }
  }

 protected:
  void run(eph::Run& run, eph::State*) override {
    const eph_value& x = *run.input(0);
    const Dims shape = dims_of(x);
    if (shape.size() < 3) fail("the input " + to_string(shape) + " has no spatial dimensions");
    const int64_t channels = channels_last_ ? shape.back() : shape[1];
    const Dims expected = {channels};
    const bool fits = dims_of(*run.input(1)) == expected && dims_of(*run.input(2)) == expected;
    if (!fits || channels % groups_ != 0) {
      fail("gamma of shape " + to_string(dims_of(*run.input(1))) + " and beta of shape " +
           to_string(dims_of(*run.input(2))) + " do not fit " + std::to_string(channels) +
           " channels in " + std::to_string(groups_) + " groups");
    }
    auto* y = data<float>(allocate_output(run, 0, EPH_ELEMENT_FLOAT, shape));
    if (element_count(shape) == 0) return;
    const int64_t image = element_count(shape) / shape[0];
    const ImageLayout layout = {channels, image / channels, channels_last_};
    const auto* from = run.input_data<float>(0);
    const auto* gamma = run.input_data<float>(1);
    const auto* beta = run.input_data<float>(2);
    const double cost = 3.0 * static_cast<double>(image / groups_);
    parallel_for(shape[0] * groups_, cost, [=, this](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t offset = i / groups_ * image;
        normalize(layout, i % groups_, from + offset, gamma, beta, y + offset);
      }
    });
  }

 private:
  void normalize(const ImageLayout& layout, int64_t group, const float* x, const float* gamma,
                 const float* beta, float* y) const {
    const int64_t channels = layout.channels / groups_;
    const int64_t first = group * channels;
    const auto each = [&](const auto& body) {
      for (int64_t c = first; c < first + channels; ++c) {
        for (int64_t i = 0; i < layout.area; ++i) body(c, layout.at(c, i));
      }
    };
    const auto count = static_cast<double>(channels * layout.area);
    double sum = 0;
    each([&](int64_t, int64_t at) { sum += static_cast<double>(x[at]); });
    const double mean = sum / count;
    double squares = 0;
    each([&](int64_t, int64_t at) {
      const double distance = static_cast<double>(x[at]) - mean;
      squares += distance * distance;
    });
    const double factor = 1 / std::sqrt(squares / count + static_cast<double>(epsilon_));
    each([&](int64_t c, int64_t at) {
      const double normal = (static_cast<double>(x[at]) - mean) * factor;
      const double value = normal * static_cast<double>(gamma[c]) + static_cast<double>(beta[c]);
      y[at] = static_cast<float>(activates_ ? value / (1 + std::exp(-value)) : value);
    });
  }

  int64_t groups_;
  float epsilon_;
  bool activates_, channels_last_;
};

// X may have another type than gamma and beta.
constexpr Inputs kGroupNormInputs = {.required = 3, .same_type = 0b110};

constexpr KernelEntry kGroupNormKernels[] = {
    {"GroupNorm", 1, 1, kGroupNormInputs, kInputTypes<kOnlyFloat, kOnlyFloat, kOnlyFloat>,
     &make<GroupNorm>, kMicrosoft},
};

void infer_group_norm(eph::Inference& node) {
  const infer::Shape x = infer::shape_of(node, 0);
  if (x) {
    if (x->size() < 3)
      infer::fail("the input " + infer::to_text(*x) + " has no spatial dimensions");
    const bool channels_last = node.node().get_int("channels_last", 1) != 0;
    const infer::Extent channels = channels_last ? x->back() : (*x)[1];
    (void)infer::quotient(channels, node.node().get_int("groups", 0), "the channels");
    infer::check_vector(infer::shape_of(node, 1), channels, "gamma");
    infer::check_vector(infer::shape_of(node, 2), channels, "beta");
  }
  node.set_output_like(0, 0);
}

}  // namespace

Table group_norm_kernels() { return kGroupNormKernels; }

Definitions define_group_norm() {
  return {
      eph::Operator(kMicrosoft, "GroupNorm", 1)
          .description("Normalises groups of channels.")
          .input("X", "T", kUpToFloat)
          .input("gamma", "M", kUpToFloat, 0, "a number for each channel")
          .input("beta", "M", kUpToFloat, 0, "a number for each channel")
          .output("Y", "T", kUpToFloat)
          .required_attribute("activation", EPH_ATTRIBUTE_INT, "0: none, 1: x / (1 + e^-x)")
          .attribute("channels_last", 1)
          .attribute("epsilon", 1e-5F)
          .required_attribute("groups", EPH_ATTRIBUTE_INT)
          .infer(&infer_group_norm),
  };
}

}  // namespace ephost_cpu
