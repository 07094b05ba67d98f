#include "plugins/cpu/microsoft/experts/expert_weights.h"

#include <algorithm>

#include "plugins/cpu/core/parallel.h"

namespace ephost_cpu {
namespace {

// Number `i` of bytes that have `bits` for each; the first one is in the lowest bits.
int32_t code_at(const uint8_t* bytes, int64_t bits, int64_t i) {
  if (bits == 8) return bytes[i];
  return bytes[i / 2] >> (i % 2 * 4) & 15;
}

}  // namespace

void check_expert_input(const eph::Run& run, uint32_t input, const Dims& expected,
                        const std::string& name) {
  const eph_value* const value = optional_input(run, input);
  if (value == nullptr || dims_of(*value) == expected) return;
  fail(name + " has the shape " + to_string(dims_of(*value)) + " and should have " +
       to_string(expected));
}

std::string QuantizedExperts::read(const eph::NodeView& node,
                                   std::optional<QuantizedExperts>& made) {
  const int64_t bits = node.get_int("expert_weight_bits", 4);
  const int64_t block = node.get_int("block_size", 0);
  if (const std::string_view type = node.get_string("quant_type", "int"); type != "int") {
    return "quant_type '" + std::string(type) + "' is not supported, but int";
  }
  if (bits != 4 && bits != 8) {
    return "weights of " + std::to_string(bits) + " bits are not supported, but 4 and 8";
  }
  if (block != 0 && (block < 16 || (block & (block - 1)) != 0)) {
    return "block_size=" + std::to_string(block) + " is not a power of 2 of at least 16";
  }
  made = QuantizedExperts(bits, block);
  return {};
}

void QuantizedExperts::check(const eph::Run& run, const LayerInputs& layer,
                             const Dims& shape) const {
  const std::string name = layer.name;
  const int64_t experts = shape[0], rows = shape[1], depth = shape[2];
  if (depth % per_byte() != 0) {
    fail(name + "_experts_weights cannot have rows of " + std::to_string(depth) +
         " weights, two of which share a byte");
  }
  check_expert_input(run, layer.weights, {experts, rows, depth / per_byte()},
                     name + "_experts_weights");
  const int64_t blocks = blocks_of(depth);
  const auto bytes = [&](int64_t numbers) { return (numbers + per_byte() - 1) / per_byte(); };
  check_expert_input(run, layer.scales,
                     block_ == 0 ? Dims{experts, rows} : Dims{experts, rows, blocks},
                     name + "_scales");
  check_expert_input(run, layer.zeros,
                     block_ == 0 ? Dims{experts, bytes(rows)} : Dims{experts, rows, bytes(blocks)},
                     name + "_zero_points");
}

void QuantizedExperts::unpack(const eph::Run& run, const LayerInputs& layer, int64_t expert,
                              int64_t rows, int64_t depth, float* weights) const {
  const int64_t blocks = blocks_of(depth), row_bytes = depth / per_byte();
  const int64_t block = block_ == 0 ? depth : block_;
  const auto* codes = run.input_data<uint8_t>(layer.weights) + expert * rows * row_bytes;
  const auto* scales = run.input_data<float>(layer.scales) + expert * rows * blocks;
  const auto* zeros =
      optional_input(run, layer.zeros) == nullptr ? nullptr : run.input_data<uint8_t>(layer.zeros);
  // Zero points share bytes along the blocks of a row, or along the rows.
  const int64_t zeros_in_group = block_ == 0 ? rows : blocks;
  const int64_t group_bytes = (zeros_in_group + per_byte() - 1) / per_byte();
  const auto zero_of = [=, this](int64_t row, int64_t at) {
    if (zeros == nullptr) return int32_t{1} << (bits_ - 1);
    const int64_t group = block_ == 0 ? expert : expert * rows + row;
    return code_at(zeros + group * group_bytes, bits_, block_ == 0 ? row : at);
  };
  parallel_for(rows, static_cast<double>(depth), [=, this](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t at = 0; at < blocks; ++at) {
        const float scale = scales[row * blocks + at];
        const int32_t zero = zero_of(row, at);
        const int64_t last = std::min(depth, (at + 1) * block);
        for (int64_t i = at * block; i < last; ++i) {
          const int32_t code = code_at(codes + row * row_bytes, bits_, i);
          weights[row * depth + i] = static_cast<float>(code - zero) * scale;
        }
      }
    }
  });
}

}  // namespace ephost_cpu
