// The allocation plan: for each value where its bytes live, whose buffer it uses and how long.
// Decides sharing of buffers, not offsets (memory_pattern.h), and allocates nothing (host/runtime).
//
// Kernels work under this contract: a step may be given an output whose memory overlaps that of an
// input only for slots that it named in its traits, and exactly as they say. For an alias pair or a
// part that lies in its place there is nothing to copy; otherwise the kernel copies.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "host/graph/graph.h"
#include "host/plan/execution_plan.h"

namespace ephost::plan {

// ONNX Runtime's AllocKind, as far as it applies here.
enum class AllocKind : uint8_t {
  kNone,  // no step sees the value: unused, inside a partition, or a constant that only partitions
          // read; graph inputs are never kNone
  kAllocate,            // own buffer, in the memory pattern if its size is known
  kReuse,               // lives in the buffer of another value
  kPreExisting,         // graph inputs and values of an enclosing graph: the caller's, read only
  kAllocateStatically,  // constants: the session's, read only
  kAllocateOutput,      // graph outputs that a step produces: own buffer, handed to the caller
};

// "Allocate", "Reuse", ... as ONNX Runtime spells them; "None".
[[nodiscard]] std::string_view alloc_kind_name(AllocKind kind);

// Positions in Step::inputs and Step::outputs.
struct SlotPair {
  uint32_t input = 0;
  uint32_t output = 0;
};

// One of the two values lies within the other, `offset` bytes after its start.
struct SlotPart {
  uint32_t input = 0;
  uint32_t output = 0;
  uint64_t offset = 0;
};

// Memory is in locations: 0 is host memory, the others are providers' own.
inline constexpr uint32_t kHostLocation = 0;

// A slot that lies elsewhere than the others of its step.
struct SlotLocation {
  uint32_t slot = 0;
  uint32_t location = kHostLocation;
};

// Parts begin at multiples of this, as all memory that the host gives does.
inline constexpr uint64_t kPartAlignment = 64;

// What a step's kernel or compiled partition declared. Slots that don't exist or hold no value are
// ignored. The spans are borrowed for the call.
struct StepTraits {
  std::span<const SlotPair> may_inplace;  // output may overwrite the input while reading it
  std::span<const SlotPair> aliases;      // output has the input's bytes unchanged (Reshape)
  uint64_t workspace_bytes = 0;           // scratch memory while the step runs
  // Of the workspace, and of inputs and outputs that are not listed below. Implicit inputs, and
  // what is no tensor of numbers, are in host memory whatever is said here.
  uint32_t location = kHostLocation;
  std::span<const SlotPart> input_parts;   // the input's bytes are a part of the output's (Concat)
  std::span<const SlotPart> output_parts;  // the output's bytes are a part of the input's (Split)
  std::span<const SlotLocation> input_locations;
  std::span<const SlotLocation> output_locations;
};

// Where a slot of a step lies that holds a value of that type: `location` but for the slots listed.
[[nodiscard]] uint32_t location_of(const graph::ValueType& type, uint32_t location,
                                   std::span<const SlotLocation> listed, uint32_t slot);

struct ValuePlan {
  AllocKind kind = AllocKind::kNone;
  uint32_t location = kHostLocation;
  // The value whose buffer it uses, resolved to the end of the chain: itself unless kReuse,
  // kNoValue for kNone. A kReuse value's root may be a graph input or a constant (views), or a
  // graph output that a later step produces in place.
  ValueId reused = kNoValue;
  uint64_t offset = 0;  // in that buffer; not 0 only for parts
  // Program counters of the first and last step that need the value itself, inclusive. A graph
  // output and a constant live to the last step, a graph input from step 0 to its last reader.
  uint32_t first_pc = 0;
  uint32_t last_pc = 0;
  uint32_t use_count = 0;         // reads by steps, each slot, plus one for a graph output
  std::optional<uint64_t> bytes;  // nothing: not known before the run
};

// A buffer that the plan owns: of a kAllocate or kAllocateOutput value and of all that reuse it.
// `bytes` is what its root needs. Where it isn't known, the runtime allocates at `first_pc` and
// must check that each later value fits, as declared shapes and aliases can be wrong: one that does
// not fit gets a buffer of its own.
struct BufferPlan {
  ValueId root = kNoValue;
  uint32_t location = 0;
  uint32_t first_pc = 0;  // over all values in it, inclusive
  uint32_t last_pc = 0;
  std::optional<uint64_t> bytes;
};

struct Workspace {
  uint32_t pc = 0;
  uint32_t location = 0;
  uint64_t bytes = 0;
};

struct AllocationPlan {
  std::vector<ValuePlan> values;      // by value id
  std::vector<BufferPlan> buffers;    // ascending by first_pc, then by root
  std::vector<Workspace> workspaces;  // ascending by pc; steps without workspace have none
  uint32_t steps = 0;
};

struct AllocationOptions {
  bool enable_mem_reuse = true;  // off: every value that a step produces has its own buffer
  // Off: parts are copied. They need a pattern, as a part may exist before the whole does.
  bool enable_parts = true;
};

// Sharing, where `enable_mem_reuse` is on and locations are equal:
// - an alias output shares its input's buffer, whoever owns that, unless its size is known to
//   differ; a graph output does so only as the root of the buffer;
// - an output that is a part of an input is a view of it; an input that is a part of an output is
//   made in the output's buffer, if nothing else is in its own. Both only where sizes are known,
//   and only as far as that does not raise the largest sum of bytes needed at one step;
// - an in-place output takes over its input's place if the plan owns that, nothing in it is read
//   later or by another slot of the step, and the sizes are provably equal;
// - a graph output of known size at the end of such a chain is the root, at most one a buffer.
// Dead buffers are given to later values by placement, or by the pool of a run for what has no
// known size. Strings and anything but tensors share nothing.
//
// `traits` has one entry a step. INVALID_ARGUMENT if it hasn't, if `plan` doesn't fit `graph`, or
// if a step reads a value elsewhere than it is (copies.h is to be asked before).
[[nodiscard]] Result<AllocationPlan> plan_allocation(const Graph& graph, const ExecutionPlan& plan,
                                                     std::span<const StepTraits> traits,
                                                     const AllocationOptions& options = {});

// True if both types need equally many bytes in every run: tensors of the same element size and the
// same shape, where equal symbols are equal extents and unknown dimensions are equal to nothing; or
// of equal known bytes.
[[nodiscard]] bool provably_equal_bytes(const graph::ValueType& a, const graph::ValueType& b);

}  // namespace ephost::plan
