#include "host/runtime/frame/slots/shared_slots.h"

#include <cstring>
#include <span>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/provider.h"

namespace ephost::runtime {

SharedSlots::SharedSlots(const Program& program, ValueTable& values, AlignedSlots& aligned,
                         StepOutputs& outputs)
    : program_(program), aligned_(aligned), outputs_(outputs), steps_(program.steps().size()) {
  for (size_t i = 0; i < steps_.size(); ++i) {
    const bridge::Computation* const computation = program.computation(i);
    if (computation == nullptr || computation->must_share().empty()) continue;
    const plan::Step& step = program.steps()[i];
    const auto id_of = [](const std::vector<graph::ValueId>& ids, uint32_t slot) {
      return slot < ids.size() ? ids[slot] : graph::kNoValue;
    };
    auto pairs = std::make_unique<Pairs>();
    for (const plan::SlotPair& given : computation->must_share()) {
      Pair pair = {given.input, given.output, id_of(step.inputs, given.input),
                   id_of(step.outputs, given.output)};
      if (pair.input_id == graph::kNoValue || pair.output_id == graph::kNoValue) continue;
      const bool is_aligned = aligned.has(i);
      pair.from = is_aligned ? aligned.input(i, pair.input) : values.slot(pair.input_id);
      pair.to = is_aligned ? aligned.output(i, pair.output) : values.slot(pair.output_id);
      pairs->push_back(pair);
    }
    if (!pairs->empty()) steps_[i] = std::move(pairs);
  }
}

eph_value* SharedSlots::input(size_t step, size_t slot) {
  for (Pair& pair : *steps_[step]) {
    if (pair.input == slot) return &pair.view;
  }
  return nullptr;
}

bool SharedSlots::bind(size_t step) {
  for (Pair& pair : *steps_[step]) {
    pair.view = *pair.from;
    if (pair.from->data != pair.to->data || pair.from->byte_size != pair.to->byte_size)
      return false;
  }
  return true;
}

bool SharedSlots::copies_in_host(size_t step) const {
  for (const Pair& pair : *steps_[step]) {
    const bool is_in_host =
        pair.from->memory == bridge::kHostMemory && pair.to->memory == bridge::kHostMemory;
    if (is_in_host && pair.from->data != pair.to->data) return true;
  }
  return false;
}

Status SharedSlots::begin(size_t step, const bridge::Stream* stream) {
  for (Pair& pair : *steps_[step]) {
    EPHOST_RETURN_IF_ERROR(prepare(step, pair));
    const bool is_there = pair.from->data == pair.to->data || pair.from->byte_size == 0;
    if (!is_there) EPHOST_RETURN_IF_ERROR(copy(step, pair, stream));
    pair.view = *pair.from;
    pair.view.data = pair.to->data;
    pair.view.memory = pair.to->memory;
  }
  return Status::ok_status();
}

Status SharedSlots::prepare(size_t step, Pair& pair) {
  const auto refuse = [&](std::string_view what) {
    const graph::Graph& graph = program_.graph();
    return Status(StatusCode::kInvalidGraph,
                  formatted("{} changes value {} where it is and makes value {} of it, but {}",
                            program_.describe_step(step), quote(graph.values[pair.input_id].name),
                            quote(graph.values[pair.output_id].name), what));
  };
  if (pair.from->kind != EPH_KIND_TENSOR || pair.from->element_type == EPH_ELEMENT_STRING) {
    return refuse("only tensors of numbers can share memory");
  }
  if (pair.to->data == nullptr) {
    EPHOST_RETURN_IF_ERROR(outputs_.allocate(pair.output_id,
                                             static_cast<ElementType>(pair.from->element_type),
                                             {pair.from->shape, pair.from->rank}));
    if (aligned_.has(step)) EPHOST_RETURN_IF_ERROR(aligned_.update_output(step, pair.output));
  }
  if (pair.from->byte_size == pair.to->byte_size) return Status::ok_status();
  return refuse(formatted("they have {} and {} bytes", pair.from->byte_size, pair.to->byte_size));
}

Status SharedSlots::copy(size_t step, const Pair& pair, const bridge::Stream* stream) const {
  const eph_value& from = *pair.from;
  const eph_value& to = *pair.to;
  if (from.memory == bridge::kHostMemory && to.memory == bridge::kHostMemory) {
    std::memcpy(to.data, from.data, from.byte_size);
    return Status::ok_status();
  }
  const std::span<const bridge::DeviceMemory> memories =
      program_.computation(step)->provider().memories();
  const auto number_of = [&](uint32_t memory) {
    return memory == bridge::kHostMemory ? bridge::kHostMemory : memories[memory - 1].number;
  };
  const bridge::DeviceMemory& device =
      memories[(to.memory == bridge::kHostMemory ? from.memory : to.memory) - 1];
  const std::string what = "value " + quote(program_.graph().values[pair.input_id].name);
  if (stream != nullptr) {
    return stream->enqueue_copy(number_of(to.memory), to.data, number_of(from.memory), from.data,
                                from.byte_size, step, what);
  }
  return device.device->copy(number_of(to.memory), to.data, number_of(from.memory), from.data,
                             from.byte_size, what);
}

}  // namespace ephost::runtime
