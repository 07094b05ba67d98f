#include "plugins/cpu/kernels/matrix/product.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "plugins/cpu/core/onednn.h"
#include "plugins/cpu/kernels/matrix/panel_product.h"
#include "plugins/cpu/kernels/quantized/bytes.h"

namespace ephost_cpu {

// Either a primitive of oneDNN, or B is packed in panels.
struct ProductPlan {
  Step step;                       // the primitive, or what packs B if that isn't constant
  const void* packed_b = nullptr;  // B in the layout of the step or in panels, if it is constant
  bool uses_panels = false;
  uint64_t panel_bytes = 0;  // those of a B that isn't constant

  [[nodiscard]] uint64_t total_bytes() const { return panel_bytes + step.scratchpad_bytes; }
};

namespace {

// A matrix, or `batch` of them; stored as columns x rows if transposed.
Desc matrix_desc(int64_t batch, int64_t rows, int64_t columns, bool transposed, DataType type) {
  Dims shape = {rows, columns};
  Dims strides = transposed ? Dims{1, rows} : Dims{columns, 1};
  if (batch != 1) {
    shape.insert(0, batch);
    strides.insert(0, rows * columns);
  }
  return {to_onednn(shape), type, to_onednn(strides)};
}

// One row, for all rows of all matrices.
Desc bias_desc(const ProductShape& shape) {
  return dense_desc(shape.batch == 1 ? Dims{1, shape.n} : Dims{1, 1, shape.n});
}

// B with its columns as rows, whether it is stored so or not, and the same in panels.
Desc columns_desc(const ProductShape& shape) {
  const int64_t matrix = shape.k * shape.n;
  return {{shape.batch, shape.n, shape.k},
          DataType::f32,
          shape.transpose_b ? dnnl::memory::dims{matrix, shape.k, 1}
                            : dnnl::memory::dims{matrix, 1, shape.n}};
}
Desc panels_desc(const ProductShape& shape) {
  static_assert(kPanelColumns == 16);
  return {{shape.batch, shape.n, shape.k}, DataType::f32, dnnl::memory::format_tag::aBc16b};
}

// No step if equal columns of B would give unequal ones of Y.
std::optional<Step> make_step(const dnnl::engine& engine, const ProductShape& shape,
                              const Desc& b) {
  const Desc a = matrix_desc(shape.batch, shape.m, shape.k, shape.transpose_a,
                             shape.of_bytes ? DataType::u8 : DataType::f32);
  const Desc y = matrix_desc(shape.batch, shape.m, shape.n, false,
                             shape.of_bytes ? DataType::s32 : DataType::f32);
  dnnl::primitive_attr attributes = scratchpad_attributes();
  dnnl::post_ops post_ops;
  if (shape.alpha != 1) scale_result(shape.alpha, attributes, post_ops);
  if (shape.accumulates) post_ops.append_sum(1);
  attributes.set_post_ops(post_ops);
  Desc bias;
  if (shape.has_bias) bias = bias_desc(shape);
  const dnnl::matmul::primitive_desc description =
      describe_matmul(engine, attributes, a, b, shape.has_bias ? &bias : nullptr, y);
  const bool any_order = shape.of_bytes || shape.is_exact;
  if (!any_order && sums_depend_on_place(description.impl_info_str())) return std::nullopt;
  const Desc scratchpad = description.scratchpad_desc();
  Step step = {dnnl::matmul(description),
               {{DNNL_ARG_SRC, a},
                {DNNL_ARG_WEIGHTS, description.weights_desc()},
                {DNNL_ARG_DST, y},
                {DNNL_ARG_SCRATCHPAD, scratchpad}},
               scratchpad.get_size()};
  if (shape.has_bias) step.arguments.emplace_back(DNNL_ARG_BIAS, bias);
  return step;
}

struct BoundProduct {
  ProductShape shape;
  std::shared_ptr<const ProductPlan> plan;
  BoundStep step;
};

struct ProductState : eph::State {
  explicit ProductState(const dnnl::engine& engine) : stream(engine) {}
  dnnl::stream stream;
  std::vector<BoundProduct> bound;
};

struct Operands {
  const void *a, *b, *bias;
  void* y;
};

void execute(ProductState& state, BoundProduct& bound, const Operands& operands, void* scratch) {
  const ProductPlan& plan = *bound.plan;
  bound.step.bind(DNNL_ARG_SRC, operands.a);
  bound.step.bind(DNNL_ARG_WEIGHTS, plan.packed_b != nullptr ? plan.packed_b : operands.b);
  bound.step.bind(DNNL_ARG_BIAS, operands.bias);
  bound.step.bind(DNNL_ARG_DST, operands.y);
  bound.step.bind(DNNL_ARG_SCRATCHPAD, scratch);
  bound.step.execute(state.stream);
}

}  // namespace

class Products::Plans {
 public:
  Plans(std::shared_ptr<const OneDnn> onednn, const void* constant_b, bool flips_signs)
      : onednn_(std::move(onednn)), constant_b_(constant_b), flips_signs_(flips_signs) {}

  [[nodiscard]] const dnnl::engine& engine() const { return onednn_->engine; }

