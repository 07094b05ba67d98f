#include "plugins/cpu/kernels/windows/convolution.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/cpu/core/onednn.h"

namespace ephost_cpu {

// Reorder, convolve, reorder back; a reorder is left out where the dense layout serves. Memory: the
// tensors in their layouts, then one scratchpad that the steps use in turn.
//
// All groups are convolved at once, or one after the other by the same steps.
struct ConvolutionPlan {
  std::optional<Step> pack_x;
  std::optional<Step> pack_weights;  // for weights that are not constant
  Step convolve;
  std::optional<Step> unpack_y;
  std::vector<const void*> packed_weights;  // those of constant weights, for each execution
  int64_t executions = 1;
  int64_t x_step = 0, weights_step = 0, bias_step = 0, y_step = 0;  // elements to the next one's
  bool adds_evenly = true;
  uint64_t x_bytes = 0, weights_bytes = 0, y_bytes = 0, scratchpad_bytes = 0;

  [[nodiscard]] uint64_t total_bytes() const {
    return x_bytes + weights_bytes + y_bytes + scratchpad_bytes;
  }
};

namespace {

Dims output_shape(const ConvolutionShape& shape) {
  Dims y = {shape.x[0], shape.weights[0]};
  for (const int64_t extent : shape.window.output) y.push_back(extent);
  return y;
}

// With groups, oneDNN expects them as a separate dimension.
Dims grouped_weights(const ConvolutionShape& shape) {
  Dims weights = shape.weights;
  if (shape.groups == 1) return weights;
  weights[0] /= shape.groups;
  weights.insert(0, shape.groups);
  return weights;
}

// The shape of one of the groups.
ConvolutionShape group_of(const ConvolutionShape& shape) {
  ConvolutionShape group = shape;
  group.x[1] /= shape.groups;
  group.weights[0] /= shape.groups;
  group.groups = 1;
  return group;
}

// The channels of one group, in a tensor that has those of all groups.
Desc channels_desc(const Dims& shape, int64_t channels) {
  Dims part = shape;
  part[1] = channels;
  return {to_onednn(part), DataType::f32, to_onednn(dense_strides(shape))};
}

// Whether the dense layout beats reordering: a window of one element is a matrix product over the
// pixels, if there are enough of them.
bool prefers_dense(const ConvolutionShape& shape) {
  const Window& window = shape.window;
  const auto all_are = [](const Dims& list, int64_t value) {
    return std::all_of(list.begin(), list.end(), [=](int64_t v) { return v == value; });
  };
  return shape.groups == 1 && all_are(window.kernel, 1) && all_are(window.strides, 1) &&
         all_are(window.pads_begin, 0) && all_are(window.pads_end, 0) &&
         element_count(window.output) >= 128;
}

Desc any_layout(const Dims& shape) {
  return {to_onednn(shape), DataType::f32, dnnl::memory::format_tag::any};
}

dnnl::convolution_forward::primitive_desc describe_float_convolution(const dnnl::engine& engine,
                                                                     const ConvolutionShape& shape,
                                                                     bool dense) {
  const Dims y = output_shape(shape);
  const Desc x_desc = dense ? dense_desc(shape.x) : any_layout(shape.x);
  const Desc y_desc = dense ? dense_desc(y) : any_layout(y);
  const Desc weights = any_layout(grouped_weights(shape));
  Dims dilations = shape.window.dilations;
  for (int64_t& dilation : dilations) --dilation;  // oneDNN counts the gaps
  const Desc bias = dense_desc({shape.weights[0]});
  return describe_convolution(
      engine, scratchpad_attributes(), {x_desc, weights, y_desc, shape.has_bias ? &bias : nullptr},
      {to_onednn(shape.window.strides), to_onednn(dilations), to_onednn(shape.window.pads_begin),
       to_onednn(shape.window.pads_end)});
}

// The primitive, by preference one whose sums do not depend on the place.
dnnl::convolution_forward::primitive_desc choose_primitive(const dnnl::engine& engine,
                                                           const ConvolutionShape& shape) {
  const bool dense = prefers_dense(shape);
  auto description = describe_float_convolution(engine, shape, dense);
  if (!dense || shape.is_exact || !sums_depend_on_place(description.impl_info_str())) {
    return description;
  }
  return describe_float_convolution(engine, shape, false);
}

struct BoundConvolution {
  ConvolutionShape shape;
  std::shared_ptr<const ConvolutionPlan> plan;
  std::optional<BoundStep> pack_x, pack_weights, unpack_y;
  BoundStep convolve;
};

struct ConvolutionState : eph::State {
  explicit ConvolutionState(const dnnl::engine& engine) : stream(engine) {}
  dnnl::stream stream;
  std::vector<BoundConvolution> bound;
};

std::optional<BoundStep> bind_step(const std::optional<Step>& step, const dnnl::engine& engine) {
  if (!step) return std::nullopt;
  return BoundStep(*step, engine);
}

}  // namespace

ConvolutionShape make_convolution_shape(const WindowAttributes& attributes, int64_t groups,
                                        const Dims& x, const Dims& weights, bool has_bias) {
  if (x.size() < 3 || weights.size() != x.size()) {
    fail("X " + to_string(x) + " and W " + to_string(weights) +
         " need the same rank and a spatial dimension");
  }
  if (weights[0] % groups != 0 || x[1] % groups != 0 || weights[1] != x[1] / groups) {
    fail("X " + to_string(x) + " and W " + to_string(weights) + " do not agree on channels with " +
         std::to_string(groups) + " groups");
  }
  ConvolutionShape shape = {x, weights, groups, has_bias, {}};
  Dims input;
  Dims kernel;
  for (std::size_t d = 2; d < x.size(); ++d) {
    input.push_back(x[d]);
    kernel.push_back(weights[d]);
  }
  const Dims& stated = attributes.kernel_shape();
  if (!stated.empty() && !(stated == kernel)) {
    fail("kernel_shape " + to_string(stated) + " differs from W " + to_string(weights));
  }
  if (std::find(kernel.begin(), kernel.end(), 0) != kernel.end()) {
    fail("W " + to_string(weights) + " has an empty window");
  }
  shape.window = attributes.resolve(kernel, input);
  return shape;
}

class Convolutions::Plans {
 public:
  Plans(std::shared_ptr<const OneDnn> onednn, const void* constant_weights)
      : onednn_(std::move(onednn)), constant_weights_(constant_weights) {}

