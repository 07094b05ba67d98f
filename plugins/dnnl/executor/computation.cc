#include "plugins/dnnl/executor/computation.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "plugins/dnnl/executor/bounded_results.h"
#include "plugins/dnnl/executor/element_types.h"
#include "plugins/dnnl/executor/exact/exact_choice.h"
#include "plugins/dnnl/executor/exact/exact_recipe.h"
#include "plugins/dnnl/executor/primitives/primitive_choice.h"
#include "plugins/dnnl/executor/program_maker.h"
#include "plugins/dnnl/library/invalid_watch.h"
#include "plugins/dnnl/library/threads.h"

namespace ephost_dnnl {
namespace {

std::string shape_text(const eph_value& value) {
  return to_text(Dims(value.shape, value.shape + value.rank));
}

bool is_tensor(const eph_value& value, ElementType type, const Dims& shape) {
  return value.kind == EPH_KIND_TENSOR && value.element_type == to_abi(type) &&
         value.rank == shape.size() && std::equal(shape.begin(), shape.end(), value.shape) &&
         value.data != nullptr;
}

uint64_t byte_size(const Dims& shape, ElementType type) {
  return static_cast<uint64_t>(element_count(shape)) * size_of(type);
}

}  // namespace

DnnlComputation::Executable::Executable(Recipe made_from, Program made, const dnnl::engine& engine,
                                        int threads)
    : recipe(std::move(made_from)),
      program(std::move(made)),
      constants(program.views.size()),
      teams(std::make_unique<Teams>(recipe, program, engine, threads)) {
  for (std::size_t i = 0; i < program.views.size(); ++i) {
    const View& view = program.views[i];
    void* const fixed = fixed_memory(program, program.buffers[view.buffer]);
    if (fixed != nullptr) constants[i] = dnnl::memory(view.layout, engine, fixed);
  }
}

// The memory objects of a program for one run at a time, and the arguments of every step, which
// refer to them.
class DnnlComputation::Binding {
 public:
  Binding(const Executable& executable, const dnnl::engine& engine)
      : executable_(executable),
        stream_(engine),
        memories_(executable.constants),
        bound_(program().views.size(), nullptr) {
    for (std::size_t i = 0; i < memories_.size(); ++i) {
      if (memories_[i]) continue;
      memories_[i] = dnnl::memory(program().views[i].layout, engine, DNNL_MEMORY_NONE);
    }
    for (const Step& step : program().steps) {
      std::vector<dnnl_exec_arg_t>& arguments = arguments_.emplace_back();
      for (const StepArgument& argument : step.arguments) {
        arguments.push_back({argument.argument, memories_[argument.view].get()});
      }
      read_by_own_.reserve(arguments.size());
    }
  }

  [[nodiscard]] const Executable& executable() const { return executable_; }

  // Updates the memory objects whose addresses have changed since the last run.
  void bind(const std::vector<void*>& inputs, const std::vector<void*>& outputs, void* workspace) {
    for (std::size_t i = 0; i < bound_.size(); ++i) {
      const Buffer& buffer = program().buffers[program().views[i].buffer];
      void* address = nullptr;
      if (buffer.place == Place::kConstant || buffer.place == Place::kParameter) continue;
      if (buffer.place == Place::kInput) address = inputs[buffer.index];
      if (buffer.place == Place::kOutput) address = outputs[buffer.index];
      if (buffer.place == Place::kWorkspace) {
        address = static_cast<char*>(workspace) + buffer.offset;
      }
      if (bound_[i] == address) continue;
      memories_[i].set_data_handle(address);
      bound_[i] = address;
    }
  }

  // With these primitives, or the program's own if they are null. If it `watches`, it ends at a
  // step that may have lost infinities (bounded_results.h), and returns false. Throws StepFailed.
  bool execute(eph::Run& run, const Primitives* primitives, bool watches) {
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (run.is_cancelled()) throw eph::Failure(EPH_CANCELLED, "the run was cancelled");
      const Step& step = program().steps[i];
      if (step.own != nullptr) {
        run_own(step);
        continue;
      }
      const std::vector<dnnl_exec_arg_t>& arguments = arguments_[i];
      const dnnl::primitive& primitive = primitives != nullptr ? (*primitives)[i] : step.primitive;
      const dnnl_status_t status = dnnl_primitive_execute(
          primitive.get(), stream_.get(), static_cast<int>(arguments.size()), arguments.data());
      if (status != dnnl_success) {
        throw StepFailed(
            i, "oneDNN failed to run " + step.label + " (status " + std::to_string(status) + ")");
      }
      if (watches && step.bounded && has_bounded_result(step)) return false;
    }
    stream_.wait();
    return true;
  }

