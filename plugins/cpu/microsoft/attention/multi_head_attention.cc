// MultiHeadAttention.
#include <algorithm>
#include <optional>

#include "plugins/cpu/microsoft/attention/attention_masking.h"
#include "plugins/cpu/microsoft/attention/attention_part.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"

namespace ephost_cpu {
namespace {

// Inputs: query, key, value, bias, key padding mask, attention bias, past key, past value.
class MultiHeadAttention final : public Kernel {
 public:
  explicit MultiHeadAttention(const NodeContext& context)
      : Kernel(context),
        heads_(read_heads(context)),
        masking_(context),
        part_(context, context.node().get_float("scale", 0), 0) {}

  std::unique_ptr<eph::State> create_state() override { return part_.create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const Heads heads = find_heads(run);
    const PackedHeads& q = heads.q;
    const int64_t past = past_length(run, heads);
    const int64_t keys = checked_add(past, heads.length);
    auto* y = data<float>(
        allocate_output(run, 0, EPH_ELEMENT_FLOAT,
                        {q.batch, q.length, checked_multiply(heads_, heads.value_size)}));
    float* queries =
        take_floats(run, checked_multiply(checked_multiply(q.batch, q.length), heads_ * q.size));
    split_heads(q, queries, q.length, 0);
    const float* k = join(run, heads.k, heads.whole_k, 6, 1, past, keys, q.batch, q.size);
    const float* v = join(run, heads.v, heads.whole_v, 7, 2, past, keys, q.batch, heads.value_size);
    AttentionOperands operands = {q.batch,          heads_,  heads_, q.length, keys,   q.size,
                                  heads.value_size, queries, k,      v,        nullptr};
    masking_.apply(run, 4, 5, past, operands);
    part_.attend(run, state, operands, y);
  }

 private:
  // Keys and values within tokens, or already as [batch, heads, length, size].
  struct Heads {
    PackedHeads q = {}, k = {}, v = {};
    const float* whole_k = nullptr;
    const float* whole_v = nullptr;
    int64_t length = 0;  // of the new keys
    int64_t value_size = 0;
  };

  [[noreturn]] void mismatch(const eph::Run& run) const {
    std::string text;
    for (uint32_t i = 0; i < 3; ++i) {
      if (run.input(i) == nullptr) continue;
      text += (text.empty() ? "" : ", ") + to_string(eph::shape_of(*run.input(i)));
    }
    fail("query, key and value of shapes " + text + " do not fit each other and " +
         std::to_string(heads_) + " heads");
  }

  [[nodiscard]] Heads find_heads(const eph::Run& run) const {
    const eph_value* key = run.input(1);
    const eph_value* value = run.input(2);
    const Dims q = dims_of(*run.input(0));
    const auto* data_q = run.input_data<float>(0);
    Heads heads;
    if (q.size() == 5) {
      if (key != nullptr || value != nullptr || q[2] != heads_ || q[3] != 3) mismatch(run);
      const PackedHeads packed = {data_q, q[0], q[1], heads_, q[4], heads_ * 3 * q[4], 3 * q[4]};
      heads.q = heads.k = heads.v = packed;
      heads.k.data += q[4];
      heads.v.data += 2 * q[4];
    } else {
      if (q.size() != 3 || q[2] % heads_ != 0 || key == nullptr) mismatch(run);
      heads.q = {data_q, q[0], q[1], heads_, q[2] / heads_, q[2], q[2] / heads_};
      find_keys(run, heads);
    }
    if (heads.value_size == 0) heads.value_size = heads.v.size;
    if (heads.whole_k == nullptr) heads.length = heads.k.length;
    if (heads.q.size == 0) mismatch(run);
    add_bias(run, heads);
    return heads;
  }

