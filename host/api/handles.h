// The objects behind the handles of the C API, and the failures of its functions.
#pragma once

#include <ephost/c_api.h>
#include <ephost/status.h>
#include <ephost/types/logging.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "host/api/report.h"
#include "host/base/format.h"
#include "host/base/log.h"
#include "host/runtime/values/value.h"
#include "host/session/config/given_options.h"
#include "host/session/environment/environment_state.h"
#include "host/session/environment/exception_barrier.h"
#include "host/session/facade/session_state.h"

struct ephost_status {
  int32_t code;
  std::string message;
};

// Counted, as a value may be shared by several owners.
struct ephost_value {
  std::atomic<uint64_t> owners{1};
  ephost::runtime::Value value;
};

struct ephost_environment {
  std::shared_ptr<ephost::session::EnvironmentState> state;
};

struct ephost_session_options {
  ephost::session::GivenOptions options;
};

// Bindings keep it.
struct ephost_session {
  ephost_session() = default;
  ephost_session(const ephost_session&) = delete;
  ephost_session& operator=(const ephost_session&) = delete;
  ~ephost_session() {
    if (state == nullptr) return;
    const ephost::Log log = state->log;
    const ephost::LogScope scope(log);
    state.reset();
  }

  std::atomic<uint64_t> owners{1};
  std::unique_ptr<ephost::session::SessionState> state;
  ephost::api::Arena arena;  // of `info`
  ephost_session_info info = {};
};

namespace ephost::api {

// Null for success.
[[nodiscard]] ephost_status* to_c(const Status& status);
// Takes what a function of the application returned, and releases it.
[[nodiscard]] Status from_c(ephost_status* status);

// What is left to say where no status can be allocated. It is never freed.
[[nodiscard]] ephost_status* out_of_memory();

// Runs the body of a function, which returns a Status. No exception leaves it.
template <class Body>
[[nodiscard]] ephost_status* guarded(std::string_view what, const Body& body) {
  try {
    return to_c(session::without_exceptions(what, body));
  } catch (const std::bad_alloc&) {
    return out_of_memory();  // not even for a message is there memory
  }
}

// The same for a function whose messages belong to that log.
template <class Body>
[[nodiscard]] ephost_status* guarded(const Log& log, std::string_view what, const Body& body) {
  const LogScope scope(log);
  return guarded(what, body);
}

// A value of the caller's, which is released with release().
[[nodiscard]] inline ephost_value* new_handle(runtime::Value value) {
  return new ephost_value{.value = std::move(value)};
}

[[nodiscard]] inline const session::GivenOptions& options_of(
    const ephost_session_options* options) {
  static const session::GivenOptions defaults;
  return options == nullptr ? defaults : options->options;
}

[[nodiscard]] inline std::string_view view_of(const char* text) {
  return text == nullptr ? "" : text;
}
[[nodiscard]] inline std::string text_of(const char* text) { return std::string(view_of(text)); }

// A severity that is stated as 1 more; nothing for 0.
[[nodiscard]] inline std::optional<LoggingLevel> to_level(int32_t stated) {
  if (stated <= 0) return std::nullopt;
  return static_cast<LoggingLevel>(std::min(stated - 1, int32_t{EPHOST_LOG_FATAL}));
}

// A text of the caller, which is released with release_text.
[[nodiscard]] Status give_text(std::string_view text, char** out_text);

// Fills in what the caller's record has room for. The struct_size of `from` says how much that is.
template <class C>
void copy_covered(const C& from, C& to) {
  std::memcpy(&to, &from, std::min<uint64_t>(from.struct_size, sizeof(C)));
}

// INVALID_ARGUMENT for a record of the caller's without a size: nothing in it would count. It
// may be null. `type` is its name.
template <class C>
[[nodiscard]] Status check_record(const C* given, std::string_view type) {
  if (given == nullptr || given->struct_size >= sizeof(given->struct_size)) return {};
  return {StatusCode::kInvalidArgument,
          formatted("{} has struct_size {}; set it to sizeof({}), as EPHOST_INIT does", type,
                    given->struct_size, type)};
}

// A record of the caller with all fields; those that its struct_size does not cover, or all if it
// is null, are zero.
template <class C>
[[nodiscard]] C adopt_record(const C* given) {
  C adopted = {};
  if (given != nullptr)
    std::memcpy(&adopted, given, std::min<uint64_t>(given->struct_size, sizeof(C)));
  adopted.struct_size = sizeof(C);
  return adopted;
}

}  // namespace ephost::api