  [[nodiscard]] const dnnl::engine& engine() const { return onednn_->engine; }

  std::shared_ptr<const ConvolutionPlan> find(const ConvolutionShape& shape) {
    return cache_.find_or_make(shape, [&] { return make(shape); });
  }

  BoundConvolution& find_bound(ConvolutionState& state, const ConvolutionShape& shape) {
    const auto found =
        std::find_if(state.bound.begin(), state.bound.end(),
                     [&](const BoundConvolution& bound) { return bound.shape == shape; });
    if (found != state.bound.end()) return *found;
    if (state.bound.size() == decltype(cache_)::kCapacity) state.bound.erase(state.bound.begin());
    const std::shared_ptr<const ConvolutionPlan> plan = find(shape);
    return state.bound.emplace_back(BoundConvolution{
        shape, plan, bind_step(plan->pack_x, engine()), bind_step(plan->pack_weights, engine()),
        bind_step(plan->unpack_y, engine()), BoundStep(plan->convolve, engine())});
  }

 private:
  // Called under the cache's lock.
  std::shared_ptr<const ConvolutionPlan> make(const ConvolutionShape& shape) {
    const auto description = choose_primitive(engine(), shape);
    if (shape.groups == 1 || shape.is_exact || !sums_depend_on_place(description.impl_info_str())) {
      return make_for(shape, description, shape);
    }
    const ConvolutionShape group = group_of(shape);
    return make_for(shape, choose_primitive(engine(), group), group);
  }

  // The primitive convolves `part` of the shape: all of it, or one group.
  std::shared_ptr<ConvolutionPlan> make_for(
      const ConvolutionShape& shape, const dnnl::convolution_forward::primitive_desc& description,
      const ConvolutionShape& part) {
    const Dims whole_y = output_shape(shape);
    const Desc x = channels_desc(shape.x, part.x[1]);
    const Desc y = channels_desc(whole_y, part.weights[0]);
    const Desc weights = dense_desc(grouped_weights(part));
    const Desc scratchpad = description.scratchpad_desc();
    auto plan = std::make_shared<ConvolutionPlan>();
    plan->adds_evenly = part.is_exact || !sums_depend_on_place(description.impl_info_str());
    plan->executions = shape.groups / part.groups;
    plan->x_step = part.x[1] * element_count(shape.x, 2, shape.x.size());
    plan->weights_step = element_count(part.weights);
    plan->bias_step = part.weights[0];
    plan->y_step = part.weights[0] * element_count(whole_y, 2, whole_y.size());
    plan->convolve = {dnnl::convolution_forward(description),
                      {{DNNL_ARG_SRC, description.src_desc()},
                       {DNNL_ARG_WEIGHTS, description.weights_desc()},
                       {DNNL_ARG_DST, description.dst_desc()},
                       {DNNL_ARG_SCRATCHPAD, scratchpad}},
                      scratchpad.get_size()};
    if (shape.has_bias) {
      plan->convolve.arguments.emplace_back(DNNL_ARG_BIAS, description.bias_desc());
    }
    plan->scratchpad_bytes = aligned(plan->convolve.scratchpad_bytes);
    add_reorder(*plan, plan->pack_x, plan->x_bytes, x, description.src_desc(),
                description.src_desc());
    add_reorder(*plan, plan->unpack_y, plan->y_bytes, description.dst_desc(), y,
                description.dst_desc());
    if (constant_weights_ == nullptr) {
      add_reorder(*plan, plan->pack_weights, plan->weights_bytes, weights,
                  description.weights_desc(), description.weights_desc());
      return plan;
    }
    pack_constant(*plan, weights, description.weights_desc());
    return plan;
  }

