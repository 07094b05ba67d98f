#include "host/worker/program/served_run.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "host/base/format.h"
#include "host/worker/program/run_slot.h"
#include "host/worker/protocol/records.h"
#include "host/worker/protocol/serialized.h"
#include "host/worker/protocol/tensor_bytes.h"

namespace ephost::worker {
namespace {

void add_shape(const int64_t* shape, uint32_t rank, wire::Callback& callback) {
  if (shape != nullptr) callback.mutable_shape()->Add(shape, shape + rank);
}

}  // namespace

void RunMemory::Free::operator()(void* memory) const noexcept { std::free(memory); }

void RunMemory::reserve(Block& block, uint64_t size, uint64_t alignment) {
  if (block.size >= size && block.alignment >= alignment) return;
  block.memory.reset();
  block.size = 0;
  const uint64_t rounded = (std::max<uint64_t>(size, 1) + alignment - 1) / alignment * alignment;
  if (rounded < size) throw std::bad_alloc();
  block.memory.reset(std::aligned_alloc(alignment, rounded));
  if (block.memory == nullptr) throw std::bad_alloc();
  block.size = rounded;
  block.alignment = alignment;
}

void* RunMemory::workspace(uint64_t size, uint64_t alignment) {
  reserve(workspace_, size, std::max<uint64_t>(alignment, 64));
  return workspace_.memory.get();
}

void* RunMemory::scratch(uint64_t size) noexcept {
  try {
    if (next_ == scratch_.size()) scratch_.emplace_back();
    reserve(scratch_[next_], size, 64);
    return scratch_[next_++].memory.get();
  } catch (const std::exception&) {
    return nullptr;
  }
}

const eph_run_api ServedRun::kApi = {
    sizeof(eph_run_api),          &ServedRun::allocate_output, &ServedRun::set_string,
    &ServedRun::allocate_scratch, &ServedRun::is_cancelled,    &ServedRun::make_tensor,
    &ServedRun::set_element,      &ServedRun::make_sequence,   &ServedRun::make_map,
    &ServedRun::set_output,       &ServedRun::allocate_in};

ServedRun::ServedRun(WorkerChannel& channel, RunMemory& memory)
    : eph_run{}, channel_(channel), memory_(memory) {
  struct_size = sizeof(eph_run);
  api = &kApi;
}

Result<eph_value> ServedRun::place(const PlainValue& plain, const int64_t* extents,
                                   CallState* call) {
  if (plain.form == PlainForm::kStructured) {
    const wire::Value& given = call->request().values(static_cast<int>(plain.offset));
    EPHOST_ASSIGN_OR_RETURN(const eph_value read, call->read(given));
    EPHOST_RETURN_IF_ERROR(number_parts(given, read));
    return read;
  }
  eph_value value = {};
  value.shape = extents + plain.first_extent;
  value.byte_size = plain.byte_size;
  value.rank = plain.rank;
  value.element_type = plain.element_type;
  value.kind = plain.kind;
  value.memory = plain.memory;
  switch (plain.form) {
    case PlainForm::kNone:
      value.data = no_bytes();
      break;
    case PlainForm::kAddress:
      value.data = reinterpret_cast<void*>(plain.offset);
      break;
    case PlainForm::kShared:
      if (plain.byte_size == 0) {
        value.data = no_bytes();
      } else if (!is_numeric(value)) {
        value.data =
            storage_.array<eph_string>(static_cast<size_t>(plain.byte_size / sizeof(eph_string)));
      } else {
        EPHOST_ASSIGN_OR_RETURN(const auto bytes,
                                mapped_regions().translate(plain.region, plain.offset,
                                                           static_cast<size_t>(plain.byte_size)));
        value.data = bytes.data();
      }
      break;
    default:
      break;
  }
  return value;
}

// Parts of an input have numbers, too; `read` was made of `value`, part by part.
Status ServedRun::number_parts(const wire::Value& value, const eph_value& read) {
  const auto* const parts = static_cast<const eph_value*>(read.data);
  for (int i = 0; i < value.parts_size(); ++i) {
    numbers_[&parts[i]] = value.parts(i).number();
    EPHOST_RETURN_IF_ERROR(number_parts(value.parts(i), parts[i]));
  }
  return {};
}

Status ServedRun::bind(std::span<const std::byte> plain, CallState* call) {
  std::memcpy(&plain_, plain.data(), sizeof(plain_));
  const size_t count = size_t{plain_.inputs} + plain_.outputs;
  const auto* const given = reinterpret_cast<const PlainValue*>(plain.data() + sizeof(plain_));
  const auto* const extents = reinterpret_cast<const int64_t*>(given + count);
  values_.resize(count);
  pointers_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    if (given[i].form == PlainForm::kOmitted) continue;
    EPHOST_ASSIGN_OR_RETURN(values_[i], place(given[i], extents, call));
    pointers_[i] = &values_[i];
  }
  inputs = pointers_.data();
  outputs = pointers_.data() + plain_.inputs;
  input_count = plain_.inputs;
  output_count = plain_.outputs;
  run_id = plain_.run_id;
  workspace = reinterpret_cast<void*>(plain_.workspace);
  if (plain_.workspace_bytes != 0) {
    workspace = memory_.workspace(plain_.workspace_bytes, plain_.workspace_alignment);
  }
  memory_.reset();
  return {};
}

