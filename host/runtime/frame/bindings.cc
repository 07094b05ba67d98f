#include "host/runtime/frame/bindings.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/runtime/values/composite.h"
#include "host/runtime/values/device_value.h"

namespace ephost::runtime {
namespace {

constexpr size_t kNoOutput = std::numeric_limits<size_t>::max();

// Entries of a shape key for inputs that have no shape of their own. Ranks are never negative.
constexpr int64_t kDefaultKey = -1;
constexpr int64_t kObjectKey = -2;

std::span<const int64_t> shape_of(const eph_value& value) { return {value.shape, value.rank}; }

// Zeroed, as the memory of all Values is.
Result<Value> allocate(ElementType type, std::span<const int64_t> shape, uint64_t alignment) {
  const std::vector<int64_t> extents(shape.begin(), shape.end());
  if (alignment <= kAlignment) return Value::allocate(type, extents);
  EPHOST_ASSIGN_OR_RETURN(Value value, ValueAccess::allocate(type, extents, alignment));
  std::ranges::fill(value.mutable_bytes(), std::byte{0});
  return value;
}

}  // namespace

Bindings::Bindings(const Program& program, ValueTable& values, const FrameMemory& memory)
    : program_(program), values_(values), device_(program, values, memory) {
  const graph::Graph& graph = program.graph();
  output_of_value_.assign(graph.values.size(), kNoOutput);
  for (size_t i = graph.outputs.size(); i-- > 0;) output_of_value_[graph.outputs[i]] = i;
}

// ---- Inputs -----------------------------------------------------------------------------------

Status Bindings::bind_inputs(std::span<const Value* const> inputs) {
  inputs_ = inputs;
  shape_key_.clear();
  symbol_extents_.assign(program_.symbols().size(), -1);
  for (size_t i = 0; i < inputs.size(); ++i) EPHOST_RETURN_IF_ERROR(bind_input(i, inputs[i]));
  return Status::ok_status();
}

Status Bindings::bind_input(size_t index, const Value* value) {
  const graph::ValueId id = program_.graph().inputs[index];
  if (value != nullptr && value->memory() != nullptr) return bind_device_input(index, *value);
  if (value != nullptr && values_.object(id) != nullptr) return bind_object(id, *value);
  if (value == nullptr || !value->has_value()) {
    EPHOST_RETURN_IF_ERROR(bind_default(index));
    if (values_.object(id) != nullptr) return Status::ok_status();
  } else {
    EPHOST_RETURN_IF_ERROR(bind_tensor(id, view_of(*value)));
  }
  return check_symbols(id);
}

Status Bindings::bind_device_input(size_t index, const Value& value) {
  const graph::ValueId id = program_.graph().inputs[index];
  if (values_.object(id) != nullptr) {
    EPHOST_ASSIGN_OR_RETURN(Value copy, to_host(value));
    return bind_object(id, std::move(copy));
  }
  EPHOST_ASSIGN_OR_RETURN(const eph_value view, device_.view_input(index, value));
  EPHOST_RETURN_IF_ERROR(bind_tensor(id, view));
  device_.bind_input(index, view);
  return check_symbols(id);
}

Status Bindings::bind_default(size_t index) {
  const graph::ValueId id = program_.graph().inputs[index];
  const graph::Value& wanted = program_.graph().values[id];
  if (wanted.type.kind == graph::ValueKind::kOptional) return bind_object(id, Value());
  if (wanted.initializer == graph::kNoInitializer) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("input {} is missing; it has no default, so pass a value", quote(wanted.name)));
  }
  values_.set_view(id, program_.constants()[wanted.initializer]);
  shape_key_.push_back(kDefaultKey);
  return Status::ok_status();
}

Status Bindings::bind_tensor(graph::ValueId id, const eph_value& view) {
  const graph::Value& wanted = program_.graph().values[id];
  const auto element = static_cast<ElementType>(view.element_type);
  const std::span<const int64_t> shape = shape_of(view);
  if (view.kind != EPH_KIND_TENSOR || !admits_tensor(wanted.type, element, shape)) {
    return wrong_type(id, view);
  }
  shape_key_.push_back(static_cast<int64_t>(shape.size()));
  shape_key_.insert(shape_key_.end(), shape.begin(), shape.end());
  values_.set_view(id, view);
  return Status::ok_status();
}

