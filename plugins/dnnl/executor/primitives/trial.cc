#include "plugins/dnnl/executor/primitives/trial.h"

#include <cstring>
#include <string>
#include <vector>

namespace ephost_dnnl {
namespace {

// At most a millisecond for the library's slowest implementations, which is what the creation of
// one primitive costs. Most layers of large models take more; the computation handles their
// failures.
constexpr double kCheapWork = 1 << 20;

double elements_of(const Recipe& recipe, TensorId tensor) {
  return static_cast<double>(element_count(recipe.dims(tensor)));
}

double elements_of(const Dims& dims) { return static_cast<double>(element_count(dims)); }

bool is_cheap(const Recipe& recipe, const Program& program, const Step& step) {
  if (step.op != kNoOp) return work_of(recipe, recipe.ops[step.op]) <= kCheapWork;
  double elements = 0;
  for (const StepArgument& argument : step.arguments) {
    elements += elements_of(dims_of(program.views[argument.view].layout));
  }
  return elements <= kCheapWork;
}

// The memory of an argument: a constant's or parameter's own, or zeros.
dnnl::memory memory_of(const Program& program, const View& view, const dnnl::engine& engine) {
  const Buffer& buffer = program.buffers[view.buffer];
  if (void* fixed = fixed_memory(program, buffer)) return {view.layout, engine, fixed};
  dnnl::memory memory(view.layout, engine);
  std::memset(memory.get_data_handle(), 0, view.layout.get_size());
  return memory;
}

void run_step(const Program& program, std::size_t i, const dnnl::engine& engine) {
  const Step& step = program.steps[i];
  std::vector<dnnl::memory> memories;
  std::vector<dnnl_exec_arg_t> arguments;
  for (const StepArgument& argument : step.arguments) {
    memories.push_back(memory_of(program, program.views[argument.view], engine));
    arguments.push_back({argument.argument, memories.back().get()});
  }
  dnnl::stream stream(engine);
  const dnnl_status_t status = dnnl_primitive_execute(
      step.primitive.get(), stream.get(), static_cast<int>(arguments.size()), arguments.data());
  stream.wait();
  if (status != dnnl_success) {
    throw StepFailed(i, "oneDNN failed to run " + step.label + " on zeros (status " +
                            std::to_string(status) + ")");
  }
}

void check_arguments(const Program& program, std::size_t i) {
  const Step& step = program.steps[i];
  // The primitive's own, which `descriptor` only refers to.
  dnnl::primitive_desc_base descriptor;
  descriptor.reset(const_cast<dnnl_primitive_desc_t>(step.primitive.get_primitive_desc()), true);
  for (const StepArgument& argument : step.arguments) {
    // The library states no layout for scales and zero points.
    const View& view = program.views[argument.view];
    if (program.buffers[view.buffer].place == Place::kParameter) continue;
    const Descriptor asked = descriptor.query_md(dnnl::query::exec_arg_md, argument.argument);
    if (asked == view.layout) continue;
    throw StepFailed(i, "oneDNN wants argument " + std::to_string(argument.argument) + " of " +
                            step.label + " in another layout");
  }
}

}  // namespace

double work_of(const Recipe& recipe, const Op& op) {
  const double results = elements_of(recipe, op.output);
  if (get_if<Convolution>(op) != nullptr) {
    const TensorId weights = op.inputs[1];
    return results * elements_of(recipe, weights) / static_cast<double>(recipe.dims(weights)[0]);
  }
  if (get_if<MatMul>(op) != nullptr) {
    return results * static_cast<double>(recipe.dims(op.inputs[0]).back());
  }
  if (const auto* pooling = get_if<Pooling>(op)) return results * elements_of(pooling->kernel);
  if (const auto* lrn = get_if<Lrn>(op)) return results * static_cast<double>(lrn->size);
  double elements = results;
  for (const TensorId input : op.inputs) elements += elements_of(recipe, input);
  return elements;
}

void try_out(const Recipe& recipe, const Program& program, const dnnl::engine& engine) {
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (is_cheap(recipe, program, program.steps[i])) {
      run_step(program, i, engine);
    } else {
      check_arguments(program, i);
    }
  }
}

}  // namespace ephost_dnnl
