// An execution frame: the memory and the prepared arguments of one run at a time. Everything that
// does not depend on the inputs is bound when the frame is made, so a step of a static model is one
// indirect call. Frames of one program run in parallel; a frame itself is not thread-safe.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>
#include <ephost/value.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "host/bridge/computation.h"
#include "host/bridge/error_sink.h"
#include "host/bridge/slot_call.h"
#include "host/runtime/device_memory.h"
#include "host/runtime/host_step.h"
#include "host/runtime/memory_pool.h"
#include "host/runtime/parallel_executor.h"
#include "host/runtime/program.h"
#include "host/runtime/values/tensor_memory.h"
#include "host/runtime/values/value_builder.h"

namespace ephost::runtime {

class Frame final : public bridge::StepSites, StepRunner {
 public:
  // Makes the states of all computations and takes the memory of the pattern. FAIL where memory
  // runs out.
  static Result<std::unique_ptr<Frame>> create(const Program& program);
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame();

  // Runs the program. `inputs` has one entry for each graph input; null takes the input's default.
  // `outputs` has one for each graph output: one with the right type and shape is written in place,
  // any other is replaced by a value of its own memory. Types and shapes are checked against the
  // model's.
  [[nodiscard]] Status run(std::span<const Value* const> inputs, std::span<Value> outputs,
                           const std::atomic<bool>* cancelled);

  // Runs the program as a body on behalf of a step of `outer`, whose values it captures and whose
  // cancellation it follows. Inputs outlive the run; of those that are no tensors and that nobody
  // else holds, the value is taken out. `outputs` are memory for what the body computes, as in
  // `run`; outputs that it only passes on leave theirs alone. The results are read with `output`.
  [[nodiscard]] Status run_body(const Frame& outer, std::span<const HeldValue> inputs,
                                std::span<Value> outputs);
  // An output of the last `run_body`. It lies in the memory that was given or made for it, in an
  // input, an outer value or a constant; text, in this frame until its next run.
  [[nodiscard]] const eph_value& output(size_t index) const {
    return values_[program_.graph().outputs[index]];
  }
  // The same where it is no tensor, taken out of the frame; nothing for tensors.
  [[nodiscard]] std::optional<Value> take_output_object(size_t index);

  // Memory for intermediate values that it keeps, for tests and reports.
  [[nodiscard]] uint64_t held_bytes() const { return block_bytes_ + pool_.bytes(); }

 private:
  friend class HostStep;

  // What one thread needs while it runs a step.
  struct Lane {
    ScratchArena scratch;
    bridge::ErrorSink error;
    AlignedMemory workspace;  // for steps whose workspace is not in the pattern
  };
  // eph_run with what its callbacks need; one a cache line.
  struct alignas(64) StepRun : eph_run {
    Frame* frame = nullptr;
    Lane* lane = nullptr;
  };
  struct Call {
    bridge::Computation::Compute compute = nullptr;
    eph_computation* computation = nullptr;
    void* state = nullptr;
    // Nothing is to be done but the call: it may overlap with others, its outputs have their memory
    // before it, and nothing is released after it.
    bool is_plain = false;
  };

  explicit Frame(const Program& program);

  // Made once.
  Status make_states();
  void prepare_values();
  void prepare_calls();

  // Made anew when the pattern changes.
  Status bind_pattern(std::shared_ptr<const TracedPattern> traced);
  Status bind_workspaces();
  [[nodiscard]] const plan::MemoryPattern& pattern() const;
  // The block for the memory pattern of a location.
  [[nodiscard]] std::byte* block_at(uint32_t location) const {
    return location == plan::kHostLocation ? block_.get() : devices_[location - 1].block();
  }

  // A run.
  Status bind_inputs(std::span<const Value* const> inputs);
  Status bind_input(size_t index, const Value* value);
  Status bind_value(graph::ValueId id, const eph_value& value);
  Status check_symbols(graph::ValueId id);
  Status bind_body_input(size_t index, const HeldValue* held);
  Status bind_captures(const Frame& outer);
  Status choose_pattern();
  Status bind_outputs();
  Status bind_followers();
  Status execute();
  Status execute_in_order(bridge::CallScope& scope);
  Status execute_in_parallel();
  [[nodiscard]] Status run_step(uint32_t step, uint32_t lane) override;
  [[nodiscard]] bridge::CallSite call_site(size_t step) const noexcept override;
  // `profiler`: where the step is recorded, or null.
  Status execute_step(size_t step, Lane& lane, Profiler* profiler);
  Status compute(size_t step, Lane& lane);
  [[nodiscard]] int32_t call_compute(size_t step, Lane& lane);
  [[nodiscard]] int32_t note_thrown(size_t step, Lane& lane) const;
  Status check_outputs(size_t step) const;
  void release_after(size_t step);
  void release(graph::ValueId root);
  void record(size_t step, Profiler& profiler, Profiler::Clock::time_point start) const;
  Status failure(size_t step, int32_t code, Lane& lane);
  // Whether the caller, or the failure of another step, ends the run.
  [[nodiscard]] bool is_stopping() const;
  [[nodiscard]] size_t step_of(const StepRun& run) const { return &run - runs_.data(); }
  Status collect_outputs();
  Status trace_pattern();
  void end_run(bool keep_outputs = false);

