// MoE and QMoE of com.microsoft: each row goes to the k experts that the router prefers, and the
// results are added up by their probabilities. An expert is a network of two layers: an activation
// of a product, which a second product may gate, and a product with that.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/kernels/elementwise/gelu.h"
#include "plugins/cpu/kernels/matrix/product.h"
#include "plugins/cpu/microsoft/experts/expert_weights.h"
#include "plugins/cpu/microsoft/experts/moe_attributes.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"

namespace ephost_cpu {
namespace {

enum MoEInput : uint32_t { kX, kRouter };
constexpr uint32_t kRouterWeights = 14;

// The second layer makes the result, and the third one may gate the first.
struct ExpertLayers {
  LayerInputs first, second, third;
};

constexpr ExpertLayers kFloatLayers = {{.name = "fc1", .weights = 2, .bias = 3},
                                       {.name = "fc2", .weights = 4, .bias = 5},
                                       {.name = "fc3", .weights = 6, .bias = 7}};
constexpr ExpertLayers kByteLayers = {
    {.name = "fc1", .weights = 2, .bias = 4, .scales = 3, .zeros = 11},
    {.name = "fc2", .weights = 5, .bias = 7, .scales = 6, .zeros = 12},
    {.name = "fc3", .weights = 8, .bias = 10, .scales = 9, .zeros = 13}};

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

class MoE : public Kernel {
 public:
  explicit MoE(const NodeContext& context) : MoE(context, kFloatLayers) {}

  std::unique_ptr<eph::State> create_state() override { return products_.create_state(); }

 protected:
  MoE(const NodeContext& context, const ExpertLayers& layers)
      : Kernel(context), layers_(layers), products_(context.settings().onednn, nullptr) {
    const std::string why_not = MoEAttributes::read(context.node(), attributes_);
    if (!why_not.empty()) fail(why_not);
  }

  void run(eph::Run& run, eph::State* state) override {
    const Sizes sizes = sizes_of(run);
    auto* y = data<float>(allocate_output(run, 0, EPH_ELEMENT_FLOAT, dims_of(*run.input(kX))));
    std::fill_n(y, sizes.rows * sizes.hidden, 0.0F);
    if (sizes.rows == 0 || sizes.hidden == 0) return;
    const std::vector<std::vector<Route>> routes = choose_experts(run, sizes);
    Call call = {run, state};
    if (quantized_) call.unpacked = floats(run, checked_multiply(sizes.hidden, sizes.first));
    for (int64_t expert = 0; expert < sizes.experts; ++expert) {
      const std::vector<Route>& rows = routes[static_cast<std::size_t>(expert)];
      if (!rows.empty()) add_expert(call, sizes, expert, rows, y);
    }
  }

  std::optional<QuantizedExperts> quantized_;

 private:
  struct Call {
    eph::Run& run;
    eph::State* state;
    float* unpacked = nullptr;  // for the weights of one layer of one expert
  };
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
    const Dims fc2 = dims_of(*run.input(layers_.second.weights));
    if (x.size() != 2 && x.size() != 3)
      fail("the input " + to_string(x) + " has no rank of 2 or 3");
    if (router.size() != 2) fail("router_probs " + to_string(router) + " does not have rank 2");
    if (fc2.size() != 3) fail("fc2_experts_weights " + to_string(fc2) + " does not have rank 3");
    const int64_t inner = checked_multiply(fc2[2], quantized_ ? quantized_->per_byte() : 1);
    Sizes sizes = {1, x.back(), router[1], inner, inner};
    for (std::size_t d = 0; d + 1 < x.size(); ++d) sizes.rows = checked_multiply(sizes.rows, x[d]);
    if (attributes_.is_fused()) sizes.first = checked_multiply(2, inner);
    check_expert_input(run, kRouter, {sizes.rows, sizes.experts}, "router_probs");
    check(run, layers_.first, {sizes.experts, sizes.first, sizes.hidden});
    check(run, layers_.second, {sizes.experts, sizes.hidden, inner});
    check(run, layers_.third, {sizes.experts, inner, sizes.hidden});
    if (attributes_.k > sizes.experts) {
      fail("attribute k=" + std::to_string(attributes_.k) + " exceeds the " +
           std::to_string(sizes.experts) + " experts of router_probs");
    }
    return sizes;
  }

