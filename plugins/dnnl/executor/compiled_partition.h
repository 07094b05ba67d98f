// compiled_partition.h: a partition ready to run: primitives in order, the buffers that they work
// on, and where each buffer lies. Made by the assembler, executed by the computation; immutable
// once made.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "plugins/dnnl/executor/constants.h"
#include "plugins/dnnl/executor/own_kernel.h"
#include "plugins/dnnl/library/descriptor.h"

namespace ephost_dnnl {

enum class Place : uint8_t { kInput, kOutput, kConstant, kParameter, kWorkspace };

struct Buffer {
  Place place = Place::kWorkspace;
  uint32_t index = 0;   // of the port, the packed constant or the parameter
  uint64_t size = 0;    // kWorkspace
  uint64_t offset = 0;  // kWorkspace, once planned
};

// A buffer seen through a layout. Arguments with equal views share one.
struct View {
  uint32_t buffer = 0;
  Descriptor layout;
};

struct StepArgument {
  int argument = 0;  // DNNL_ARG_*
  uint32_t view = 0;
};

inline constexpr uint32_t kNoOp = std::numeric_limits<uint32_t>::max();

struct Step {
  dnnl::primitive_desc_base descriptor;  // until the primitive exists
  dnnl::primitive primitive;
  // In the place of a primitive: reads all arguments but the last, which it writes.
  std::shared_ptr<const OwnKernel> own;
  std::vector<StepArgument> arguments;
  std::optional<float> bounded;  // of its result, see bounded_results.h
  uint32_t op = kNoOp;           // the operation of the recipe that it computes; none for reorders
  std::string label;             // "Convolution 'layer1/conv'", for messages
};

struct Program {
  std::vector<Buffer> buffers;
  std::vector<View> views;
  std::vector<Step> steps;
  std::vector<PackedConstant> constants;  // in the order in which the assembler asked for them
  std::vector<std::string> parameters;    // bytes of scales and zero points
  uint64_t workspace_bytes = 0;
};

// The memory of a buffer that every run reads: of a constant or a parameter; null for others. The
// library takes no pointer to const; primitives only read from it.
[[nodiscard]] void* fixed_memory(const Program& program, const Buffer& buffer);

// The library failed at a step of a program.
class StepFailed : public std::runtime_error {
 public:
  StepFailed(std::size_t failed_step, const std::string& message)
      : std::runtime_error(message), step(failed_step) {}
  std::size_t step;
};

// Generates the code of all steps, on up to `threads` threads at once. Throws StepFailed.
void create_primitives(Program& program, int threads);

}  // namespace ephost_dnnl
