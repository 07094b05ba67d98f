// GroupQueryAttention.
#include <algorithm>

#include "plugins/cpu/microsoft/attention/attention_part.h"
#include "plugins/cpu/microsoft/attention/rotary_cache.h"
#include "plugins/cpu/microsoft/families.h"
#include "plugins/cpu/microsoft/inference.h"

namespace ephost_cpu {
namespace {

int64_t positive(const NodeContext& context, const char* name) {
  const int64_t value = context.node().get_int(name, 0);
  if (value < 1 || value > INT32_MAX) {
    fail("attribute " + std::string(name) + "=" + std::to_string(value) +
         " is not positive, or too large");
  }
  return value;
}

// Inputs: query, key, value, past key, past value, lengths of the keys, the longest one, cosines,
// sines, position ids, attention bias. Q, K and V may be packed in the first one.
class GroupQueryAttention final : public Kernel {
 public:
  explicit GroupQueryAttention(const NodeContext& context)
      : Kernel(context),
        heads_(positive(context, "num_heads")),
        kv_heads_(positive(context, "kv_num_heads")),
        is_causal_(context.node().get_int("causal", 1) != 0),
        rotates_(context.node().get_int("do_rotary", 0) != 0),
        interleaved_(context.node().get_int("rotary_interleaved", 0) != 0),
        window_(context.node().get_int("local_window_size", -1)),
        part_(context, context.node().get_float("scale", 0),
              context.node().get_float("softcap", 0)) {
    require_inputs(context, {5, 6});
    if (heads_ % kv_heads_ != 0) {
      fail("num_heads=" + std::to_string(heads_) +
           " is not a multiple of kv_num_heads=" + std::to_string(kv_heads_));
    }
  }

  std::unique_ptr<eph::State> create_state() override { return part_.create_state(); }

 protected:
  void run(eph::Run& run, eph::State* state) override {
    const Heads heads = find_heads(run);
    const int64_t batch = heads.q.batch;
    const int64_t length = heads.q.length;
    const int64_t size = heads.q.size;
    const Lengths lengths = read_lengths(run, batch, length, size);
    auto* y = data<float>(allocate_output(run, 0, EPH_ELEMENT_FLOAT,
                                          {batch, length, checked_multiply(heads_, size)}));
    float* q = take_floats(run, checked_multiply(checked_multiply(batch, length), heads_ * size));
    float* new_k = take_floats(run, checked_multiply(batch * length, kv_heads_ * size));
    float* new_v = take_floats(run, checked_multiply(batch * length, kv_heads_ * size));
    split_heads(heads.q, q, length, 0);
    split_heads(heads.k, new_k, length, 0);
    split_heads(heads.v, new_v, length, 0);
    if (rotates_) {
      const int64_t* positions = read_positions(run, batch, length);
      const RotaryCache cache = read_cache(run, 7, 8, size);
      rotate(cache, lengths, positions, batch, heads_, length, size, q);
      rotate(cache, lengths, positions, batch, kv_heads_, length, size, new_k);
    }
    const float* k = join(run, lengths, new_k, 3, 1, batch, length, size);
    const float* v = join(run, lengths, new_v, 4, 2, batch, length, size);
    AttentionOperands operands = {batch, heads_, kv_heads_, length, lengths.capacity, size,
                                  size,  q,      k,         v,      nullptr};
    hide_keys(run, lengths, operands);
    part_.attend(run, state, operands, y);
  }

 private:
  struct Heads {
    PackedHeads q, k, v;
  };
  struct Lengths {
    const int32_t* last;  // by member of the batch: keys in all, less one
    int64_t total;        // the largest number of keys
    int64_t past_buffer;  // positions in past_key
    int64_t capacity;     // positions in present_key
    int64_t queries;
    bool is_prompt;  // there are no past keys

    [[nodiscard]] int64_t past(int64_t b) const {
      return is_prompt ? 0 : int64_t{last[b]} + 1 - queries;
    }
  };

