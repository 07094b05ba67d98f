// Failure reports of the host's functions that plugins call: a code is returned, after a message
// went into the plugin's eph_error. The counterpart of slot_call.h, which calls in the other
// direction.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <exception>
#include <string_view>

#include "host/base/thrown.h"

namespace ephost::bridge {

// Gives the message to `error` and returns the code. The message is dropped where `error` is null
// or its table is unusable: there is nothing to report that to, and the code still reports the
// failure.
int32_t report(eph_error* error, StatusCode code, std::string_view message) noexcept;

// Runs `body`, which returns a Status, and reports its failure. No exception leaves a callback:
// one that is thrown is reported as EPH_FAIL, with its text, or as
// EPH_OUT_OF_MEMORY.
template <class Body>
int32_t run_callback(eph_error* error, Body&& body) noexcept {
  try {
    const Status status = body();
    return status.ok() ? EPH_OK : report(error, status.code(), status.message());
  } catch (const std::exception& exception) {
    const Status thrown = status_of_thrown(exception);
    return report(error, thrown.code(), thrown.message());
  }
}

}  // namespace ephost::bridge
