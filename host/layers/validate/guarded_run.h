// The arguments of one call of `compute` with all tensors in guarded memory: copies of the inputs,
// outputs that are filled with a pattern, workspace and scratch memory. What the computation made
// goes to the host's own memory afterwards. Values in memories of devices, texts, and values that
// are not tensors stay the host's own.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/layers/validate/guarded_memory.h"

namespace ephost::layers {

// What is wrong, in words that follow the name of the provider, and what to do about it.
struct RunFault {
  int rule = 0;  // of ABI.md
  std::string what;
  std::string advice;
};

class GuardedRun : public eph_run {
 public:
  // What the computation has stated (eph_computation_info).
  struct Sizes {
    uint64_t workspace_bytes = 0;
    uint64_t alignment = 64;
  };
  // Borrows the host's run. `fill` is what outputs contain before they are written.
  GuardedRun(eph_run* inner, const Sizes& sizes, Guard guard, std::byte fill);
  GuardedRun(const GuardedRun&) = delete;
  GuardedRun& operator=(const GuardedRun&) = delete;

  // To be called once, after `compute` has returned. Of a failed one, outputs may be anything.
  [[nodiscard]] std::vector<RunFault> faults(bool has_succeeded) const;
  // The elements of outputs that still have the fill pattern in all their bytes, by output: the
  // first one, if there is one.
  struct Untouched {
    uint32_t output = 0;
    uint64_t element = 0;
    auto operator<=>(const Untouched&) const = default;
  };
  [[nodiscard]] std::vector<Untouched> untouched() const;
  // Copies the outputs to the host's memory.
  void finish() const;

 private:
  // Memory of the host, and what stands for it.
  struct Region {
    std::byte* begin = nullptr;
    size_t size = 0;
    bool is_written = false;  // an output lies in it
    bool is_read = false;
    bool is_settled = false;  // the host has written what the computation has set
    GuardedMemory memory;

    [[nodiscard]] bool has(const void* data) const {
      const auto* const address = static_cast<const std::byte*>(data);
      return address >= begin && address < begin + size;
    }
  };
  struct Function;

  void collect();
  [[nodiscard]] const Region* region_of(const void* data) const;
  void* translated(void* data) const;
  void adopt_output(uint32_t index);
  void settle(const void* data);
  [[nodiscard]] const eph_value* original(const eph_value* value) const;
  static GuardedRun& of(eph_run* run) { return *static_cast<GuardedRun*>(run); }
  static const GuardedRun& of(const eph_run* run) { return *static_cast<const GuardedRun*>(run); }

  eph_run* const inner_;
  const size_t alignment_;
  const Guard guard_;
  const std::byte fill_;
  std::vector<Region> regions_;  // by their addresses
  std::vector<eph_value> input_values_, output_values_;
  std::vector<const eph_value*> inputs_;
  std::vector<eph_value*> outputs_;
  std::vector<GuardedMemory> scratch_;
  std::optional<GuardedMemory> workspace_;
};

}  // namespace ephost::layers
