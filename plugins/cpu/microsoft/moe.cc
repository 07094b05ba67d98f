// MoE of com.microsoft: each row goes to the k experts that the router prefers, and the results are
// added up by their probabilities. An expert is a network of two layers: an activation of a
// product, which a second product may gate, and a product with that.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/kernels/elementwise/gelu.h"
#include "plugins/cpu/kernels/matrix/product.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"

namespace ephost_cpu {
namespace {

enum class ExpertActivation : uint8_t { kRelu, kGelu, kSilu, kIdentity, kSwiGlu };
// Where the gate and what it lets through come from.
enum class Fusion : int64_t { kNone = 0, kInterleaved = 1, kConcatenated = 2 };

constexpr std::array<std::string_view, 5> kExpertActivations = {"relu", "gelu", "silu", "identity",
                                                                "swiglu"};

enum MoEInput : uint32_t { kX, kRouter, kFc1, kFc1Bias, kFc2, kFc2Bias, kFc3, kFc3Bias };

struct MoEAttributes {
  int64_t k = 1;
  ExpertActivation activation = ExpertActivation::kRelu;
  Fusion fusion = Fusion::kNone;
  bool normalizes = false;
  float alpha = 1, beta = 0, limit = std::numeric_limits<float>::infinity();

  [[nodiscard]] bool is_fused() const {
    return activation == ExpertActivation::kSwiGlu && fusion != Fusion::kNone;
  }
};

// Or why they are not supported.
std::string read_moe(const eph::NodeView& node, MoEAttributes& attributes) {
  const std::string_view name = node.get_string("activation_type", "relu");
  const auto* const known = std::find(kExpertActivations.begin(), kExpertActivations.end(), name);
  if (known == kExpertActivations.end()) {
    return "activation_type '" + std::string(name) + "' is not supported";
  }
  attributes.activation = static_cast<ExpertActivation>(known - kExpertActivations.begin());
  attributes.k = node.get_int("k", 1);
  if (attributes.k < 1) return "attribute k=" + std::to_string(attributes.k) + " is not positive";
  const int64_t fusion = node.get_int("swiglu_fusion", 0);
  if (fusion < 0 || fusion > 2) {
    return "attribute swiglu_fusion=" + std::to_string(fusion) + " is neither 0, 1 nor 2";
  }
  attributes.fusion = static_cast<Fusion>(fusion);
  if (node.get_int("use_sparse_mixer", 0) != 0) return "use_sparse_mixer is not supported";
  attributes.normalizes = node.get_int("normalize_routing_weights", 0) != 0;
  attributes.alpha = node.get_float("activation_alpha", 1);
  attributes.beta = node.get_float("activation_beta", 0);
  attributes.limit = node.get_float("swiglu_limit", attributes.limit);
  return {};
}

float activated(ExpertActivation activation, float x) {
  switch (activation) {
    case ExpertActivation::kRelu:
      return x < 0 ? 0 : x;
    case ExpertActivation::kGelu:
      return TanhGelu()(x);
    case ExpertActivation::kSilu:
      return x / (1 + std::exp(-x));
    case ExpertActivation::kIdentity:
    case ExpertActivation::kSwiGlu:
      break;
  }
  return x;
}

// One row of an expert: `gate` and `linear` are steps apart, the results adjacent.
struct GatedRow {
  const float* gate;
  const float* linear;
  int64_t step;
};

class MoE final : public Kernel {
 public:
  explicit MoE(const NodeContext& context)
      : Kernel(context), products_(context.settings().onednn, nullptr) {
    const std::string why_not = read_moe(context.node(), attributes_);
    if (!why_not.empty()) fail(why_not);
  }