  [[nodiscard]] Heads find_heads(const eph::Run& run) const {
    const Dims q = dims_of(*run.input(0));
    const eph_value* key = run.input(1);
    const eph_value* value = run.input(2);
    const auto mismatch = [&] {
      fail("query, key and value do not fit " + std::to_string(heads_) + " heads of queries and " +
           std::to_string(kv_heads_) + " of keys; the query has the shape " + to_string(q));
    };
    if (q.size() != 3 || (key == nullptr) != (value == nullptr)) mismatch();
    const auto* from = run.input_data<float>(0);
    const int64_t all = key == nullptr ? heads_ + 2 * kv_heads_ : heads_;
    if (q[2] % all != 0 || q[2] == 0) mismatch();
    const int64_t size = q[2] / all;
    Heads heads;
    heads.q = {from, q[0], q[1], heads_, size, q[2], size};
    if (key == nullptr) {
      heads.k = {from + heads_ * size, q[0], q[1], kv_heads_, size, q[2], size};
      heads.v = heads.k;
      heads.v.data += kv_heads_ * size;
      return heads;
    }
    const Dims expected = {q[0], q[1], kv_heads_ * size};
    if (!(dims_of(*key) == expected) || !(dims_of(*value) == expected)) mismatch();
    heads.k = {data<const float>(*key), q[0], q[1], kv_heads_, size, expected[2], size};
    heads.v = heads.k;
    heads.v.data = data<const float>(*value);
    return heads;
  }

  [[nodiscard]] Lengths read_lengths(const eph::Run& run, int64_t batch, int64_t queries,
                                     int64_t size) const {
    const eph_value& lasts = *run.input(5);
    if (element_count(eph::shape_of(lasts)) != batch) {
      fail("seqlens_k of shape " + to_string(eph::shape_of(lasts)) + " does not have " +
           std::to_string(batch) + " elements");
    }
    Lengths lengths = {data<const int32_t>(lasts), read_int(*run.input(6)), 0, 0, queries, false};
    lengths.past_buffer = past_buffer(run, batch, size);
    lengths.is_prompt = queries == lengths.total;
    if (lengths.total < std::max<int64_t>(1, queries) ||
        lengths.total > checked_add(lengths.past_buffer, queries)) {
      fail("total_sequence_length " + std::to_string(lengths.total) + " does not lie between the " +
           std::to_string(queries) + " queries and their number with that of past keys, " +
           std::to_string(lengths.past_buffer + queries));
    }
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t last = lengths.last[b];
      const int64_t past = lengths.past(b);
      if (last < 0 || last >= lengths.total || past < 0 || past > lengths.past_buffer) {
        fail("seqlens_k " + std::to_string(last) + " is out of range for " +
             std::to_string(queries) + " queries, " + std::to_string(lengths.past_buffer) +
             " past keys and a total_sequence_length of " + std::to_string(lengths.total));
      }
    }
    lengths.capacity = std::max(lengths.past_buffer, lengths.total);
    return lengths;
  }

  [[nodiscard]] int64_t past_buffer(const eph::Run& run, int64_t batch, int64_t size) const {
    const eph_value* key = run.input(3);
    const eph_value* value = run.input(4);
    if ((key == nullptr) != (value == nullptr)) {
      fail("past_key and past_value must be given together");
    }
    if (key == nullptr) return 0;
    const Dims shape = dims_of(*key);
    if (shape.size() != 4 || !(shape == Dims{batch, kv_heads_, shape[2], size}) ||
        !(dims_of(*value) == shape)) {
      fail("past_key of shape " + to_string(shape) + " and past_value of shape " +
           to_string(dims_of(*value)) + " do not fit the query");
    }
    return shape[2];
  }

  static const int64_t* read_positions(const eph::Run& run, int64_t batch, int64_t length) {
    const eph_value* positions = run.input(9);
    if (positions == nullptr) return nullptr;
    if (!(dims_of(*positions) == Dims{batch, length})) {
      fail("position_ids of shape " + to_string(dims_of(*positions)) + ", expected " +
           to_string(Dims{batch, length}));
    }
    return data<const int64_t>(*positions);
  }

