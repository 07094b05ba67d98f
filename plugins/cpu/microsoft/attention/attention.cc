// Attention: self-attention over a projection of the input.
#include <algorithm>
#include <array>

#include "plugins/cpu/kernels/matrix/product.h"
#include "plugins/cpu/microsoft/attention/attention_masking.h"
#include "plugins/cpu/microsoft/attention/attention_part.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"

namespace ephost_cpu {
namespace {

// Inputs: input, weights and bias of its projection to Q, K and V, mask, past, attention bias.
class ProjectedAttention final : public Kernel {
 public:
  explicit ProjectedAttention(const NodeContext& context)
      : Kernel(context),
        heads_(read_heads(context)),
        sizes_(context.node().get_ints("qkv_hidden_sizes")),
        masking_(context),
        projection_(context.settings().onednn, usable_constant(context)),
        part_(context, context.node().get_float("scale", 0), 0) {}

  std::unique_ptr<eph::State> create_state() override {
    auto states = std::make_unique<States>();
    states->projection = projection_.create_state();
    states->part = part_.create_state();
    return states;
  }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    auto& states = *static_cast<States*>(state);
    const Dims input = dims_of(*run.input(0));
    const std::array<int64_t, 3> hidden = check_shapes(run, input);
    const int64_t batch = input[0];
    const int64_t length = input[1];
    const int64_t size = hidden[0] / heads_;
    const int64_t value_size = hidden[2] / heads_;
    const int64_t past = past_length(run, batch, size, value_size);
    const int64_t keys = checked_add(past, length);
    const int64_t all = hidden[0] + hidden[1] + hidden[2];
    auto* y = data<float>(allocate_output(run, 0, EPH_ELEMENT_FLOAT, {batch, length, hidden[2]}));
    float* present = make_present(run, batch, keys, size);
    const int64_t tokens = checked_multiply(batch, length);
    float* packed = take_floats(run, checked_multiply(tokens, all));
    project(run, states.projection.get(), tokens, input[2], all, packed);
    const auto* bias = optional_data<float>(run, 2);
    const auto part = [&](int64_t offset, int64_t head_size) {
      return PackedHeads{
          packed + offset, batch, length,    heads_,
          head_size,       all,   head_size, bias == nullptr ? nullptr : bias + offset};
    };
    float* q = take_floats(run, checked_multiply(tokens, hidden[0]));
    split_heads(part(0, size), q, length, 0);
    const int64_t k_count = checked_multiply(checked_multiply(batch, keys), hidden[1]);
    float* k = present != nullptr ? present : take_floats(run, k_count);
    float* v = present != nullptr
                   ? present + k_count
                   : take_floats(run, checked_multiply(checked_multiply(batch, keys), hidden[2]));
    if (const auto* cache = optional_data<float>(run, 4)) {
      const int64_t of_keys = batch * heads_ * past * size;
      copy_past(cache, batch * heads_, past, size, k, keys);
      copy_past(cache + of_keys, batch * heads_, past, value_size, v, keys);
    }
    split_heads(part(hidden[0], size), k, keys, past);
    split_heads(part(hidden[0] + hidden[1], value_size), v, keys, past);
    AttentionOperands operands = {batch,      heads_, heads_, length, keys,   size,
                                  value_size, q,      k,      v,      nullptr};
    masking_.apply(run, 3, 5, past, operands);
    part_.attend(run, states.part.get(), operands, y);
  }

 private:
  struct States : eph::State {
    std::unique_ptr<eph::State> projection, part;
  };

  static const void* usable_constant(const NodeContext& context) {
    const eph_value* weights = context.constant(1);
    const bool is_usable =
        weights != nullptr && weights->rank == 2 && weights->element_type == EPH_ELEMENT_FLOAT;
    return is_usable ? weights->data : nullptr;
  }

  // The hidden sizes of Q, K and V.
  [[nodiscard]] std::array<int64_t, 3> check_shapes(const eph::Run& run, const Dims& input) const {
    const Dims weights = dims_of(*run.input(1));
    if (input.size() != 3 || weights.size() != 2 || weights[0] != input[2]) {
      fail("an input of shape " + to_string(input) + " and weights of shape " + to_string(weights) +
           " do not fit each other");
    }
    std::array<int64_t, 3> hidden = {weights[1] / 3, weights[1] / 3, weights[1] / 3};
    if (sizes_.size() == 3) hidden = {sizes_[0], sizes_[1], sizes_[2]};
    bool fits = sizes_.empty() ? weights[1] % 3 == 0 : sizes_.size() == 3;
    int64_t left = weights[1];
    for (const int64_t size : hidden) {
      fits = fits && size >= heads_ && size <= left && size % heads_ == 0;
      if (fits) left -= size;
    }
    if (!fits || left != 0 || hidden[0] != hidden[1]) {
      fail("weights of shape " + to_string(weights) + " cannot be cut into " +
           std::to_string(heads_) + " heads of Q, K and V with qkv_hidden_sizes " +
           to_string(sizes_));
    }
    if (const eph_value* bias = run.input(2)) {
      if (!(dims_of(*bias) == Dims{weights[1]})) {
        fail("a bias of shape " + to_string(dims_of(*bias)) + " does not fit weights of shape " +
             to_string(weights));
      }
    }
    return hidden;
  }

