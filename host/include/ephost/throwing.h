// Conversion of a failed Status or Result to an exception, for applications that prefer those.
#pragma once

#include <ephost/status.h>

#include <stdexcept>
#include <utility>

namespace ephost {

class Exception : public std::runtime_error {
 public:
  explicit Exception(const Status& status)
      : std::runtime_error(status.to_string()), code_(status.code()) {}
  [[nodiscard]] StatusCode code() const { return code_; }

 private:
  StatusCode code_;
};

inline void throw_if_error(const Status& status) {
  if (!status.ok()) throw Exception(status);
}

template <class T>
T value_or_throw(Result<T> result) {
  throw_if_error(result.status());
  return std::move(result).value();
}

}  // namespace ephost