  void rotate(const RotaryCache& cache, const Lengths& lengths, const int64_t* positions,
              int64_t batch, int64_t heads, int64_t length, int64_t size, float* x) const {
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t t = 0; t < length; ++t) {
        const int64_t position =
            cache.check(positions != nullptr ? positions[b * length + t] : lengths.past(b) + t);
        for (int64_t h = 0; h < heads; ++h) {
          float* head = x + ((b * heads + h) * length + t) * size;
          rotate_head(head, cache.cosines + position * cache.pairs,
                      cache.sines + position * cache.pairs, cache.pairs, size, interleaved_, head);
        }
      }
    }
  }

  // The past of each member of the batch, and what is new behind it; zeros behind that.
  const float* join(eph::Run& run, const Lengths& lengths, const float* added, uint32_t past_input,
                    uint32_t output, int64_t batch, int64_t length, int64_t size) const {
    const Dims shape = {batch, kv_heads_, lengths.capacity, size};
    float* joined = run.output(output) != nullptr
                        ? data<float>(allocate_output(run, output, EPH_ELEMENT_FLOAT, shape))
                        : take_floats(run, element_count(shape));
    const float* before = optional_data<float>(run, past_input);
    for (int64_t h = 0; h < batch * kv_heads_; ++h) {
      const int64_t past = lengths.past(h / kv_heads_);
      float* to = joined + h * lengths.capacity * size;
      if (past > 0) std::copy_n(before + h * lengths.past_buffer * size, past * size, to);
      std::copy_n(added + h * length * size, length * size, to + past * size);
      std::fill(to + (past + length) * size, to + lengths.capacity * size, 0.0F);
    }
    return joined;
  }

  // Hides keys that come after the query or before its window, or that do not exist. The window
  // ends with the query's own key.
  void hide_keys(eph::Run& run, const Lengths& lengths, AttentionOperands& operands) const {
    ScoreMask mask(run, operands.batch, operands.heads, operands.queries, operands.keys);
    add_bias(run, lengths, operands, mask);
    mask.hide(kHidden, [&](int64_t b, int64_t q, int64_t k) {
      const int64_t own = lengths.past(b) + q;
      if (window_ >= 0 && k <= own - window_) return true;
      return k > (is_causal_ ? own : lengths.past(b) + operands.queries - 1);
    });
    mask.store(operands);
  }

  // The bias ends at total_sequence_length; the buffers may be longer.
  static void add_bias(const eph::Run& run, const Lengths& lengths,
                       const AttentionOperands& operands, ScoreMask& mask) {
    const eph_value* bias = run.input(10);
    if (bias == nullptr) return;
    const Dims shape = dims_of(*bias);
    const bool fits = shape.size() == 4 && (shape[0] == 1 || shape[0] == operands.batch) &&
                      (shape[1] == 1 || shape[1] == operands.heads) &&
                      shape[2] == operands.queries && shape[3] >= lengths.total &&
                      shape[3] <= operands.keys;
    if (!fits) {
      fail("attention_bias of shape " + to_string(shape) + " does not fit " +
           std::to_string(operands.queries) + " queries and " + std::to_string(lengths.total) +
           " keys");
    }
    mask.add_bias(data<const float>(*bias), shape[0], shape[1], shape[3]);
  }

  int64_t heads_, kv_heads_;
  bool is_causal_, rotates_, interleaved_;
  int64_t window_;  // keys that a query sees, its own included; -1: all
  AttentionPart part_;
};

constexpr KernelEntry kGroupQueryAttentionKernels[] = {
    {"GroupQueryAttention",
     1,
     1,
     {.required = 1, .same_type = 0b10110011111},
     kInputTypes<kOnlyFloat, kOnlyFloat, kOnlyFloat, kOnlyFloat, kOnlyFloat, kInt32, kInt32,
                 kOnlyFloat, kOnlyFloat, kInt64, kOnlyFloat>,
     &make<GroupQueryAttention>,
     kMicrosoft},
};

std::string why_refused_group(const NodeContext& context) {
  const eph::NodeView& node = context.node();
  const int64_t window = node.get_int("local_window_size", -1);
  if (window != -1 && (window < 1 || window > INT32_MAX)) {
    return "local_window_size=" + std::to_string(window) + " is neither -1 nor positive";
  }
  if (node.get_int("sliding_window_cache", 0) != 0) return "sliding_window_cache is not supported";
  if (node.get_int("smooth_softmax", 0) > 0) return "smooth_softmax is not supported";
  if (context.has_input(11)) return "head_sink is not supported";
  const bool quantizes = node.get_string("k_quant_type", "NONE") != "NONE" ||
                         node.get_string("v_quant_type", "NONE") != "NONE" ||
                         context.has_input(12) || context.has_input(13);
  if (quantizes) return "quantised caches of keys and values are not supported";
  if (context.has_input(14) || context.has_input(15)) {
    return "q_norm_weight and k_norm_weight are not supported";
  }
  const eph::ArrayView<uint32_t> outputs = node.outputs();
  if (node.get_int("qk_output", 0) != 0 || (outputs.size() > 3 && outputs[3] != EPH_NONE)) {
    return "the output output_qk is not supported";
  }
  return {};
}

// ---- Definitions --------------------------------------------------------------------------------