 private:
  [[nodiscard]] const Program& program() const { return executable_.program; }

  void run_own(const Step& step) {
    read_by_own_.clear();
    for (const StepArgument& argument : step.arguments) {
      read_by_own_.push_back(memories_[argument.view].get_data_handle());
    }
    void* const output = memories_[step.arguments.back().view].get_data_handle();
    step.own->run(read_by_own_.data(), output);
  }

  [[nodiscard]] bool has_bounded_result(const Step& step) {
    stream_.wait();
    const auto output = std::find_if(
        step.arguments.begin(), step.arguments.end(),
        [](const StepArgument& argument) { return argument.argument == DNNL_ARG_DST; });
    const std::size_t bytes = program().views[output->view].layout.get_size();
    return has_element(memories_[output->view].get_data_handle(), bytes / sizeof(float),
                       *step.bounded);
  }

  const Executable& executable_;
  dnnl::stream stream_;
  std::vector<dnnl::memory> memories_;  // by view
  std::vector<void*> bound_;            // by view
  std::vector<std::vector<dnnl_exec_arg_t>> arguments_;
  std::vector<const void*> read_by_own_;
};

class DnnlComputation::RunState : public eph::State {
 public:
  RunState(const Executable& executable, const dnnl::engine& engine)
      : inputs(executable.recipe.inputs.size(), nullptr),
        outputs(executable.recipe.outputs.size(), nullptr),
        engine_(engine) {
    binding_.emplace(executable, engine);
  }

  // The binding of an executable, made again if the last run used another executable.
  Binding& binding(const Executable& executable) {
    if (&binding_->executable() != &executable) binding_.emplace(executable, engine_);
    return *binding_;
  }

  std::vector<void*> inputs, outputs;  // addresses, by port

 private:
  const dnnl::engine& engine_;
  std::optional<Binding> binding_;
};

DnnlComputation::DnnlComputation(std::string name, Recipe recipe, Program program,
                                 dnnl::engine engine, int threads, NanMode nan, WarnFunction warn)
    : name_(std::move(name)),
      engine_(std::move(engine)),
      threads_(threads),
      nan_(nan),
      warn_(std::move(warn)),
      sizer_(threads),
      compiled_(
          std::make_unique<Executable>(std::move(recipe), std::move(program), engine_, threads)),
      current_(compiled_.get()) {}

void* DnnlComputation::locate_input(eph::Run& run, uint32_t port) const {
  const Dims& shape = recipe().inputs[port].shape;
  const ElementType type = recipe().type(recipe().inputs[port].tensor);
  const eph_value* value = run.input(port);
  if (value == nullptr || !is_tensor(*value, type, shape) ||
      value->byte_size < byte_size(shape, type)) {
    throw eph::Failure(
        EPH_INVALID_ARGUMENT,
        "partition '" + name_ + "' was compiled for " + std::string(to_text(type)) + " " +
            to_text(shape) + " as input " + std::to_string(port) + " and got " +
            (value == nullptr ? "nothing"
                              : "element type " + std::to_string(value->element_type) + " " +
                                    shape_text(*value)));
  }
  return value->data;
}

void* DnnlComputation::locate_output(eph::Run& run, uint32_t port) const {
  const Dims& shape = recipe().outputs[port].shape;
  const ElementType type = recipe().type(recipe().outputs[port].tensor);
  return run.output(port) != nullptr ? run.allocate(port, shape, to_abi(type)).data
                                     : run.scratch(byte_size(shape, type));
}

void DnnlComputation::locate_ports(eph::Run& run, RunState& state) const {
  for (uint32_t i = 0; i < state.inputs.size(); ++i) state.inputs[i] = locate_input(run, i);
  for (uint32_t i = 0; i < state.outputs.size(); ++i) state.outputs[i] = locate_output(run, i);
}

void* DnnlComputation::locate_workspace(eph::Run& run, const Program& program) const {
  if (program.workspace_bytes == 0) return nullptr;
  if (program.workspace_bytes > compiled().program.workspace_bytes) {
    return run.scratch(program.workspace_bytes);
  }
  if (run.workspace() == nullptr) {
    throw eph::Failure(EPH_INVALID_ARGUMENT, "partition '" + name_ + "' got no workspace");
  }
  return run.workspace();
}

void DnnlComputation::compute(eph::Run& run, eph::State* state) {
  ephost_openmp::Crowd::Run use(*crowd_, threads_);
  auto& own = static_cast<RunState&>(*state);
  locate_ports(run, own);
  for (;;) {
    const Executable& executable = *current_.load(std::memory_order_acquire);
    Binding& binding = own.binding(executable);
    binding.bind(own.inputs, own.outputs, locate_workspace(run, executable.program));
    try {
      if (!execute(run, binding, use)) compute_exactly(run, own);
      return;
    } catch (const StepFailed& failure) {
      replace(executable, failure);
    }
  }
}