  // Makes what the shapes of one kernel share: its weights in each layout, as one or by groups.
  void pack_constant(ConvolutionPlan& plan, const Desc& weights, const Desc& layout) {
    std::vector<std::unique_ptr<PackedWeights>>& packed =
        plan.executions == 1 ? packed_ : packed_groups_;
    if (packed.empty()) {
      for (int64_t i = 0; i < plan.executions; ++i) {
        packed.push_back(std::make_unique<PackedWeights>(
            static_cast<const float*>(constant_weights_) + i * plan.weights_step, weights));
      }
    }
    for (const auto& part : packed) plan.packed_weights.push_back(part->get(layout, *onednn_));
  }

  // `stored` is the side that needs memory.
  void add_reorder(ConvolutionPlan& plan, std::optional<Step>& step, uint64_t& bytes,
                   const Desc& from, const Desc& to, const Desc& stored) const {
    if (from == to) return;
    step = reorder_step(engine(), from, to);
    bytes = aligned(stored.get_size());
    plan.scratchpad_bytes = std::max(plan.scratchpad_bytes, aligned(step->scratchpad_bytes));
  }

  std::shared_ptr<const OneDnn> onednn_;
  const void* constant_weights_;
  std::vector<std::unique_ptr<PackedWeights>> packed_, packed_groups_;
  PlanCache<ConvolutionShape, ConvolutionPlan> cache_;
};

Convolutions::Convolutions(std::shared_ptr<const OneDnn> onednn, const void* constant_weights)
    : plans_(std::make_unique<Plans>(std::move(onednn), constant_weights)) {}
Convolutions::~Convolutions() = default;

uint64_t Convolutions::prepare(const ConvolutionShape& shape) {
  return plans_->find(shape)->total_bytes();
}

bool Convolutions::adds_evenly(const ConvolutionShape& shape) {
  return plans_->find(shape)->adds_evenly;
}

std::unique_ptr<eph::State> Convolutions::create_state() const {
  return std::make_unique<ConvolutionState>(plans_->engine());
}

void Convolutions::convolve(eph::Run& run, eph::State* state, const ConvolutionShape& shape,
                            const float* x, const float* weights, const float* bias, float* y,
                            uint64_t workspace_bytes) {
  auto& own = *static_cast<ConvolutionState*>(state);
  BoundConvolution& bound = plans_->find_bound(own, shape);
  const ConvolutionPlan& plan = *bound.plan;
  const uint64_t total = plan.total_bytes();
  void* memory = nullptr;
  if (total != 0) memory = total <= workspace_bytes ? run.workspace() : run.scratch(total);
  char* next = static_cast<char*>(memory);
  const auto take = [&next](uint64_t bytes) { return std::exchange(next, next + bytes); };
  void* packed_x = take(plan.x_bytes);
  void* packed_weights = take(plan.weights_bytes);
  void* packed_y = take(plan.y_bytes);
  void* scratchpad = next;

  const auto reorder = [&](std::optional<BoundStep>& step, const void* from, void* to) {
    step->bind(DNNL_ARG_FROM, from);
    step->bind(DNNL_ARG_TO, to);
    step->bind(DNNL_ARG_SCRATCHPAD, scratchpad);
    step->execute(own.stream);
  };
  for (int64_t i = 0; i < plan.executions; ++i) {
    const float* from = x + i * plan.x_step;
    float* to = y + i * plan.y_step;
    const void* used_weights = nullptr;
    if (bound.pack_weights) {
      reorder(bound.pack_weights, weights + i * plan.weights_step, packed_weights);
      used_weights = packed_weights;
    } else if (plan.packed_weights.empty()) {
      used_weights = weights + i * plan.weights_step;
    } else {
      used_weights = plan.packed_weights[static_cast<std::size_t>(i)];
    }
    if (bound.pack_x) reorder(bound.pack_x, from, packed_x);
    bound.convolve.bind(DNNL_ARG_SRC, bound.pack_x ? packed_x : from);
    bound.convolve.bind(DNNL_ARG_WEIGHTS, used_weights);
    bound.convolve.bind(DNNL_ARG_BIAS, bias != nullptr ? bias + i * plan.bias_step : nullptr);
    bound.convolve.bind(DNNL_ARG_DST, bound.unpack_y ? packed_y : to);
    bound.convolve.bind(DNNL_ARG_SCRATCHPAD, scratchpad);
    bound.convolve.execute(own.stream);
    if (bound.unpack_y) reorder(bound.unpack_y, packed_y, to);
  }
}

}  // namespace ephost_cpu
