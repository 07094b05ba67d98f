#include "host/runtime/frame.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/graph_view.h"

namespace ephost::runtime {
namespace {

constexpr size_t kNoOutput = std::numeric_limits<size_t>::max();

Status out_of_memory(uint64_t bytes, std::string_view what) {
  return Status(StatusCode::kFail, "out of memory: " + std::string(what) + " needs " +
                                       std::to_string(bytes) + " bytes");
}

// Open extents in a model's shape agree with anything.
bool agrees(const graph::Shape& stated, std::span<const int64_t> actual) {
  return stated.size() == actual.size() &&
         std::equal(stated.begin(), stated.end(), actual.begin(), [](int64_t dim, int64_t extent) {
           return !graph::is_static_dim(dim) || dim == extent;
         });
}

std::span<const int64_t> shape_of(const eph_value& value) { return {value.shape, value.rank}; }

}  // namespace

// ---- What is made once ------------------------------------------------------------------------

const eph_run_api Frame::kApi = {sizeof(eph_run_api), &Frame::allocate_output, &Frame::set_string,
                                 &Frame::allocate_scratch, &Frame::is_cancelled};

Frame::Frame(const Program& program) : program_(program) {}

Result<std::unique_ptr<Frame>> Frame::create(const Program& program) {
  std::unique_ptr<Frame> frame(new Frame(program));
  EPHOST_RETURN_IF_ERROR(frame->make_states());
  frame->prepare_values();
  frame->prepare_calls();
  EPHOST_RETURN_IF_ERROR(frame->bind_pattern(nullptr));
  return frame;
}

Status Frame::make_states() {
  states_.reserve(program_.steps().size());
  for (size_t step = 0; step < program_.steps().size(); ++step) {
    EPHOST_ASSIGN_OR_RETURN(bridge::ComputationState state,
                            program_.computation(step)->create_state());
    states_.push_back(std::move(state));
  }
  return Status::ok_status();
}

void Frame::prepare_values() {
  const graph::Graph& graph = program_.graph();
  values_.resize(graph.values.size());
  shapes_.resize(graph.values.size());
  seen_bytes_.resize(graph.values.size());
  output_of_value_.assign(graph.values.size(), kNoOutput);
  for (graph::ValueId id = 0; id < graph.values.size(); ++id) {
    const graph::Value& value = graph.values[id];
    if (value.is_constant()) values_[id] = program_.constants()[value.initializer];
  }
  for (size_t i = graph.outputs.size(); i-- > 0;) output_of_value_[graph.outputs[i]] = i;
}

void Frame::prepare_calls() {
  const std::span<const plan::Step> steps = program_.steps();
  for (const plan::Step& step : steps) {
    for (const graph::ValueId id : step.inputs) {
      input_slots_.push_back(id == graph::kNoValue ? nullptr : &values_[id]);
    }
    for (const graph::ValueId id : step.outputs) {
      output_slots_.push_back(id == graph::kNoValue ? nullptr : &values_[id]);
    }
  }
  runs_.resize(steps.size());
  calls_.resize(steps.size());
  const eph_value* const* inputs = input_slots_.data();
  eph_value* const* outputs = output_slots_.data();
  for (size_t i = 0; i < steps.size(); ++i) {
    StepRun& run = runs_[i];
    run.struct_size = sizeof(eph_run);
    run.api = &kApi;
    run.inputs = inputs;
    run.outputs = outputs;
    run.input_count = static_cast<uint32_t>(steps[i].inputs.size());
    run.output_count = static_cast<uint32_t>(steps[i].outputs.size());
    run.frame = this;
    run.step = static_cast<uint32_t>(i);
    inputs += steps[i].inputs.size();
    outputs += steps[i].outputs.size();
    const bridge::Computation& computation = *program_.computation(i);
    calls_[i] = {computation.compute(), computation.handle(), states_[i].get(), &run};
  }
}

// ---- The memory pattern -----------------------------------------------------------------------

const plan::MemoryPattern& Frame::pattern() const {
  return traced_ ? traced_->pattern : program_.pattern();
}

Status Frame::bind_pattern(std::shared_ptr<const TracedPattern> traced) {
  traced_ = std::move(traced);
  uint64_t bytes = 0;
  for (const plan::MemoryBlock& block : pattern().blocks) bytes = std::max(bytes, block.bytes);
  if (bytes > block_bytes_) {
    block_.reset();
    block_ = allocate_aligned(bytes);
    block_bytes_ = block_ ? bytes : 0;
    if (block_ == nullptr) return out_of_memory(bytes, "the block of intermediate values");
  }
  const graph::Graph& graph = program_.graph();
  const std::vector<plan::ValuePlan>& plans = program_.allocation().values;
  for (graph::ValueId id = 0; id < plans.size(); ++id) {
    const uint64_t offset = pattern().offsets[id];
    const graph::ValueType& type = graph.values[id].type;
    const bool fixed = plans[id].bytes.has_value() && type.element != ElementType::kString;
    if (offset == plan::kNoOffset || !fixed) continue;
    void* data = *plans[id].bytes == 0 ? empty_tensor_memory() : block_.get() + offset;
    set_tensor(id, data, *plans[id].bytes, type.element, *type.shape);
  }
  uint64_t loose = 0;
  for (const plan::Workspace& workspace : program_.allocation().workspaces) {
    if (pattern().workspace_offsets[workspace.pc] == plan::kNoOffset) {
      loose = std::max(loose, workspace.bytes);
    }
  }
  if (loose != 0 && workspace_ == nullptr) {
    workspace_ = allocate_aligned(loose);
    if (workspace_ == nullptr) return out_of_memory(loose, "a workspace");
  }
  for (const plan::Workspace& workspace : program_.allocation().workspaces) {
    const uint64_t offset = pattern().workspace_offsets[workspace.pc];
    runs_[workspace.pc].workspace =
        offset == plan::kNoOffset ? workspace_.get() : block_.get() + offset;
  }
  return Status::ok_status();
}

Status Frame::choose_pattern() {
  if (program_.is_static() || !program_.memory_options().enable_mem_pattern) {
    return Status::ok_status();
  }
  std::shared_ptr<const TracedPattern> wanted = program_.patterns().find(shape_key_);
  if (wanted == traced_) return Status::ok_status();
  return bind_pattern(std::move(wanted));
}

Status Frame::trace_pattern() {
  if (program_.is_static() || traced_ || !program_.memory_options().enable_mem_pattern) {
    return Status::ok_status();
  }
  auto traced = std::make_shared<TracedPattern>();
  const std::vector<plan::ValuePlan>& plans = program_.allocation().values;
  traced->bytes = seen_bytes_;
  for (size_t id = 0; id < plans.size(); ++id) {
    if (plans[id].bytes) traced->bytes[id] = plans[id].bytes;
  }
  EPHOST_ASSIGN_OR_RETURN(traced->pattern, plan::plan_memory(program_.allocation(), traced->bytes,
                                                             program_.memory_options()));
  program_.patterns().insert(shape_key_, std::move(traced));
  return Status::ok_status();
}

// ---- Inputs and outputs -----------------------------------------------------------------------

void Frame::set_tensor(graph::ValueId id, void* data, uint64_t bytes, ElementType type,
                       std::span<const int64_t> shape) {
  eph_value& value = values_[id];
  value.data = data;
  value.shape = shape.data();
  value.byte_size = bytes;
  value.rank = static_cast<uint32_t>(shape.size());
  value.element_type = static_cast<int32_t>(type);
  value.kind = EPH_KIND_TENSOR;
  value.memory = 0;
}

Status Frame::bind_inputs(std::span<const Value* const> inputs) {
  shape_key_.clear();
  symbol_extents_.assign(program_.symbols().size(), -1);
  for (size_t i = 0; i < inputs.size(); ++i) EPHOST_RETURN_IF_ERROR(bind_input(i, inputs[i]));
  return Status::ok_status();
}

Status Frame::bind_input(size_t index, const Value* value) {
  const graph::ValueId id = program_.graph().inputs[index];
  const graph::Value& wanted = program_.graph().values[id];
  if (value == nullptr || !value->has_value()) {
    if (wanted.initializer == graph::kNoInitializer) {
      return Status(
          StatusCode::kInvalidArgument,
          "input " + quote(wanted.name) + " is missing; it has no default, so pass a value");
    }
    values_[id] = program_.constants()[wanted.initializer];
    shape_key_.push_back(-1);
    return Status::ok_status();
  }
  const graph::ValueType& type = wanted.type;
  const std::vector<int64_t>& shape = value->shape();
  const bool type_agrees =
      type.element == ElementType::kUndefined || type.element == value->element_type();
  if (!type_agrees || (type.shape && !agrees(*type.shape, shape))) {
    return Status(StatusCode::kInvalidArgument, "input " + quote(wanted.name) + " got " +
                                                    describe_tensor(value->element_type(), shape) +
                                                    ", the model wants " +
                                                    graph::to_string(type, program_.symbols()));
  }
  for (size_t d = 0; type.shape && d < shape.size(); ++d) {
    const int64_t dim = (*type.shape)[d];
    if (!graph::is_symbolic_dim(dim)) continue;
    int64_t& extent = symbol_extents_[graph::dim_symbol(dim)];
    if (extent >= 0 && extent != shape[d]) {
      return Status(StatusCode::kInvalidArgument,
                    "input " + quote(wanted.name) + " has extent " + std::to_string(shape[d]) +
                        " for " + quote(program_.symbols()[graph::dim_symbol(dim)]) +
                        ", which is " + std::to_string(extent) +
                        " in another input; make them equal");
    }
    extent = shape[d];
  }
  shape_key_.push_back(static_cast<int64_t>(shape.size()));
  shape_key_.insert(shape_key_.end(), shape.begin(), shape.end());
  if (value->element_type() == ElementType::kString) {
    std::vector<eph_string>& views = input_strings_[id];
    views.clear();
    for (const std::string& text : value->strings()) views.push_back(bridge::to_abi(text));
    void* data = views.empty() ? empty_tensor_memory() : views.data();
    set_tensor(id, data, views.size() * sizeof(eph_string), ElementType::kString, shape);
    return Status::ok_status();
  }
  const std::span<const std::byte> bytes = value->bytes();
  // Inputs are read only; the ABI has one struct for both directions.
  void* data = bytes.empty() ? empty_tensor_memory() : const_cast<std::byte*>(bytes.data());
  set_tensor(id, data, bytes.size(), value->element_type(), shape);
  return Status::ok_status();
}

Status Frame::bind_outputs() {
  const graph::Graph& graph = program_.graph();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const graph::ValueId id = graph.outputs[i];
    const plan::ValuePlan& planned = program_.allocation().values[id];
    if (planned.kind != plan::AllocKind::kAllocateOutput || output_of_value_[id] != i) continue;
    const graph::ValueType& type = graph.values[id].type;
    if (planned.bytes && type.element != ElementType::kString) {
      EPHOST_RETURN_IF_ERROR(allocate_graph_output(id, type.element, *type.shape));
    } else {
      values_[id] = {};
    }
  }
  return Status::ok_status();
}