  [[nodiscard]] int64_t past_length(const eph::Run& run, int64_t batch, int64_t size,
                                    int64_t value_size) const {
    const eph_value* past = run.input(4);
    if ((past != nullptr || run.output(1) != nullptr) && size != value_size) {
      fail("heads of V of " + std::to_string(value_size) + " elements, and of K of " +
           std::to_string(size) + ", do not fit in one tensor of past or present");
    }
    if (past == nullptr) return 0;
    const Dims shape = dims_of(*past);
    if (shape.size() != 5 || !(shape == Dims{2, batch, heads_, shape[3], size})) {
      fail("past of shape " + to_string(shape) + " is not that of " + std::to_string(batch) +
           " sequences with " + std::to_string(heads_) + " heads of " + std::to_string(size));
    }
    return shape[3];
  }

  float* make_present(eph::Run& run, int64_t batch, int64_t keys, int64_t size) const {
    if (run.output(1) == nullptr) return nullptr;
    return data<float>(allocate_output(run, 1, EPH_ELEMENT_FLOAT, {2, batch, heads_, keys, size}));
  }

  void project(eph::Run& run, eph::State* state, int64_t tokens, int64_t from, int64_t to,
               float* packed) {
    if (tokens == 0) return;
    if (from == 0) {
      std::fill_n(packed, tokens * to, 0.0F);
      return;
    }
    const ProductShape shape = {.m = tokens, .k = from, .n = to};
    projection_.multiply(run, state, shape, run.input_data<float>(0), run.input_data<float>(1),
                         nullptr, packed);
  }

  int64_t heads_;
  Dims sizes_;
  Masking masking_;
  Products projection_;
  AttentionPart part_;
};

constexpr KernelEntry kMicrosoftAttentionKernels[] = {
    {"Attention",
     1,
     1,
     {.required = 2, .same_type = 0b110111},
     kInputTypes<kOnlyFloat, kOnlyFloat, kOnlyFloat, kInt32, kOnlyFloat, kOnlyFloat, kInt32>,
     &make<ProjectedAttention>,
     kMicrosoft},
};

std::string why_refused_projected(const NodeContext& context) {
  if (context.node().get_int("do_rotary", 0) != 0) return "do_rotary is not supported";
  const bool shares = context.node().get_int("past_present_share_buffer", 0) != 0;
  if (shares || context.has_input(6)) return "past_present_share_buffer is not supported";
  return {};
}

// ---- Definition ---------------------------------------------------------------------------------

void infer_projected(eph::Inference& node) {
  const eph::NodeView view = node.node();
  const int64_t heads = view.get_int("num_heads", 0);
  const infer::Shape input = infer::shape_of(node, 0);
  const infer::Shape weights = infer::shape_of(node, 1);
  const infer::Shape past = infer::shape_of(node, 4);
  infer::check_rank(input, {3}, "input");
  infer::check_rank(weights, {2}, "weights");
  infer::check_rank(past, {5}, "past");
  if (heads < 1) infer::fail("attribute num_heads=" + std::to_string(heads) + " is not positive");
  if (input && weights) {
    (void)infer::same((*input)[2], (*weights)[0], "the hidden size of the input and the weights'");
  }
  const eph::ArrayView<int64_t> sizes = view.get_ints("qkv_hidden_sizes");
  if (!sizes.empty() && sizes.size() != 3) infer::fail("qkv_hidden_sizes does not have 3 numbers");
  infer::Extent hidden;
  infer::Extent values;
  if (!sizes.empty()) {
    hidden = infer::known(std::max<int64_t>(0, sizes[0]));
    values = infer::known(std::max<int64_t>(0, sizes[2]));
  } else if (weights) {
    hidden = values = infer::quotient((*weights)[1], 3, "the weights' columns");
  }
  const int32_t type = infer::type_of(node, 0);
  infer::Shape y;
  infer::Shape present;
  if (input) {
    y = {(*input)[0], (*input)[1], values};
    infer::Extent keys;
    if (!node.has_input(4)) keys = (*input)[1];
    if (past) keys = infer::sum((*past)[3], (*input)[1]);
    present = {infer::known(2), (*input)[0], infer::known(heads), keys,
               infer::quotient(hidden, heads, "the hidden size")};
  }
  infer::set(node, 0, type, y);
  infer::set_optional(node, 1, type, present);
}

}  // namespace

Table microsoft_attention_kernels() { return kMicrosoftAttentionKernels; }

Refusals microsoft_attention_refusals() {
  static constexpr Refusal kRefusals[] = {{"Attention", &why_refused_projected}};
  return kRefusals;
}

Definitions define_attention() {
  return {
      eph::Operator(kMicrosoft, "Attention", 1)
          .description("Self-attention over a projection of the input.")
          .input("input", "T", kUpToFloat)
          .input("weights", "T", kUpToFloat, 0, "[input size, sizes of Q, K and V]")
          .input("bias", "T", kUpToFloat, eph::kOptional)
          .input("mask_index", "M", kInt32, eph::kOptional)
          .input("past", "T", kUpToFloat, eph::kOptional)
          .input("attention_bias", "T", kUpToFloat, eph::kOptional)
          .input("past_sequence_length", "M", kInt32, eph::kOptional)
          .output("output", "T", kUpToFloat)
          .output("present", "T", kUpToFloat, eph::kOptional)
          .attribute("do_rotary", 0)
          .attribute("mask_filter_value", kMaskFilter)
          .required_attribute("num_heads", EPH_ATTRIBUTE_INT)
          .attribute("past_present_share_buffer", 0)
          .optional_attribute("qkv_hidden_sizes", EPH_ATTRIBUTE_INTS)
          .optional_attribute("rotary_embedding_dim", EPH_ATTRIBUTE_INT)
          .optional_attribute("scale", EPH_ATTRIBUTE_FLOAT)
          .attribute("unidirectional", 0)
          .infer(&infer_projected),
  };
}

}  // namespace ephost_cpu