  std::unique_ptr<eph::State> create_state() override { return products_.create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const Sizes sizes = sizes_of(run);
    auto* y = data<float>(allocate_output(run, 0, EPH_ELEMENT_FLOAT, dims_of(*run.input(kX))));
    std::fill_n(y, sizes.rows * sizes.hidden, 0.0F);
    if (sizes.rows == 0 || sizes.hidden == 0) return;
    const std::vector<std::vector<Route>> routes = choose_experts(run, sizes);
    for (int64_t expert = 0; expert < sizes.experts; ++expert) {
      const std::vector<Route>& rows = routes[static_cast<std::size_t>(expert)];
      if (!rows.empty()) add_expert(run, state, sizes, expert, rows, y);
    }
  }

 private:
  struct Sizes {
    int64_t rows, hidden, experts, inner;
    int64_t first;  // what the first product gives: twice the inner size if it has the gate too
  };
  struct Route {
    int64_t row;
    float weight;
  };

  Sizes sizes_of(eph::Run& run) const {
    const Dims x = dims_of(*run.input(kX));
    const Dims router = dims_of(*run.input(kRouter));
    const Dims fc2 = dims_of(*run.input(kFc2));
    if (x.size() != 2 && x.size() != 3)
      fail("the input " + to_string(x) + " has no rank of 2 or 3");
    if (router.size() != 2) fail("router_probs " + to_string(router) + " does not have rank 2");
    if (fc2.size() != 3) fail("fc2_experts_weights " + to_string(fc2) + " does not have rank 3");
    Sizes sizes = {1, x.back(), router[1], fc2[2], fc2[2]};
    for (std::size_t d = 0; d + 1 < x.size(); ++d) sizes.rows = checked_multiply(sizes.rows, x[d]);
    if (attributes_.is_fused()) sizes.first = checked_multiply(2, sizes.inner);
    check(run, kRouter, {sizes.rows, sizes.experts}, "router_probs");
    check(run, kFc1, {sizes.experts, sizes.first, sizes.hidden}, "fc1_experts_weights");
    check(run, kFc1Bias, {sizes.experts, sizes.first}, "fc1_experts_bias");
    check(run, kFc2, {sizes.experts, sizes.hidden, sizes.inner}, "fc2_experts_weights");
    check(run, kFc2Bias, {sizes.experts, sizes.hidden}, "fc2_experts_bias");
    check(run, kFc3, {sizes.experts, sizes.inner, sizes.hidden}, "fc3_experts_weights");
    check(run, kFc3Bias, {sizes.experts, sizes.inner}, "fc3_experts_bias");
    if (attributes_.k > sizes.experts) {
      fail("attribute k=" + std::to_string(attributes_.k) + " exceeds the " +
           std::to_string(sizes.experts) + " experts of router_probs");
    }
    return sizes;
  }

  static void check(eph::Run& run, uint32_t input, const Dims& expected, const char* name) {
    const eph_value* const value = run.input(input);
    if (value == nullptr || dims_of(*value) == expected) return;
    fail(std::string(name) + " has the shape " + to_string(dims_of(*value)) + " and should have " +
         to_string(expected));
  }

  // By expert. Of equal probabilities, the later experts are preferred, as in ONNX Runtime.
  std::vector<std::vector<Route>> choose_experts(eph::Run& run, const Sizes& sizes) const {
    std::vector<std::vector<Route>> routes(static_cast<std::size_t>(sizes.experts));
    std::vector<std::pair<float, int64_t>> chances(static_cast<std::size_t>(sizes.experts));
    const auto* logits = run.input_data<float>(kRouter);
    for (int64_t row = 0; row < sizes.rows; ++row, logits += sizes.experts) {
      const float greatest = *std::max_element(logits, logits + sizes.experts);
      float sum = 0;
      for (int64_t e = 0; e < sizes.experts; ++e) {
        const float power = std::exp(logits[e] - greatest);
        // With NaN, the sum makes all weights NaN, whatever the order.
        chances[static_cast<std::size_t>(e)] = {std::isnan(power) ? 0 : power, e};
        sum += power;
      }
      std::partial_sort(chances.begin(), chances.begin() + attributes_.k, chances.end(),
                        std::greater<>());
      if (attributes_.normalizes) {
        if (!std::isnan(sum)) sum = 0;
        for (int64_t i = 0; i < attributes_.k; ++i)
          sum += chances[static_cast<std::size_t>(i)].first;
      }
      for (int64_t i = 0; i < attributes_.k; ++i) {
        const auto& [power, expert] = chances[static_cast<std::size_t>(i)];
        routes[static_cast<std::size_t>(expert)].push_back({row, power / sum});
      }
    }
    return routes;
  }

