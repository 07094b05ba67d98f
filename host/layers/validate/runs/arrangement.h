// Arrangement of the tensors of a run: which of them share memory. Pure values.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ephost::layers {

// What a computation allows to share memory (eph_computation_info), copied.
struct Sharing {
  std::vector<eph_slot_pair> may_inplace;
  std::vector<eph_slot_pair> aliases;
  std::vector<eph_slot_part> input_parts;
  std::vector<eph_slot_part> output_parts;
  std::vector<eph_slot_pair> must_share;

  // Whether it allows `output` to overlap any input.
  [[nodiscard]] bool allows(uint32_t output) const;
  // Whether the bytes of `input` stay as they are even if it overlaps `output`.
  [[nodiscard]] bool keeps_bytes(uint32_t input, uint32_t output) const;
};

// A place in a region of memory.
struct Place {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t region = kNone;  // kNone: not a tensor of numbers in host memory
  size_t offset = 0;        // in bytes

  [[nodiscard]] bool is_set() const { return region != kNone; }
};

struct Arrangement {
  std::vector<Place> inputs;
  std::vector<Place> outputs;
  uint32_t region_count = 0;
};

// Whether the bytes of a value may be copied: a tensor of numbers in host memory that has some.
[[nodiscard]] bool is_plain(const eph_value* value);

// As the host has placed them: what overlaps is in one region.
[[nodiscard]] Arrangement as_planned(const eph_run& run);

// For a run whose outputs have their memory: each tensor in a region of its own, but for those that
// must share one.
[[nodiscard]] Arrangement as_separate(const eph_run& run, const Sharing& sharing);

// The same, with as much sharing as the computation allows: no input or output is in more than one
// pair, and parts lie at multiples of `alignment`.
[[nodiscard]] Arrangement as_shared(const eph_run& run, const Sharing& sharing, size_t alignment);

// Whether an input and an output are in one region.
[[nodiscard]] bool shares_memory(const Arrangement& arrangement);

}  // namespace ephost::layers
