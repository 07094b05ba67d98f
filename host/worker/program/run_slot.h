// The common part of the host's functions that a plugin calls in this process.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <exception>

#include "host/base/thrown.h"
#include "host/worker/protocol/records.h"

namespace ephost::worker {

// Runs the body of such a function, which returns a Status or throws. `error` may be null.
template <class Body>
int32_t run_slot(eph_error* error, Body body) noexcept {
  const auto fail = [&](const Status& status) {
    if (error != nullptr) error->api->set_message(error, text_of(status.message()));
    return static_cast<int32_t>(status.code());
  };
  try {
    const Status status = body();
    return status.ok() ? EPH_OK : fail(status);
  } catch (const std::exception& thrown) {
    return fail(status_of_thrown(thrown));
  }
}

}  // namespace ephost::worker
