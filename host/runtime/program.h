// A planned graph with its computations: immutable, shared by all frames that run it. Owns the
// kernels and compiled partitions; borrows the graph.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/base/profiler.h"
#include "host/base/threads/thread_pool.h"
#include "host/bridge/computation.h"
#include "host/graph/graph.h"
#include "host/plan/allocation_plan.h"
#include "host/plan/execution_plan.h"
#include "host/plan/memory_pattern.h"
#include "host/plan/step_dependencies.h"
#include "host/runtime/device_constants.h"
#include "host/runtime/device_ends.h"
#include "host/runtime/device_memory.h"
#include "host/runtime/host_operator.h"
#include "host/runtime/pattern_cache.h"
#include "host/runtime/program_streams.h"
#include "host/runtime/shape_contradictions.h"
#include "host/runtime/shared_ends.h"
#include "host/runtime/values/tensor_memory.h"

namespace ephost::runtime {

class Program {
 public:
  struct Parts {
    const graph::Graph* graph = nullptr;
    std::span<const std::string> symbols;  // the model's symbols, for messages; borrowed
    plan::ExecutionPlan execution;
    // By step; empty for steps that the host runs itself.
    std::vector<std::optional<bridge::Computation>> computations;
    plan::AllocationPlan allocation;
    plan::MemoryPattern pattern;
    plan::MemoryOptions memory_options;
    // Most models run with a handful of shapes; with more, tracing hardly pays.
    size_t max_patterns = 16;
    // By step: the operators that the host runs itself, null for others. Empty if there are none.
    std::vector<std::unique_ptr<HostOperator>> host_operators;
    // Number of threads that run independent steps at the same time, including the thread that runs
    // the program. With 1, steps run one after the other. The pool is borrowed.
    ThreadPool* thread_pool = nullptr;
    uint32_t threads = 1;
    Profiler* profiler = nullptr;  // records each step; may be null; borrowed
    // The locations other than host memory, and the constants there.
    std::vector<DeviceLocation> devices;
    DeviceConstants device_constants;
    ProgramStreams streams;
    bool captures_streams = false;  // whether steps may be captured and launched together
    bool is_body = false;           // of a node, as opposed to the model's main graph
    // Receives the values that do not come out as planned; may be null; borrowed.
    ShapeContradictions* contradictions = nullptr;
  };

  explicit Program(Parts parts);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] const graph::Graph& graph() const { return *parts_.graph; }
  [[nodiscard]] std::span<const std::string> symbols() const { return parts_.symbols; }
  [[nodiscard]] bool is_body() const { return parts_.is_body; }
  // Null if they are not collected.
  [[nodiscard]] ShapeContradictions* contradictions() const { return parts_.contradictions; }
  [[nodiscard]] std::span<const plan::Step> steps() const { return parts_.execution.steps; }
  // Null for a step that the host runs itself.
  [[nodiscard]] const bridge::Computation* computation(size_t step) const {
    const std::optional<bridge::Computation>& computation = parts_.computations[step];
    return computation ? &*computation : nullptr;
  }
  [[nodiscard]] const plan::AllocationPlan& allocation() const { return parts_.allocation; }
  [[nodiscard]] const plan::MemoryPattern& pattern() const { return parts_.pattern; }
  [[nodiscard]] const plan::MemoryOptions& memory_options() const { return parts_.memory_options; }

  // Null unless the host runs the step itself.
  [[nodiscard]] const HostOperator* host_operator(size_t step) const {
    return parts_.host_operators.empty() ? nullptr : parts_.host_operators[step].get();
  }
  // Values of a body that stand for values of the enclosing graph.
  [[nodiscard]] std::span<const graph::ValueId> captures() const { return captures_; }

  // True if the place of every value is known before the run, so that nothing is allocated or
  // traced.
  [[nodiscard]] bool is_static() const { return is_static_; }
  // Values that lie in the buffer of a graph input, a constant or a graph output.
  [[nodiscard]] std::span<const graph::ValueId> followers() const { return followers_; }
  // Roots of the open buffers whose last reader is this step.
  [[nodiscard]] std::span<const graph::ValueId> released_after(size_t step) const {
    return released_after_.empty() ? std::span<const graph::ValueId>() : released_after_[step];
  }
  // Null while nothing is recorded.
  [[nodiscard]] Profiler* profiler() const {
    return parts_.profiler != nullptr && parts_.profiler->is_recording() ? parts_.profiler
                                                                         : nullptr;
  }

  // ---- For steps that are enqueued on streams ----
  [[nodiscard]] bool has_streams() const { return !parts_.streams.plan.empty(); }
  [[nodiscard]] const ProgramStreams& streams() const { return parts_.streams; }
  [[nodiscard]] bool captures_streams() const { return parts_.captures_streams; }
  [[nodiscard]] plan::StreamPlan plan_streams(
      const plan::MemoryPattern& pattern, std::span<const std::optional<uint64_t>> sizes) const {
    const ProgramStreams& streams = parts_.streams;
    return plan::plan_streams(parts_.execution, parts_.allocation, pattern, streams.queues,
                              streams.assignment, sizes);
  }