Status Bindings::wrong_type(graph::ValueId id, const eph_value& value) const {
  if (is_body_) {
    const auto admits = [&](const graph::ValueType& type) {
      return value.kind == EPH_KIND_TENSOR
                 ? admits_tensor(type, static_cast<ElementType>(value.element_type),
                                 shape_of(value))
                 : conforms(value, type);
    };
    return refuse_value(program_, id, describe_value(value), admits);
  }
  const graph::Value& wanted = program_.graph().values[id];
  return Status(
      StatusCode::kInvalidArgument,
      formatted("input {} got {}, the model wants {}", quote(wanted.name), describe_value(value),
                graph::to_string(wanted.type, program_.symbols())));
}

Status Bindings::bind_object(graph::ValueId id, Value value) {
  const graph::Value& wanted = program_.graph().values[id];
  const eph_value view = view_of(value);
  if (!is_object(wanted.type) || !conforms(view, wanted.type)) {
    return wrong_type(id, view);
  }
  shape_key_.push_back(kObjectKey);
  values_.set_object(id, std::move(value));
  return Status::ok_status();
}

// Inputs of one run must agree about the extents that have names.
Status Bindings::check_symbols(graph::ValueId id) {
  const graph::Value& input = program_.graph().values[id];
  for (size_t d = 0; input.type.shape && d < input.type.shape->size(); ++d) {
    const int64_t dim = (*input.type.shape)[d];
    if (!graph::is_symbolic_dim(dim)) continue;
    int64_t& extent = symbol_extents_[graph::dim_symbol(dim)];
    const int64_t actual = values_[id].shape[d];
    if (extent >= 0 && extent != actual) {
      return Status(
          StatusCode::kInvalidArgument,
          formatted("input {} has extent {} for {}, which is {} in another input; make them equal",
                    quote(input.name), actual, quote(program_.symbols()[graph::dim_symbol(dim)]),
                    extent));
    }
    extent = actual;
  }
  return Status::ok_status();
}

Status Bindings::bind_body(const ValueTable& enclosing, std::span<const HeldValue> inputs) {
  shape_key_.clear();
  is_body_ = true;
  EPHOST_RETURN_IF_ERROR(bind_captures(enclosing));
  for (size_t i = 0; i < program_.graph().inputs.size(); ++i) {
    EPHOST_RETURN_IF_ERROR(i < inputs.size() ? bind_body_input(i, inputs[i]) : bind_default(i));
  }
  return Status::ok_status();
}

Status Bindings::bind_captures(const ValueTable& enclosing) {
  for (const graph::ValueId id : program_.captures()) {
    if (program_.allocation().values[id].kind == plan::AllocKind::kNone) continue;
    const graph::ValueId from = program_.graph().values[id].outer;
    const Value* const kept = enclosing.object(from);
    EPHOST_RETURN_IF_ERROR(kept != nullptr ? bind_object(id, *kept)
                                           : bind_tensor(id, enclosing[from]));
  }
  return Status::ok_status();
}

Status Bindings::bind_body_input(size_t index, const HeldValue& held) {
  const graph::ValueId id = program_.graph().inputs[index];
  if (values_.object(id) == nullptr) return bind_tensor(id, held->view);
  EPHOST_ASSIGN_OR_RETURN(Value value, take_value(held));
  return bind_object(id, std::move(value));
}

// ---- Outputs ----------------------------------------------------------------------------------

Status Bindings::bind_outputs(std::span<Value> outputs) {
  outputs_ = outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (is_read(i)) outputs[i] = wanted_like(outputs[i]);
  }
  device_.take_aside(outputs);
  const graph::Graph& graph = program_.graph();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const graph::ValueId id = graph.outputs[i];
    const plan::ValuePlan& planned = program_.allocation().values[id];
    if (planned.kind != plan::AllocKind::kAllocateOutput || output_of_value_[id] != i) continue;
    const graph::ValueType& type = graph.values[id].type;
    if (planned.bytes && type.element != ElementType::kString) {
      EPHOST_RETURN_IF_ERROR(allocate_output(id, type.element, *type.shape));
    } else {
      values_.clear(id);
    }
    const bool is_on_device = outputs[i].memory() != nullptr && outputs[i].has_value();
    if (is_on_device) device_.bind_output(i, outputs[i]);
  }
  return Status::ok_status();
}

