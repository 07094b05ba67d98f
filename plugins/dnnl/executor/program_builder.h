// program_builder.h: appends buffers and steps to a program and tracks the lifetimes of the
// buffers. It knows primitives and memory, not tensors; the assembler drives it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugins/dnnl/executor/compiled_partition.h"
#include "plugins/dnnl/executor/workspace_plan.h"

namespace ephost_dnnl {

class ProgramBuilder {
 public:
  explicit ProgramBuilder(const dnnl::engine& engine) : engine_(engine) {}

  uint32_t add_port(Place place, uint32_t index);
  uint32_t add_workspace(uint64_t size);
  uint32_t add_constant(PackedConstant constant);
  uint32_t add_parameter(std::string bytes);

  struct Argument {
    int argument;
    uint32_t buffer;
    Descriptor layout;
  };
  // Adds a step with these arguments and its scratchpad; `bounded`: see bounded_results.h.
  void add_step(const dnnl::primitive_desc_base& descriptor, const std::vector<Argument>& arguments,
                std::string label, uint32_t op = kNoOp,
                std::optional<float> bounded = std::nullopt);
  // Adds a step of the provider's own code, which writes the last argument.
  void add_own_step(std::shared_ptr<const OwnKernel> own, const std::vector<Argument>& arguments,
                    std::string label, uint32_t op);
  // Adds a copy from one buffer and layout to another. Throws NoPrimitive.
  void add_reorder(uint32_t from_buffer, const Descriptor& from, uint32_t to_buffer,
                   const Descriptor& to, std::string label);

  [[nodiscard]] Place place(uint32_t buffer) const { return program_.buffers[buffer].place; }

  // Places the workspace buffers and returns the program.
  [[nodiscard]] Program finish() &&;

 private:
  uint32_t add_buffer(Buffer buffer);
  uint32_t view(uint32_t buffer, const Descriptor& layout);
  // Adds a step with these arguments.
  void append(Step step, const std::vector<Argument>& arguments);

  const dnnl::engine& engine_;
  Program program_;
  std::vector<BufferLifetime> lifetimes_;                       // by buffer
  std::map<std::pair<uint32_t, std::string>, uint32_t> views_;  // by buffer and layout
};

}  // namespace ephost_dnnl
