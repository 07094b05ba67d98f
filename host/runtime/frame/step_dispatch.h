// Dispatch of the steps of a frame: one after the other in the plan's order, those of devices with
// streams without waiting for them, or in parallel as their dependencies allow. A step of a static
// model is one indirect call.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "host/base/profiler.h"
#include "host/bridge/computation.h"
#include "host/bridge/slot_call.h"
#include "host/runtime/frame/capture_ranges.h"
#include "host/runtime/frame/frame_memory.h"
#include "host/runtime/frame/frame_streams.h"
#include "host/runtime/frame/placement.h"
#include "host/runtime/frame/step_outputs.h"
#include "host/runtime/frame/step_runs.h"
#include "host/runtime/frame/stop_signal.h"
#include "host/runtime/frame/value_table.h"
#include "host/runtime/host_step.h"
#include "host/runtime/parallel_executor.h"
#include "host/runtime/program.h"

namespace ephost::runtime {

// The states of all computations, by step; empty for steps that the host runs itself.
[[nodiscard]] Result<std::vector<bridge::ComputationState>> create_states(const Program& program);

class StepDispatch final : public bridge::StepSites, StepRunner {
 public:
  // What the steps of one frame work with; borrowed.
  struct Parts {
    ValueTable& values;
    FrameMemory& memory;
    StepOutputs& outputs;
    StepRuns& runs;
    StopSignal& stop;
  };
  StepDispatch(const Program& program, std::vector<bridge::ComputationState> states,
               const Parts& parts);
  StepDispatch(const StepDispatch&) = delete;
  StepDispatch& operator=(const StepDispatch&) = delete;

  // Gives the steps their workspaces and streams. Call it when another memory pattern was bound.
  void bind_pattern();

  // Runs all steps, or none more after the first failure or once the run is cancelled. Everything
  // must be bound. `followers_fit`: see Bindings.
  [[nodiscard]] Status execute(bool followers_fit);
  void end_run();

  // What the step calls, for messages; empty for steps of the host and numbers past the end.
  [[nodiscard]] bridge::CallSite call_site(size_t step) const noexcept override;
  // The input or output of the graph in whose memory the address lies.
  [[nodiscard]] plugin::LentPlace find_lent(uintptr_t address) const noexcept override;

 private:
  struct Call {
    bridge::Computation::Compute compute = nullptr;  // null where the host runs the step itself
    eph_computation* computation = nullptr;
    void* state = nullptr;
    StepRun* run = nullptr;
    bridge::CallLimit* limit = nullptr;  // null: none
    // Nothing has to be done but the call: it may overlap with any others, its arguments are as
    // they are in the value table, its outputs have their memory before it, and nothing is released
    // after it.
    bool is_plain = false;
  };

  Status execute_on_streams(bridge::CallScope& scope, bool followers_fit);
  Status execute_in_order(bridge::CallScope& scope, bool followers_fit);
  // Runs the steps of a range: one by one, or captured; captures them where their operands are as
  // in the run before.
  Status execute_range(CaptureRange& range, bridge::CallScope& scope, Lane& lane);
  // Whether what was captured can be launched.
  [[nodiscard]] bool capture(CaptureRange& range, bridge::CallScope& scope, Lane& lane);
  Status execute_in_parallel();
  [[nodiscard]] Status run_step(uint32_t step, uint32_t lane) override;
  // `profiler` records the step; null: nothing does.
  Status execute_step(size_t step, Lane& lane, Profiler* profiler);
  Status compute(size_t step, Lane& lane);
  // A place for the call, unless the run ends before there is one.
  [[nodiscard]] bridge::CallLimit::Place wait_for_place(size_t step) const;
  [[nodiscard]] int32_t call_compute(size_t step, Lane& lane);
  [[nodiscard]] int32_t report_exception(size_t step, Lane& lane) const;
  Status check_outputs(size_t step) const;
  void release_after(size_t step);
  void end_scratch(Lane& lane);
  void record(size_t step, Profiler& profiler, Profiler::Clock::time_point start) const;
  Status failure(size_t step, int32_t code, Lane& lane) const;
  [[nodiscard]] Status stopped_before(size_t step) const;

  const Program& program_;
  ValueTable& values_;
  FrameMemory& memory_;
  StepRuns& runs_;
  StopSignal& stop_;
  std::vector<bridge::ComputationState> states_;       // by step
  std::vector<Call> calls_;                            // by step
  std::vector<std::unique_ptr<HostStep>> host_steps_;  // by step; null for those of providers
  std::unique_ptr<Lane[]> lanes_;
  std::unique_ptr<ParallelExecutor> executor_;          // null: steps run one after the other
  std::unique_ptr<FrameStreams> streams_;               // null: nothing is enqueued
  std::vector<CaptureRange> ranges_;                    // ascending
  std::vector<std::unique_ptr<Placement>> placements_;  // by step; null for those that want none
};

}  // namespace ephost::runtime
