// The eph_run of each step, and the functions of eph_run_api that computations call through it.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/bridge/error_sink.h"
#include "host/runtime/frame/frame_memory.h"
#include "host/runtime/frame/frame_streams.h"
#include "host/runtime/frame/slots/aligned_slots.h"
#include "host/runtime/frame/slots/foreign_slots.h"
#include "host/runtime/frame/slots/shared_slots.h"
#include "host/runtime/frame/step_outputs.h"
#include "host/runtime/frame/stop_signal.h"
#include "host/runtime/frame/value_table.h"
#include "host/runtime/memory_pool.h"
#include "host/runtime/program.h"
#include "host/runtime/values/value_builder.h"

namespace ephost::runtime {

// What one thread needs while it runs a step.
struct Lane {
  ScratchArena scratch;
  std::vector<DeviceScratch> device_scratch;
  bridge::ErrorSink error;

  [[nodiscard]] bool has_scratch() const { return scratch.is_used() || !device_scratch.empty(); }
};

class StepRuns;

// The eph_run of a step, with what the callbacks need. No two share a cache line, because steps
// that run in parallel write to theirs.
struct alignas(64) StepRun : eph_run {
  StepRuns* owner = nullptr;
  Lane* lane = nullptr;  // of the thread that runs the step; set before each call
};

// Callbacks of steps that run in parallel may come at the same time.
class StepRuns {
 public:
  // Borrows all.
  StepRuns(const Program& program, ValueTable& values, FrameMemory& memory, StepOutputs& outputs,
           const StopSignal& stop);
  StepRuns(const StepRuns&) = delete;
  StepRuns& operator=(const StepRuns&) = delete;

  // Where steps may be enqueued; borrowed.
  void set_streams(FrameStreams& streams) { streams_ = &streams; }

  // Stays where it is.
  [[nodiscard]] StepRun& operator[](size_t step) { return runs_[step]; }
  [[nodiscard]] const StepRun& operator[](size_t step) const { return runs_[step]; }

  // Whether the step's arguments have to be prepared and finished.
  [[nodiscard]] bool is_prepared(size_t step) const {
    return aligned_.has(step) || shared_.has(step) || foreign_.has(step);
  }
  // Before such a step computes, on `stream` if there is one; OUT_OF_MEMORY where memory runs out.
  [[nodiscard]] Status prepare_step(size_t step, const bridge::Stream* stream);
  // Whether the step can be captured with the values that it has now: nothing is to be done before
  // it or after it.
  [[nodiscard]] bool is_ready(size_t step) {
    foreign_.update(step);
    return !shared_.has(step) || shared_.bind(step);
  }
  // After it has computed without a failure; waits for one that was enqueued.
  [[nodiscard]] Status finish_step(size_t step);
  // Releases the values that the step made and did not give to an output.
  void end_step(size_t step) {
    if (builders_[step] != nullptr) builders_[step].reset();
  }
  // The same for all steps.
  void end_run();

 private:
  static int32_t allocate_output(eph_run* handle, uint32_t index, int32_t element_type,
                                 const int64_t* shape, uint32_t rank, eph_error* error) noexcept;
  static int32_t set_string(eph_run* handle, uint32_t index, uint64_t element, eph_string text,
                            eph_error* error) noexcept;
  static void* allocate_scratch(eph_run* handle, uint64_t size) noexcept;
  static int32_t is_cancelled(const eph_run* handle) noexcept;
  static int32_t make_tensor(eph_run* handle, int32_t element_type, const int64_t* shape,
                             uint32_t rank, eph_value** out, eph_error* error) noexcept;
  static int32_t set_element(eph_run* handle, eph_value* tensor, uint64_t element, eph_string text,
                             eph_error* error) noexcept;
  static int32_t make_sequence(eph_run* handle, const eph_value* base, uint64_t position,
                               uint64_t removed, const eph_value* const* inserted, uint64_t count,
                               const eph_value** out, eph_error* error) noexcept;
  static int32_t make_map(eph_run* handle, const eph_value* keys, const eph_value* values,
                          const eph_value** out, eph_error* error) noexcept;
  static int32_t set_output(eph_run* handle, uint32_t index, const eph_value* value,
                            eph_error* error) noexcept;
  static int32_t allocate_in(eph_run* handle, uint32_t memory, uint64_t size, void** out_data,
                             eph_error* error) noexcept;
  static const eph_run_api kApi;

  [[nodiscard]] size_t step_of(const StepRun& run) const {
    return static_cast<size_t>(&run - runs_.data());
  }
  // kNoValue for an output that the step does not have, or that nothing reads.
  [[nodiscard]] graph::ValueId output_id(const StepRun& run, uint32_t index) const;
  [[nodiscard]] ValueBuilder& builder(const StepRun& run);
  [[nodiscard]] Status give(const StepRun& run, uint32_t index, const eph_value* value);
  [[nodiscard]] Result<std::byte*> take_scratch(const StepRun& run, uint32_t memory, uint64_t size);
  // Waits for what the step was enqueued behind, and for itself.
  [[nodiscard]] Status wait_for(const StepRun& run);

  const Program& program_;
  ValueTable& values_;
  FrameMemory& memory_;
  StepOutputs& outputs_;
  const StopSignal& stop_;
  FrameStreams* streams_ = nullptr;
  AlignedSlots aligned_;
  SharedSlots shared_;
  ForeignSlots foreign_;
  std::vector<const eph_value*> input_slots_;  // of all steps, one after the other
  std::vector<eph_value*> output_slots_;
  std::vector<StepRun> runs_;                            // by step
  std::vector<std::unique_ptr<ValueBuilder>> builders_;  // by step; null until it makes a value
  std::atomic<bool> has_builders_{false};
};

}  // namespace ephost::runtime
