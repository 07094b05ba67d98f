// Numbers for the operands of a step: equal numbers mean equal addresses and shapes.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <vector>

namespace ephost::runtime {

class Placement {
 public:
  // The number for these operands: the last one if they are as they were then, else a new one.
  // Never 0.
  uint64_t number(const eph_run& run);

 private:
  struct Operand {
    const void* data = nullptr;
    uint64_t byte_size = 0;
    std::vector<int64_t> shape;
  };
  // Makes `known` what the operand is; whether it was something else.
  static bool update(Operand& known, const eph_value* operand);

  uint64_t number_ = 0;
  const void* workspace_ = nullptr;
  std::vector<Operand> operands_;  // inputs, then outputs
};

}  // namespace ephost::runtime
