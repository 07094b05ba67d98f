#include "plugins/cpu/microsoft/attention/attention_part.h"

#include <algorithm>
#include <vector>

#include "plugins/cpu/core/nested_run.h"
#include "plugins/cpu/core/parallel.h"
#include "plugins/cpu/microsoft/part.h"

namespace ephost_cpu {

float* take_floats(eph::Run& run, int64_t count) {
  return static_cast<float*>(
      run.scratch(static_cast<uint64_t>(checked_multiply(checked_add(count, 1), sizeof(float)))));
}

void split_heads(const PackedHeads& from, float* to, int64_t capacity, int64_t at) {
  const int64_t rows = from.batch * from.heads * from.length;
  parallel_for(rows, 0.3 * static_cast<double>(from.size), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t t = r % from.length;
      const int64_t h = r / from.length % from.heads;
      const int64_t b = r / from.length / from.heads;
      const float* row = from.data + (b * from.length + t) * from.token + h * from.head;
      float* out = to + ((b * from.heads + h) * capacity + at + t) * from.size;
      const float* bias = from.bias == nullptr ? nullptr : from.bias + h * from.size;
      for (int64_t e = 0; e < from.size; ++e) out[e] = row[e] + (bias != nullptr ? bias[e] : 0);
    }
  });
}

void copy_past(const float* past, int64_t heads, int64_t length, int64_t size, float* to,
               int64_t capacity) {
  for (int64_t h = 0; h < heads; ++h) {
    std::copy_n(past + h * length * size, length * size, to + h * capacity * size);
  }
}

AttentionPart::AttentionPart(const NodeContext& context, float scale, float softcap) {
  std::vector<eph_attribute> attributes = {
      {EPH_STRING("softcap"), &softcap, 1, EPH_ATTRIBUTE_FLOAT, 0}};
  if (scale != 0) attributes.push_back({EPH_STRING("scale"), &scale, 1, EPH_ATTRIBUTE_FLOAT, 0});
  part_ = make_part_with("Attention", 23, context, eph::ArrayView<eph_attribute>(attributes));
}

void AttentionPart::attend(eph::Run& run, eph::State* state, const AttentionOperands& operands,
                           float* y) {
  const Dims q_shape = {operands.batch, operands.heads, operands.queries, operands.size};
  const Dims k_shape = {operands.batch, operands.kv_heads, operands.keys, operands.size};
  const Dims v_shape = {operands.batch, operands.kv_heads, operands.keys, operands.value_size};
  const Dims mask_shape = {operands.mask_batch, operands.mask_heads, operands.queries,
                           operands.keys};
  const eph_value q = make_tensor_view(operands.q, q_shape, EPH_ELEMENT_FLOAT);
  const eph_value k = make_tensor_view(operands.k, k_shape, EPH_ELEMENT_FLOAT);
  const eph_value v = make_tensor_view(operands.v, v_shape, EPH_ELEMENT_FLOAT);
  const eph_value mask = make_tensor_view(operands.mask, mask_shape, EPH_ELEMENT_FLOAT);
  NestedRun nested(run, {&q, &k, &v, operands.mask == nullptr ? nullptr : &mask});
  eph::Run view = nested.view();
  part_->compute(view, state);
  const auto* from = data<const float>(nested.output());
  const int64_t rows = operands.batch * operands.heads * operands.queries;
  const int64_t size = operands.value_size;
  parallel_for(rows, 0.3 * static_cast<double>(size), [&, from, y](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t t = r % operands.queries;
      const int64_t h = r / operands.queries % operands.heads;
      const int64_t b = r / operands.queries / operands.heads;
      const int64_t row = (b * operands.queries + t) * operands.heads + h;
      std::copy_n(from + r * size, size, y + row * size);
    }
  });
}

float* ScoreMask::numbers(int64_t batch) {
  const int64_t member = mask_heads_ * queries_ * keys_;
  if (numbers_ == nullptr) {
    numbers_ = take_floats(run_, checked_multiply(batch, checked_multiply(queries_, keys_)));
    std::fill_n(numbers_, batch * member, 0.0F);
    mask_batch_ = batch;
  } else if (mask_batch_ != batch) {
    float* all = take_floats(run_, checked_multiply(batch, member));
    for (int64_t b = 0; b < batch; ++b) std::copy_n(numbers_, member, all + b * member);
    numbers_ = all;
    mask_batch_ = batch;
  }
  return numbers_;
}

void ScoreMask::add_bias(uint32_t input) {
  const eph_value* bias = run_.input(input);
  if (bias == nullptr) return;
  const Dims shape = dims_of(*bias);
  const bool fits = shape.size() == 4 && (shape[0] == 1 || shape[0] == batch_) &&
                    (shape[1] == 1 || shape[1] == heads_) && shape[2] == queries_ &&
                    shape[3] == keys_;
  if (!fits) {
    fail("attention_bias of shape " + to_string(shape) + " does not fit scores of shape " +
         to_string(Dims{batch_, heads_, queries_, keys_}));
  }
  add_bias(data<const float>(*bias), shape[0], shape[1], keys_);
}

void ScoreMask::add_bias(const float* bias, int64_t mask_batch, int64_t mask_heads, int64_t width) {
  mask_batch_ = mask_batch;
  mask_heads_ = mask_heads;
  const int64_t rows = checked_multiply(checked_multiply(mask_batch, mask_heads), queries_);
  numbers_ = take_floats(run_, checked_multiply(rows, keys_));
  for (int64_t r = 0; r < rows; ++r) {
    std::copy_n(bias + r * width, width, numbers_ + r * keys_);
    std::fill_n(numbers_ + r * keys_ + width, keys_ - width, 0.0F);
  }
}

}  // namespace ephost_cpu
