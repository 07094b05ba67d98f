// What a worker asks of a run while it computes.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "host/base/format.h"
#include "host/worker/protocol/error_text.h"
#include "host/worker/protocol/records.h"
#include "host/worker/protocol/tensor_bytes.h"
#include "host/worker/tables/incoming.h"
#include "host/worker/tables/remote_run.h"

namespace ephost::worker {

// Memory for an output of its own, which becomes larger rarely where the worker asks again and
// again.
Status RemoteRun::reserve_late(uint32_t output, uint64_t size) {
  if (late_.size() <= output) late_.resize(run_.output_count);
  Late& late = late_[output];
  if (late.size >= size) return {};
  const uint64_t wanted = late.size == 0 ? size : std::bit_ceil(size);
  EPHOST_ASSIGN_OR_RETURN(
      late.place, channel_.staging().take(static_cast<size_t>(wanted), staging_alignment()));
  late.size = wanted;
  return {};
}

// Memory for an output whose size became known within the call.
Status RemoteRun::place_late(uint32_t output, wire::Answer& out) {
  eph_value& value = *run_.outputs[output];
  // What was staged for it before is that of other memory.
  std::erase_if(copies_, [&](const CopyBack& copy) { return copy.to == &value; });
  std::vector<int64_t> extents;
  PlainValue plain = frame(value, extents);
  plain.form = PlainForm::kShared;
  if (value.memory != 0) {
    plain.form = PlainForm::kAddress;
    plain.offset = reinterpret_cast<uint64_t>(value.data);
  } else if (value.byte_size != 0 && is_numeric(value)) {
    EPHOST_RETURN_IF_ERROR(reserve_late(output, value.byte_size));
    const SharedPlace& place = late_[output].place;
    if (!outgoing_.refer(place.region)) return Status(StatusCode::kFail, "too many regions");
    plain.region = place.region->id;
    plain.offset = place.offset;
    copies_.push_back({place.region->bytes.data() + place.offset, &value,
                       static_cast<std::byte*>(value.data), static_cast<size_t>(value.byte_size)});
  }
  std::string& bytes = *out.mutable_plain_value();
  bytes.assign(reinterpret_cast<const char*>(&plain), sizeof(plain));
  bytes.append(reinterpret_cast<const char*>(extents.data()), extents.size() * sizeof(int64_t));
  return {};
}

Result<const eph_value*> RemoteRun::value_of(uint32_t number) const {
  if (number == 0 || number > numbered_.size()) {
    return worker_fault(formatted("names value {} of a run, which does not exist", number));
  }
  return numbered_[number - 1];
}

Result<const eph_value*> RemoteRun::value_or_none(uint32_t number) const {
  if (number == 0) return nullptr;
  return value_of(number);
}

void RemoteRun::number(const eph_value* value, eph_value* tensor, wire::Answer& out) {
  numbered_.push_back(value);
  made_.push_back(tensor);
  out.set_number(static_cast<uint32_t>(numbered_.size()));
}

Status RemoteRun::take_contents(const wire::Callback& callback) {
  for (const wire::TensorContent& content : callback.contents()) {
    const uint32_t number = content.number();
    eph_value* const tensor = number == 0 || number > made_.size() ? nullptr : made_[number - 1];
    const std::string& bytes = content.content();
    if (tensor == nullptr || !is_numeric(*tensor) || content.offset() > tensor->byte_size ||
        bytes.size() > tensor->byte_size - content.offset()) {
      return worker_fault(formatted(
          "wrote {} bytes at {} of value {} of a run, which is not a tensor that has them",
          bytes.size(), content.offset(), number));
    }
    if (!bytes.empty()) {
      std::memcpy(static_cast<std::byte*>(tensor->data) + content.offset(), bytes.data(),
                  bytes.size());
    }
  }
  return {};
}

// What the host will need for what the callback asks for.
Status RemoteRun::take_memory(const wire::Callback& callback, std::span<const int64_t> shape) {
  switch (callback.asked()) {
    case wire::RUN_ALLOCATE_OUTPUT:
      return allowance_.take_output(callback.index(), callback.element_type(), shape);
    case wire::RUN_MAKE_TENSOR:
      return allowance_.take_tensor(callback.element_type(), shape);
    case wire::RUN_SET_STRING:
    case wire::RUN_SET_ELEMENT:
      return allowance_.take(callback.text().size());
    case wire::RUN_MAKE_SEQUENCE: {
      const auto inserted = static_cast<uint64_t>(callback.numbers_size());
      if (callback.number() == 0) return allowance_.take(inserted * sizeof(eph_value));
      EPHOST_ASSIGN_OR_RETURN(const eph_value* const base, value_of(callback.number()));
      return allowance_.take(base->byte_size + inserted * sizeof(eph_value));
    }
    default:
      return {};
  }
}

int32_t RemoteRun::allocate_output(const wire::Callback& callback, std::span<const int64_t> shape,
                                   wire::Answer& out, eph_error& error) {
  const int32_t code =
      run_.api->allocate_output(&run_, callback.index(), callback.element_type(), shape.data(),
                                static_cast<uint32_t>(shape.size()), &error);
  if (code != EPH_OK) return code;
  const Status placed = place_late(callback.index(), out);
  if (!placed.ok()) error.api->set_message(&error, text_of(placed.message()));
  return static_cast<int32_t>(placed.code());
}

int32_t RemoteRun::make_tensor(const wire::Callback& callback, std::span<const int64_t> shape,
                               wire::Answer& out, eph_error& error) {
  eph_value* made = nullptr;
  const int32_t code = run_.api->make_tensor(&run_, callback.element_type(), shape.data(),
                                             static_cast<uint32_t>(shape.size()), &made, &error);
  if (code != EPH_OK) return code;
  number(made, made, out);
  wire::Value& frame = *out.mutable_value();
  frame.set_element_type(made->element_type);
  frame.set_byte_size(made->byte_size);
  return code;
}

Result<int32_t> RemoteRun::make_sequence(const wire::Callback& callback, wire::Answer& out,
                                         eph_error& error) {
  EPHOST_ASSIGN_OR_RETURN(const eph_value* const base, value_or_none(callback.number()));
  std::vector<const eph_value*> inserted;
  for (const uint32_t value : callback.numbers()) {
    EPHOST_ASSIGN_OR_RETURN(const eph_value* const part, value_of(value));
    inserted.push_back(part);
  }
  const eph_value* made = nullptr;
  const int32_t code = run_.api->make_sequence(&run_, base, callback.position(), callback.removed(),
                                               inserted.data(), inserted.size(), &made, &error);
  if (code == EPH_OK) number(made, nullptr, out);
  return code;
}

Result<int32_t> RemoteRun::make_map(const wire::Callback& callback, wire::Answer& out,
                                    eph_error& error) {
  if (callback.numbers_size() != 2) return worker_fault("makes a map without keys or values");
  EPHOST_ASSIGN_OR_RETURN(const eph_value* const keys, value_of(callback.numbers(0)));
  EPHOST_ASSIGN_OR_RETURN(const eph_value* const values, value_of(callback.numbers(1)));
  const eph_value* made = nullptr;
  const int32_t code = run_.api->make_map(&run_, keys, values, &made, &error);
  if (code == EPH_OK) number(made, nullptr, out);
  return code;
}

Result<int32_t> RemoteRun::set_output(const wire::Callback& callback, eph_error& error) {
  EPHOST_ASSIGN_OR_RETURN(const eph_value* const value, value_or_none(callback.number()));
  const int32_t code = run_.api->set_output(&run_, callback.index(), value, &error);
  // The output is complete; what is staged for it is not.
  if (code == EPH_OK) {
    std::erase_if(copies_,
                  [&](const CopyBack& copy) { return copy.to == run_.outputs[callback.index()]; });
  }
  return code;
}

Result<int32_t> RemoteRun::call(const wire::Callback& callback, wire::Answer& out,
                                eph_error& error) {
  const std::vector<int64_t> shape(callback.shape().begin(), callback.shape().end());
  const eph_string text = text_of(callback.text());
  if (const Status taken = take_memory(callback, shape); taken.code() == StatusCode::kOutOfMemory) {
    error.api->set_message(&error, text_of(taken.message()));
    return EPH_OUT_OF_MEMORY;
  }
  switch (callback.asked()) {
    case wire::RUN_ALLOCATE_OUTPUT:
      return allocate_output(callback, shape, out, error);
    case wire::RUN_SET_STRING:
      return run_.api->set_string(&run_, callback.index(), callback.element(), text, &error);
    case wire::RUN_WRITE_TENSORS:
      return EPH_OK;
    case wire::RUN_MAKE_TENSOR:
      return make_tensor(callback, shape, out, error);
    case wire::RUN_SET_ELEMENT: {
      EPHOST_ASSIGN_OR_RETURN(const eph_value* const tensor, value_of(callback.number()));
      return run_.api->set_element(&run_, const_cast<eph_value*>(tensor), callback.element(), text,
                                   &error);
    }
    case wire::RUN_MAKE_SEQUENCE:
      return make_sequence(callback, out, error);
    case wire::RUN_MAKE_MAP:
      return make_map(callback, out, error);
    case wire::RUN_SET_OUTPUT:
      return set_output(callback, error);
    case wire::RUN_ALLOCATE_IN: {
      void* data = nullptr;
      const int32_t code =
          run_.api->allocate_in(&run_, callback.index(), callback.size(), &data, &error);
      if (code == EPH_OK) out.add_numbers(reinterpret_cast<uint64_t>(data));
      return code;
    }
    default:
      return worker_fault(formatted("asks {} of a run", static_cast<int>(callback.asked())));
  }
}

Status RemoteRun::answer(const wire::Callback& callback, wire::Answer& out) {
  EPHOST_RETURN_IF_ERROR(take_contents(callback));
  ErrorText error;
  EPHOST_ASSIGN_OR_RETURN(const int32_t code, call(callback, out, error));
  set_code(code, error, out);
  return {};
}

}  // namespace ephost::worker
