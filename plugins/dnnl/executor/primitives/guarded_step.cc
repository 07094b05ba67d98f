#include "plugins/dnnl/executor/primitives/guarded_step.h"

#include <algorithm>
#include <cstring>

namespace ephost_dnnl {
namespace {

// The buffers of a primitive's arguments, each an area of guarded memory.
struct TrialBuffers {
  std::vector<uint32_t> buffers;
  std::vector<std::size_t> sizes;
  std::vector<std::size_t> areas;  // by argument

  explicit TrialBuffers(const std::vector<TrialArgument>& arguments) {
    for (const TrialArgument& argument : arguments) {
      const auto known = std::find(buffers.begin(), buffers.end(), argument.buffer);
      const auto area = static_cast<std::size_t>(known - buffers.begin());
      areas.push_back(area);
      if (known == buffers.end()) {
        buffers.push_back(argument.buffer);
        sizes.push_back(0);
      }
      sizes[area] = std::max(sizes[area], argument.layout.get_size());
    }
  }
};

void execute(const dnnl::primitive& primitive, const std::vector<TrialArgument>& arguments,
             const TrialBuffers& buffers, const GuardedMemory& guarded,
             const dnnl::engine& engine) {
  std::vector<dnnl::memory> memories;
  std::vector<dnnl_exec_arg_t> passed;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& [argument, layout, buffer, content] = arguments[i];
    void* const data = guarded.data(buffers.areas[i]);
    if (content != nullptr) std::memcpy(data, content, layout.get_size());
    memories.emplace_back(layout, engine, data);
    passed.push_back({argument, memories.back().get()});
  }
  dnnl::stream stream(engine);
  const dnnl_status_t status = dnnl_primitive_execute(
      primitive.get(), stream.get(), static_cast<int>(passed.size()), passed.data());
  stream.wait();
  if (status != dnnl_success) throw dnnl::error(status, "a primitive failed to run on zeros");
}

}  // namespace

std::string to_text(const StepTouch& touch) {
  return to_text(touch.touch) + " argument " + std::to_string(touch.argument);
}

std::optional<StepTouch> find_touch(const dnnl::primitive& primitive,
                                    const std::vector<TrialArgument>& arguments,
                                    const dnnl::engine& engine) {
  const TrialBuffers buffers(arguments);
  for (const auto side : {GuardedMemory::Side::kBehind, GuardedMemory::Side::kBefore}) {
    const GuardedMemory guarded(buffers.sizes, side);
    execute(primitive, arguments, buffers, guarded, engine);
    if (const std::optional<Touch> touch = guarded.touch()) {
      const auto at = std::find(buffers.areas.begin(), buffers.areas.end(), touch->area);
      const auto argument = static_cast<std::size_t>(at - buffers.areas.begin());
      return StepTouch{arguments[argument].argument, *touch};
    }
  }
  return std::nullopt;
}

std::optional<StepTouch> find_touch(const Program& program, std::size_t step,
                                    const dnnl::primitive& primitive, const dnnl::engine& engine) {
  const Step& tried = program.steps[step];
  std::vector<TrialArgument> arguments;
  for (const StepArgument& argument : tried.arguments) {
    const View& view = program.views[argument.view];
    arguments.push_back({argument.argument, view.layout, view.buffer,
                         fixed_memory(program, program.buffers[view.buffer])});
  }
  try {
    return find_touch(primitive, arguments, engine);
  } catch (const dnnl::error& error) {
    throw StepFailed(step, "oneDNN failed to run " + tried.label + " on zeros (status " +
                               std::to_string(error.status) + ")");
  }
}

}  // namespace ephost_dnnl
