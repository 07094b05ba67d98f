// fake_run.h: the arguments of one call of compute, with float tensors as inputs and outputs.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/tensor_memory.h"

namespace ephost::test {

class FakeRun : public eph_run {
 public:
  // Inputs and outputs are bound, as with static shapes; null stands for those that are left out.
  // The workspace is filled with garbage.
  FakeRun(const std::vector<FloatTensor*>& run_inputs, const std::vector<FloatTensor*>& run_outputs,
          uint64_t workspace_bytes);
  // One output, for whose memory the plugin has to ask.
  explicit FakeRun(std::vector<FloatTensor> run_inputs);
  FakeRun(const FakeRun&) = delete;
  FakeRun& operator=(const FakeRun&) = delete;

  bool cancelled = false;
  int32_t allocate_code = EPH_OK;  // the result of allocate_output
  int32_t make_code = EPH_OK;      // the result of every function that makes a value
  int allocations = 0;             // how many outputs the plugin asked for
  std::vector<std::string> made;   // the values made and set, in order

  // Gives the one output its memory beforehand.
  void prepare(const Shape& shape);
  // The one output; empty if its memory was not asked for.
  [[nodiscard]] std::vector<float> result() const;
  [[nodiscard]] Shape result_shape() const;

 private:
  void bind();
  template <class OutValue>
  int32_t make(std::string what, OutValue** out, eph_error* error);
  [[nodiscard]] std::string name_of(const eph_value* value) const;

  static FakeRun& self(eph_run* run) { return static_cast<FakeRun&>(*run); }
  static int32_t allocate_output(eph_run* run, uint32_t index, int32_t type, const int64_t* shape,
                                 uint32_t rank, eph_error* error) noexcept;
  static int32_t set_string(eph_run* run, uint32_t index, uint64_t element, eph_string text,
                            eph_error* error) noexcept;
  static void* allocate_scratch(eph_run* run, uint64_t size) noexcept;
  static int32_t is_cancelled(const eph_run* run) noexcept;
  static int32_t make_tensor(eph_run* run, int32_t type, const int64_t* shape, uint32_t rank,
                             eph_value** out, eph_error* error) noexcept;
  static int32_t set_element(eph_run* run, eph_value* tensor, uint64_t element, eph_string text,
                             eph_error* error) noexcept;
  static int32_t make_sequence(eph_run* run, const eph_value* base, uint64_t position,
                               uint64_t removed, const eph_value* const* inserted, uint64_t count,
                               const eph_value** out, eph_error* error) noexcept;
  static int32_t make_map(eph_run* run, const eph_value* keys, const eph_value* values,
                          const eph_value** out, eph_error* error) noexcept;
  static int32_t set_output(eph_run* run, uint32_t index, const eph_value* value,
                            eph_error* error) noexcept;
  static const eph_run_api kApi;

  std::vector<FloatTensor> own_inputs_;
  std::vector<const eph_value*> input_values_;
  std::vector<eph_value*> output_values_;
  eph_value open_output_ = {};
  std::optional<FloatTensor> result_;
  AlignedBytes workspace_;
  std::vector<AlignedBytes> scratch_;
  std::deque<eph_value> made_values_;
};

}  // namespace ephost::test