void infer_group(eph::Inference& node) {
  const eph::NodeView view = node.node();
  const int64_t heads = view.get_int("num_heads", 0);
  const int64_t kv_heads = view.get_int("kv_num_heads", 0);
  if (heads < 1 || kv_heads < 1 || heads > INT32_MAX || kv_heads > INT32_MAX) {
    infer::fail("num_heads and kv_num_heads are not positive, or too large");
  }
  const infer::Shape q = infer::shape_of(node, 0);
  infer::check_rank(q, {3}, "query");
  const int32_t type = infer::type_of(node, 0);
  const bool is_packed = !node.has_input(1);
  infer::Shape y;
  infer::Shape present;
  if (q) {
    const infer::Extent size = infer::quotient((*q)[2], is_packed ? heads + 2 * kv_heads : heads,
                                               "the hidden size of the query");
    const infer::Extent hidden = is_packed ? infer::product(infer::known(heads), size) : (*q)[2];
    y = {(*q)[0], (*q)[1], hidden};
    infer::Extent keys;
    const eph_value* total = node.has_input(6) ? node.input(6).constant() : nullptr;
    const infer::Shape past = infer::shape_of(node, 3);
    infer::check_rank(past, {4}, "past_key");
    const infer::Extent before =
        past ? (*past)[2] : (node.has_input(3) ? infer::Extent{} : infer::known(0));
    if (total != nullptr && before.is_known() && eph::elements<int32_t>(*total).size() == 1) {
      keys = infer::known(std::max<int64_t>(before.count, eph::elements<int32_t>(*total)[0]));
    }
    present = {(*q)[0], infer::known(kv_heads), keys, size};
  }
  infer::set(node, 0, type, y);
  infer::set_optional(node, 1, type, present);
  infer::set_optional(node, 2, type, present);
}

constexpr uint64_t kCache =
    kUpToFloat | kTypeSet<EPH_ELEMENT_UINT8, EPH_ELEMENT_INT8, EPH_ELEMENT_FLOAT8E4M3FN>;

eph::Operator define() {
  return eph::Operator(kMicrosoft, "GroupQueryAttention", 1)
      .description("Causal attention in which several heads of queries share one of keys.")
      .input("query", "T", kUpToFloat, 0, "or query, key and value of each token")
      .input("key", "T", kUpToFloat, eph::kOptional)
      .input("value", "T", kUpToFloat, eph::kOptional)
      .input("past_key", "T_CACHE", kCache, eph::kOptional)
      .input("past_value", "T_CACHE", kCache, eph::kOptional)
      .input("seqlens_k", "M", kInt32, 0, "number of keys of each sequence, less one")
      .input("total_sequence_length", "M", kInt32, 0, "of the longest sequence")
      .input("cos_cache", "T", kUpToFloat, eph::kOptional)
      .input("sin_cache", "T", kUpToFloat, eph::kOptional)
      .input("position_ids", "", kInt64, eph::kOptional)
      .input("attention_bias", "T", kUpToFloat, eph::kOptional)
      .input("head_sink", "T", kUpToFloat, eph::kOptional)
      .input("k_scale", "T_KV_SCALE", kOnlyFloat, eph::kOptional)
      .input("v_scale", "T_KV_SCALE", kOnlyFloat, eph::kOptional)
      .input("q_norm_weight", "T", kUpToFloat, eph::kOptional)
      .input("k_norm_weight", "T", kUpToFloat, eph::kOptional)
      .output("output", "T", kUpToFloat)
      .output("present_key", "T_CACHE", kCache, eph::kOptional)
      .output("present_value", "T_CACHE", kCache, eph::kOptional)
      .output("output_qk", "T", kUpToFloat, eph::kOptional)
      .attribute("causal", 1)
      .attribute("do_rotary", 0)
      .attribute("k_quant_type", "NONE")
      .optional_attribute("kv_cache_bit_width", EPH_ATTRIBUTE_INT)
      .required_attribute("kv_num_heads", EPH_ATTRIBUTE_INT)
      .attribute("local_window_size", -1)
      .required_attribute("num_heads", EPH_ATTRIBUTE_INT)
      .optional_attribute("qk_norm_epsilon", EPH_ATTRIBUTE_FLOAT)
      .attribute("qk_output", 0)
      .attribute("rotary_interleaved", 0)
      .optional_attribute("scale", EPH_ATTRIBUTE_FLOAT)
      .attribute("sliding_window_cache", 0)
      .attribute("smooth_softmax", -1)
      .attribute("softcap", 0.0F)
      .attribute("v_quant_type", "NONE")
      .infer(&infer_group);
}

}  // namespace

Table group_query_attention_kernels() { return kGroupQueryAttentionKernels; }

Refusals group_query_attention_refusals() {
  static constexpr Refusal kRefusals[] = {{"GroupQueryAttention", &why_refused_group}};
  return kRefusals;
}

Definitions define_group_query_attention() {
  return {
      define(),
  };
}

}  // namespace ephost_cpu
