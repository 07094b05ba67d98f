// The arguments of one call of `compute` with all tensors in guarded memory: copies of the inputs,
// outputs that are filled with a pattern, workspace and scratch memory. What the computation made
// goes to the host's own memory afterwards. Values in memories of devices, texts, and values that
// are not tensors stay the host's own.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/layers/validate/finding.h"
#include "host/layers/validate/lent/loan.h"
#include "host/layers/validate/runs/arrangement.h"
#include "host/layers/validate/runs/guarded_memory.h"

namespace ephost::layers {

class GuardedRun : public eph_run {
 public:
  // What the computation has stated (eph_computation_info).
  struct Declared {
    uint64_t workspace_bytes = 0;
    uint64_t alignment = 64;
    Sharing sharing;
  };
  struct Memory {
    Guard guard = Guard::kZones;
    std::byte fill{0xA5};          // of outputs, workspace and scratch memory
    std::string call = "compute";  // for the report of a crash
  };
  // How a run is repeated that has succeeded once.
  struct Repetition {
    Arrangement arrangement;
    std::vector<bool> is_hidden;  // outputs that have no memory until the computation asks for it
  };
  // Borrows the host's run, and what the computation has stated.
  GuardedRun(eph_run* inner, const Declared& declared, Memory memory);
  // Changes nothing of the host: its outputs have their types, shapes and memory already.
  GuardedRun(eph_run* inner, const Declared& declared, Memory memory, Repetition repetition);
  GuardedRun(const GuardedRun&) = delete;
  GuardedRun& operator=(const GuardedRun&) = delete;

  [[nodiscard]] Loan& loan() { return loan_; }
  [[nodiscard]] const Arrangement& arrangement() const { return places_; }

  // To be called once, after `compute` has returned. After a failed one, outputs may be anything.
  [[nodiscard]] std::vector<Finding> findings(bool has_succeeded) const;
  // The elements of outputs that still have the fill pattern in all their bytes, by output: the
  // first one, if there is one.
  struct Untouched {
    uint32_t output = 0;
    uint64_t element = 0;
    auto operator<=>(const Untouched&) const = default;
  };
  [[nodiscard]] std::vector<Untouched> untouched() const;
  // Whether the run can be repeated: it has nothing but tensors in host memory, and outputs were
  // written, not assembled.
  [[nodiscard]] bool can_be_repeated() const;
  // Whether an output had its memory when the run began.
  [[nodiscard]] bool was_prepared(uint32_t output) const { return was_prepared_[output]; }
  // The bytes of an output; empty if it is not a tensor of numbers in host memory.
  [[nodiscard]] std::span<const std::byte> result(uint32_t output) const;
  // Copies the outputs to the host's memory.
  void finish() const;

  // Ends the loan, and makes the memory unusable.
  void retire() noexcept;
  // The parts of the memory that were written since then.
  [[nodiscard]] std::vector<std::string> late_writes() const;
  // What it occupies.
  [[nodiscard]] size_t footprint() const;

 private:
  // What stands for memory of the host.
  struct Region {
    std::byte* begin = nullptr;  // of the host's memory, if that lies in one piece
    size_t size = 0;
    std::string name;
    bool is_written = false;  // an output lies in it
    bool is_read = false;
    bool is_settled = false;  // the host has written what the computation has set
    GuardedMemory memory;

    [[nodiscard]] bool has(const void* data) const {
      const auto* const address = static_cast<const std::byte*>(data);
      return begin != nullptr && address >= begin && address < begin + size;
    }
  };
  struct Function;

  void make_regions();
  void bind_inputs();
  void bind_outputs(const std::vector<bool>& is_hidden);
  [[nodiscard]] GuardedMemory make_memory(size_t size, const std::string& name) const;
  [[nodiscard]] std::byte* address_of(const Place& place) const;
  void adopt_output(uint32_t index);
  int32_t show_output(uint32_t index, int32_t type, std::span<const int64_t> shape,
                      eph_error* error);
  void settle(uint32_t output);
  void add_changed_inputs(std::vector<Finding>& found) const;
  void add_missing_outputs(std::vector<Finding>& found) const;
  [[nodiscard]] const eph_value* original(const eph_value* value) const;
  [[nodiscard]] bool allows(std::string_view function) noexcept {
    return loan_.allows("eph_run", function, Callers::kThreadOfTheCall);
  }
  static GuardedRun& of(eph_run* run) { return *static_cast<GuardedRun*>(run); }

  eph_run* const inner_;
  const Declared& declared_;
  const Memory memory_;
  const bool is_repetition_;
  Arrangement places_;
  std::vector<Region> regions_;
  std::vector<eph_value> input_values_, output_values_;
  std::vector<const eph_value*> inputs_;
  std::vector<eph_value*> outputs_;
  std::vector<bool> was_prepared_;
  std::vector<GuardedMemory> scratch_;
  std::optional<GuardedMemory> workspace_;
  bool has_assembled_ = false;  // it made or set values
  mutable Loan loan_;
};

}  // namespace ephost::layers
