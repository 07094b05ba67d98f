// Conversion between records of the C API and plain values of the C++ API: each pair of types
// lists its pairs of fields once (records.h), and both directions follow the list. Reading is here;
// the library has the other direction.
#pragma once

#include <ephost/c_api.h>
#include <ephost/detail/api.h>
#include <ephost/element_type.h>
#include <ephost/status.h>
#include <ephost/types/environment.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ephost::detail {

// Specialised for each plain value: `C` is its record. `visit_fields(visit)` calls `visit` for each
// field with the member of the value and that of the record, or with the members of an array and of
// its size. A function is faster to compile than a tuple of the pairs.
template <class Value>
struct RecordOf;

template <class Value>
concept HasRecord = requires {
  typename RecordOf<Value>::C;
};

// Whether a record that the library made has a field: an older library's is shorter.
template <class C, class Member>
bool has(const C& record, Member C::*member) {
  const auto* begin = reinterpret_cast<const char*>(&record);
  const auto* end = reinterpret_cast<const char*>(&(record.*member)) + sizeof(Member);
  return static_cast<uint64_t>(end - begin) <= record.struct_size;
}

template <HasRecord Value>
Value read_record(const typename RecordOf<Value>::C& record);

// One overload for each kind of field.
template <class T, class C>
requires std::is_arithmetic_v<C> &&
    (std::is_arithmetic_v<T> || std::is_enum_v<T>)void read_field(C from, T& to) {
  to = static_cast<T>(from);
}
// Texts of the library are never null; those of an application may be.
inline void read_field(const char* from, std::string& to) {
  if (from != nullptr) to = from;
}
inline void read_field(const ephost_failure& from, Status& to) {
  if (from.code != EPHOST_OK) to = Status(static_cast<StatusCode>(from.code), from.message);
}
inline void read_field(const ephost_key_value& from, std::pair<std::string, std::string>& to) {
  to = {from.key, from.value};
}
inline void read_field(const ephost_range& from, std::pair<std::string, std::string>& to) {
  to = {from.minimum, from.maximum};
}
inline void read_field(const ephost_abi_versions& from, AbiVersions& to) {
  to = {from.major, from.minor_min, from.minor_max};
}
// What an optional field is where it is not given.
inline bool is_given(const char* text) { return text != nullptr; }
inline bool is_given(uint64_t number) { return number != EPHOST_UNKNOWN; }
inline bool is_given(int32_t version) { return version != 0; }
inline bool is_given(const ephost_range& range) { return range.minimum != nullptr; }
template <class C, class T>
void read_field(const C& from, std::optional<T>& to) {
  if (is_given(from)) read_field(from, to.emplace());
}
template <HasRecord Value>
void read_field(const typename RecordOf<Value>::C* from, Value& to) {
  to = read_record<Value>(*from);
}

// Reads the fields that RecordOf::visit_fields lists.
template <class Value, class C>
struct FieldReader {
  const C& record;
  Value& value;

  template <class Of, class Member, class In, class CMember>
  void operator()(Member Of::*member, CMember In::*in_c) const {
    if (has(record, in_c)) read_field(record.*in_c, value.*member);
  }
  template <class Of, class Member, class In, class CMember>
  void operator()(Member Of::*member, CMember In::*items, uint64_t In::*count) const {
    if (!has(record, items) || !has(record, count)) return;
    const uint64_t size = record.*count;
    auto& list = value.*member;
    list.resize(size);
    for (uint64_t i = 0; i < size; ++i) read_field((record.*items)[i], list[i]);
  }
};

template <HasRecord Value>
Value read_record(const typename RecordOf<Value>::C& record) {
  Value value{};
  RecordOf<Value>::visit_fields(FieldReader<Value, typename RecordOf<Value>::C>{record, value});
  return value;
}

template <HasRecord Value>
std::vector<Value> read_list(const typename RecordOf<Value>::C* const* items, uint64_t count) {
  std::vector<Value> list;
  list.reserve(count);
  for (uint64_t i = 0; i < count; ++i) list.push_back(read_record<Value>(*items[i]));
  return list;
}

// The value of the report that `function(&report)` gives.
template <HasRecord Value, class Function>
Result<Value> take_report(const Function& function) {
  const typename RecordOf<Value>::C* record = nullptr;
  if (Status status = take_status(function(&record)); !status.ok()) return status;
  const Report<typename RecordOf<Value>::C> report(record);
  return read_record<Value>(*record);
}

}  // namespace ephost::detail