  void add_expert(eph::Run& run, eph::State* state, const Sizes& sizes, int64_t expert,
                  const std::vector<Route>& rows, float* y) {
    const auto count = static_cast<int64_t>(rows.size());
    const auto* x = run.input_data<float>(kX);
    auto* gathered = floats(run, count * sizes.hidden);
    for (int64_t i = 0; i < count; ++i) {
      std::copy_n(x + rows[static_cast<std::size_t>(i)].row * sizes.hidden, sizes.hidden,
                  gathered + i * sizes.hidden);
    }
    const float* const first =
        product(run, state, kFc1, expert, {gathered, count, sizes.hidden, sizes.first});
    const float* const gated =
        run.input(kFc3) == nullptr
            ? nullptr
            : product(run, state, kFc3, expert, {gathered, count, sizes.hidden, sizes.inner});
    auto* inner = floats(run, count * sizes.inner);
    for (int64_t i = 0; i < count; ++i) {
      activate(first + i * sizes.first, gated == nullptr ? nullptr : gated + i * sizes.inner,
               sizes.inner, inner + i * sizes.inner);
    }
    const float* const result =
        product(run, state, kFc2, expert, {inner, count, sizes.inner, sizes.hidden});
    for (int64_t i = 0; i < count; ++i) {
      const Route& route = rows[static_cast<std::size_t>(i)];
      for (int64_t c = 0; c < sizes.hidden; ++c) {
        y[route.row * sizes.hidden + c] += route.weight * result[i * sizes.hidden + c];
      }
    }
  }

  struct Rows {
    const float* elements;
    int64_t count, depth, columns;
  };

  // rows * W' + bias, of the expert's W and bias: `weights` is an input, and the next one the bias.
  const float* product(eph::Run& run, eph::State* state, uint32_t weights, int64_t expert,
                       const Rows& rows) {
    const int64_t columns = rows.columns;
    auto* result = floats(run, rows.count * columns);
    const float* const bias = run.input(weights + 1) == nullptr
                                  ? nullptr
                                  : run.input_data<float>(weights + 1) + expert * columns;
    if (rows.depth == 0 || columns == 0) {
      for (int64_t i = 0; i < rows.count * columns; ++i) {
        result[i] = bias == nullptr ? 0 : bias[i % columns];
      }
      return result;
    }
    ProductShape shape;
    shape.m = rows.count;
    shape.k = rows.depth;
    shape.n = columns;
    shape.transpose_b = true;
    shape.has_bias = bias != nullptr;
    products_.multiply(run, state, shape, rows.elements,
                       run.input_data<float>(weights) + expert * columns * rows.depth, bias,
                       result);
    return result;
  }

  // The activation of one row: of `first` and, if it is not null, of what the third layer gave.
  void activate(const float* first, const float* third, int64_t count, float* result) const {
    if (attributes_.activation != ExpertActivation::kSwiGlu) {
      for (int64_t i = 0; i < count; ++i) {
        result[i] = activated(attributes_.activation, first[i]) * (third == nullptr ? 1 : third[i]);
      }
      return;
    }
    const bool is_interleaved = attributes_.fusion == Fusion::kInterleaved;
    const GatedRow row = {first,
                          attributes_.fusion == Fusion::kNone ? third
                          : is_interleaved                    ? first + 1
                                                              : first + count,
                          is_interleaved ? 2 : 1};
    const float limit = attributes_.limit;
    for (int64_t i = 0; i < count; ++i) {
      const float gate = std::min(row.gate[i * row.step], limit);
      const float linear = std::clamp(row.linear[i * row.step], -limit, limit);
      result[i] = gate / (1 + std::exp(-attributes_.alpha * gate)) * (linear + attributes_.beta);
    }
  }