// A value in the buffer of an input, a constant or an output goes where that went.
Status Frame::bind_followers() {
  const std::vector<plan::ValuePlan>& plans = program_.allocation().values;
  for (const graph::ValueId id : program_.followers()) {
    const eph_value& root = values_[plans[id].reused];
    const graph::ValueType& type = program_.graph().values[id].type;
    const bool fits = plans[id].bytes && root.data != nullptr && *plans[id].bytes <= root.byte_size;
    if (fits && type.element != ElementType::kString) {
      set_tensor(id, root.data, *plans[id].bytes, type.element, *type.shape);
    } else {
      values_[id] = {};
    }
  }
  return Status::ok_status();
}

Status Frame::allocate_graph_output(graph::ValueId id, ElementType type,
                                    std::span<const int64_t> shape) {
  Value& output = outputs_[output_of_value_[id]];
  const bool fits =
      output.has_value() && output.element_type() == type &&
      std::equal(shape.begin(), shape.end(), output.shape().begin(), output.shape().end());
  if (!fits) {
    EPHOST_ASSIGN_OR_RETURN(output, Value::allocate(type, {shape.begin(), shape.end()}));
  }
  const std::span<std::byte> bytes = output.mutable_bytes();
  set_tensor(id, bytes.empty() ? empty_tensor_memory() : bytes.data(), bytes.size(), type,
             output.shape());
  return Status::ok_status();
}

