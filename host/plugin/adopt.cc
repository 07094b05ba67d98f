#include "host/plugin/adopt.h"

#include <string>

#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost::plugin {
namespace {

Status broken(const CallSite& from, std::string_view record, const std::string& how) {
  return Status(StatusCode::kEpFail, formatted("{}: {} {}; report this to the plugin's vendor",
                                               describe(from), record, how));
}

// What a record lacks of the fields that the host needs; `known` bytes of it are at `bytes`.
Status check_needs(const char* bytes, size_t known, uint64_t struct_size, const CallSite& from,
                   std::string_view record, std::span<const Field> fields) {
  for (const Field& field : fields) {
    if (field.need != Need::kOptional && field.end > known) {
      return broken(from, record,
                    formatted("is too short: its struct_size is {}, and the required {} ends at {}",
                              struct_size, quote(field.name), field.end));
    }
    if (field.need == Need::kFunction) {
      const void* function = nullptr;
      std::memcpy(&function, bytes + field.begin, sizeof(function));
      if (function == nullptr) {
        return broken(from, record, "lacks the required function " + quote(field.name));
      }
    }
  }
  return {};
}

Status check_pair(bool has_first, std::string_view first, bool has_second, std::string_view second,
                  const CallSite& from, std::string_view record) {
  if (has_first == has_second) return {};
  return broken(from, record,
                formatted("has {} without {}, and the two go together",
                          quote(has_first ? first : second), quote(has_first ? second : first)));
}

}  // namespace

size_t known_size(std::span<const Field> fields, uint64_t struct_size) {
  size_t known = 0;
  for (const Field& field : fields) {
    if (field.end <= struct_size) known = field.end;
  }
  return known;
}

Status adopt_bytes(const void* given, const CallSite& from, std::string_view record,
                   std::span<const Field> fields, void* out) {
  if (given == nullptr) return broken(from, record, "is null");
  uint64_t struct_size = 0;
  std::memcpy(&struct_size, given, sizeof(struct_size));
  if (struct_size > kMaxRecordSize) {
    return broken(from, record,
                  formatted("has a struct_size of {}, and no record is larger than {} bytes",
                            struct_size, kMaxRecordSize));
  }
  const uint64_t known = known_size(fields, struct_size);
  const auto* const bytes = static_cast<const char*>(given);
  EPHOST_RETURN_IF_ERROR(check_needs(bytes, known, struct_size, from, record, fields));
  std::memcpy(out, given, static_cast<size_t>(known));
  std::memcpy(out, &known, sizeof(known));
  return {};
}

Status check_array(const void* entries, uint64_t count, uint64_t max_count, const CallSite& from,
                   std::string_view array) {
  if (count != 0 && entries == nullptr) {
    return broken(from, array, formatted("has {} entries at a null pointer", count));
  }
  if (count <= max_count) return {};
  return broken(from, array,
                formatted("has {} entries, and at most {} are allowed", count, max_count));
}

Result<std::string_view> adopt_text(eph_string given, uint64_t max_size, const CallSite& from,
                                    std::string_view what) {
  if (given.size == 0) return std::string_view();
  if (given.data == nullptr) return broken(from, what, "is a text at a null pointer");
  if (given.size > max_size) {
    return broken(from, what,
                  formatted("has {} bytes, and at most {} are allowed", given.size, max_size));
  }
  const std::string_view text(given.data, static_cast<size_t>(given.size));
  if (!is_valid_utf8(text)) return broken(from, what, "is not UTF-8");
  return text;
}

Status check_stride(uint64_t stride, const CallSite& from, std::string_view array) {
  if (stride != 0 && stride <= kMaxRecordSize && stride % alignof(uint64_t) == 0) return {};
  return broken(from, array,
                formatted("has a stride of {}, and strides are multiples of {} up to {} bytes",
                          stride, alignof(uint64_t), kMaxRecordSize));
}

Status check_within_stride(const void* record, uint64_t stride, const CallSite& from,
                           std::string_view name) {
  uint64_t struct_size = 0;
  std::memcpy(&struct_size, record, sizeof(struct_size));
  if (struct_size <= stride) return {};
  return broken(from, name,
                formatted("has a struct_size of {}, and the next one of its array begins after {} "
                          "bytes",
                          struct_size, stride));
}

Result<eph_provider_api> adopt_provider(const void* given, const CallSite& from) {
  EPHOST_ASSIGN_OR_RETURN(const auto provider, adopt<eph_provider_api>(given, from));
  constexpr std::string_view kName = RecordLayout<eph_provider_api>::kName;
  EPHOST_RETURN_IF_ERROR(check_pair(provider.get_kernels != nullptr, "get_kernels",
                                    provider.create_kernel != nullptr, "create_kernel", from,
                                    kName));
  EPHOST_RETURN_IF_ERROR(check_pair(provider.get_compatibility != nullptr, "get_compatibility",
                                    provider.validate != nullptr, "validate", from, kName));
  return provider;
}

Result<eph_computation_api> adopt_computation(const void* given, const CallSite& from) {
  EPHOST_ASSIGN_OR_RETURN(const auto computation, adopt<eph_computation_api>(given, from));
  EPHOST_RETURN_IF_ERROR(check_pair(computation.create_state != nullptr, "create_state",
                                    computation.release_state != nullptr, "release_state", from,
                                    RecordLayout<eph_computation_api>::kName));
  return computation;
}

Result<eph_device_api> adopt_devices(const void* given, const CallSite& from) {
  EPHOST_ASSIGN_OR_RETURN(const auto devices, adopt<eph_device_api>(given, from));
  Status status;
  for_each_slot<eph_device_api>([&]<auto Member>() {
    const auto check_with = [&](bool has_first, std::string_view first) {
      if (!status.ok()) return;
      status = check_pair(has_first, first, devices.*Member != nullptr, kSlot<Member>.name, from,
                          RecordLayout<eph_device_api>::kName);
    };
    if (kIsOfStreams<Member>) check_with(devices.create_stream != nullptr, "create_stream");
    if (kIsOfCaptures<Member>) check_with(devices.begin_capture != nullptr, "begin_capture");
  });
  EPHOST_RETURN_IF_ERROR(status);
  EPHOST_RETURN_IF_ERROR(check_pair(devices.import_memory != nullptr, "import_memory",
                                    devices.release_import != nullptr, "release_import", from,
                                    RecordLayout<eph_device_api>::kName));
  return devices;
}

}  // namespace ephost::plugin