  // Callbacks.
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
  static const eph_run_api kApi;

  // Values that are no tensors: kept by reference in `objects_`, which has an entry for each from
  // the start.
  [[nodiscard]] const Value* object(graph::ValueId id) const {
    const auto found = objects_.find(id);
    return found == objects_.end() ? nullptr : &found->second;
  }
  // Makes `value` the value `id`, which is no tensor by its type. INVALID_GRAPH where it does not
  // conform to that.
  [[nodiscard]] Status set_object(graph::ValueId id, Value value);
  [[nodiscard]] Status bind_object(graph::ValueId id, Value value);
  // Copies a tensor from host memory to where the plan wants value `id`.
  [[nodiscard]] Status copy_to(graph::ValueId id, const eph_value& tensor);
  [[nodiscard]] ValueBuilder& builder(StepRun& run);
  [[nodiscard]] Status set_step_output(StepRun& run, uint32_t index, const eph_value* value);

  [[nodiscard]] Status allocate_value(graph::ValueId id, ElementType type,
                                      std::span<const int64_t> shape);
  [[nodiscard]] Status check_against_model(graph::ValueId id, ElementType type,
                                           std::span<const int64_t> shape) const;
  [[nodiscard]] StringTensor& text_of(graph::ValueId id);
  [[nodiscard]] Result<std::byte*> memory_for(graph::ValueId id, uint64_t bytes);
  [[nodiscard]] Status allocate_graph_output(graph::ValueId id, ElementType type,
                                             std::span<const int64_t> shape);
  // Makes `value` the memory of an output of a step, where the plan has no place for it and the
  // caller brought none: then true.
  [[nodiscard]] Result<bool> take_over(graph::ValueId id, Value& value);
  void set_tensor(graph::ValueId id, void* data, uint64_t bytes, ElementType type,
                  std::span<const int64_t> shape);

  const Program& program_;
  AlignedMemory block_;
  uint64_t block_bytes_ = 0;
  std::vector<DeviceArena> devices_;             // location n is entry n-1
  std::shared_ptr<const TracedPattern> traced_;  // null: the program's own pattern

  bool is_bound_ = false;  // to the pattern: memory did not run out meanwhile

  std::vector<eph_value> values_;              // by value id
  std::vector<std::vector<int64_t>> shapes_;   // by value id; of values with open shapes
  std::vector<const eph_value*> input_slots_;  // of all steps, one after the other
  std::vector<eph_value*> output_slots_;
  std::vector<StepRun> runs_;             // by step
  std::vector<bool> has_lane_workspace_;  // by step: its workspace is that of who runs it
  std::vector<std::unique_ptr<ValueBuilder>> builders_;  // by step; while it puts values together
  std::atomic<bool> has_builders_{false};
  std::vector<bridge::ComputationState> states_;       // by step
  std::vector<Call> calls_;                            // by step
  std::vector<size_t> output_of_value_;                // by value id: first graph output, or npos
  std::map<graph::ValueId, StringTensor> strings_;     // of values that hold text
  std::map<graph::ValueId, Value> objects_;            // of values that are no tensors
  std::map<graph::ValueId, const std::byte*> pooled_;  // values whose memory came from the pool
  std::map<graph::ValueId, Value> adopted_;            // values whose memory came from a body
  std::vector<std::unique_ptr<HostStep>> host_steps_;  // by step; null for those of providers

  uint32_t lane_count_;
  std::unique_ptr<Lane[]> lanes_;
  std::unique_ptr<ParallelExecutor> executor_;           // null: steps run one after the other
  std::unique_ptr<std::atomic<uint32_t>[]> users_left_;  // in parallel, by open buffer

  // Guards pool_, devices_, pooled_, adopted_ and the map strings_ while steps run in parallel.
  std::mutex memory_mutex_;
  MemoryPool pool_;
  // Of the followers since the last run: whether what they follow moved, and whether each has its
  // memory there.
  std::atomic<bool> followers_moved_{true};
  bool followers_fit_ = false;
  // Of the run that is going on.
  std::span<Value> outputs_;
  const std::atomic<bool>* cancelled_ = nullptr;
  const Frame* outer_ = nullptr;  // of a body
  ShapeKey shape_key_;
  ShapeKey last_body_key_;
  std::vector<int64_t> symbol_extents_;              // by symbol; -1 while not seen
  std::vector<std::optional<uint64_t>> seen_bytes_;  // by value id
};

}  // namespace ephost::runtime