// Text and outputs that no step wrote in place: those that are inputs, constants, or listed twice.
Status Frame::collect_outputs() {
  const graph::Graph& graph = program_.graph();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const graph::ValueId id = graph.outputs[i];
    if (output_of_value_[id] != i) {
      outputs_[i] = outputs_[output_of_value_[id]];
      continue;
    }
    const eph_value& value = values_[id];
    const auto type = static_cast<ElementType>(value.element_type);
    const std::span<const int64_t> shape = shape_of(value);
    if (type == ElementType::kString) {
      const auto* views = static_cast<const eph_string*>(value.data);
      std::vector<std::string> strings;
      for (uint64_t k = 0; k < value.byte_size / sizeof(eph_string); ++k) {
        strings.emplace_back(bridge::view(views[k]));
      }
      EPHOST_ASSIGN_OR_RETURN(outputs_[i],
                              Value::of_strings({shape.begin(), shape.end()}, std::move(strings)));
      continue;
    }
    if (outputs_[i].has_value() && outputs_[i].bytes().data() == value.data) continue;
    if (program_.allocation().values[id].kind == plan::AllocKind::kAllocateOutput) continue;
    const eph_value source = value;
    EPHOST_RETURN_IF_ERROR(allocate_graph_output(id, type, shape));
    if (source.byte_size != 0) std::memcpy(values_[id].data, source.data, source.byte_size);
    values_[id] = source;
  }
  return Status::ok_status();
}