Result<wire::Answer> ServedRun::ask_host(const wire::Callback& callback) {
  EPHOST_ASSIGN_OR_RETURN(wire::Answer answer, ask(channel_, callback));
  if (answer.code() == EPH_OK) return answer;
  return Status(static_cast<StatusCode>(answer.code()), answer.message());
}

Result<uint32_t> ServedRun::number_of(const eph_value* value, std::string_view slot) const {
  if (const auto known = numbers_.find(value); known != numbers_.end()) return known->second;
  const auto* const begin = pointers_.data();
  const auto found = std::find(begin, begin + plain_.inputs, value);
  if (value != nullptr && found != begin + plain_.inputs) {
    return static_cast<uint32_t>(found - begin + 1);
  }
  return Status(StatusCode::kInvalidArgument,
                formatted("{}: a value is neither an input of the run nor one that was made in it; "
                          "report this to the plugin's vendor",
                          slot));
}

Status ServedRun::send_contents(wire::Callback& callback) {
  content_bytes_ = 0;
  if (callback.contents().empty()) return {};
  wire::Callback writing;
  writing.set_asked(wire::RUN_WRITE_TENSORS);
  writing.mutable_contents()->Swap(callback.mutable_contents());
  return ask_host(writing).status();
}

Status ServedRun::add_content(const eph_value* value, wire::Callback& callback) {
  if (callback.contents().empty()) content_bytes_ = 0;
  const auto found = made_.find(value);
  if (found == made_.end() || found->second.tensor == nullptr) return {};
  Made& made = found->second;
  const auto bytes = bytes_of(*made.tensor);
  const Hash128 checksum = content_checksum(bytes);
  if (made.was_sent && made.sent == checksum) return {};
  size_t sent = 0;
  do {
    const size_t size = std::min(bytes.size() - sent, kContentPiece);
    if (size > kContentPiece - content_bytes_) EPHOST_RETURN_IF_ERROR(send_contents(callback));
    wire::TensorContent& content = *callback.add_contents();
    content.set_number(made.number);
    content.set_offset(sent);
    content.set_content(bytes.data() + sent, size);
    content_bytes_ += size;
    sent += size;
  } while (sent != bytes.size());
  made.sent = checksum;
  made.was_sent = true;
  return {};
}

const eph_value* ServedRun::keep(const eph_value& value, uint32_t number) {
  eph_value* const kept = storage_.keep(value);
  numbers_[kept] = number;
  made_[kept] = {number, nullptr, {}, false};
  return kept;
}