  void find_keys(const eph::Run& run, Heads& heads) const {
    const Dims k = dims_of(*run.input(1));
    const eph_value* value = run.input(2);
    const PackedHeads& q = heads.q;
    const auto* data_k = run.input_data<float>(1);
    if (k.size() == 5) {
      if (value != nullptr || k[0] != q.batch || k[2] != heads_ || k[3] != 2 || k[4] != q.size) {
        mismatch(run);
      }
      heads.k = {data_k, k[0], k[1], heads_, k[4], heads_ * 2 * k[4], 2 * k[4]};
      heads.v = heads.k;
      heads.v.data += k[4];
      return;
    }
    if (value == nullptr) mismatch(run);
    const Dims v = dims_of(*value);
    const auto* data_v = data<const float>(*value);
    if (k.size() == 4) {
      if (!(k == Dims{q.batch, heads_, k[2], q.size}) || v.size() != 4 ||
          !(v == Dims{q.batch, heads_, k[2], v[3]})) {
        mismatch(run);
      }
      heads.whole_k = data_k;
      heads.whole_v = data_v;
      heads.length = k[2];
      heads.value_size = v[3];
      return;
    }
    if (k.size() != 3 || v.size() != 3 || k[0] != q.batch || v[0] != q.batch || v[1] != k[1] ||
        k[2] != heads_ * q.size || v[2] % heads_ != 0) {
      mismatch(run);
    }
    heads.k = {data_k, k[0], k[1], heads_, q.size, k[2], q.size};
    heads.v = {data_v, v[0], v[1], heads_, v[2] / heads_, v[2], v[2] / heads_};
    heads.value_size = v[2] / heads_;
  }

  void add_bias(const eph::Run& run, Heads& heads) const {
    const eph_value* bias = run.input(3);
    if (bias == nullptr) return;
    const int64_t hidden = heads_ * heads.q.size;
    if (!(dims_of(*bias) == Dims{2 * hidden + heads_ * heads.value_size})) {
      fail("a bias of shape " + to_string(dims_of(*bias)) + " does not have the " +
           std::to_string(2 * hidden + heads_ * heads.value_size) + " elements of Q, K and V");
    }
    const auto* numbers = data<const float>(*bias);
    heads.q.bias = numbers;
    heads.k.bias = numbers + hidden;
    heads.v.bias = numbers + 2 * hidden;
    if (heads.whole_k != nullptr) {
      fail_unsupported(
          "a bias for keys and values that are split into heads already is not supported");
    }
  }

  [[nodiscard]] int64_t past_length(const eph::Run& run, const Heads& heads) const {
    const eph_value* key = run.input(6);
    const eph_value* value = run.input(7);
    if ((key == nullptr) != (value == nullptr)) {
      fail("past_key and past_value must be given together");
    }
    if (key == nullptr) return 0;
    const Dims k = dims_of(*key);
    const Dims v = dims_of(*value);
    if (k.size() != 4 || !(k == Dims{heads.q.batch, heads_, k[2], heads.q.size}) ||
        !(v == Dims{heads.q.batch, heads_, k[2], heads.value_size})) {
      fail("past_key " + to_string(k) + " and past_value " + to_string(v) +
           " do not fit the query, key and value");
    }
    return k[2];
  }

  // Past and new keys, or values, as [batch, heads, keys, size].
  const float* join(eph::Run& run, const PackedHeads& added, const float* whole,
                    uint32_t past_input, uint32_t output, int64_t past, int64_t keys, int64_t batch,
                    int64_t size) const {
    const Dims shape = {batch, heads_, keys, size};
    float* joined = run.output(output) != nullptr
                        ? data<float>(allocate_output(run, output, EPH_ELEMENT_FLOAT, shape))
                        : take_floats(run, element_count(shape));
    if (past > 0) {
      copy_past(run.input_data<float>(past_input), batch * heads_, past, size, joined, keys);
    }
    if (whole == nullptr) {
      split_heads(added, joined, keys, past);
      return joined;
    }
    const int64_t length = keys - past;
    for (int64_t h = 0; h < batch * heads_; ++h) {
      std::copy_n(whole + h * length * size, length * size, joined + (h * keys + past) * size);
    }
    return joined;
  }

