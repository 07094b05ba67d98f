// Reports: records of the C API made of plain values. A report and everything that it points to lie
// in one arena, which release_report frees.
#pragma once

#include <ephost/c_api.h>
#include <ephost/detail/records/environment.h>
#include <ephost/detail/records/metrics.h>
#include <ephost/detail/records/model_report.h>
#include <ephost/detail/records/placement.h>
#include <ephost/detail/records/plugin.h>
#include <ephost/detail/records/selection.h>
#include <ephost/detail/records/session.h>
#include <ephost/status.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <span>
#include <string_view>
#include <type_traits>

namespace ephost::api {

class Arena {
 public:
  [[nodiscard]] const char* text(std::string_view text) {
    char* const copy = array<char>(text.size() + 1);
    if (!text.empty()) std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
    return copy;
  }
  // Zeroed.
  template <class T>
  [[nodiscard]] T* array(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    void* const memory = memory_.allocate(count * sizeof(T), alignof(T));
    if (count > 0) std::memset(memory, 0, count * sizeof(T));
    return static_cast<T*>(memory);
  }
  template <class C>
  [[nodiscard]] C* record() {
    C* const made = array<C>(1);
    made->struct_size = sizeof(C);
    return made;
  }
  // The record of a plain value.
  template <detail::HasRecord Value>
  [[nodiscard]] const typename detail::RecordOf<Value>::C* record_of(const Value& value) {
    auto* const made = record<typename detail::RecordOf<Value>::C>();
    fill(value, *made);
    return made;
  }
  template <detail::HasRecord Value>
  void fill(const Value& value, typename detail::RecordOf<Value>::C& record) {
    detail::RecordOf<Value>::visit_fields(
        FieldWriter<Value, typename detail::RecordOf<Value>::C>{*this, value, record});
  }
  // An array of what the elements of a list become; `out_count` receives their number.
  template <class C, class List>
  void list(const List& from, const C*& out_items, uint64_t& out_count) {
    auto* const items = array<std::remove_const_t<C>>(from.size());
    for (size_t i = 0; i < from.size(); ++i) write_field(from[i], items[i]);
    out_items = items;
    out_count = from.size();
  }

  // One overload for each kind of field.
  template <class T, class C>
  requires std::is_arithmetic_v<C> &&
      (std::is_arithmetic_v<T> || std::is_enum_v<T>)void write_field(const T& from, C& to) {
    to = static_cast<C>(from);
  }
  void write_field(const std::string& from, const char*& to) { to = text(from); }
  void write_field(const std::optional<std::string>& from, const char*& to) {
    to = from ? text(*from) : nullptr;
  }
  void write_field(const std::optional<uint64_t>& from, uint64_t& to) {
    to = from.value_or(EPHOST_UNKNOWN);
  }
  void write_field(const std::optional<int32_t>& from, int32_t& to) { to = from.value_or(0); }
  void write_field(const Status& from, ephost_failure& to) {
    to = {static_cast<int32_t>(from.code()), 0, text(from.message())};
  }
  void write_field(const std::pair<std::string, std::string>& from, ephost_key_value& to) {
    to = {text(from.first), text(from.second)};
  }
  void write_field(const AbiVersions& from, ephost_abi_versions& to) {
    to = {from.major, from.minor_min, from.minor_max, 0};
  }
  void write_field(const std::optional<std::pair<std::string, std::string>>& from,
                   ephost_range& to) {
    if (from) to = {text(from->first), text(from->second)};
  }
  template <detail::HasRecord Value>
  void write_field(const Value& from, const typename detail::RecordOf<Value>::C*& to) {
    to = record_of(from);
  }

 private:
  // Writes the fields that RecordOf::visit_fields lists.
  template <class Value, class C>
  struct FieldWriter {
    Arena& arena;
    const Value& value;
    C& record;

    template <class Of, class Member, class In, class CMember>
    void operator()(Member Of::*member, CMember In::*in_c) const {
      arena.write_field(value.*member, record.*in_c);
    }
    template <class Of, class Member, class In, class CMember>
    void operator()(Member Of::*member, CMember In::*items, uint64_t In::*count) const {
      arena.list(value.*member, record.*items, record.*count);
    }
  };

  std::pmr::monotonic_buffer_resource memory_;
};

// What lies in front of the record of a report, for release_report.
struct ReportHead {
  Arena* arena;
};

// A report of the caller: `fill(arena, record)` fills it in.
template <class C, class Fill>
[[nodiscard]] const C* new_report(const Fill& fill) {
  struct Report {
    ReportHead head;
    C record;
  };
  static_assert(offsetof(Report, record) == sizeof(ReportHead));
  auto arena = std::make_unique<Arena>();
  auto* const report = arena->array<Report>(1);
  report->record.struct_size = sizeof(C);
  fill(*arena, report->record);
  report->head.arena = arena.release();
  return &report->record;
}

// The report of a plain value.
template <detail::HasRecord Value>
[[nodiscard]] const typename detail::RecordOf<Value>::C* new_report_of(const Value& value) {
  using C = typename detail::RecordOf<Value>::C;
  return new_report<C>([&](Arena& arena, C& record) { arena.fill(value, record); });
}

}  // namespace ephost::api
