#include "host/runtime/frame/step_outputs.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/runtime/values/composite.h"

namespace ephost::runtime {
namespace {

void copy_text(StringTensor& to, const eph_value& from) {
  const auto* texts = static_cast<const eph_string*>(from.data);
  for (uint64_t i = 0; i < from.byte_size / sizeof(eph_string); ++i) {
    [[maybe_unused]] const bool exists = to.set(i, texts[i]);
  }
}

}  // namespace

StepOutputs::StepOutputs(const Program& program, ValueTable& values, FrameMemory& memory,
                         Bindings& bindings)
    : program_(program),
      values_(values),
      memory_(memory),
      bindings_(bindings),
      traced_sizes_(program.graph().values.size()) {}

void StepOutputs::place_all() {
  const std::vector<plan::ValuePlan>& plans = program_.allocation().values;
  for (graph::ValueId id = 0; id < plans.size(); ++id) {
    const graph::ValueType& type = program_.graph().values[id].type;
    const bool has_offset = memory_.pattern().offsets[id] != plan::kNoOffset;
    if (!has_offset || !plans[id].bytes || type.element == ElementType::kString) continue;
    void* const data = *plans[id].bytes == 0 ? empty_tensor_memory() : memory_.place(id);
    values_.set_tensor(id, data, *plans[id].bytes, type.element, *type.shape);
  }
}

Status StepOutputs::allocate(graph::ValueId id, ElementType type,
                             std::span<const int64_t> given_shape) {
  if (type == ElementType::kUndefined) type = program_.graph().values[id].type.element;
  EPHOST_ASSIGN_OR_RETURN(const uint64_t bytes, tensor_bytes(type, given_shape));
  EPHOST_RETURN_IF_ERROR(check_tensor(id, type, given_shape));
  if (type == ElementType::kString) return allocate_text(id, bytes, given_shape);
  if (program_.allocation().values[id].kind == plan::AllocKind::kAllocateOutput) {
    return bindings_.allocate_output(id, type, given_shape);
  }
  traced_sizes_[id] = bytes;
  EPHOST_ASSIGN_OR_RETURN(std::byte* const memory, memory_for(id, bytes));
  // Not before: what failed leaves an output that was allocated before as it was.
  values_.set_tensor(id, memory, bytes, type, values_.keep_shape(id, given_shape));
  return Status::ok_status();
}

Status StepOutputs::check_tensor(graph::ValueId id, ElementType type,
                                 std::span<const int64_t> shape) const {
  const auto admits = [&](const graph::ValueType& wanted) {
    return admits_tensor(wanted, type, shape);
  };
  if (admits(program_.graph().values[id].type)) return Status::ok_status();
  return refuse_value(program_, id, describe_tensor(type, shape), admits);
}

Status StepOutputs::allocate_text(graph::ValueId id, uint64_t bytes,
                                  std::span<const int64_t> shape) {
  if (program_.allocation().values[id].location != plan::kHostLocation) {
    return Status(StatusCode::kInvalidGraph,
                  formatted("value {} came out as text, which only host memory can hold; "
                            "declare its type in the model",
                            quote(program_.graph().values[id].name)));
  }
  const auto count = static_cast<size_t>(bytes / sizeof(eph_string));
  eph_string* const views = values_.text(id).reset(count);
  values_.set_tensor(id, count == 0 ? empty_tensor_memory() : views, bytes, ElementType::kString,
                     values_.keep_shape(id, shape));
  return Status::ok_status();
}

Result<std::byte*> StepOutputs::memory_for(graph::ValueId id, uint64_t bytes) {
  // Where all values of a traced pattern are empty, there is no block.
  if (bytes == 0) return static_cast<std::byte*>(empty_tensor_memory());
  if (std::byte* const place = bindings_.place_on_device(id, bytes)) return place;
  const plan::ValuePlan& planned = program_.allocation().values[id];
  if (planned.kind == plan::AllocKind::kReuse) {
    const eph_value& root = values_[planned.reused];
    const bool is_text = root.element_type == EPH_ELEMENT_STRING;
    if (root.data != nullptr && root.byte_size >= bytes && planned.offset == 0 && !is_text) {
      return static_cast<std::byte*>(root.data);
    }
  }
  // The traced size may be that of a run with other values in the same shapes of inputs.
  const TracedPattern* const traced = memory_.traced();
  if (traced != nullptr && traced->bytes[id] && *traced->bytes[id] >= bytes) {
    if (std::byte* const place = memory_.place(id)) return place;
  }
  return memory_.take(id, bytes);
}

Status StepOutputs::copy(graph::ValueId id, const eph_value& tensor) {
  if (tensor.kind != EPH_KIND_TENSOR) return wrong_kind(id, tensor);
  const auto type = static_cast<ElementType>(tensor.element_type);
  const eph_value& target = values_[id];
  if (target.data == nullptr || !same_tensor_type(target, tensor)) {
    EPHOST_RETURN_IF_ERROR(allocate(id, type, {tensor.shape, tensor.rank}));
    assert(target.data != nullptr);
  }
  if (type == ElementType::kString) {
    copy_text(values_.text(id), tensor);
    return Status::ok_status();
  }
  const uint32_t location = program_.allocation().values[id].location;
  if (location != plan::kHostLocation) {
    const bridge::DeviceMemory& memory = program_.devices()[location - 1].memory;
    return memory.device->copy(memory.number, target.data, bridge::kHostMemory, tensor.data,
                               tensor.byte_size,
                               "value " + quote(program_.graph().values[id].name));
  }
  if (tensor.byte_size != 0) std::memcpy(target.data, tensor.data, tensor.byte_size);
  return Status::ok_status();
}

Result<bool> StepOutputs::take_over(graph::ValueId id, Value& tensor) {
  EPHOST_RETURN_IF_ERROR(check_tensor(id, tensor.element_type(), tensor.shape()));
  const plan::ValuePlan& planned = program_.allocation().values[id];
  if (values_[id].data != nullptr || planned.location != plan::kHostLocation) return false;
  Value* kept = nullptr;
  if (planned.kind == plan::AllocKind::kAllocateOutput) {
    kept = &bindings_.output(id);
    // Memory that fits may be the caller's.
    const bool fits = kept->has_value() && kept->element_type() == tensor.element_type() &&
                      kept->shape() == tensor.shape();
    if (fits) return false;
  } else {
    kept = &memory_.adopt(id);
  }
  *kept = std::move(tensor);
  const std::span<std::byte> bytes = kept->mutable_bytes();
  values_.set_tensor(id, bytes.empty() ? empty_tensor_memory() : bytes.data(), bytes.size(),
                     kept->element_type(), kept->shape());
  return true;
}

Status StepOutputs::set_object(graph::ValueId id, Value value) {
  const graph::ValueType& type = program_.graph().values[id].type;
  value = with_declared_type(std::move(value), type);
  const eph_value view = view_of(value);
  if (!conforms(view, type)) return wrong_kind(id, view);
  values_.set_object(id, std::move(value));
  return Status::ok_status();
}

Status StepOutputs::wrong_kind(graph::ValueId id, const eph_value& value) const {
  return refuse_value(program_, id, describe_value(value),
                      [&](const graph::ValueType& type) { return conforms(value, type); });
}

void StepOutputs::end_run() {
  if (program_.is_static()) return;
  const std::vector<plan::ValuePlan>& plans = program_.allocation().values;
  for (graph::ValueId id = 0; id < plans.size(); ++id) {
    const bool is_own =
        plans[id].kind == plan::AllocKind::kAllocate || plans[id].kind == plan::AllocKind::kReuse;
    const bool is_fixed = plans[id].bytes && memory_.pattern().offsets[id] != plan::kNoOffset;
    if (is_own && !is_fixed) values_.clear_data(id);
    traced_sizes_[id].reset();
  }
}

}  // namespace ephost::runtime
