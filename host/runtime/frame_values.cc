// The values of a frame: binding them to what a run brings, giving them memory, and the callbacks
// through which computations ask for it. What is made once and how steps are run is in frame.cc.
#include <algorithm>
#include <cstring>
#include <utility>

#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/runtime/frame.h"
#include "host/runtime/values/composite.h"

namespace ephost::runtime {
namespace {

// Open extents in a model's shape agree with anything.
bool agrees(const graph::Shape& stated, std::span<const int64_t> actual) {
  return stated.size() == actual.size() &&
         std::equal(stated.begin(), stated.end(), actual.begin(), [](int64_t dim, int64_t extent) {
           return !graph::is_static_dim(dim) || dim == extent;
         });
}

std::span<const int64_t> shape_of(const eph_value& value) { return {value.shape, value.rank}; }

Status wrong_input(const graph::Value& wanted, const eph_value& value,
                   std::span<const std::string> symbols) {
  return Status(StatusCode::kInvalidArgument,
                (wanted.outer == graph::kNoValue ? "input " : "captured value ") +
                    quote(wanted.name) + " got " + describe_value(value) + ", the model wants " +
                    graph::to_string(wanted.type, symbols));
}

}  // namespace

// ---- Inputs and outputs -----------------------------------------------------------------------

void Frame::set_tensor(graph::ValueId id, void* data, uint64_t bytes, ElementType type,
                       std::span<const int64_t> shape) {
  eph_value& value = values_[id];
  if (value.data != data) followers_moved_ = true;
  value.data = data;
  value.shape = shape.data();
  value.byte_size = bytes;
  value.rank = static_cast<uint32_t>(shape.size());
  value.element_type = static_cast<int32_t>(type);
  value.kind = EPH_KIND_TENSOR;
  value.memory = program_.memory_at(program_.allocation().values[id].location);
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
  // An optional may always be left out.
  const bool is_optional = wanted.type.kind == graph::ValueKind::kOptional;
  if (object(id) != nullptr && (value != nullptr || is_optional)) {
    return bind_object(id, value == nullptr ? Value() : *value);
  }
  if (value == nullptr || !value->has_value()) {
    if (wanted.initializer == graph::kNoInitializer) {
      return Status(
          StatusCode::kInvalidArgument,
          "input " + quote(wanted.name) + " is missing; it has no default, so pass a value");
    }
    const eph_value& fallback = program_.constants()[wanted.initializer];
    if (values_[id].data != fallback.data) followers_moved_ = true;
    values_[id] = fallback;
    shape_key_.push_back(-1);
    return Status::ok_status();
  }
  EPHOST_RETURN_IF_ERROR(bind_value(id, view_of(*value)));
  return check_symbols(id);
}

Status Frame::bind_value(graph::ValueId id, const eph_value& value) {
  const graph::Value& wanted = program_.graph().values[id];
  const graph::ValueType& type = wanted.type;
  const auto element = static_cast<ElementType>(value.element_type);
  const std::span<const int64_t> shape = shape_of(value);
  const bool type_agrees = type.element == ElementType::kUndefined || type.element == element;
  if (value.kind != EPH_KIND_TENSOR || is_object(type) || !type_agrees ||
      (type.shape && !agrees(*type.shape, shape))) {
    return wrong_input(wanted, value, program_.symbols());
  }
  shape_key_.push_back(static_cast<int64_t>(shape.size()));
  shape_key_.insert(shape_key_.end(), shape.begin(), shape.end());
  if (values_[id].data != value.data) followers_moved_ = true;
  values_[id] = value;
  return Status::ok_status();
}

// Inputs of one run agree about the extents that have names.
Status Frame::check_symbols(graph::ValueId id) {
  const graph::Value& input = program_.graph().values[id];
  for (size_t d = 0; input.type.shape && d < input.type.shape->size(); ++d) {
    const int64_t dim = (*input.type.shape)[d];
    if (!graph::is_symbolic_dim(dim)) continue;
    int64_t& extent = symbol_extents_[graph::dim_symbol(dim)];
    const int64_t actual = values_[id].shape[d];
    if (extent >= 0 && extent != actual) {
      return Status(StatusCode::kInvalidArgument,
                    "input " + quote(input.name) + " has extent " + std::to_string(actual) +
                        " for " + quote(program_.symbols()[graph::dim_symbol(dim)]) +
                        ", which is " + std::to_string(extent) +
                        " in another input; make them equal");
    }
    extent = actual;
  }
  return Status::ok_status();
}

Status Frame::bind_body_input(size_t index, const HeldValue* held) {
  const graph::ValueId id = program_.graph().inputs[index];
  if (held == nullptr) return bind_input(index, nullptr);
  if (object(id) == nullptr) return bind_value(id, (*held)->view);
  EPHOST_ASSIGN_OR_RETURN(Value value, take_value(*held));
  return bind_object(id, std::move(value));
}

Status Frame::bind_captures(const Frame& outer) {
  for (const graph::ValueId id : program_.captures()) {
    if (program_.allocation().values[id].kind == plan::AllocKind::kNone) continue;
    const graph::ValueId from = program_.graph().values[id].outer;
    const Value* kept = outer.object(from);
    EPHOST_RETURN_IF_ERROR(kept != nullptr ? bind_object(id, *kept)
                                           : bind_value(id, outer.values_[from]));
  }
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
  // Where every value has its place, those of the last run are still right.
  if (program_.is_static() && followers_fit_ && !followers_moved_) return Status::ok_status();
  followers_fit_ = true;
  const std::vector<plan::ValuePlan>& plans = program_.allocation().values;
  for (const graph::ValueId id : program_.followers()) {
    const eph_value& root = values_[plans[id].reused];
    const graph::ValueType& type = program_.graph().values[id].type;
    const uint64_t offset = plans[id].offset;
    const bool fits = plans[id].bytes && root.data != nullptr && offset <= root.byte_size &&
                      *plans[id].bytes <= root.byte_size - offset;
    if (fits && type.element != ElementType::kString) {
      set_tensor(id, static_cast<std::byte*>(root.data) + offset, *plans[id].bytes, type.element,
                 *type.shape);
    } else {
      values_[id] = {};
      followers_fit_ = false;
    }
  }
  followers_moved_ = false;
  return Status::ok_status();
}

Status Frame::allocate_graph_output(graph::ValueId id, ElementType type,
                                    std::span<const int64_t> shape) {
  Value& output = outputs_[output_of_value_[id]];
  const bool fits =
      output.has_value() && output.element_type() == type &&
      std::equal(shape.begin(), shape.end(), output.shape().begin(), output.shape().end());
  if (!fits) {
    Result<Value> allocated = Value::allocate(type, {shape.begin(), shape.end()});
    if (!allocated.ok()) {
      const graph::Graph& graph = program_.graph();
      const graph::Value& value = graph.values[id];
      std::string what = "making output " + quote(value.name);
      if (value.producer != graph::kNoNode) {
        what += " of " + graph::describe_node(graph, value.producer);
      }
      return std::move(allocated).status().with_context(what);
    }
    output = std::move(allocated).value();
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
    if (const Value* kept = object(id)) {
      EPHOST_ASSIGN_OR_RETURN(outputs_[i], own_tensors(*kept));
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

// ---- Memory of values -------------------------------------------------------------------------

Status Frame::check_against_model(graph::ValueId id, ElementType type,
                                  std::span<const int64_t> shape) const {
  const graph::Value& value = program_.graph().values[id];
  const bool type_agrees =
      !is_object(value.type) &&
      (value.type.element == ElementType::kUndefined || value.type.element == type);
  if (type_agrees && (!value.type.shape || agrees(*value.type.shape, shape))) {
    return Status::ok_status();
  }
  return Status(StatusCode::kInvalidGraph,
                "value " + quote(value.name) + " came out as " + describe_tensor(type, shape) +
                    ", the model states " + graph::to_string(value.type, program_.symbols()) +
                    "; correct the model's shapes");
}

StringTensor& Frame::text_of(graph::ValueId id) {
  const std::lock_guard lock(memory_mutex_);
  return strings_[id];
}

Result<std::byte*> Frame::memory_for(graph::ValueId id, uint64_t bytes) {
  const plan::ValuePlan& planned = program_.allocation().values[id];
  // Where all values of a traced pattern are empty, there is no block.
  if (bytes == 0) return static_cast<std::byte*>(empty_tensor_memory());
  if (planned.kind == plan::AllocKind::kReuse) {
    const eph_value& root = values_[planned.reused];
    const bool is_text = root.element_type == EPH_STRING_ELEMENT;
    if (root.data != nullptr && root.byte_size >= bytes && planned.offset == 0 && !is_text) {
      return static_cast<std::byte*>(root.data);
    }
  }
  if (traced_ && traced_->bytes[id] && *traced_->bytes[id] >= bytes &&
      traced_->pattern.offsets[id] != plan::kNoOffset) {
    return block_at(planned.location) + traced_->pattern.offsets[id];
  }
  const std::string& name = program_.graph().values[id].name;
  const std::lock_guard lock(memory_mutex_);
  std::byte* memory = nullptr;
  if (planned.location == plan::kHostLocation) {
    memory = pool_.take(bytes);
    if (memory == nullptr) return out_of_memory(bytes, "value " + quote(name));
  } else {
    EPHOST_ASSIGN_OR_RETURN(memory, devices_[planned.location - 1].take(bytes, name));
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
  const uint32_t location = program_.allocation().values[id].location;
  if (type == ElementType::kString && location != plan::kHostLocation) {
    return Status(StatusCode::kInvalidGraph,
                  "value " + quote(program_.graph().values[id].name) +
                      " came out as text, which no memory but the host's can hold; state its type "
                      "in the model");
  }
  if (type == ElementType::kString) {
    const size_t count = static_cast<size_t>(bytes / sizeof(eph_string));
    eph_string* views = text_of(id).reset(count);
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

Result<bool> Frame::take_over(graph::ValueId id, Value& value) {
  EPHOST_RETURN_IF_ERROR(check_against_model(id, value.element_type(), value.shape()));
  const bool is_elsewhere = program_.allocation().values[id].location != plan::kHostLocation;
  if (values_[id].data != nullptr || is_elsewhere) return false;
  Value* kept = nullptr;
  if (program_.allocation().values[id].kind == plan::AllocKind::kAllocateOutput) {
    kept = &outputs_[output_of_value_[id]];
    // Memory that fits may be the caller's.
    if (kept->has_value() && kept->element_type() == value.element_type() &&
        kept->shape() == value.shape()) {
      return false;
    }
  } else {
    const std::lock_guard lock(memory_mutex_);
    kept = &adopted_[id];
  }
  *kept = std::move(value);
  const std::span<std::byte> bytes = kept->mutable_bytes();
  set_tensor(id, bytes.empty() ? empty_tensor_memory() : bytes.data(), bytes.size(),
             kept->element_type(), kept->shape());
  return true;
}

// ---- Callbacks --------------------------------------------------------------------------------

const eph_run_api Frame::kApi = {
    sizeof(eph_run_api),  &Frame::allocate_output, &Frame::set_string,  &Frame::allocate_scratch,
    &Frame::is_cancelled, &Frame::make_tensor,     &Frame::set_element, &Frame::make_sequence,
    &Frame::make_map,     &Frame::set_output};

int32_t Frame::allocate_output(eph_run* handle, uint32_t index, int32_t element_type,
                               const int64_t* shape, uint32_t rank, eph_error* error) noexcept {
  const auto& run = *static_cast<StepRun*>(handle);
  try {
    Frame& frame = *run.frame;
    const std::vector<graph::ValueId>& outputs = frame.program_.steps()[frame.step_of(run)].outputs;
    const bool is_wanted = index < outputs.size() && outputs[index] != graph::kNoValue &&
                           (shape != nullptr || rank == 0);
    const Status status =
        is_wanted ? frame.allocate_value(outputs[index], static_cast<ElementType>(element_type),
                                         {shape, rank})
                  : Status(StatusCode::kInvalidArgument,
                           "output " + std::to_string(index) + " does not exist or is not wanted");
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
    const std::vector<graph::ValueId>& outputs = frame.program_.steps()[frame.step_of(run)].outputs;
    const bool is_there = index < outputs.size() && outputs[index] != graph::kNoValue;
    if (is_there && frame.text_of(outputs[index]).set(element, text)) return EPH_OK;
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
    return static_cast<StepRun*>(handle)->lane->scratch.take(size);
  } catch (const std::exception&) {
    return nullptr;
  }
}

int32_t Frame::is_cancelled(const eph_run* handle) noexcept {
  return static_cast<const StepRun*>(handle)->frame->is_stopping() ? 1 : 0;
}

}  // namespace ephost::runtime
