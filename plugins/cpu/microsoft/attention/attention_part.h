// The common part of the attention operators of com.microsoft: heads cut out of packed tensors,
// caches of keys and values, masks as numbers that are added to the scores, and ONNX's Attention,
// which computes the rest. Everything is in float.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "plugins/cpu/core/kernel.h"

namespace ephost_cpu {

// Memory of the run.
[[nodiscard]] float* take_floats(eph::Run& run, int64_t count);

// Heads within tokens: element e of head h of token t of a member b of the batch is at
// ((b * length + t) * token + h * head + e).
struct PackedHeads {
  const float* data;
  int64_t batch, length, heads, size;
  int64_t token, head;          // distances in elements
  const float* bias = nullptr;  // [heads, size], added; may be null
};
// As [batch, heads, capacity, size], from position `at` of each on.
void split_heads(const PackedHeads& from, float* to, int64_t capacity, int64_t at);

// [batch, heads, length, size] into positions from 0 on of [batch, heads, capacity, size].
void copy_past(const float* past, int64_t heads, int64_t length, int64_t size, float* to,
               int64_t capacity);

struct AttentionOperands {
  int64_t batch, heads, kv_heads, queries, keys, size, value_size;
  const float* q;     // [batch, heads, queries, size]
  const float* k;     // [batch, kv_heads, keys, size]
  const float* v;     // [batch, kv_heads, keys, value_size]
  const float* mask;  // [mask_batch, mask_heads, queries, keys], or null
  int64_t mask_batch = 1, mask_heads = 1;
};

class AttentionPart {
 public:
  // A scale of 0 stands for one over the root of the size of a head, a softcap of 0 for none.
  AttentionPart(const NodeContext& context, float scale, float softcap);

  [[nodiscard]] std::unique_ptr<eph::State> create_state() { return part_->create_state(); }
  // `y` is [batch, queries, heads, value_size].
  void attend(eph::Run& run, eph::State* state, const AttentionOperands& operands, float* y);

 private:
  std::unique_ptr<Kernel> part_;
};

// What is added to the score of a key that a query must not see.
inline constexpr float kHidden = -std::numeric_limits<float>::infinity();

// Builds what is added to the scores.
class ScoreMask {
 public:
  ScoreMask(eph::Run& run, int64_t batch, int64_t heads, int64_t queries, int64_t keys)
      : run_(run), batch_(batch), heads_(heads), queries_(queries), keys_(keys) {}

  // The input [batch or 1, heads or 1, queries, keys]; may be omitted. To be called first.
  void add_bias(uint32_t input);
  // Numbers [mask_batch, mask_heads, queries, width], zero for keys beyond the width.
  void add_bias(const float* bias, int64_t mask_batch, int64_t mask_heads, int64_t width);
  // Adds `value` for keys for which hides(member of the batch, query, key).
  template <class Hides>
  void hide(float value, const Hides& hides) {
    float* row = numbers(batch_);
    for (int64_t b = 0; b < batch_; ++b) {
      for (int64_t h = 0; h < mask_heads_; ++h) {
        for (int64_t q = 0; q < queries_; ++q, row += keys_) {
          for (int64_t k = 0; k < keys_; ++k) {
            if (hides(b, q, k)) row[k] += value;
          }
        }
      }
    }
  }

  void store(AttentionOperands& operands) const {
    operands.mask = numbers_;
    operands.mask_batch = mask_batch_;
    operands.mask_heads = mask_heads_;
  }

 private:
  // The numbers, for that many members of the batch.
  float* numbers(int64_t batch);

  eph::Run& run_;
  int64_t batch_, heads_, queries_, keys_;
  float* numbers_ = nullptr;
  int64_t mask_batch_ = 1, mask_heads_ = 1;
};

}  // namespace ephost_cpu
