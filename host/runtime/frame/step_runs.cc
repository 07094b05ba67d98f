#include "host/runtime/frame/step_runs.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/bridge/callback.h"
#include "host/runtime/values/composite.h"

namespace ephost::runtime {
namespace {

template <class View>
Status store(Result<View*> made, View** out) {
  if (!made.ok()) return std::move(made).status();
  *out = made.value();
  return Status::ok_status();
}

Status no_output(uint32_t index) {
  return Status(StatusCode::kInvalidArgument,
                formatted("output {} does not exist or is not wanted", index));
}

Status null_array(const std::string& what) {
  return Status(StatusCode::kInvalidArgument, what + " came as a null pointer");
}

}  // namespace

const eph_run_api StepRuns::kApi = {
    sizeof(eph_run_api),         &StepRuns::allocate_output, &StepRuns::set_string,
    &StepRuns::allocate_scratch, &StepRuns::is_cancelled,    &StepRuns::make_tensor,
    &StepRuns::set_element,      &StepRuns::make_sequence,   &StepRuns::make_map,
    &StepRuns::set_output,       &StepRuns::allocate_in};

StepRuns::StepRuns(const Program& program, ValueTable& values, FrameMemory& memory,
                   StepOutputs& outputs, const StopSignal& stop)
    : program_(program),
      values_(values),
      memory_(memory),
      outputs_(outputs),
      stop_(stop),
      aligned_(program, values),
      shared_(program, values, aligned_, outputs),
      foreign_(program, values) {
  const std::span<const plan::Step> steps = program.steps();
  for (size_t step = 0; step < steps.size(); ++step) {
    const bool is_aligned = aligned_.has(step);
    const auto add = [&](const std::vector<graph::ValueId>& ids, auto aligned, auto foreign,
                         auto& slots) {
      for (size_t i = 0; i < ids.size(); ++i) {
        eph_value* slot = nullptr;
        if (ids[i] != graph::kNoValue) {
          slot = is_aligned ? aligned(i) : foreign(i);
          if (slot == nullptr) slot = values.slot(ids[i]);
        }
        slots.push_back(slot);
      }
    };
    const size_t first = input_slots_.size();
    add(
        steps[step].inputs, [&](size_t i) { return aligned_.input(step, i); },
        [&](size_t i) { return foreign_.input(step, i); }, input_slots_);
    for (size_t i = 0; shared_.has(step) && i < steps[step].inputs.size(); ++i) {
      if (const eph_value* const shared = shared_.input(step, i)) input_slots_[first + i] = shared;
    }
    add(
        steps[step].outputs, [&](size_t i) { return aligned_.output(step, i); },
        [&](size_t i) { return foreign_.output(step, i); }, output_slots_);
  }
  runs_.resize(steps.size());
  builders_.resize(steps.size());
  const eph_value* const* first_input = input_slots_.data();
  eph_value* const* first_output = output_slots_.data();
  for (size_t i = 0; i < steps.size(); ++i) {
    StepRun& run = runs_[i];
    run.struct_size = sizeof(eph_run);
    run.api = &kApi;
    run.inputs = first_input;
    run.outputs = first_output;
    run.input_count = static_cast<uint32_t>(steps[i].inputs.size());
    run.output_count = static_cast<uint32_t>(steps[i].outputs.size());
    run.step = i;
    run.owner = this;
    first_input += run.input_count;
    first_output += run.output_count;
  }
}

Status StepRuns::prepare_step(size_t step, const bridge::Stream* stream) {
  if (aligned_.has(step)) EPHOST_RETURN_IF_ERROR(aligned_.begin(step));
  foreign_.update(step);
  if (!shared_.has(step)) return Status::ok_status();
  if (stream != nullptr && shared_.copies_in_host(step)) {
    EPHOST_RETURN_IF_ERROR(streams_->finish_step(static_cast<uint32_t>(step)));
  }
  return shared_.begin(step, stream);
}

Status StepRuns::finish_step(size_t step) {
  if (!aligned_.has(step)) return Status::ok_status();
  EPHOST_RETURN_IF_ERROR(wait_for(runs_[step]));
  aligned_.end(step);
  return Status::ok_status();
}

Status StepRuns::wait_for(const StepRun& run) {
  if (run.stream == nullptr) return Status::ok_status();
  return streams_->finish_step(static_cast<uint32_t>(step_of(run)));
}

void StepRuns::end_run() {
  if (!has_builders_.exchange(false, std::memory_order_relaxed)) return;
  for (std::unique_ptr<ValueBuilder>& builder : builders_) builder.reset();
}

graph::ValueId StepRuns::output_id(const StepRun& run, uint32_t index) const {
  const std::vector<graph::ValueId>& outputs = program_.steps()[step_of(run)].outputs;
  return index < outputs.size() ? outputs[index] : graph::kNoValue;
}

ValueBuilder& StepRuns::builder(const StepRun& run) {
  std::unique_ptr<ValueBuilder>& builder = builders_[step_of(run)];
  if (builder != nullptr) return *builder;
  const std::vector<graph::ValueId>& ids = program_.steps()[step_of(run)].inputs;
  std::vector<ValueBuilder::Input> inputs(run.input_count);
  for (uint32_t i = 0; i < run.input_count; ++i) {
    inputs[i].view = run.inputs[i];
    if (ids[i] == graph::kNoValue) continue;
    inputs[i].object = values_.object(ids[i]);
    if (inputs[i].object == nullptr) continue;
    // A value with a single reader that is not a graph output is not needed after that one.
    const graph::Value& value = program_.graph().values[ids[i]];
    const bool is_last = value.consumers.size() == 1 && !value.is_graph_output &&
                         std::ranges::count(ids, ids[i]) == 1;
    if (!is_last) continue;
    inputs[i].taken_view = values_.slot(ids[i]);
    if (aligned_.has(step_of(run))) inputs[i].taken_copy = aligned_.input(step_of(run), i);
  }
  has_builders_.store(true, std::memory_order_relaxed);
  builder = std::make_unique<ValueBuilder>(std::move(inputs));
  return *builder;
}

Status StepRuns::give(const StepRun& run, uint32_t index, const eph_value* value) {
  const graph::ValueId id = output_id(run, index);
  if (id == graph::kNoValue) return no_output(index);
  const bool is_object = values_.object(id) != nullptr;
  // An only output may be an input itself, if nothing else needs that.
  EPHOST_ASSIGN_OR_RETURN(Value made, builder(run).find(value, run.output_count == 1 && is_object));
  // The host copies it now: the output's memory may be in use by what is enqueued, and the value
  // may be an input that is yet to be made.
  if (!is_object) EPHOST_RETURN_IF_ERROR(wait_for(run));
  EPHOST_RETURN_IF_ERROR(is_object ? outputs_.set_object(id, std::move(made))
                                   : outputs_.copy(id, view_of(made)));
  if (aligned_.has(step_of(run))) aligned_.keep_output(step_of(run), index);
  return Status::ok_status();
}

// ---- eph_run_api ------------------------------------------------------------------------------

int32_t StepRuns::allocate_output(eph_run* handle, uint32_t index, int32_t element_type,
                                  const int64_t* shape, uint32_t rank, eph_error* error) noexcept {
  const auto& run = *static_cast<StepRun*>(handle);
  return bridge::run_callback(error, [&]() -> Status {
    StepRuns& runs = *run.owner;
    const graph::ValueId id = runs.output_id(run, index);
    if (id == graph::kNoValue) return no_output(index);
    if (shape == nullptr && rank != 0) return null_array("the shape of an output");
    const auto type = static_cast<ElementType>(element_type);
    EPHOST_RETURN_IF_ERROR(runs.outputs_.allocate(id, type, {shape, rank}));
    const size_t step = runs.step_of(run);
    runs.foreign_.update(step);
    return runs.aligned_.has(step) ? runs.aligned_.update_output(step, index) : Status::ok_status();
  });
}

int32_t StepRuns::set_string(eph_run* handle, uint32_t index, uint64_t element, eph_string text,
                             eph_error* error) noexcept {
  const auto& run = *static_cast<StepRun*>(handle);
  return bridge::run_callback(error, [&]() -> Status {
    const graph::ValueId id = run.owner->output_id(run, index);
    if (id == graph::kNoValue) return no_output(index);
    if (run.owner->values_.text(id).set(element, text)) return Status::ok_status();
    return Status(StatusCode::kInvalidArgument,
                  formatted("output {} has no string element {}", index, element));
  });
}

void* StepRuns::allocate_scratch(eph_run* handle, uint64_t size) noexcept {
  try {
    return static_cast<StepRun*>(handle)->lane->scratch.take(size);
  } catch (const std::exception&) {
    return nullptr;
  }
}

int32_t StepRuns::is_cancelled(const eph_run* handle) noexcept {
  return static_cast<const StepRun*>(handle)->owner->stop_.is_stopping() ? 1 : 0;
}

Result<std::byte*> StepRuns::take_scratch(const StepRun& run, uint32_t memory, uint64_t size) {
  const size_t step = step_of(run);
  const bridge::Computation& computation = *program_.computation(step);
  const std::optional<uint32_t> location = program_.location_of(computation.provider(), memory);
  if (!location) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("the provider has no memory {} on a device", memory));
  }
  if (size == 0) {
    return Status(StatusCode::kInvalidArgument,
                  "scratch memory of 0 bytes was asked for; ask for at least 1");
  }
  EPHOST_ASSIGN_OR_RETURN(const DeviceScratch taken, memory_.take_scratch(*location, size, step));
  run.lane->device_scratch.push_back(taken);
  return taken.data;
}

