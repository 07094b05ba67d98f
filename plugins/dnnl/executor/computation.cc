#include "plugins/dnnl/executor/computation.h"

#include <utility>

#include "plugins/dnnl/library/threads.h"

namespace ephost_dnnl {
namespace {

std::string shape_text(const eph_value& value) {
  return to_text(Dims(value.shape, value.shape + value.rank));
}

bool has_shape(const eph_value& value, const Dims& shape) {
  return value.kind == EPH_KIND_TENSOR && value.element_type == EPH_FLOAT &&
         value.rank == shape.size() && std::equal(shape.begin(), shape.end(), value.shape) &&
         value.data != nullptr;
}

uint64_t byte_size(const Dims& shape) {
  return static_cast<uint64_t>(element_count(shape)) * sizeof(float);
}

}  // namespace

// Memory objects of one run at a time, and the arguments of every step made of them.
class DnnlComputation::RunState : public eph::State {
 public:
  RunState(const Program& program, const std::vector<dnnl::memory>& constants,
           const dnnl::engine& engine)
      : program_(program),
        stream_(engine),
        memories_(constants),
        bound_(program.views.size(), nullptr),
        addresses_(program.buffers.size(), nullptr) {
    for (std::size_t i = 0; i < memories_.size(); ++i) {
      if (memories_[i]) continue;
      memories_[i] = dnnl::memory(program.views[i].layout, engine, DNNL_MEMORY_NONE);
    }
    for (const Step& step : program.steps) {
      std::vector<dnnl_exec_arg_t>& arguments = arguments_.emplace_back();
      for (const StepArgument& argument : step.arguments) {
        arguments.push_back({argument.argument, memories_[argument.view].get()});
      }
    }
  }

  std::vector<void*>& addresses() { return addresses_; }

  // Points the memory objects to the addresses that have changed since the last run.
  void bind() {
    for (std::size_t i = 0; i < bound_.size(); ++i) {
      const uint32_t buffer = program_.views[i].buffer;
      if (program_.buffers[buffer].place == Place::kConstant) continue;
      if (bound_[i] == addresses_[buffer]) continue;
      memories_[i].set_data_handle(addresses_[buffer]);
      bound_[i] = addresses_[buffer];
    }
  }

  void execute(std::size_t step) {
    const std::vector<dnnl_exec_arg_t>& arguments = arguments_[step];
    const dnnl_status_t status =
        dnnl_primitive_execute(program_.steps[step].primitive.get(), stream_.get(),
                               static_cast<int>(arguments.size()), arguments.data());
    if (status != dnnl_success) {
      throw eph::Failure(EPH_EP_FAIL, "oneDNN fails to run " + program_.steps[step].label +
                                          " (status " + std::to_string(status) + ")");
    }
  }
  void wait() { stream_.wait(); }

 private:
  const Program& program_;
  dnnl::stream stream_;
  std::vector<dnnl::memory> memories_;  // by view
  std::vector<void*> bound_;            // by view
  std::vector<void*> addresses_;        // by buffer
  std::vector<std::vector<dnnl_exec_arg_t>> arguments_;
};

DnnlComputation::DnnlComputation(std::string name, Recipe recipe, Program program,
                                 dnnl::engine engine, int threads)
    : name_(std::move(name)),
      recipe_(std::move(recipe)),
      program_(std::move(program)),
      engine_(std::move(engine)),
      threads_(threads),
      constant_memories_(program_.views.size()) {
  for (std::size_t i = 0; i < program_.views.size(); ++i) {
    const Buffer& buffer = program_.buffers[program_.views[i].buffer];
    if (buffer.place != Place::kConstant) continue;
    // The library takes no pointer to const; primitives only read their constants.
    constant_memories_[i] = dnnl::memory(program_.views[i].layout, engine_,
                                         const_cast<void*>(program_.constants[buffer.index].data));
  }
}

void DnnlComputation::locate_input(eph::Run& run, const Buffer& buffer, void*& address) const {
  const Dims& shape = recipe_.inputs[buffer.index].shape;
  const eph_value* value = run.input(buffer.index);
  if (value == nullptr || !has_shape(*value, shape) || value->byte_size < byte_size(shape)) {
    throw eph::Failure(
        EPH_INVALID_ARGUMENT,
        "partition '" + name_ + "' was compiled for float " + to_text(shape) + " as input " +
            std::to_string(buffer.index) + " and got " +
            (value == nullptr ? "nothing"
                              : "element type " + std::to_string(value->element_type) + " " +
                                    shape_text(*value)));
  }
  address = value->data;
}

void DnnlComputation::locate_output(eph::Run& run, const Buffer& buffer, void*& address) const {
  const Dims& shape = recipe_.outputs[buffer.index].shape;
  address = run.output(buffer.index) != nullptr ? run.allocate(buffer.index, shape, EPH_FLOAT).data
                                                : run.scratch(byte_size(shape));
}

void DnnlComputation::locate(eph::Run& run, std::vector<void*>& addresses) const {
  if (program_.workspace_bytes > 0 && run.workspace() == nullptr) {
    throw eph::Failure(EPH_INVALID_ARGUMENT, "partition '" + name_ + "' got no workspace");
  }
  for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
    const Buffer& buffer = program_.buffers[i];
    if (buffer.place == Place::kInput) locate_input(run, buffer, addresses[i]);
    if (buffer.place == Place::kOutput) locate_output(run, buffer, addresses[i]);
    if (buffer.place == Place::kWorkspace) {
      addresses[i] = static_cast<char*>(run.workspace()) + buffer.offset;
    }
  }
}

void DnnlComputation::compute(eph::Run& run, eph::State* state) {
  const ThreadScope scope(threads_);
  auto& own = static_cast<RunState&>(*state);
  locate(run, own.addresses());
  own.bind();
  for (std::size_t i = 0; i < program_.steps.size(); ++i) {
    if (run.is_cancelled()) throw eph::Failure(EPH_FAIL, "the run was cancelled");
    own.execute(i);
  }
  own.wait();
}

void DnnlComputation::describe(eph_computation_info& info) {
  info.workspace_bytes = program_.workspace_bytes;
  info.flags = EPH_COMPUTE_CONCURRENT;
}

std::unique_ptr<eph::State> DnnlComputation::create_state() {
  return std::make_unique<RunState>(program_, constant_memories_, engine_);
}

}  // namespace ephost_dnnl
