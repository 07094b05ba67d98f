// The weights of MoE and QMoE: floats, or numbers of 4 or 8 bits in bytes, which have a scale for
// each row or for each block of one.
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "plugins/cpu/core/kernel.h"

namespace ephost_cpu {

inline constexpr uint32_t kNoInput = std::numeric_limits<uint32_t>::max();

// Where a layer of the experts has its inputs.
struct LayerInputs {
  const char* name;
  uint32_t weights, bias;
  uint32_t scales = kNoInput, zeros = kNoInput;
};

[[nodiscard]] inline const eph_value* optional_input(const eph::Run& run, uint32_t input) {
  return input == kNoInput ? nullptr : run.input(input);
}

// Fails unless the input, where it is given, has that shape.
void check_expert_input(const eph::Run& run, uint32_t input, const Dims& expected,
                        const std::string& name);

class QuantizedExperts {
 public:
  // Or why the attributes are not supported.
  static std::string read(const eph::NodeView& node, std::optional<QuantizedExperts>& made);

  // How many weights a byte has.
  [[nodiscard]] int64_t per_byte() const { return 8 / bits_; }
  // Fails if inputs of a layer have other shapes than those of [experts, rows, depth].
  void check(const eph::Run& run, const LayerInputs& layer, const Dims& shape) const;
  // The weights of one expert, [rows, depth].
  void unpack(const eph::Run& run, const LayerInputs& layer, int64_t expert, int64_t rows,
              int64_t depth, float* weights) const;

 private:
  QuantizedExperts(int64_t bits, int64_t block) : bits_(bits), block_(block) {}

  [[nodiscard]] int64_t blocks_of(int64_t depth) const {
    return block_ == 0 ? 1 : (depth + block_ - 1) / block_;
  }

  int64_t bits_;
  int64_t block_;  // 0: a row is one
};

}  // namespace ephost_cpu