int32_t StepRuns::allocate_in(eph_run* handle, uint32_t memory, uint64_t size, void** out_data,
                              eph_error* error) noexcept {
  *out_data = nullptr;
  const auto& run = *static_cast<StepRun*>(handle);
  return bridge::run_callback(error, [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(*out_data, run.owner->take_scratch(run, memory, size));
    return Status::ok_status();
  });
}

int32_t StepRuns::make_tensor(eph_run* handle, int32_t element_type, const int64_t* shape,
                              uint32_t rank, eph_value** out, eph_error* error) noexcept {
  *out = nullptr;
  const auto& run = *static_cast<StepRun*>(handle);
  return bridge::run_callback(error, [&] {
    if (shape == nullptr && rank != 0) return null_array("the shape of a tensor");
    const auto type = static_cast<ElementType>(element_type);
    return store(run.owner->builder(run).make_tensor(type, {shape, rank}), out);
  });
}

int32_t StepRuns::set_element(eph_run* handle, eph_value* tensor, uint64_t element, eph_string text,
                              eph_error* error) noexcept {
  const auto& run = *static_cast<StepRun*>(handle);
  return bridge::run_callback(
      error, [&] { return run.owner->builder(run).set_element(tensor, element, text); });
}

int32_t StepRuns::make_sequence(eph_run* handle, const eph_value* base, uint64_t position,
                                uint64_t removed, const eph_value* const* inserted, uint64_t count,
                                const eph_value** out, eph_error* error) noexcept {
  *out = nullptr;
  const auto& run = *static_cast<StepRun*>(handle);
  return bridge::run_callback(error, [&] {
    if (inserted == nullptr && count != 0) return null_array("the elements of a sequence");
    const std::span<const eph_value* const> elements(inserted, static_cast<size_t>(count));
    return store(run.owner->builder(run).make_sequence(base, position, removed, elements), out);
  });
}

int32_t StepRuns::make_map(eph_run* handle, const eph_value* keys, const eph_value* values,
                           const eph_value** out, eph_error* error) noexcept {
  *out = nullptr;
  const auto& run = *static_cast<StepRun*>(handle);
  return bridge::run_callback(
      error, [&] { return store(run.owner->builder(run).make_map(keys, values), out); });
}

int32_t StepRuns::set_output(eph_run* handle, uint32_t index, const eph_value* value,
                             eph_error* error) noexcept {
  const auto& run = *static_cast<StepRun*>(handle);
  return bridge::run_callback(error, [&] { return run.owner->give(run, index, value); });
}

}  // namespace ephost::runtime
