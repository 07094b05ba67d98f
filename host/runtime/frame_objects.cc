// The values of a frame that are no tensors, and the callbacks through which computations make
// them. They lie outside of the allocation plan: the frame holds a reference to each until its last
// reader is done.
#include <algorithm>
#include <cstring>
#include <utility>

#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/runtime/frame.h"
#include "host/runtime/values/composite.h"

namespace ephost::runtime {
namespace {

// Tells in the shape key of a run that there is a value without a shape.
constexpr int64_t kNoShape = -2;

// Runs a callback and carries its failure over the boundary.
template <class Body>
int32_t carry_over(eph_error* error, Body&& body) {
  try {
    const Status status = body();
    if (status.ok()) return EPH_OK;
    error->api->set_message(error, bridge::to_abi(status.message()));
    return static_cast<int32_t>(status.code());
  } catch (const std::exception& exception) {
    error->api->set_message(error, bridge::to_abi(exception.what()));
    return EPH_FAIL;
  }
}

template <class View>
Status give(Result<View*> made, View** out) {
  if (!made.ok()) return std::move(made).status();
  *out = made.value();
  return Status::ok_status();
}

Status null_array(const std::string& what) {
  return Status(StatusCode::kInvalidArgument, what + " came as a null pointer");
}

}  // namespace

// ---- Values -----------------------------------------------------------------------------------

Status Frame::bind_object(graph::ValueId id, Value value) {
  const graph::Value& wanted = program_.graph().values[id];
  const eph_value view = view_of(value);
  if (!is_object(wanted.type) || !conforms(view, wanted.type)) {
    return Status(StatusCode::kInvalidArgument,
                  (wanted.outer == graph::kNoValue ? "input " : "captured value ") +
                      quote(wanted.name) + " got " + describe_value(view) + ", the model wants " +
                      graph::to_string(wanted.type, program_.symbols()));
  }
  shape_key_.push_back(kNoShape);
  values_[id] = view;
  objects_[id] = std::move(value);
  return Status::ok_status();
}

Status Frame::set_object(graph::ValueId id, Value value) {
  const graph::Value& stated = program_.graph().values[id];
  value = with_declared_type(std::move(value), stated.type);
  const eph_value view = view_of(value);
  if (!conforms(view, stated.type)) {
    return Status(StatusCode::kInvalidGraph, "value " + quote(stated.name) + " came out as " +
                                                 describe_value(view) + ", the model states " +
                                                 graph::to_string(stated.type, program_.symbols()) +
                                                 "; correct the model's types");
  }
  values_[id] = view;
  objects_[id] = std::move(value);
  return Status::ok_status();
}

// So that the caller may hold it alone. The next run binds or makes it anew.
std::optional<Value> Frame::take_output_object(size_t index) {
  const std::vector<graph::ValueId>& outputs = program_.graph().outputs;
  const auto kept = objects_.find(outputs[index]);
  if (kept == objects_.end()) return std::nullopt;
  const auto later = outputs.begin() + static_cast<std::ptrdiff_t>(index) + 1;
  if (std::find(later, outputs.end(), outputs[index]) != outputs.end()) return kept->second;
  return std::exchange(kept->second, Value());
}

Status Frame::copy_to(graph::ValueId id, const eph_value& tensor) {
  const auto type = static_cast<ElementType>(tensor.element_type);
  if (tensor.kind != EPH_KIND_TENSOR) {
    return Status(StatusCode::kInvalidGraph,
                  "value " + quote(program_.graph().values[id].name) + " came out as " +
                      describe_value(tensor) + ", the model states " +
                      graph::to_string(program_.graph().values[id].type, program_.symbols()) +
                      "; correct the model's types");
  }
  eph_value& target = values_[id];
  if (target.data == nullptr || !same_tensor_type(target, tensor)) {
    EPHOST_RETURN_IF_ERROR(allocate_value(id, type, {tensor.shape, tensor.rank}));
  }
  if (type == ElementType::kString) {
    const auto* texts = static_cast<const eph_string*>(tensor.data);
    StringTensor& strings = text_of(id);
    for (uint64_t i = 0; i < tensor.byte_size / sizeof(eph_string); ++i) {
      [[maybe_unused]] const bool is_there = strings.set(i, texts[i]);
    }
    return Status::ok_status();
  }
  const uint32_t location = program_.allocation().values[id].location;
  if (location != plan::kHostLocation) {
    return program_.devices()[location - 1].provider->device_memory().copy(
        target.memory, target.data, bridge::kHostMemory, tensor.data, tensor.byte_size,
        "value " + quote(program_.graph().values[id].name));
  }
  if (tensor.byte_size != 0) std::memcpy(target.data, tensor.data, tensor.byte_size);
  return Status::ok_status();
}

// A value with a single reader that is no graph output is not needed after that one.
ValueBuilder& Frame::builder(StepRun& run) {
  std::unique_ptr<ValueBuilder>& builder = builders_[step_of(run)];
  if (builder != nullptr) return *builder;
  const std::vector<graph::ValueId>& ids = program_.steps()[step_of(run)].inputs;
  std::vector<ValueBuilder::Input> inputs(run.input_count);
  for (uint32_t i = 0; i < run.input_count; ++i) {
    inputs[i].view = run.inputs[i];
    if (ids[i] == graph::kNoValue) continue;
    const auto kept = objects_.find(ids[i]);
    if (kept == objects_.end()) continue;
    inputs[i].object = &kept->second;
    const graph::Value& value = program_.graph().values[ids[i]];
    const bool is_last = value.consumers.size() == 1 && !value.is_graph_output &&
                         std::count(ids.begin(), ids.end(), ids[i]) == 1;
    if (is_last) inputs[i].taken_view = &values_[ids[i]];
  }
  has_builders_.store(true, std::memory_order_relaxed);
  builder = std::make_unique<ValueBuilder>(std::move(inputs));
  return *builder;
}

Status Frame::set_step_output(StepRun& run, uint32_t index, const eph_value* value) {
  const std::vector<graph::ValueId>& outputs = program_.steps()[step_of(run)].outputs;
  if (index >= outputs.size() || outputs[index] == graph::kNoValue) {
    return Status(StatusCode::kInvalidArgument,
                  "output " + std::to_string(index) + " does not exist or is not wanted");
  }
  const graph::ValueId id = outputs[index];
  // An only output may have an input as it is, if nobody else needs that.
  const bool is_only = run.output_count == 1 && object(id) != nullptr;
  EPHOST_ASSIGN_OR_RETURN(Value made, builder(run).find(value, is_only));
  return object(id) != nullptr ? set_object(id, std::move(made)) : copy_to(id, view_of(made));
}

// ---- Callbacks --------------------------------------------------------------------------------

int32_t Frame::make_tensor(eph_run* handle, int32_t element_type, const int64_t* shape,
                           uint32_t rank, eph_value** out, eph_error* error) noexcept {
  *out = nullptr;
  auto& run = *static_cast<StepRun*>(handle);
  return carry_over(error, [&] {
    if (shape == nullptr && rank != 0) return null_array("the shape of a tensor");
    const std::span<const int64_t> extents(shape, rank);
    return give(
        run.frame->builder(run).make_tensor(static_cast<ElementType>(element_type), extents), out);
  });
}

int32_t Frame::set_element(eph_run* handle, eph_value* tensor, uint64_t element, eph_string text,
                           eph_error* error) noexcept {
  auto& run = *static_cast<StepRun*>(handle);
  return carry_over(error,
                    [&] { return run.frame->builder(run).set_element(tensor, element, text); });
}

int32_t Frame::make_sequence(eph_run* handle, const eph_value* base, uint64_t position,
                             uint64_t removed, const eph_value* const* inserted, uint64_t count,
                             const eph_value** out, eph_error* error) noexcept {
  *out = nullptr;
  auto& run = *static_cast<StepRun*>(handle);
  return carry_over(error, [&] {
    if (inserted == nullptr && count != 0) return null_array("the elements of a sequence");
    const std::span<const eph_value* const> elements(inserted, static_cast<size_t>(count));
    return give(run.frame->builder(run).make_sequence(base, position, removed, elements), out);
  });
}

int32_t Frame::make_map(eph_run* handle, const eph_value* keys, const eph_value* values,
                        const eph_value** out, eph_error* error) noexcept {
  *out = nullptr;
  auto& run = *static_cast<StepRun*>(handle);
  return carry_over(error,
                    [&] { return give(run.frame->builder(run).make_map(keys, values), out); });
}

int32_t Frame::set_output(eph_run* handle, uint32_t index, const eph_value* value,
                          eph_error* error) noexcept {
  auto& run = *static_cast<StepRun*>(handle);
  return carry_over(error, [&] { return run.frame->set_step_output(run, index, value); });
}

}  // namespace ephost::runtime