  std::shared_ptr<const ProductPlan> find(const ProductShape& shape) {
    return cache_.find_or_make(shape, [&] { return make(shape); });
  }

  // The plan with memory objects of the state's own.
  BoundProduct& find_bound(ProductState& state, const ProductShape& shape) {
    const auto found =
        std::find_if(state.bound.begin(), state.bound.end(),
                     [&](const BoundProduct& bound) { return bound.shape == shape; });
    if (found != state.bound.end()) return *found;
    if (state.bound.size() == decltype(cache_)::kCapacity) state.bound.erase(state.bound.begin());
    const std::shared_ptr<const ProductPlan> plan = find(shape);
    return state.bound.emplace_back(BoundProduct{shape, plan, BoundStep(plan->step, engine())});
  }

 private:
  // Called under the cache's lock.
  std::shared_ptr<const ProductPlan> make(const ProductShape& shape) {
    const Desc plain = matrix_desc(shape.batch, shape.k, shape.n, shape.transpose_b,
                                   shape.of_bytes ? DataType::s8 : DataType::f32);
    std::optional<Step> step =
        make_step(engine(), shape, constant_b_ != nullptr ? with_any_layout(plain) : plain);
    if (!step) return make_panels(shape);
    auto plan = std::make_shared<ProductPlan>();
    plan->step = std::move(*step);
    if (constant_b_ == nullptr) return plan;
    if (packed_b_ == nullptr) {
      packed_b_ = std::make_unique<PackedWeights>(constant_b_, plain, source(shape.k * shape.n));
    }
    plan->packed_b = packed_b_->get(plan->step.layout(DNNL_ARG_WEIGHTS), *onednn_);
    return plan;
  }

  std::shared_ptr<const ProductPlan> make_panels(const ProductShape& shape) {
    const Desc plain = columns_desc(shape);
    const Desc panels = panels_desc(shape);
    auto plan = std::make_shared<ProductPlan>();
    plan->uses_panels = true;
    if (constant_b_ == nullptr) {
      plan->step = reorder_step(engine(), plain, panels);
      plan->panel_bytes = aligned(panels.get_size());
      return plan;
    }
    if (panels_ == nullptr) panels_ = std::make_unique<PackedWeights>(constant_b_, plain);
    plan->packed_b = panels_->get(panels, *onednn_);
    return plan;
  }

  // Makes the constant of that many bytes with flipped signs; null if signs stay.
  [[nodiscard]] PackedWeights::Source source(int64_t bytes) const {
    if (!flips_signs_) return nullptr;
    return [from = constant_b_, bytes] {
      std::vector<char> flipped(static_cast<std::size_t>(bytes));
      flip_signs(from, flipped.data(), bytes);
      return flipped;
    };
  }

  std::shared_ptr<const OneDnn> onednn_;
  const void* constant_b_;
  bool flips_signs_;
  std::unique_ptr<PackedWeights> packed_b_, panels_;
  PlanCache<ProductShape, ProductPlan> cache_;
};

Products::Products(std::shared_ptr<const OneDnn> onednn, const void* constant_b, bool flips_signs)
    : plans_(std::make_unique<Plans>(std::move(onednn), constant_b, flips_signs)) {}
Products::~Products() = default;

uint64_t Products::prepare(const ProductShape& shape) { return plans_->find(shape)->total_bytes(); }

void* Products::take_scratch(eph::Run& run, const ProductShape& shape) {
  const uint64_t bytes = prepare(shape);
  return bytes != 0 ? run.scratch(bytes) : nullptr;
}

std::unique_ptr<eph::State> Products::create_state() const {
  return std::make_unique<ProductState>(plans_->engine());
}

void Products::multiply(eph::Run& run, eph::State* state, const ProductShape& shape, const float* a,
                        const float* b, const float* bias, float* y, void* scratch) {
  auto& own = *static_cast<ProductState*>(state);
  BoundProduct& bound = plans_->find_bound(own, shape);
  const ProductPlan& plan = *bound.plan;
  if (scratch == nullptr) scratch = take_scratch(run, shape);
  if (!plan.uses_panels) return execute(own, bound, {a, b, bias, y}, scratch);
  const auto* panels = static_cast<const float*>(plan.packed_b);
  if (panels == nullptr) {
    bound.step.bind(DNNL_ARG_FROM, b);
    bound.step.bind(DNNL_ARG_TO, scratch);
    bound.step.bind(DNNL_ARG_SCRATCHPAD, static_cast<char*>(scratch) + plan.panel_bytes);
    bound.step.execute(own.stream);
    panels = static_cast<const float*>(scratch);
  }
  multiply_panels(shape, a, panels, shape.has_bias ? bias : nullptr, y);
}

void Products::multiply_bytes(eph::Run& run, eph::State* state, const ProductShape& shape,
                              const uint8_t* a, const int8_t* b, int32_t* y) {
  ProductShape of_bytes = shape;
  of_bytes.of_bytes = true;
  auto& own = *static_cast<ProductState*>(state);
  BoundProduct& bound = plans_->find_bound(own, of_bytes);
  execute(own, bound, {a, b, nullptr, y}, take_scratch(run, of_bytes));
}

}  // namespace ephost_cpu