  // ---- For steps that run in parallel ----
  // False if there is one thread, if one thread enqueues steps on streams, or if no two steps could
  // run at the same time.
  [[nodiscard]] bool is_parallel() const { return is_parallel_; }
  [[nodiscard]] ThreadPool* thread_pool() const { return parts_.thread_pool; }
  // How many steps of one run may run at the same time.
  [[nodiscard]] uint32_t lane_count() const { return is_parallel_ ? parts_.threads : 1; }
  // Dependencies under the program's own pattern.
  [[nodiscard]] const plan::StepDependencies& dependencies() const { return dependencies_; }
  [[nodiscard]] plan::StepDependencies find_dependencies(
      const plan::MemoryPattern& pattern, std::span<const std::optional<uint64_t>> sizes) const {
    return plan::find_dependencies(parts_.execution, parts_.allocation, pattern, sizes);
  }
  // A buffer that the pattern does not place, and the number of steps that use it.
  struct OpenBuffer {
    graph::ValueId root = graph::kNoValue;
    uint32_t users = 0;
  };
  [[nodiscard]] std::span<const OpenBuffer> open_buffers() const { return open_buffers_; }
  // Indices of the open buffers that the step uses.
  [[nodiscard]] std::span<const uint32_t> open_buffers_of(size_t step) const {
    return open_buffers_of_[step];
  }

  // The alignment of all host memory that the program works in: at least 64, and as much as any of
  // its computations wants.
  [[nodiscard]] uint64_t host_alignment() const { return host_alignment_; }
  // What the steps that use a value, or its buffer, want of it in host memory.
  [[nodiscard]] uint64_t alignment_of(graph::ValueId id) const {
    return alignments_.empty() ? kAlignment : alignments_[id];
  }

  // Constants as run-time values, by initializer.
  [[nodiscard]] const std::vector<eph_value>& constants() const { return constants_; }

  // Location n is entry n-1; empty if all values are in host memory.
  [[nodiscard]] std::span<const DeviceLocation> devices() const { return parts_.devices; }
  [[nodiscard]] const DeviceConstants& device_constants() const { return parts_.device_constants; }
  // Which inputs and outputs may lie in devices' memory; empty without devices.
  [[nodiscard]] const DeviceEnds& device_ends() const { return device_ends_; }
  // Which inputs and outputs may be the same memory of the application.
  [[nodiscard]] std::span<const SharedEnd> shared_ends() const { return shared_ends_; }
  // Memory for staging of one of the devices that steps copy to or from; null: there is none.
  [[nodiscard]] const bridge::DeviceMemory* staging() const;
  // The location of a provider's memory, by the provider's number; nothing if it has none.
  [[nodiscard]] std::optional<uint32_t> location_of(const bridge::Provider& provider,
                                                    uint32_t memory) const;
  // What the provider calls the memory of a location that it takes values in: one of its own
  // memories, or host memory.
  [[nodiscard]] uint32_t memory_at(uint32_t location, const bridge::Provider& reader) const;
  // What the provider whose location it is calls it.
  [[nodiscard]] uint32_t memory_at(uint32_t location) const {
    return location == plan::kHostLocation ? bridge::kHostMemory
                                           : parts_.devices[location - 1].number;
  }

  [[nodiscard]] PatternCache& patterns() const { return patterns_; }
  // Forgets the traced patterns, and those of the bodies. May be called during runs.
  void forget_patterns() const;

  // "Conv node 'conv1'" or "partition 'dnnl_0'" for messages.
  [[nodiscard]] std::string describe_step(size_t step) const;
  // Describes the pattern's block in a location, and the step that needs most of it.
  [[nodiscard]] std::string describe_block(const plan::MemoryPattern& pattern,
                                           uint32_t location) const;

 private:
  void find_dynamic_buffers();
  void convert_constants();
  void find_alignments();
  void align_constants();
  void prepare_parallel_steps();

  Parts parts_;
  bool is_static_ = true;
  bool is_parallel_ = false;
  DeviceEnds device_ends_;
  std::vector<SharedEnd> shared_ends_;
  plan::StepDependencies dependencies_;
  std::vector<OpenBuffer> open_buffers_;
  std::vector<std::vector<uint32_t>> open_buffers_of_;  // by step
  std::vector<graph::ValueId> captures_;
  std::vector<graph::ValueId> followers_;
  std::vector<std::vector<graph::ValueId>> released_after_;
  std::vector<eph_value> constants_;  // by initializer
  std::vector<std::vector<eph_string>> constant_strings_;
  uint64_t host_alignment_ = kAlignment;
  std::vector<uint64_t> alignments_;              // by value; empty if all are the default
  std::vector<AlignedMemory> aligned_constants_;  // copies of those that lie elsewhere
  mutable PatternCache patterns_;
};

}  // namespace ephost::runtime