  static float* floats(eph::Run& run, int64_t count) {
    const int64_t bytes = checked_multiply(count + 1, static_cast<int64_t>(sizeof(float)));
    return static_cast<float*>(run.scratch(static_cast<uint64_t>(bytes)));
  }

  MoEAttributes attributes_;
  Products products_;
};

// Why the kernel does not take the node, if it doesn't.
std::string why_refused_moe(const NodeContext& context) {
  MoEAttributes attributes;
  std::string why_not = read_moe(context.node(), attributes);
  if (!why_not.empty()) return why_not;
  const bool has_third = context.has_input(kFc3);
  if (attributes.is_fused() && has_third) {
    return "fc3_experts_weights are given although swiglu_fusion says that fc1 has them";
  }
  if (attributes.activation == ExpertActivation::kSwiGlu && !attributes.is_fused() && !has_third) {
    return "swiglu without fusion needs fc3_experts_weights";
  }
  return !has_third && context.has_input(kFc3Bias) ? "fc3_experts_bias has no weights" : "";
}

constexpr Inputs kMoEInputs = {.required = 3, .same_type = 0xFF};

constexpr KernelEntry kMoEKernels[] = {
    {"MoE", 1, 1, kMoEInputs,
     kInputTypes<kOnlyFloat, kOnlyFloat, kOnlyFloat, kOnlyFloat, kOnlyFloat, kOnlyFloat, kOnlyFloat,
                 kOnlyFloat>,
     &make<MoE>, kMicrosoft},
};

void infer_moe(eph::Inference& node) {
  infer::check_rank(infer::shape_of(node, kX), {2, 3}, "input");
  infer::check_rank(infer::shape_of(node, kRouter), {2}, "router_probs");
  infer::check_rank(infer::shape_of(node, kFc1), {3}, "fc1_experts_weights");
  infer::check_rank(infer::shape_of(node, kFc2), {3}, "fc2_experts_weights");
  node.set_output_like(0, 0);
}

}  // namespace

Table moe_kernels() { return kMoEKernels; }

Refusals moe_refusals() {
  static constexpr Refusal kRefusals[] = {{"MoE", &why_refused_moe}};
  return kRefusals;
}

Definitions define_moe() {
  return {
      eph::Operator(kMicrosoft, "MoE", 1)
          .description("Adds up what the experts that a router chooses make of each row.")
          .input("input", "T", kUpToFloat)
          .input("router_probs", "T", kUpToFloat, 0, "of which the softmax is taken")
          .input("fc1_experts_weights", "T", kUpToFloat, 0, "[experts, inner, hidden]")
          .input("fc1_experts_bias", "T", kUpToFloat, eph::kOptional)
          .input("fc2_experts_weights", "T", kUpToFloat, 0, "[experts, hidden, inner]")
          .input("fc2_experts_bias", "T", kUpToFloat, eph::kOptional)
          .input("fc3_experts_weights", "T", kUpToFloat, eph::kOptional, "[experts, inner, hidden]")
          .input("fc3_experts_bias", "T", kUpToFloat, eph::kOptional)
          .output("output", "T", kUpToFloat)
          .optional_attribute("activation_alpha", EPH_ATTRIBUTE_FLOAT)
          .optional_attribute("activation_beta", EPH_ATTRIBUTE_FLOAT)
          .attribute("activation_type", "relu")
          .attribute("k", 1, "experts for each row")
          .attribute("normalize_routing_weights", 0, "the chosen probabilities add up to 1")
          .attribute("swiglu_fusion", 0, "fc1 has the gate and the factor: 1 by turns, 2 in halves")
          .optional_attribute("swiglu_limit", EPH_ATTRIBUTE_FLOAT)
          .attribute("use_sparse_mixer", 0)
          .infer(&infer_moe),
  };
}

}  // namespace ephost_cpu
