// Integer arithmetic in float, where products of bytes and sums of a few hundred of them are exact:
// the terms are cut into chunks of that length, whose sums are added as integers.
#pragma once

#include <cstdint>

#include "plugins/cpu/core/kernel.h"
#include "plugins/cpu/kernels/quantized/quantized_operand.h"

namespace ephost_cpu {

inline constexpr int64_t kMaxReach = 255;  // of any operand

// The number of terms whose sum stays exact, of products of numbers up to these.
[[nodiscard]] int64_t exact_terms(int64_t reach_a, int64_t reach_b);

// y += terms, or y = terms if it is the first chunk.
void add_chunk(const float* terms, bool is_first, int32_t* y, int64_t count);

// A block of a matrix with rows of `stride` elements: `columns` from `first` on.
struct Block {
  int64_t first, rows, columns, stride;
};

// The distances of a block's elements from the zero points: row r has zero point `zero + r`.
void pack_rows(const QuantizedOperand& from, const Block& block, int64_t zero, float* to);
// Likewise; column j has zero point `zero + j`.
void pack_columns(const QuantizedOperand& from, const Block& block, int64_t zero, float* to);

}  // namespace ephost_cpu