  void check(const eph::Run& run, const LayerInputs& layer, const Dims& shape) const {
    const std::string name = layer.name;
    if (quantized_) {
      quantized_->check(run, layer, shape);
    } else {
      check_expert_input(run, layer.weights, shape, name + "_experts_weights");
    }
    check_expert_input(run, layer.bias, {shape[0], shape[1]}, name + "_experts_bias");
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

  void add_expert(const Call& call, const Sizes& sizes, int64_t expert,
                  const std::vector<Route>& rows, float* y) {
    eph::Run& run = call.run;
    const auto count = static_cast<int64_t>(rows.size());
    const auto* x = run.input_data<float>(kX);
    auto* gathered = floats(run, count * sizes.hidden);
    for (int64_t i = 0; i < count; ++i) {
      std::copy_n(x + rows[static_cast<std::size_t>(i)].row * sizes.hidden, sizes.hidden,
                  gathered + i * sizes.hidden);
    }
    const float* const first =
        product(call, layers_.first, expert, {gathered, count, sizes.hidden, sizes.first});
    const float* const gated =
        run.input(layers_.third.weights) == nullptr
            ? nullptr
            : product(call, layers_.third, expert, {gathered, count, sizes.hidden, sizes.inner});
    auto* inner = floats(run, count * sizes.inner);
    for (int64_t i = 0; i < count; ++i) {
      activate(first + i * sizes.first, gated == nullptr ? nullptr : gated + i * sizes.inner,
               sizes.inner, inner + i * sizes.inner);
    }
    const float* const result =
        product(call, layers_.second, expert, {inner, count, sizes.inner, sizes.hidden});
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

  // rows * W' + bias, of the expert's W and bias.
  const float* product(const Call& call, const LayerInputs& layer, int64_t expert,
                       const Rows& rows) {
    eph::Run& run = call.run;
    const int64_t columns = rows.columns;
    auto* result = floats(run, rows.count * columns);
    const float* const bias = run.input(layer.bias) == nullptr
                                  ? nullptr
                                  : run.input_data<float>(layer.bias) + expert * columns;
    if (rows.depth == 0 || columns == 0) {
      for (int64_t i = 0; i < rows.count * columns; ++i) {
        result[i] = bias == nullptr ? 0 : bias[i % columns];
      }
      return result;
    }
    const float* weights = call.unpacked;
    if (quantized_) {
      quantized_->unpack(run, layer, expert, columns, rows.depth, call.unpacked);
    } else {
      weights = run.input_data<float>(layer.weights) + expert * columns * rows.depth;
    }
    ProductShape shape;
    shape.m = rows.count;
    shape.k = rows.depth;
    shape.n = columns;
    shape.transpose_b = true;
    shape.has_bias = bias != nullptr;
    products_.multiply(run, call.state, shape, rows.elements, weights, bias, result);
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

  const ExpertLayers layers_;
  MoEAttributes attributes_;
  Products products_;
};

class QMoE final : public MoE {
 public:
  explicit QMoE(const NodeContext& context) : MoE(context, kByteLayers) {
    const std::string why_not = QuantizedExperts::read(context.node(), quantized_);
    if (!why_not.empty()) fail(why_not);
  }
};

// Why the kernel does not take the node, if it doesn't.
std::string why_refused_experts(const NodeContext& context, const LayerInputs& third) {
  MoEAttributes attributes;
  std::string why_not = MoEAttributes::read(context.node(), attributes);
  if (!why_not.empty()) return why_not;
  const bool has_third = context.has_input(third.weights);
  if (attributes.is_fused() && has_third) {
    return "fc3_experts_weights are given although swiglu_fusion says that fc1 has them";
  }
  if (attributes.activation == ExpertActivation::kSwiGlu && !attributes.is_fused() && !has_third) {
    return "swiglu without fusion needs fc3_experts_weights";
  }
  return !has_third && context.has_input(third.bias) ? "fc3_experts_bias has no weights" : "";
}

std::string why_refused_moe(const NodeContext& context) {
  return why_refused_experts(context, kFloatLayers.third);
}

std::string why_refused_qmoe(const NodeContext& context) {
  std::optional<QuantizedExperts> quantized;
  std::string why_not = QuantizedExperts::read(context.node(), quantized);
  if (!why_not.empty()) return why_not;
  if (context.has_input(kRouterWeights)) return "router_weights are not supported";
  const LayerInputs& third = kByteLayers.third;
  if (context.has_input(third.weights) && !context.has_input(third.scales)) {
    return "fc3_experts_weights have no scales";
  }
  return why_refused_experts(context, third);
}

constexpr uint64_t kExpertBytes = kTypeSet<EPH_ELEMENT_UINT8>;

constexpr Inputs kMoEInputs = {.required = 3, .same_type = 0xFF};
constexpr Inputs kQMoEInputs = {.required = 4, .same_type = 0b10010010011};

constexpr KernelEntry kMoEKernels[] = {
    {"MoE", 1, 1, kMoEInputs,
     kInputTypes<kOnlyFloat, kOnlyFloat, kOnlyFloat, kOnlyFloat, kOnlyFloat, kOnlyFloat, kOnlyFloat,
                 kOnlyFloat>,
     &make<MoE>, kMicrosoft},
    {"QMoE", 1, 1, kQMoEInputs,
     kInputTypes<kOnlyFloat, kOnlyFloat, kExpertBytes, kOnlyFloat, kOnlyFloat, kExpertBytes,
                 kOnlyFloat, kOnlyFloat, kExpertBytes, kOnlyFloat, kOnlyFloat, kExpertBytes,
                 kExpertBytes, kExpertBytes, kOnlyFloat>,
     &make<QMoE>, kMicrosoft},
};

void check_ranks(eph::Inference& node, const ExpertLayers& layers) {
  infer::check_rank(infer::shape_of(node, kX), {2, 3}, "input");
  infer::check_rank(infer::shape_of(node, kRouter), {2}, "router_probs");
  infer::check_rank(infer::shape_of(node, layers.first.weights), {3}, "fc1_experts_weights");
  infer::check_rank(infer::shape_of(node, layers.second.weights), {3}, "fc2_experts_weights");
  node.set_output_like(0, 0);
}

void infer_moe(eph::Inference& node) { check_ranks(node, kFloatLayers); }
void infer_qmoe(eph::Inference& node) { check_ranks(node, kByteLayers); }

// What both operators have.
eph::Operator& add_moe_attributes(eph::Operator& definition) {
  return definition.optional_attribute("activation_alpha", EPH_ATTRIBUTE_FLOAT)
      .optional_attribute("activation_beta", EPH_ATTRIBUTE_FLOAT)
      .attribute("activation_type", "relu")
      .attribute("k", 1, "experts for each row")
      .attribute("normalize_routing_weights", 0, "the chosen probabilities add up to 1")
      .attribute("swiglu_fusion", 0, "fc1 has the gate and the factor: 1 by turns, 2 in halves")
      .optional_attribute("swiglu_limit", EPH_ATTRIBUTE_FLOAT)
      .attribute("use_sparse_mixer", 0);
}

}  // namespace

Table moe_kernels() { return kMoEKernels; }

Refusals moe_refusals() {
  static constexpr Refusal kRefusals[] = {{"MoE", &why_refused_moe}, {"QMoE", &why_refused_qmoe}};
  return kRefusals;
}

Definitions define_moe() {
  eph::Operator moe(kMicrosoft, "MoE", 1);
  moe.description("Adds up what the experts that a router chooses make of each row.")
      .input("input", "T", kUpToFloat)
      .input("router_probs", "T", kUpToFloat, 0, "of which the softmax is taken")
      .input("fc1_experts_weights", "T", kUpToFloat, 0, "[experts, inner, hidden]")
      .input("fc1_experts_bias", "T", kUpToFloat, eph::kOptional)
      .input("fc2_experts_weights", "T", kUpToFloat, 0, "[experts, hidden, inner]")
      .input("fc2_experts_bias", "T", kUpToFloat, eph::kOptional)
      .input("fc3_experts_weights", "T", kUpToFloat, eph::kOptional, "[experts, inner, hidden]")
      .input("fc3_experts_bias", "T", kUpToFloat, eph::kOptional)
      .output("output", "T", kUpToFloat)
      .infer(&infer_moe);
  add_moe_attributes(moe);

  constexpr uint32_t kOptional = eph::kOptional;
  eph::Operator qmoe(kMicrosoft, "QMoE", 1);
  qmoe.description("MoE with weights of 4 or 8 bits, which have a scale for each row or block.")
      .input("input", "T", kUpToFloat)
      .input("router_probs", "T", kUpToFloat, 0, "of which the softmax is taken")
      .input("fc1_experts_weights", "T1", kExpertBytes, 0, "[experts, inner, bytes of hidden]")
      .input("fc1_scales", "T2", kUpToFloat, 0, "[experts, inner] or [experts, inner, blocks]")
      .input("fc1_experts_bias", "T", kUpToFloat, kOptional)
      .input("fc2_experts_weights", "T1", kExpertBytes, 0, "[experts, hidden, bytes of inner]")
      .input("fc2_scales", "T2", kUpToFloat)
      .input("fc2_experts_bias", "T", kUpToFloat, kOptional)
      .input("fc3_experts_weights", "T1", kExpertBytes, kOptional,
             "[experts, inner, bytes of hidden]")
      .input("fc3_scales", "T2", kUpToFloat, kOptional)
      .input("fc3_experts_bias", "T", kUpToFloat, kOptional)
      .input("fc1_zero_points", "T1", kExpertBytes, kOptional,
             "[experts, bytes of inner] or [experts, inner, bytes of blocks]")
      .input("fc2_zero_points", "T1", kExpertBytes, kOptional)
      .input("fc3_zero_points", "T1", kExpertBytes, kOptional)
      .input("router_weights", "T", kUpToFloat, kOptional)
      .output("output", "T", kUpToFloat)
      .attribute("block_size", 0, "of weights with one scale; 0: rows")
      .attribute("expert_weight_bits", 4)
      .attribute("quant_type", "int")
      .infer(&infer_qmoe);
  add_moe_attributes(qmoe);
  return {std::move(moe), std::move(qmoe)};
}

}  // namespace ephost_cpu