  int64_t heads_;
  Masking masking_;
  AttentionPart part_;
};

constexpr KernelEntry kMultiHeadAttentionKernels[] = {
    {"MultiHeadAttention",
     1,
     1,
     {.required = 1, .same_type = 0b11101111},
     kInputTypes<kOnlyFloat, kOnlyFloat, kOnlyFloat, kOnlyFloat, kInt32, kOnlyFloat, kOnlyFloat,
                 kOnlyFloat, kInt32, kInt32>,
     &make<MultiHeadAttention>,
     kMicrosoft},
};

std::string why_refused_multi_head(const NodeContext& context) {
  if (context.has_input(8)) return "past_sequence_length (a shared buffer) is not supported";
  if (context.has_input(9)) return "cache_indirection is not supported";
  const std::optional<Dims> key = context.input_shape(1);
  if (key && key->size() == 4 && context.has_input(3)) {
    return "a bias for keys and values that are split into heads already is not supported";
  }
  const eph::ArrayView<uint32_t> outputs = context.node().outputs();
  if (outputs.size() > 3 && outputs[3] != EPH_NONE) return "the output qk is not supported";
  return {};
}

// ---- Definition ---------------------------------------------------------------------------------

void infer_multi_head(eph::Inference& node) {
  const int64_t heads = node.node().get_int("num_heads", 0);
  if (heads < 1) infer::fail("attribute num_heads=" + std::to_string(heads) + " is not positive");
  const infer::Shape q = infer::shape_of(node, 0);
  const infer::Shape k = infer::shape_of(node, 1);
  const infer::Shape v = infer::shape_of(node, 2);
  const infer::Shape past = infer::shape_of(node, 6);
  infer::check_rank(q, {3, 5}, "query");
  infer::check_rank(k, {3, 4, 5}, "key");
  infer::check_rank(v, {3, 4}, "value");
  infer::check_rank(past, {4}, "past_key");
  const int32_t type = infer::type_of(node, 0);
  infer::Extent size;
  infer::Extent value_size;
  infer::Extent length;
  if (q) size = q->size() == 5 ? (*q)[4] : infer::quotient((*q)[2], heads, "the hidden size");
  if (!node.has_input(2)) {
    value_size = size;
  } else if (v) {
    value_size = v->size() == 4 ? (*v)[3] : infer::quotient((*v)[2], heads, "the value's size");
  }
  if (!node.has_input(1)) {
    if (q) length = (*q)[1];
  } else if (k) {
    length = (*k)[k->size() == 4 ? 2 : 1];
  }
  infer::Extent keys;
  if (!node.has_input(6)) keys = length;
  if (past) keys = infer::sum((*past)[2], length);
  infer::Shape y;
  infer::Shape present;
  infer::Shape present_v;
  if (q) {
    y = {(*q)[0], (*q)[1], infer::product(infer::known(heads), value_size)};
    present = {(*q)[0], infer::known(heads), keys, size};
    present_v = {(*q)[0], infer::known(heads), keys, value_size};
  }
  infer::set(node, 0, type, y);
  infer::set_optional(node, 1, type, present);
  infer::set_optional(node, 2, type, present_v);
}

}  // namespace

Table multi_head_attention_kernels() { return kMultiHeadAttentionKernels; }

Refusals multi_head_attention_refusals() {
  static constexpr Refusal kRefusals[] = {{"MultiHeadAttention", &why_refused_multi_head}};
  return kRefusals;
}

Definitions define_multi_head_attention() {
  return {
      eph::Operator(kMicrosoft, "MultiHeadAttention", 1)
          .description("Attention of several heads to keys and values.")
          .input("query", "T", kUpToFloat)
          .input("key", "T", kUpToFloat, eph::kOptional)
          .input("value", "T", kUpToFloat, eph::kOptional)
          .input("bias", "T", kUpToFloat, eph::kOptional)
          .input("key_padding_mask", "M", kInt32, eph::kOptional)
          .input("attention_bias", "T", kUpToFloat, eph::kOptional)
          .input("past_key", "T", kUpToFloat, eph::kOptional)
          .input("past_value", "T", kUpToFloat, eph::kOptional)
          .input("past_sequence_length", "M", kInt32, eph::kOptional)
          .input("cache_indirection", "M", kInt32, eph::kOptional)
          .output("output", "T", kUpToFloat)
          .output("present_key", "T", kUpToFloat, eph::kOptional)
          .output("present_value", "T", kUpToFloat, eph::kOptional)
          .output("qk", "QK", kUpToFloat, eph::kOptional)
          .attribute("mask_filter_value", kMaskFilter)
          .required_attribute("num_heads", EPH_ATTRIBUTE_INT)
          .optional_attribute("scale", EPH_ATTRIBUTE_FLOAT)
          .attribute("unidirectional", 0)
          .infer(&infer_multi_head),
  };
}

}  // namespace ephost_cpu
