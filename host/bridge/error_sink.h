// The eph_error that the host passes to a plugin: receives the plugin's message and turns it into a
// Status. For one call at a time; reusable.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <string>
#include <string_view>

namespace ephost::bridge {

class ErrorSink : public eph_error {
 public:
  ErrorSink();
  ErrorSink(const ErrorSink&) = delete;
  ErrorSink& operator=(const ErrorSink&) = delete;

  // OK for EPH_OK. Otherwise the plugin's code, with a printable message that says what failed at
  // what: `who` names the provider, `what` the attempt ("compiling it"). Clears the message.
  [[nodiscard]] Status to_status(int32_t code, std::string_view who, std::string_view what);

 private:
  static void store(eph_error* error, eph_string message) noexcept;
  static const eph_error_api kApi;

  std::string message_;
};

}  // namespace ephost::bridge