Status ServedRun::finish() {
  wire::Callback callback;
  for (const auto& [value, made] : made_) EPHOST_RETURN_IF_ERROR(add_content(value, callback));
  return send_contents(callback);
}

int32_t ServedRun::allocate_output(eph_run* handle, uint32_t index, int32_t element_type,
                                   const int64_t* shape, uint32_t rank, eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    ServedRun& run = self(handle);
    wire::Callback callback;
    callback.set_asked(wire::RUN_ALLOCATE_OUTPUT);
    callback.set_index(index);
    callback.set_element_type(element_type);
    add_shape(shape, rank, callback);
    EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, run.ask_host(callback));
    const std::string& bytes = answer.plain_value();
    PlainValue plain;
    std::memcpy(&plain, bytes.data(), sizeof(plain));
    auto* const extents = run.storage_.array<int64_t>(plain.rank);
    if (plain.rank != 0) {
      std::memcpy(extents, bytes.data() + sizeof(plain), plain.rank * sizeof(int64_t));
    }
    EPHOST_ASSIGN_OR_RETURN(*run.outputs[index], run.place(plain, extents, nullptr));
    return {};
  });
}

int32_t ServedRun::set_string(eph_run* handle, uint32_t index, uint64_t element, eph_string text,
                              eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    wire::Callback callback;
    callback.set_asked(wire::RUN_SET_STRING);
    callback.set_index(index);
    callback.set_element(element);
    callback.set_text(copy(text));
    return self(handle).ask_host(callback).status();
  });
}

void* ServedRun::allocate_scratch(eph_run* handle, uint64_t size) noexcept {
  return self(handle).memory_.scratch(size);
}

int32_t ServedRun::is_cancelled(const eph_run* handle) noexcept {
  return self(handle).channel_.is_cancelled() ? 1 : 0;
}

int32_t ServedRun::allocate_in(eph_run* handle, uint32_t memory, uint64_t size, void** out_data,
                               eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    *out_data = nullptr;
    wire::Callback callback;
    callback.set_asked(wire::RUN_ALLOCATE_IN);
    callback.set_index(memory);
    callback.set_size(size);
    EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, self(handle).ask_host(callback));
    *out_data = reinterpret_cast<void*>(answer.numbers(0));
    return {};
  });
}

int32_t ServedRun::make_tensor(eph_run* handle, int32_t element_type, const int64_t* shape,
                               uint32_t rank, eph_value** out_value, eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    *out_value = nullptr;
    ServedRun& run = self(handle);
    wire::Callback callback;
    callback.set_asked(wire::RUN_MAKE_TENSOR);
    callback.set_element_type(element_type);
    add_shape(shape, rank, callback);
    EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, run.ask_host(callback));
    eph_value value = {};
    auto* const extents = run.storage_.array<int64_t>(rank);
    std::copy_n(shape, rank, extents);
    value.shape = extents;
    value.rank = rank;
    value.byte_size = answer.value().byte_size();
    value.element_type = answer.value().element_type();
    value.kind = EPH_KIND_TENSOR;
    const auto size = static_cast<size_t>(value.byte_size);
    value.data = size == 0 ? no_bytes() : std::memset(run.storage_.bytes(size), 0, size);
    auto* const kept = const_cast<eph_value*>(run.keep(value, answer.number()));
    if (is_numeric(value)) run.made_[kept].tensor = kept;
    *out_value = kept;
    return {};
  });
}

int32_t ServedRun::set_element(eph_run* handle, eph_value* tensor, uint64_t element,
                               eph_string text, eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    ServedRun& run = self(handle);
    wire::Callback callback;
    callback.set_asked(wire::RUN_SET_ELEMENT);
    EPHOST_ASSIGN_OR_RETURN(const uint32_t number, run.number_of(tensor, "set_element"));
    callback.set_number(number);
    callback.set_element(element);
    callback.set_text(copy(text));
    return run.ask_host(callback).status();
  });
}

