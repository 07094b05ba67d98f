// The allocation plan: for each value, where its bytes are, whose buffer it uses and how long it
// lives. It decides which values share buffers, not their offsets (memory_pattern.h), and allocates
// nothing (host/runtime does).
//
// The contract with kernels: the memory of an output may overlap that of an input only for slots
// that the step named in its traits, and exactly as these say. For an alias pair, or a part that is
// already in place, there is nothing to copy; otherwise the kernel copies.
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
  kAllocate,     // its own buffer, in the memory pattern if its size is known
  kReuse,        // uses the buffer of another value
  kPreExisting,  // graph inputs and values of an enclosing graph: owned by the caller, read-only
  kAllocateStatically,  // constants: owned by the session, read-only
  kAllocateOutput,      // graph outputs that a step produces: its own buffer, passed to the caller
};

// "Allocate", "Reuse", ... as ONNX Runtime spells them; "None" for kNone.
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

// Memory is divided into locations: 0 is host memory, the others belong to providers.
inline constexpr uint32_t kHostLocation = 0;

// A slot whose location differs from that of the other slots of its step.
struct SlotLocation {
  uint32_t slot = 0;
  uint32_t location = kHostLocation;
};

// Parts begin at multiples of this, like all memory that the host allocates.
inline constexpr uint64_t kPartAlignment = 64;

// What a step's kernel or compiled partition declared. Slots that do not exist or hold no value are
// ignored. The spans are borrowed for the duration of the call.
struct StepTraits {
  std::span<const SlotPair> may_inplace;  // output may overwrite the input while reading it
  std::span<const SlotPair> aliases;      // output has the same bytes as the input (Reshape)
  uint64_t workspace_bytes = 0;           // scratch memory while the step runs
  // The location of the workspace, and of inputs and outputs that are not listed below. Implicit
  // inputs, and values that are not numeric tensors, are always in host memory.
  uint32_t location = kHostLocation;
  std::span<const SlotPart> input_parts;   // the input is a part of the output (Concat)
  std::span<const SlotPart> output_parts;  // the output is a part of the input (Split)
  std::span<const SlotLocation> input_locations;
  std::span<const SlotLocation> output_locations;
  // The alignment of the workspace and of inputs and outputs, as far as they are in host memory.
  // The planner does not look at it: MemoryOptions gives the alignment of each block.
  uint64_t host_alignment = kPartAlignment;
  // Those of `may_inplace` that get the same memory in any case: where the plan has not let them
  // share, the input is copied to the output before the step. The application may bring one piece
  // of memory for a graph input and a graph output, so values that only pass from one to the other
  // do not share.
  std::span<const SlotPair> must_share;
};

// The location of a slot that holds a value of the given type: `location`, except for the slots
// listed.
[[nodiscard]] uint32_t location_of(const graph::ValueType& type, uint32_t location,
                                   std::span<const SlotLocation> listed, uint32_t slot);

struct ValuePlan {
  AllocKind kind = AllocKind::kNone;
  uint32_t location = kHostLocation;
  // The value whose buffer it uses, resolved to the end of the chain: itself unless the kind is
  // kReuse, kNoValue for kNone. The root of a kReuse value may be a graph input or a constant
  // (views), or a graph output that a later step produces in place.
  ValueId reused = kNoValue;
  uint64_t offset = 0;  // in that buffer; nonzero only for parts
  // Program counters of the first and last step that need the value itself, inclusive. A graph
  // output and a constant live until the last step, a graph input from step 0 to its last reader.
  uint32_t first_pc = 0;
  uint32_t last_pc = 0;
  uint32_t use_count = 0;         // slots that read it, plus one for a graph output
  std::optional<uint64_t> bytes;  // nothing if unknown before the run
};

// A buffer that the plan owns: of a kAllocate or kAllocateOutput value and of all values that reuse
// it. `bytes` is the size of its root. If that is unknown, the runtime allocates at `first_pc` and
// must check that each later value fits, as declared shapes and aliases can be wrong: a value that
// does not fit gets a buffer of its own.
struct BufferPlan {
  ValueId root = kNoValue;
  uint32_t location = 0;
  uint32_t first_pc = 0;  // of all values in it, inclusive
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
  std::vector<Workspace> workspaces;  // ascending by pc; only steps with a workspace
  uint32_t steps = 0;
};

struct AllocationOptions {
  bool enable_mem_reuse = true;  // off: every value that a step produces has its own buffer
  // Off: parts are copied. In-place parts need a memory pattern, as a part may exist before the
  // whole does.
  bool enable_parts = true;
};

// Values share buffers as follows, where `enable_mem_reuse` is on and locations are equal:
//
// - An alias output shares its input's buffer, whatever value owns that, unless their sizes are
//   known to
// differ; a graph output does so only as the root of the buffer.
//
// - An output that is a part of an input is a view of it. An input that is a part of an output is
// produced in the output's buffer, if nothing else is in its own. Both require known sizes, and
// happen only as far as they do not raise the peak of live bytes.
//
// - An in-place output replaces its input if the plan owns that buffer, nothing in it is read later
// or by another slot of the step, and the sizes are provably equal.
//
// - A graph output of known size at the end of such a chain is the root, at most one per buffer.
//
// Placement reuses the memory of dead buffers for later values; buffers of unknown size come from a
// pool during the run. Strings and all non-tensors share nothing.
//
// `traits` has one entry per step. Returns INVALID_ARGUMENT if it does not, if `plan` does not
// match `graph`, or if a step reads a value in a location other than the value's (call place_copies
// of copies.h first).
[[nodiscard]] Result<AllocationPlan> plan_allocation(const Graph& graph, const ExecutionPlan& plan,
                                                     std::span<const StepTraits> traits,
                                                     const AllocationOptions& options = {});

// Whether a value is raw bytes that a kernel can reinterpret; strings and sequences are objects.
[[nodiscard]] bool is_plain(const graph::ValueType& type);

// Whether both types need the same number of bytes in every run: they are tensors of the same
// element size and the same shape, where equal symbols are equal extents and unknown dimensions
// differ from everything; or their known sizes in bytes are equal.
[[nodiscard]] bool provably_equal_bytes(const graph::ValueType& a, const graph::ValueType& b);

}  // namespace ephost::plan