// ---- Running ----------------------------------------------------------------------------------

Status Frame::run(std::span<const Value* const> inputs, std::span<Value> outputs,
                  const std::atomic<bool>* cancelled) {
  outputs_ = outputs;
  cancelled_ = cancelled;
  Status status = bind_inputs(inputs);
  if (status.ok()) status = choose_pattern();
  if (status.ok()) status = bind_outputs();
  if (status.ok()) status = bind_followers();
  if (status.ok()) status = execute(cancelled);
  if (status.ok()) status = collect_outputs();
  if (status.ok()) status = trace_pattern();
  end_run();
  return status;
}

Status Frame::execute(const std::atomic<bool>* cancelled) {
  for (size_t step = 0; step < calls_.size(); ++step) {
    if (cancelled != nullptr && cancelled->load(std::memory_order_relaxed)) {
      return Status(StatusCode::kFail, "the run was cancelled before step " + std::to_string(step) +
                                           " of " + std::to_string(calls_.size()));
    }
    EPHOST_RETURN_IF_ERROR(execute_step(step));
  }
  return Status::ok_status();
}

Status Frame::execute_step(size_t step) {
  const Call& call = calls_[step];
  std::mutex* const mutex = program_.step_mutex(step);
  const auto lock = mutex ? std::unique_lock(*mutex) : std::unique_lock<std::mutex>();
  const int32_t code = call.compute(call.computation, call.state, call.run, &error_);
  if (code != EPH_OK) {
    return error_.to_status(code, program_.describe_step(step), "computing");
  }
  scratch_.end_step();
  if (!program_.is_static()) end_step(step);
  for (uint32_t i = 0; i < call.run->output_count; ++i) {
    const eph_value* output = call.run->outputs[i];
    if (output != nullptr && output->data == nullptr) {
      return Status(StatusCode::kEpFail, program_.describe_step(step) +
                                             " gave no value to its output " + std::to_string(i) +
                                             "; report this to the plugin's vendor");
    }
  }
  return Status::ok_status();
}

void Frame::end_step(size_t step) {
  for (const graph::ValueId root : program_.released_after(step)) {
    const auto pooled = pooled_.find(root);
    if (pooled == pooled_.end()) continue;
    pool_.give_back(pooled->second);
    pooled_.erase(pooled);
  }
}

void Frame::end_run() {
  scratch_.end_step();
  pool_.end_run();
  pooled_.clear();
  outputs_ = {};
  cancelled_ = nullptr;
  if (program_.is_static()) return;
  const std::vector<plan::ValuePlan>& plans = program_.allocation().values;
  for (graph::ValueId id = 0; id < plans.size(); ++id) {
    const bool own =
        plans[id].kind == plan::AllocKind::kAllocate || plans[id].kind == plan::AllocKind::kReuse;
    const bool fixed = plans[id].bytes && pattern().offsets[id] != plan::kNoOffset;
    if (own && !fixed) values_[id].data = nullptr;
    seen_bytes_[id].reset();
  }
}

// ---- Callbacks --------------------------------------------------------------------------------

Status Frame::check_against_model(graph::ValueId id, ElementType type,
                                  std::span<const int64_t> shape) const {
  const graph::Value& value = program_.graph().values[id];
  const bool type_agrees =
      value.type.element == ElementType::kUndefined || value.type.element == type;
  if (type_agrees && (!value.type.shape || agrees(*value.type.shape, shape))) {
    return Status::ok_status();
  }
  return Status(StatusCode::kInvalidGraph,
                "value " + quote(value.name) + " came out as " + describe_tensor(type, shape) +
                    ", the model states " + graph::to_string(value.type, program_.symbols()) +
                    "; correct the model's shapes");
}

