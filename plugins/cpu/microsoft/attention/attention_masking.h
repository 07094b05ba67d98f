// The common part of Attention and MultiHeadAttention: their attributes and masks.
#pragma once

#include <cstdint>
#include <string>

#include "plugins/cpu/microsoft/attention/attention_part.h"

namespace ephost_cpu {

inline constexpr float kMaskFilter = -10000;

inline int64_t read_heads(const NodeContext& context) {
  const int64_t heads = context.node().get_int("num_heads", 0);
  if (heads < 1 || heads > INT32_MAX) {
    fail("attribute num_heads=" + std::to_string(heads) + " is not positive, or too large");
  }
  return heads;
}

// What both operators know about masks: which keys a query sees.
struct Masking {
  float filter;
  bool unidirectional;

  explicit Masking(const NodeContext& context)
      : filter(context.node().get_float("mask_filter_value", kMaskFilter)),
        unidirectional(context.node().get_int("unidirectional", 0) != 0) {}

  // `past` keys come before the first query's. `mask` is the input that says which keys are
  // padding: [batch] or [2 * batch] with the ends (and the starts) of the keys, or 0 and 1 for each
  // key, [batch, keys], or [batch, queries, keys].
  void apply(eph::Run& run, uint32_t mask_input, uint32_t bias_input, int64_t past,
             AttentionOperands& operands) const {
    ScoreMask mask(run, operands.batch, operands.heads, operands.queries, operands.keys);
    mask.add_bias(bias_input);
    if (const eph_value* given = run.input(mask_input)) hide_padding(*given, operands, mask);
    if (unidirectional && operands.queries > 0) {
      mask.hide(kHidden, [=](int64_t, int64_t q, int64_t k) { return k > past + q; });
    }
    mask.store(operands);
  }

 private:
  void hide_padding(const eph_value& given, const AttentionOperands& operands,
                    ScoreMask& mask) const {
    const Dims shape = dims_of(given);
    const auto* numbers = data<const int32_t>(given);
    const int64_t batch = operands.batch;
    const int64_t queries = operands.queries;
    const int64_t keys = operands.keys;
    if (shape == Dims{batch}) {
      mask.hide(filter, [=](int64_t b, int64_t, int64_t k) { return k >= numbers[b]; });
    } else if (shape == Dims{checked_multiply(2, batch)}) {
      mask.hide(filter, [=](int64_t b, int64_t, int64_t k) {
        return k >= numbers[b] || k < numbers[batch + b];
      });
    } else if (shape == Dims{batch, keys}) {
      mask.hide(filter, [=](int64_t b, int64_t, int64_t k) { return numbers[b * keys + k] == 0; });
    } else if (shape == Dims{batch, queries, keys}) {
      mask.hide(filter, [=](int64_t b, int64_t q, int64_t k) {
        return numbers[(b * queries + q) * keys + k] == 0;
      });
    } else {
      fail_unsupported("a mask of shape " + to_string(shape) + " for " + std::to_string(batch) +
                       " sequences of " + std::to_string(keys) + " keys is not supported");
    }
  }
};

}  // namespace ephost_cpu