int32_t ServedRun::make_sequence(eph_run* handle, const eph_value* base, uint64_t position,
                                 uint64_t removed, const eph_value* const* inserted,
                                 uint64_t inserted_count, const eph_value** out_value,
                                 eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    *out_value = nullptr;
    ServedRun& run = self(handle);
    wire::Callback callback;
    callback.set_asked(wire::RUN_MAKE_SEQUENCE);
    if (base != nullptr) {
      EPHOST_ASSIGN_OR_RETURN(const uint32_t number, run.number_of(base, "make_sequence"));
      callback.set_number(number);
    }
    callback.set_position(position);
    callback.set_removed(removed);
    for (uint64_t i = 0; i < inserted_count; ++i) {
      EPHOST_ASSIGN_OR_RETURN(const uint32_t number, run.number_of(inserted[i], "make_sequence"));
      callback.add_numbers(number);
      EPHOST_RETURN_IF_ERROR(run.add_content(inserted[i], callback));
    }
    EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, run.ask_host(callback));
    // The host has checked position and number.
    const auto* const old = base == nullptr ? nullptr : static_cast<const eph_value*>(base->data);
    const auto before = base == nullptr ? 0 : static_cast<uint64_t>(base->shape[0]);
    const uint64_t count = before - removed + inserted_count;
    auto* const parts = run.storage_.array<eph_value>(static_cast<size_t>(count));
    std::copy_n(old, position, parts);
    for (uint64_t i = 0; i < inserted_count; ++i) parts[position + i] = *inserted[i];
    std::copy_n(old + position + removed, before - position - removed,
                parts + position + inserted_count);
    eph_value value = {};
    value.kind = EPH_KIND_SEQUENCE;
    value.element_type = count == 0 ? EPH_ELEMENT_UNDEFINED : parts[0].element_type;
    value.data = count == 0 ? no_bytes() : parts;
    value.byte_size = count * sizeof(eph_value);
    value.rank = 1;
    value.shape = run.storage_.keep(static_cast<int64_t>(count));
    *out_value = run.keep(value, answer.number());
    return {};
  });
}

int32_t ServedRun::make_map(eph_run* handle, const eph_value* keys, const eph_value* values,
                            const eph_value** out_value, eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    *out_value = nullptr;
    ServedRun& run = self(handle);
    wire::Callback callback;
    callback.set_asked(wire::RUN_MAKE_MAP);
    for (const eph_value* const part : {keys, values}) {
      EPHOST_ASSIGN_OR_RETURN(const uint32_t number, run.number_of(part, "make_map"));
      callback.add_numbers(number);
      EPHOST_RETURN_IF_ERROR(run.add_content(part, callback));
    }
    EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, run.ask_host(callback));
    auto* const parts = run.storage_.array<eph_value>(2);
    parts[0] = *keys;
    parts[1] = *values;
    eph_value value = {};
    value.kind = EPH_KIND_MAP;
    value.element_type = keys->element_type;
    value.data = parts;
    value.byte_size = 2 * sizeof(eph_value);
    *out_value = run.keep(value, answer.number());
    return {};
  });
}

int32_t ServedRun::set_output(eph_run* handle, uint32_t index, const eph_value* value,
                              eph_error* error) noexcept {
  return run_slot(error, [&]() -> Status {
    ServedRun& run = self(handle);
    wire::Callback callback;
    callback.set_asked(wire::RUN_SET_OUTPUT);
    callback.set_index(index);
    if (value != nullptr) {
      EPHOST_ASSIGN_OR_RETURN(const uint32_t number, run.number_of(value, "set_output"));
      callback.set_number(number);
      EPHOST_RETURN_IF_ERROR(run.add_content(value, callback));
    }
    return run.ask_host(callback).status();
  });
}

}  // namespace ephost::worker