Result<std::byte*> Frame::memory_for(graph::ValueId id, uint64_t bytes) {
  const plan::ValuePlan& planned = program_.allocation().values[id];
  if (planned.kind == plan::AllocKind::kReuse) {
    const eph_value& root = values_[planned.reused];
    const bool is_text = root.element_type == EPH_STRING_ELEMENT;
    if (root.data != nullptr && root.byte_size >= bytes && !is_text) {
      return static_cast<std::byte*>(root.data);
    }
  }
  if (traced_ && traced_->bytes[id] && *traced_->bytes[id] >= bytes &&
      traced_->pattern.offsets[id] != plan::kNoOffset) {
    return block_.get() + traced_->pattern.offsets[id];
  }
  std::byte* memory = pool_.take(bytes);
  if (memory == nullptr) {
    return out_of_memory(bytes, "value " + quote(program_.graph().values[id].name));
  }
  pooled_[id] = memory;
  return memory;
}

Status Frame::allocate_value(graph::ValueId id, ElementType type,
                             std::span<const int64_t> given_shape) {
  if (type == ElementType::kUndefined) type = program_.graph().values[id].type.element;
  EPHOST_ASSIGN_OR_RETURN(const uint64_t bytes, tensor_bytes(type, given_shape));
  EPHOST_RETURN_IF_ERROR(check_against_model(id, type, given_shape));
  // A computation may hand back the very shape that an earlier call has given it.
  if (given_shape.data() != shapes_[id].data()) {
    shapes_[id].assign(given_shape.begin(), given_shape.end());
  }
  const std::span<const int64_t> shape = shapes_[id];
  if (type == ElementType::kString) {
    const size_t count = static_cast<size_t>(bytes / sizeof(eph_string));
    eph_string* views = strings_[id].reset(count);
    set_tensor(id, count == 0 ? empty_tensor_memory() : views, bytes, type, shape);
    return Status::ok_status();
  }
  if (program_.allocation().values[id].kind == plan::AllocKind::kAllocateOutput) {
    return allocate_graph_output(id, type, shape);
  }
  seen_bytes_[id] = bytes;
  EPHOST_ASSIGN_OR_RETURN(std::byte* const memory, memory_for(id, bytes));
  set_tensor(id, memory, bytes, type, shape);
  return Status::ok_status();
}

int32_t Frame::allocate_output(eph_run* handle, uint32_t index, int32_t element_type,
                               const int64_t* shape, uint32_t rank, eph_error* error) noexcept {
  const auto& run = *static_cast<StepRun*>(handle);
  try {
    Frame& frame = *run.frame;
    const std::vector<graph::ValueId>& outputs = frame.program_.steps()[run.step].outputs;
    Status status(StatusCode::kInvalidArgument,
                  "output " + std::to_string(index) + " does not exist or is not wanted");
    if (index < outputs.size() && outputs[index] != graph::kNoValue &&
        (shape != nullptr || rank == 0)) {
      status = frame.allocate_value(outputs[index], static_cast<ElementType>(element_type),
                                    {shape, rank});
    }
    if (status.ok()) return EPH_OK;
    error->api->set_message(error, bridge::to_abi(status.message()));
    return static_cast<int32_t>(status.code());
  } catch (const std::exception& exception) {
    error->api->set_message(error, bridge::to_abi(exception.what()));
    return EPH_FAIL;
  }
}

int32_t Frame::set_string(eph_run* handle, uint32_t index, uint64_t element, eph_string text,
                          eph_error* error) noexcept {
  const auto& run = *static_cast<StepRun*>(handle);
  try {
    Frame& frame = *run.frame;
    const std::vector<graph::ValueId>& outputs = frame.program_.steps()[run.step].outputs;
    const auto tensor =
        index < outputs.size() ? frame.strings_.find(outputs[index]) : frame.strings_.end();
    if (tensor != frame.strings_.end() && tensor->second.set(element, text)) return EPH_OK;
    error->api->set_message(
        error, bridge::to_abi("output " + std::to_string(index) + " has no string element " +
                              std::to_string(element)));
    return EPH_INVALID_ARGUMENT;
  } catch (const std::exception& exception) {
    error->api->set_message(error, bridge::to_abi(exception.what()));
    return EPH_FAIL;
  }
}

void* Frame::allocate_scratch(eph_run* handle, uint64_t size) noexcept {
  try {
    return static_cast<StepRun*>(handle)->frame->scratch_.take(size);
  } catch (const std::exception&) {
    return nullptr;
  }
}

int32_t Frame::is_cancelled(const eph_run* handle) noexcept {
  const auto* cancelled = static_cast<const StepRun*>(handle)->frame->cancelled_;
  return cancelled != nullptr && cancelled->load(std::memory_order_relaxed) ? 1 : 0;
}

}  // namespace ephost::runtime
