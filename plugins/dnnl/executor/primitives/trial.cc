#include "plugins/dnnl/executor/primitives/trial.h"

#include <optional>
#include <string>
#include <string_view>

#include "plugins/dnnl/executor/primitives/guarded_step.h"
#include "plugins/dnnl/executor/primitives/nan_trial.h"

namespace ephost_dnnl {
namespace {

// What a step may cost that is tried: about a millisecond for the library's reference code, which
// is what the creation of one primitive costs, and some ten for generated code.
constexpr double kCheapWork = 1 << 20;
constexpr double kCheapGeneratedWork = 1 << 28;

double elements_of(const Recipe& recipe, TensorId tensor) {
  return static_cast<double>(element_count(recipe.dims(tensor)));
}

double elements_of(const Dims& dims) { return static_cast<double>(element_count(dims)); }

// The primitive's own descriptor, which is only referred to.
dnnl::primitive_desc_base descriptor_of(const Step& step) {
  dnnl::primitive_desc_base descriptor;
  descriptor.reset(const_cast<dnnl_primitive_desc_t>(step.primitive.get_primitive_desc()), true);
  return descriptor;
}

double work_of(const Recipe& recipe, const Program& program, const Step& step) {
  if (step.op != kNoOp) return work_of(recipe, recipe.ops[step.op]);
  double elements = 0;
  for (const StepArgument& argument : step.arguments) {
    elements += elements_of(dims_of(program.views[argument.view].layout));
  }
  return elements;
}

bool is_cheap(const Recipe& recipe, const Program& program, const Step& step) {
  const std::string_view name = descriptor_of(step).impl_info_str();
  const bool is_generated = name.starts_with("brg") || name.find("jit") != name.npos;
  return work_of(recipe, program, step) <= (is_generated ? kCheapGeneratedWork : kCheapWork);
}

void run_step(const Recipe& recipe, const Program& program, std::size_t i,
              const dnnl::engine& engine) {
  if (const std::optional<StepTouch> touch =
          find_touch(program, i, program.steps[i].primitive, engine)) {
    throw StepFailed(i, "oneDNN " + to_text(*touch) + " of " + program.steps[i].label);
  }
  if (hides_nan(recipe, program, i, engine)) {
    throw StepFailed(i, "oneDNN loses NaN in " + program.steps[i].label + " and doesn't tell");
  }
}

void check_arguments(const Program& program, std::size_t i) {
  const Step& step = program.steps[i];
  const dnnl::primitive_desc_base descriptor = descriptor_of(step);
  for (const StepArgument& argument : step.arguments) {
    // The library gives no layout for scales and zero points.
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
    if (program.steps[i].own != nullptr) continue;
    if (is_cheap(recipe, program, program.steps[i])) {
      run_step(recipe, program, i, engine);
    } else {
      check_arguments(program, i);
    }
  }
}

}  // namespace ephost_dnnl
