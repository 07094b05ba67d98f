// Access of the C++ API to the library: the table of its functions, and the conversion of statuses,
// texts and reports.
#pragma once

#include <ephost/c_api.h>
#include <ephost/detail/owned.h>
#include <ephost/status.h>

#include <new>
#include <stdexcept>
#include <string>
#include <utility>

// Stands before functions of the API that read reports: as templates they cost only those programs
// time to compile that call them.
#define EPHOST_ON_DEMAND template <int = 0>

namespace ephost::detail {

inline const ephost_api& api() {
  static const ephost_api& table = *ephost_api_v1();
  return table;
}

inline Status take_status(ephost_status* status) {
  if (status == nullptr) return {};
  const auto& table = *api().status;
  Status taken(static_cast<StatusCode>(table.code(status)), table.message(status));
  table.release(status);
  return taken;
}

// For functions of the application that the library calls: no exception may reach it.
template <class Function>
ephost_status* give_status(const Function& function) noexcept {
  const auto& table = *api().status;
  try {
    const Status status = function();
    if (status.ok()) return nullptr;
    return table.create(static_cast<int32_t>(status.code()), status.message().c_str());
  } catch (const std::bad_alloc&) {
    return table.create(EPHOST_OUT_OF_MEMORY, "a function of the application ran out of memory");
  } catch (const std::exception& error) {
    return table.create(EPHOST_FAIL, error.what());
  } catch (...) {
    return table.create(EPHOST_FAIL, "a function of the application threw an exception");
  }
}

// A record of the application with all defaults.
template <class Record>
Record sized() {
  Record record = {};
  record.struct_size = sizeof(Record);
  return record;
}

// For what can only fail because memory ran out, or because a number is not one of its enumeration.
inline void expect_success(ephost_status* status) {
  if (status == nullptr) return;
  const Status failure = take_status(status);
  if (failure.code() == StatusCode::kInvalidArgument) {
    throw std::invalid_argument(std::string(failure.message()));
  }
  throw std::bad_alloc();
}

struct ReleaseReport {
  void operator()(const void* report) const { api().release_report(report); }
};
template <class Record>
using Report = Owned<const Record, ReleaseReport>;

// Calls `function(&text)`, which may set the text.
template <class Function>
Result<std::string> take_text(const Function& function) {
  char* text = nullptr;
  if (Status status = take_status(function(&text)); !status.ok()) return status;
  std::string copy(text);
  api().release_text(text);
  return copy;
}

}  // namespace ephost::detail