bool DnnlComputation::execute(eph::Run& run, Binding& binding, ephost_openmp::Crowd::Run& use) {
  if (threads_ == 1 || !crowd_->is_here()) {
    const ThreadScope scope(threads_);
    return execute(run, binding, nullptr);
  }
  const auto [size, primitives] = choose_team(binding.executable());
  use.set_team(size);
  const ThreadScope scope(size);
  const auto start = std::chrono::steady_clock::now();
  const bool is_exact = execute(run, binding, primitives);
  const std::chrono::nanoseconds duration = std::chrono::steady_clock::now() - start;
  const std::lock_guard lock(sizer_mutex_);
  sizer_.add(size, static_cast<uint64_t>(duration.count()));
  return is_exact;
}

bool DnnlComputation::execute(eph::Run& run, Binding& binding, const Primitives* primitives) const {
  if (nan_ == NanMode::kLibrary) {
    binding.execute(run, primitives, false);
    return true;
  }
  const InvalidWatch watch;
  return binding.execute(run, primitives, true) && !watch.has_seen_any();
}

void DnnlComputation::compute_exactly(eph::Run& run, const RunState& state) {
  const ThreadScope scope(threads_);
  const Executable& executable = exact();
  Binding binding(executable, engine_);
  const uint64_t bytes = executable.program.workspace_bytes;
  binding.bind(state.inputs, state.outputs, bytes == 0 ? nullptr : run.scratch(bytes));
  try {
    binding.execute(run, nullptr, false);
  } catch (const StepFailed& failure) {
    throw eph::Failure(EPH_EP_FAIL,
                       "partition '" + name_ + "' met NaN or infinity: " + failure.what());
  }
}

const DnnlComputation::Executable& DnnlComputation::exact() {
  const std::lock_guard lock(mutex_);
  if (exact_ != nullptr) return *exact_;
  const auto give_up = [&](const std::string& reason) {
    throw eph::Failure(EPH_EP_FAIL,
                       "partition '" + name_ +
                           "' met NaN or infinity, and can't be computed so that they are kept: " +
                           reason + "; set session.nan=library to do without");
  };
  try {
    Recipe recipe = exact_recipe(compiled().recipe);
    RepackingSource constants(compiled().program.constants, engine_);
    Program program = make_working_program(recipe, constants, engine_, threads_, &choose_exactly);
    exact_ = std::make_unique<Executable>(std::move(recipe), std::move(program), engine_, threads_);
  } catch (const dnnl::error& error) {
    give_up(error.what());
  } catch (const std::runtime_error& error) {  // NoPrimitive, LayoutMismatch
    give_up(error.what());
  }
  return *exact_;
}

std::pair<int, const Primitives*> DnnlComputation::choose_team(const Executable& executable) {
  // Another run that is here may take long, and decides for the next one.
  const std::unique_lock lock(sizer_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return {threads_, nullptr};
  for (;;) {
    const int size = sizer_.size();
    if (size == threads_) return {size, nullptr};
    if (const Primitives* made = executable.teams->primitives_for(size)) return {size, made};
    sizer_.forbid(size);
  }
}

void DnnlComputation::replace(const Executable& failed, const StepFailed& failure) {
  const std::lock_guard lock(mutex_);
  if (current_ != &failed) return;  // another run has met the same failure
  const auto give_up = [&](const std::string& reason) {
    throw eph::Failure(EPH_EP_FAIL,
                       std::string(failure.what()) + ", and no alternative is left: " + reason);
  };
  try {
    Recipe recipe = failed.recipe;
    pass_over(recipe, failed.program.steps[failure.step].op, failure.what());
    RepackingSource constants(failed.program.constants, engine_);
    Program program = make_working_program(recipe, constants, engine_, threads_);
    replacements_.push_back(
        std::make_unique<Executable>(std::move(recipe), std::move(program), engine_, threads_));
  } catch (const NoPrimitive& error) {
    give_up(error.what());
  } catch (const dnnl::error& error) {
    give_up(error.what());
  }
  current_.store(replacements_.back().get(), std::memory_order_release);
  warn_("partition '" + name_ + "': " + failure.what() +
        "; it is computed by another primitive from now on");
}

void DnnlComputation::describe(eph_computation_info& info) {
  info.workspace_bytes = compiled().program.workspace_bytes;
}

std::unique_ptr<eph::State> DnnlComputation::create_state() {
  return std::make_unique<RunState>(*current_, engine_);
}

}  // namespace ephost_dnnl
