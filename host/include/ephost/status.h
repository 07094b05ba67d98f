// Status and Result: how every function of the host reports failure. No exception crosses the
// host's public interface; a caller that prefers exceptions uses `value_or_throw` of
// <ephost/throwing.h>.
#pragma once

#include <cassert>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ephost {

// The codes of ONNX Runtime's OrtErrorCode, value for value, and the host's own; the plugin ABI
// carries the same numbers.
enum class StatusCode : int32_t {
  kOk = 0,
  kFail = 1,
  kInvalidArgument = 2,
  kNoSuchFile = 3,
  kNoModel = 4,
  kEngineError = 5,
  kRuntimeException = 6,
  kInvalidProtobuf = 7,
  kModelLoaded = 8,
  kNotImplemented = 9,
  kInvalidGraph = 10,
  kEpFail = 11,
  kModelLoadCanceled = 12,
  kModelRequiresCompilation = 13,
  kNotFound = 14,
  kOutOfMemory = 1000,
  kDeviceLost = 1001,
  kCancelled = 1002,         // by the application
  kDeadlineExceeded = 1003,  // that of a run, or the longest time of a session's creation
};

// The upper-case name of a code, e.g. "INVALID_GRAPH".
[[nodiscard]] inline std::string_view status_code_name(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "OK";
    case StatusCode::kFail:
      return "FAIL";
    case StatusCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case StatusCode::kNoSuchFile:
      return "NO_SUCHFILE";
    case StatusCode::kNoModel:
      return "NO_MODEL";
    case StatusCode::kEngineError:
      return "ENGINE_ERROR";
    case StatusCode::kRuntimeException:
      return "RUNTIME_EXCEPTION";
    case StatusCode::kInvalidProtobuf:
      return "INVALID_PROTOBUF";
    case StatusCode::kModelLoaded:
      return "MODEL_LOADED";
    case StatusCode::kNotImplemented:
      return "NOT_IMPLEMENTED";
    case StatusCode::kInvalidGraph:
      return "INVALID_GRAPH";
    case StatusCode::kEpFail:
      return "EP_FAIL";
    case StatusCode::kModelLoadCanceled:
      return "MODEL_LOAD_CANCELED";
    case StatusCode::kModelRequiresCompilation:
      return "MODEL_REQUIRES_COMPILATION";
    case StatusCode::kNotFound:
      return "NOT_FOUND";
    case StatusCode::kOutOfMemory:
      return "OUT_OF_MEMORY";
    case StatusCode::kDeviceLost:
      return "DEVICE_LOST";
    case StatusCode::kCancelled:
      return "CANCELLED";
    case StatusCode::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
  }
  // A plugin may return a number that is not a valid code.
  return "UNKNOWN_CODE";
}

// Success, or a code with a message that says what failed, with what, and what to do about it.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status ok_status() { return {}; }

  [[nodiscard]] bool ok() const { return code_ == StatusCode::kOk; }
  [[nodiscard]] StatusCode code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

  // The same failure with " (while <what>)" appended; success stays success.
  [[nodiscard]] Status with_context(std::string_view what) && {
    if (!ok()) message_.append(" (while ").append(what).append(")");
    return std::move(*this);
  }

  // "INVALID_GRAPH: message", or "OK".
  [[nodiscard]] std::string to_string() const {
    std::string text(status_code_name(code_));
    return ok() ? text : text.append(": ").append(message_);
  }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// A value of type T, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)  // NOLINT(google-explicit-constructor)
      : has_value_(true), value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    assert(!status_.ok() && "a Result without a value needs a failure");
  }
  Result(const Result& other) requires std::is_copy_constructible_v<T> : status_(other.status_) {
    if (other.has_value_) put(other.value_);
  }
  Result(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
      : status_(std::move(other.status_)) {
    if (other.has_value_) put(std::move(other.value_));
  }
  Result& operator=(Result other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    drop_value();
    status_ = std::move(other.status_);
    if (other.has_value_) put(std::move(other.value_));
    return *this;
  }
  ~Result() { drop_value(); }

  [[nodiscard]] bool ok() const { return has_value_; }
  [[nodiscard]] const Status& status() const& { return status_; }
  [[nodiscard]] Status status() && { return std::move(status_); }

  [[nodiscard]] T& value() & { return assert(ok()), value_; }
  [[nodiscard]] const T& value() const& { return assert(ok()), value_; }
  [[nodiscard]] T&& value() && { return assert(ok()), std::move(value_); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  template <class Value>
  void put(Value&& value) {
    ::new (static_cast<void*>(&value_)) T(std::forward<Value>(value));
    has_value_ = true;
  }
  void drop_value() {
    if (has_value_) value_.~T();
    has_value_ = false;
  }

  Status status_;
  // As std::optional, which takes several times as long to compile for each T.
  bool has_value_ = false;
  union {
    T value_;
  };
};

}  // namespace ephost

// Returns the failure of a Status-valued expression from the enclosing function.
#define EPHOST_RETURN_IF_ERROR(expression)                                      \
  do {                                                                          \
    if (::ephost::Status ephost_status_ = (expression); !ephost_status_.ok()) { \
      return ephost_status_;                                                    \
    }                                                                           \
  } while (false)

#define EPHOST_CONCAT_INNER(a, b) a##b
#define EPHOST_CONCAT(a, b) EPHOST_CONCAT_INNER(a, b)

// Declares `declaration` from the value of a Result-valued expression, or returns its failure.
#define EPHOST_ASSIGN_OR_RETURN(declaration, expression) \
  EPHOST_ASSIGN_OR_RETURN_INNER(EPHOST_CONCAT(ephost_result_, __LINE__), declaration, expression)
#define EPHOST_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                          \
  if (!result.ok()) return std::move(result).status();                 \
  declaration = std::move(result).value()
