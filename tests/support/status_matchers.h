// Matchers for Status and Result; a mismatch prints the code and the message.
#pragma once

#include <ephost/status.h>
#include <gmock/gmock.h>

#include <ostream>
#include <type_traits>

namespace ephost {

// What GoogleTest prints of a status. A result without a failure has a value, which may be large.
inline void PrintTo(const Status& status, std::ostream* out) { *out << status.to_string(); }
template <class T>
void PrintTo(const Result<T>& result, std::ostream* out) {
  PrintTo(result.status(), out);
}

}  // namespace ephost

namespace ephost::test {

template <class T>
concept HasStatus = requires(const T& outcome) {
  outcome.status();
};
template <class T>
concept HasMessage = requires {
  &T::message;
};

// For a Status or a Result, and for the Outcome of a kernel: EXPECT_THAT(session, IsOk()).
MATCHER(IsOk, negation ? "is a failure" : "is a success") {
  using Made = std::decay_t<arg_type>;
  static_assert(HasStatus<Made> || HasMessage<Made>, "nothing says why it failed");
  return arg.ok();
}

}  // namespace ephost::test
