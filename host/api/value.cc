#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/api/handles.h"
#include "host/api/tables.h"
#include "host/base/format.h"
#include "host/graph/types.h"
#include "host/runtime/values/composite.h"
#include "host/runtime/values/device_value.h"
#include "host/runtime/values/sparse_tensor.h"
#include "host/session/plugins/device_memories.h"
#include "host/session/tools/value_file.h"

namespace ephost::api {
namespace {

std::vector<int64_t> shape_of(const int64_t* shape, uint64_t rank) { return {shape, shape + rank}; }

// Calls `make`, which returns a Result<Value>.
template <class Make>
ephost_status* create(std::string_view what, ephost_value** out_value, const Make& make) {
  *out_value = nullptr;
  return guarded(what, [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(runtime::Value value, make());
    *out_value = new_handle(std::move(value));
    return {};
  });
}

ephost_status* create_tensor(int32_t element_type, const int64_t* shape, uint64_t rank,
                             ephost_value** out_value) {
  return create("creating a tensor", out_value, [&] {
    return runtime::ValueAccess::allocate_for_runs(static_cast<ElementType>(element_type),
                                                   shape_of(shape, rank));
  });
}

ephost_status* create_tensor_with_data(int32_t element_type, const int64_t* shape, uint64_t rank,
                                       void* data, uint64_t byte_size,
                                       void (*release)(void* context), void* context,
                                       ephost_value** out_value) {
  return create("creating a tensor", out_value, [&]() -> Result<runtime::Value> {
    const auto type = static_cast<ElementType>(element_type);
    const std::span<std::byte> memory(static_cast<std::byte*>(data), byte_size);
    // Checked before the memory has an owner, which would release it after a failure too.
    EPHOST_ASSIGN_OR_RETURN(runtime::Value value,
                            runtime::Value::borrow(type, shape_of(shape, rank), memory));
    if (release == nullptr) return value;
    return runtime::Value::share(type, shape_of(shape, rank), memory,
                                 std::shared_ptr<void>(context, release));
  });
}

// Null is the host's.
Result<std::optional<bridge::DeviceMemory>> memory_of(const ephost_memory_info* memory) {
  if (memory == nullptr) return std::optional<bridge::DeviceMemory>();
  EPHOST_RETURN_IF_ERROR(check_record(memory, "ephost_memory_info"));
  return session::find_memory(detail::read_record<MemoryInfo>(*memory));
}

ephost_status* create_tensor_in(const ephost_memory_info* memory, int32_t element_type,
                                const int64_t* shape, uint64_t rank, ephost_value** out_value) {
  return create("creating a tensor", out_value, [&]() -> Result<runtime::Value> {
    const auto type = static_cast<ElementType>(element_type);
    EPHOST_ASSIGN_OR_RETURN(const auto device, memory_of(memory));
    if (device) return runtime::allocate_on(*device, type, shape_of(shape, rank));
    return runtime::ValueAccess::allocate_for_runs(type, shape_of(shape, rank));
  });
}

// INVALID_ARGUMENT for memory of the host.
Result<bridge::DeviceMemory> device_memory_of(const ephost_memory_info* memory) {
  EPHOST_ASSIGN_OR_RETURN(const auto device, memory_of(memory));
  if (device) return *device;
  return Status(StatusCode::kInvalidArgument,
                "host memory has no handles of others; share it as create_tensor_with_data does");
}

eph_external to_abi(const ephost_external* given) {
  const ephost_external external = adopt_record(given);
  return {sizeof(eph_external), external.kind, 0, external.handle, external.offset, external.size};
}

ephost_status* import_tensor(const ephost_memory_info* memory, const ephost_external* from,
                             int32_t element_type, const int64_t* shape, uint64_t rank,
                             void (*release)(void* context), void* context,
                             ephost_value** out_value) {
  return create("importing a tensor", out_value, [&]() -> Result<runtime::Value> {
    EPHOST_RETURN_IF_ERROR(check_record(from, "ephost_external"));
    EPHOST_ASSIGN_OR_RETURN(const bridge::DeviceMemory device, device_memory_of(memory));
    // Calls nothing unless the tensor is made.
    const auto owner = std::make_shared<bool>(false);
    std::shared_ptr<void> kept(context, [release, owner](void* given) {
      if (*owner && release != nullptr) release(given);
    });
    EPHOST_ASSIGN_OR_RETURN(
        runtime::Value value,
        runtime::import_on(device, to_abi(from), static_cast<ElementType>(element_type),
                           shape_of(shape, rank), std::move(kept)));
    *owner = true;
    return value;
  });
}

ephost_status* export_tensor(const ephost_value* value, int32_t kind,
                             ephost_external* out_external) {
  return guarded("exporting a tensor", [&]() -> Status {
    EPHOST_RETURN_IF_ERROR(check_record(out_external, "ephost_external"));
    EPHOST_ASSIGN_OR_RETURN(const eph_external made, runtime::export_from(value->value, kind));
    const ephost_external record = {
        .struct_size = std::min<uint64_t>(out_external->struct_size, sizeof(record)),
        .kind = made.kind,
        .reserved = 0,
        .handle = made.handle,
        .offset = made.offset,
        .size = made.size,
    };
    copy_covered(record, *out_external);
    return {};
  });
}

ephost_status* wait_for(const ephost_memory_info* memory, const ephost_external* fence) {
  return guarded("waiting for a fence", [&]() -> Status {
    EPHOST_RETURN_IF_ERROR(check_record(fence, "ephost_external"));
    EPHOST_ASSIGN_OR_RETURN(const bridge::DeviceMemory device, device_memory_of(memory));
    return device.device->wait_for(to_abi(fence));
  });
}

ephost_status* create_string_tensor(const int64_t* shape, uint64_t rank,
                                    const ephost_string* strings, uint64_t count,
                                    ephost_value** out_value) {
  return create("creating a tensor of strings", out_value, [&] {
    std::vector<std::string> copies;
    copies.reserve(count);
    for (const ephost_string& text : std::span(strings, count)) {
      copies.emplace_back(text.data == nullptr ? "" : text.data, text.size);
    }
    return runtime::Value::of_strings(shape_of(shape, rank), std::move(copies));
  });
}

ephost_status* create_sequence(const ephost_value* const* parts, uint64_t count,
                               int32_t element_type, ephost_value** out_value) {
  return create("creating a sequence", out_value, [&] {
    std::vector<runtime::Value> values;
    values.reserve(count);
    for (const ephost_value* part : std::span(parts, count)) values.push_back(part->value);
    return runtime::Value::sequence(std::move(values), static_cast<ElementType>(element_type));
  });
}

ephost_status* create_map(const ephost_value* keys, const ephost_value* values,
                          ephost_value** out_value) {
  return create("creating a map", out_value,
                [&] { return runtime::Value::map(keys->value, values->value); });
}

ephost_status* create_sparse_tensor(int32_t form, const int64_t* shape, uint64_t rank,
                                    const ephost_value* values, const int64_t* indices,
                                    uint64_t index_count, const int64_t* outer_indices,
                                    uint64_t outer_index_count, ephost_value** out_value) {
  return create("creating a sparse tensor", out_value, [&] {
    runtime::SparseTensor sparse;
    sparse.format = static_cast<SparseFormat>(form);
    sparse.shape = shape_of(shape, rank);
    sparse.values = values->value;
    sparse.indices = shape_of(indices, index_count);
    sparse.outer_indices = shape_of(outer_indices, outer_index_count);
    return runtime::Value::of_sparse(std::move(sparse));
  });
}

ephost_status* to_dense(const ephost_value* value, uint64_t max_bytes, ephost_value** out_value) {
  return create("making a sparse tensor dense", out_value, [&] {
    return max_bytes == 0 ? value->value.to_dense() : value->value.to_dense(max_bytes);
  });
}

ephost_status* create_none(ephost_value** out_value) {
  return create("creating a value", out_value,
                [] { return Result<runtime::Value>(runtime::Value()); });
}

ephost_value* retain(const ephost_value* value) {
  // Counting the owners does not change the value.
  auto* const counted = const_cast<ephost_value*>(value);
  if (counted != nullptr) counted->owners.fetch_add(1, std::memory_order_relaxed);
  return counted;
}

void release(ephost_value* value) {
  if (value != nullptr && value->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete value;
}

void get_info(const ephost_value* value, ephost_value_info* out_info) {
  const runtime::Value& of = value->value;
  const bool has_bytes =
      of.kind() == ValueKind::kTensor && of.element_type() != ElementType::kString;
  const ephost_value_info info = {
      .struct_size = std::min<uint64_t>(out_info->struct_size, sizeof(info)),
      .kind = static_cast<int32_t>(of.kind()),
      .element_type = static_cast<int32_t>(of.element_type()),
      .shape = of.shape().data(),
      .rank = of.shape().size(),
      .element_count = of.element_count(),
      .data = has_bytes ? const_cast<std::byte*>(of.bytes().data()) : nullptr,
      .byte_size = of.extent().size(),
      .part_count = of.parts().size(),
      .device_data = of.memory() != nullptr ? of.extent().data() : nullptr,
  };
  copy_covered(info, *out_info);
}

ephost_status* get_strings(const ephost_value* value, ephost_string* out_strings, uint64_t count) {
  std::fill_n(out_strings, count, ephost_string{});
  return guarded("reading strings", [&]() -> Status {
    const std::vector<std::string>& strings = value->value.strings();
    if (value->value.element_type() != ElementType::kString ||
        value->value.kind() != ValueKind::kTensor || strings.size() != count) {
      return {StatusCode::kInvalidArgument,
              formatted("get_strings wants a tensor of {} strings; pass its element_count", count)};
    }
    for (uint64_t i = 0; i < count; ++i) out_strings[i] = {strings[i].data(), strings[i].size()};
    return {};
  });
}

ephost_status* get_part(const ephost_value* value, uint64_t index, ephost_value** out_part) {
  return create("taking a part of a value", out_part, [&]() -> Result<runtime::Value> {
    const std::span<const runtime::Value> parts = value->value.parts();
    if (index < parts.size()) return parts[index];
    return Status(StatusCode::kInvalidArgument,
                  formatted("the value has {} parts, and none of index {}", parts.size(), index));
  });
}

ephost_status* copy_to(const ephost_value* value, const ephost_memory_info* memory,
                       ephost_value** out_value) {
  return create("copying a value", out_value, [&]() -> Result<runtime::Value> {
    EPHOST_ASSIGN_OR_RETURN(const auto device, memory_of(memory));
    if (device) return runtime::to_device(value->value, *device);
    return runtime::copy_to_host(value->value);
  });
}

ephost_status* copy_elements(const ephost_value* from, ephost_value* to) {
  return guarded("copying a value", [&] { return runtime::copy_elements(from->value, to->value); });
}

// Records of the memories that any value lay in. There are few of them, and they are never freed.
class MemoryRecords {
 public:
  const ephost_memory_info* find(const MemoryInfo& memory) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(known_, [&](const auto& known) {
      return known.first == memory && known.first.dlpack_type == memory.dlpack_type &&
             known.first.dlpack_id == memory.dlpack_id;
    });
    if (found != known_.end()) return found->second;
    return known_.emplace_back(memory, arena_.record_of(memory)).second;
  }

 private:
  using Record = const ephost_memory_info*;
  std::mutex mutex_;
  Arena arena_;
  std::vector<std::pair<MemoryInfo, Record>> known_;
};

const ephost_memory_info* memory_info(const ephost_value* value) {
  static const ephost_memory_info host = {sizeof(host),          "Cpu", "cpu", 0,
                                          EPHOST_MEMORY_DEFAULT, 0,     0};
  const bridge::DeviceMemory* const memory = value->value.memory();
  if (memory == nullptr) return &host;
  try {
    static MemoryRecords* const records = new MemoryRecords;
    return records->find(session::describe_memory(*memory));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// The names are literals.
const char* element_type_name(int32_t element_type) {
  return graph::element_type_name(static_cast<ElementType>(element_type)).data();
}

uint32_t element_bits(int32_t element_type) {
  return graph::element_bits(static_cast<ElementType>(element_type));
}

uint64_t tensor_bytes(int32_t element_type, const int64_t* shape, uint64_t rank) {
  return graph::byte_size(static_cast<ElementType>(element_type), {shape, rank})
      .value_or(EPHOST_UNKNOWN);
}

ephost_status* read_file(const char* path, int32_t kind, int32_t is_optional, int32_t element_type,
                         char** out_name, ephost_value** out_value) {
  *out_name = nullptr;
  *out_value = nullptr;
  return guarded("reading a value file", [&]() -> Status {
    const ValueForm form = {.kind = static_cast<ValueKind>(kind),
                            .is_optional = is_optional != 0,
                            .element_type = static_cast<ElementType>(element_type)};
    EPHOST_ASSIGN_OR_RETURN(runtime::NamedValue named, session::read_value_file(path, form));
    std::unique_ptr<ephost_value> value(new_handle(std::move(named.value)));
    EPHOST_RETURN_IF_ERROR(give_text(named.name, out_name));
    *out_value = value.release();
    return {};
  });
}

ephost_status* write_file(const char* path, const char* name, const ephost_value* value,
                          int32_t is_optional) {
  return guarded("writing a value file", [&] {
    return session::write_value_file(path, {text_of(name), value->value}, is_optional != 0);
  });
}

}  // namespace

const ephost_value_api kValueApi = {
    sizeof(ephost_value_api),
    create_tensor,
    create_tensor_with_data,
    create_tensor_in,
    import_tensor,
    export_tensor,
    wait_for,
    create_string_tensor,
    create_sequence,
    create_map,
    create_sparse_tensor,
    to_dense,
    create_none,
    retain,
    release,
    get_info,
    get_strings,
    get_part,
    copy_to,
    copy_elements,
    memory_info,
    element_type_name,
    element_bits,
    tensor_bytes,
    read_file,
    write_file,
};

}  // namespace ephost::api