bool Bindings::is_read(size_t output) const {
  const Value& value = outputs_[output];
  if (value.extent().empty()) return false;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] == nullptr || !reads(*inputs_[i], value)) continue;
    const bool is_same = inputs_[i]->extent().data() == value.extent().data() &&
                         inputs_[i]->extent().size() == value.extent().size();
    const SharedEnd end = {i, output, value.memory() != nullptr};
    if (!is_same || std::ranges::count(program_.shared_ends(), end) == 0) return true;
  }
  return false;
}

void Bindings::bind_followers() {
  // Where every value has its place, those of the last run are still right.
  if (program_.is_static() && followers_fit_ && !values_.has_moved()) return;
  followers_fit_ = true;
  const std::vector<plan::ValuePlan>& plans = program_.allocation().values;
  for (const graph::ValueId id : program_.followers()) {
    const eph_value& root = values_[plans[id].reused];
    const graph::ValueType& type = program_.graph().values[id].type;
    const uint64_t offset = plans[id].offset;
    const bool fits = plans[id].bytes && root.data != nullptr && offset <= root.byte_size &&
                      *plans[id].bytes <= root.byte_size - offset;
    if (fits && type.element != ElementType::kString) {
      values_.set_tensor(id, static_cast<std::byte*>(root.data) + offset, *plans[id].bytes,
                         type.element, *type.shape);
    } else {
      values_.clear(id);
      followers_fit_ = false;
    }
  }
  values_.reset_moved();
}

Status Bindings::allocate_output(graph::ValueId id, ElementType type,
                                 std::span<const int64_t> shape) {
  Value& value = output(id);
  const bool fits =
      value.has_value() && value.element_type() == type && std::ranges::equal(shape, value.shape());
  if (!fits) {
    Result<Value> allocated = value.memory() != nullptr
                                  ? allocate_on(*value.memory(), type, {shape.begin(), shape.end()})
                                  : allocate(type, shape, program_.alignment_of(id));
    if (!allocated.ok()) {
      const graph::Graph& graph = program_.graph();
      const graph::Value& stated = graph.values[id];
      std::string what = "making output " + quote(stated.name);
      if (stated.producer != graph::kNoNode) {
        what += " of " + graph::describe_node(graph, stated.producer);
      }
      return std::move(allocated).status().with_context(what);
    }
    value = std::move(allocated).value();
  }
  const std::span<std::byte> bytes = value.extent();
  values_.set_tensor(id, bytes.empty() ? empty_tensor_memory() : bytes.data(), bytes.size(), type,
                     value.shape());
  if (value.memory() != nullptr) {
    values_.slot(id)->memory = device_.memory_of(output_of_value_[id]);
  }
  return Status::ok_status();
}

Status Bindings::collect_outputs() {
  for (size_t i = 0; i < outputs_.size(); ++i) EPHOST_RETURN_IF_ERROR(collect_output(i));
  return device_.collect(outputs_);
}

void Bindings::end_run() {
  device_.end_run(outputs_);
  inputs_ = {};
  outputs_ = {};
}

// Not in place are text, and outputs that are inputs, constants, or listed twice.
Status Bindings::collect_output(size_t index) {
  const graph::ValueId id = program_.graph().outputs[index];
  Value& output = outputs_[index];
  if (output_of_value_[id] != index) {
    output = outputs_[output_of_value_[id]];
    return Status::ok_status();
  }
  if (const Value* const kept = values_.object(id)) {
    EPHOST_ASSIGN_OR_RETURN(output, own_tensors(*kept));
    return Status::ok_status();
  }
  const eph_value& value = values_[id];
  if (value.element_type == EPH_ELEMENT_STRING) {
    EPHOST_ASSIGN_OR_RETURN(output, copy_tensor(value));
    return Status::ok_status();
  }
  if (output.has_value() && output.bytes().data() == value.data) return Status::ok_status();
  if (program_.allocation().values[id].kind == plan::AllocKind::kAllocateOutput) {
    return Status::ok_status();
  }
  return copy_output(id);
}

Status Bindings::copy_output(graph::ValueId id) {
  const eph_value source = values_[id];
  const auto type = static_cast<ElementType>(source.element_type);
  EPHOST_RETURN_IF_ERROR(allocate_output(id, type, shape_of(source)));
  if (source.byte_size != 0) std::memcpy(values_[id].data, source.data, source.byte_size);
  *values_.slot(id) = source;
  return Status::ok_status();
}

}  // namespace ephost::runtime
