// The edge of the ABI: every record and table that comes from a plugin is checked and copied here,
// once, and every record that the host fills for a plugin is filled here. Nothing else of the host
// reads or compares a struct_size. Called by the negotiation and by host/bridge; calls no function
// of a plugin.
//
// Failures are EP_FAIL and name the slot, the provider and the record.
#pragma once

#include <ephost/plugin_abi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ephost/status.h"
#include "host/base/format.h"
#include "host/plugin/calls/call_scope.h"
#include "host/plugin/record_layout.h"

namespace ephost::plugin {

// A struct_size above this is not a size but garbage: uninitialised memory, or a wrong pointer.
inline constexpr uint64_t kMaxRecordSize = 65536;

// Up to where the fields reach that `struct_size` bytes cover completely.
[[nodiscard]] size_t known_size(std::span<const Field> fields, uint64_t struct_size);

// Copies the fields that `given` covers completely into `out`, whose struct_size becomes the number
// of bytes copied; the rest of `out` stays as it is.
Status adopt_bytes(const void* given, const CallSite& from, std::string_view record,
                   std::span<const Field> fields, void* out);

// A copy of the record or table at `given`, zero where that does not reach. Fails where `given` is
// null, where its struct_size is absurd or does not cover what the layout demands, and where a
// required function is null. `from` is the slot that `given` came through.
template <class Record>
[[nodiscard]] Result<Record> adopt(const void* given, const CallSite& from) {
  using Layout = RecordLayout<Record>;
  Record adopted = {};
  EPHOST_RETURN_IF_ERROR(adopt_bytes(given, from, Layout::kName, Layout::kFields, &adopted));
  return adopted;
}

// As `adopt`, and slots that go together are both there or both null.
[[nodiscard]] Result<eph_provider_api> adopt_provider(const void* given, const CallSite& from);
[[nodiscard]] Result<eph_computation_api> adopt_computation(const void* given,
                                                            const CallSite& from);

[[nodiscard]] Result<eph_device_api> adopt_devices(const void* given, const CallSite& from);

// A text of a plugin, which stays where it is: UTF-8 of at most `max_size` bytes. `what` names it
// in messages.
[[nodiscard]] Result<std::string_view> adopt_text(eph_string given, uint64_t max_size,
                                                  const CallSite& from, std::string_view what);

// Fails for entries at a null pointer, and for more than `max_count` of them.
Status check_array(const void* entries, uint64_t count, uint64_t max_count, const CallSite& from,
                   std::string_view array);

// An array of a plugin, which stays where it is. Its entries are frozen records, handles or
// numbers: records that can grow would need a stride. `array` names it in messages.
template <class Entry>
[[nodiscard]] Result<std::span<const Entry>> adopt_array(const Entry* entries, uint64_t count,
                                                         uint64_t max_count, const CallSite& from,
                                                         std::string_view array) {
  static_assert(!requires(Entry entry) { entry.struct_size; });
  EPHOST_RETURN_IF_ERROR(check_array(entries, count, max_count, from, array));
  return std::span<const Entry>(entries, static_cast<size_t>(count));
}

// Fails where an array of records has no usable stride: one of 0, one that no record has, or one
// that would misalign the records.
Status check_stride(uint64_t stride, const CallSite& from, std::string_view array);

// Fails where the size of a record of an array exceeds the distance to the next one.
Status check_within_stride(const void* record, uint64_t stride, const CallSite& from,
                           std::string_view name);

// An entry of an array of the plugin: a copy, as `adopt` makes it, and the plugin's own record.
template <class Record>
struct AdoptedRecord {
  Record copy = {};
  const Record* given = nullptr;
};

// An array of records that can grow, `stride` bytes apart.
template <class Record>
[[nodiscard]] Result<std::vector<AdoptedRecord<Record>>> adopt_records(const Record* records,
                                                                       uint64_t stride,
                                                                       uint64_t count,
                                                                       uint64_t max_count,
                                                                       const CallSite& from) {
  constexpr std::string_view kName = RecordLayout<Record>::kName;
  EPHOST_RETURN_IF_ERROR(check_array(records, count, max_count, from, kName));
  std::vector<AdoptedRecord<Record>> adopted;
  if (count == 0) return adopted;
  EPHOST_RETURN_IF_ERROR(check_stride(stride, from, kName));
  const auto* const bytes = reinterpret_cast<const std::byte*>(records);
  for (uint64_t i = 0; i < count; ++i) {
    const auto* const given = reinterpret_cast<const Record*>(bytes + i * stride);
    EPHOST_ASSIGN_OR_RETURN(const Record copy, adopt<Record>(given, from));
    EPHOST_RETURN_IF_ERROR(check_within_stride(given, stride, from, kName));
    adopted.push_back({copy, given});
  }
  return adopted;
}

// Fills the fields of `out`, a record of the plugin, that its struct_size covers completely, and
// sets its struct_size to the smaller of its own and the host's. EPH_INVALID_ARGUMENT where it is
// null, or its struct_size absurd.
template <class Record>
[[nodiscard]] int32_t fill(Record record, Record* out) noexcept {
  if (out == nullptr || out->struct_size > kMaxRecordSize) return EPH_INVALID_ARGUMENT;
  record.struct_size = std::min<uint64_t>(out->struct_size, sizeof(Record));
  const size_t known = record.struct_size == sizeof(Record)
                           ? sizeof(Record)
                           : known_size(RecordLayout<Record>::kFields, record.struct_size);
  if (known == 0) return EPH_INVALID_ARGUMENT;
  std::memcpy(out, &record, known);
  return EPH_OK;
}

// Why `fill` refused `out`.
template <class Record>
[[nodiscard]] std::string why_not_filled(const Record* out) {
  constexpr std::string_view kName = RecordLayout<Record>::kName;
  if (out == nullptr) return formatted("the {} is null", kName);
  return formatted("the {} has a struct_size of {}; set it to sizeof({})", kName, out->struct_size,
                   kName);
}

}  // namespace ephost::plugin
