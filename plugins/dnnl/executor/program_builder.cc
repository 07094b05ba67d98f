#include "plugins/dnnl/executor/program_builder.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "plugins/dnnl/executor/primitives/primitive_choice.h"
#include "plugins/onednn/safe_reorder.h"

namespace ephost_dnnl {
namespace {

// In the place of a reorder of the library's that is not trusted.
class Move : public OwnKernel {
 public:
  explicit Move(ephost_onednn::SafeReorder reorder) : reorder_(std::move(reorder)) {}

  void run(const void* const* inputs, void* output) const override {
    reorder_.run(inputs[0], output);
  }

 private:
  const ephost_onednn::SafeReorder reorder_;
};

}  // namespace

uint32_t ProgramBuilder::add_buffer(Buffer buffer) {
  program_.buffers.push_back(buffer);
  lifetimes_.push_back({buffer.size, std::numeric_limits<uint32_t>::max(), 0});
  return static_cast<uint32_t>(program_.buffers.size() - 1);
}

uint32_t ProgramBuilder::add_port(Place place, uint32_t index) {
  return add_buffer({place, index, 0, 0});
}

uint32_t ProgramBuilder::add_workspace(uint64_t size) {
  return add_buffer({Place::kWorkspace, 0, size, 0});
}

uint32_t ProgramBuilder::add_constant(PackedConstant constant) {
  const auto index = static_cast<uint32_t>(program_.constants.size());
  program_.constants.push_back(std::move(constant));
  return add_buffer({Place::kConstant, index, 0, 0});
}

uint32_t ProgramBuilder::add_parameter(std::string bytes) {
  const auto index = static_cast<uint32_t>(program_.parameters.size());
  program_.parameters.push_back(std::move(bytes));
  return add_buffer({Place::kParameter, index, 0, 0});
}

uint32_t ProgramBuilder::view(uint32_t buffer, const Descriptor& layout) {
  const auto [entry, is_new] = views_.try_emplace({buffer, descriptor_bytes(layout)},
                                                  static_cast<uint32_t>(program_.views.size()));
  if (is_new) program_.views.push_back({buffer, layout});
  return entry->second;
}

void ProgramBuilder::add_step(const dnnl::primitive_desc_base& descriptor,
                              const std::vector<Argument>& arguments, std::string label,
                              uint32_t op, std::optional<float> bounded) {
  Step step;
  step.op = op;
  step.bounded = bounded;
  step.descriptor = descriptor;
  step.label = std::move(label);
  std::vector<Argument> all = arguments;
  const Descriptor scratchpad = descriptor.query_md(dnnl::query::scratchpad_md, 0);
  if (scratchpad.get_size() > 0) {
    all.push_back({DNNL_ARG_SCRATCHPAD, add_workspace(scratchpad.get_size()), scratchpad});
  }
  append(std::move(step), all);
}

void ProgramBuilder::add_own_step(std::shared_ptr<const OwnKernel> own,
                                  const std::vector<Argument>& arguments, std::string label,
                                  uint32_t op) {
  Step step;
  step.own = std::move(own);
  step.op = op;
  step.label = std::move(label);
  append(std::move(step), arguments);
}

void ProgramBuilder::append(Step step, const std::vector<Argument>& arguments) {
  const auto now = static_cast<uint32_t>(program_.steps.size());
  for (const Argument& argument : arguments) {
    BufferLifetime& lifetime = lifetimes_[argument.buffer];
    lifetime.first = std::min(lifetime.first, now);
    lifetime.last = std::max(lifetime.last, now);
    step.arguments.push_back({argument.argument, view(argument.buffer, argument.layout)});
  }
  program_.steps.push_back(std::move(step));
}

void ProgramBuilder::add_reorder(uint32_t from_buffer, const Descriptor& from, uint32_t to_buffer,
                                 const Descriptor& to, std::string label) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  try {
    if (const auto safe = ephost_onednn::SafeReorder::plan(from, to)) {
      if (safe->needs_library()) throw NoPrimitive("a reorder that is not trusted, for " + label);
      return add_own_step(std::make_shared<Move>(*safe),
                          {{DNNL_ARG_FROM, from_buffer, from}, {DNNL_ARG_TO, to_buffer, to}},
                          "the move for " + std::move(label), kNoOp);
    }
    const dnnl::reorder::primitive_desc descriptor(engine_, from, engine_, to, attributes);
    add_step(descriptor, {{DNNL_ARG_FROM, from_buffer, from}, {DNNL_ARG_TO, to_buffer, to}},
             "the reorder for " + std::move(label));
  } catch (const dnnl::error& error) {
    throw NoPrimitive("oneDNN has no reorder for " + label + ": " + error.what());
  }
}

Program ProgramBuilder::finish() && {
  std::vector<BufferLifetime> lifetimes;
  std::vector<uint32_t> workspace;
  for (uint32_t i = 0; i < program_.buffers.size(); ++i) {
    const bool is_used = lifetimes_[i].first <= lifetimes_[i].last;
    if (program_.buffers[i].place != Place::kWorkspace || !is_used) continue;
    workspace.push_back(i);
    lifetimes.push_back(lifetimes_[i]);
  }
  const WorkspacePlan plan = plan_workspace(lifetimes);
  for (std::size_t i = 0; i < workspace.size(); ++i) {
    program_.buffers[workspace[i]].offset = plan.offsets[i];
  }
  program_.workspace_bytes = plan.size;
  return std::move(program_);
}

}  // namespace ephost_dnnl
