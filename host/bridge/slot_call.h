// Calls of slots that return a code and take an eph_error as their last argument. Also re-exports
// the names of host/plugin/calls/call.h for the modules that call plugins through this one.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <string_view>
#include <type_traits>

#include "host/bridge/error_sink.h"
#include "host/plugin/calls/call.h"

namespace ephost::bridge {

using plugin::CallScope;
using plugin::CallSite;
using plugin::guard_thread_end;
using plugin::StepSites;
using plugin::thrown_by;

// OK if the slot returned EPH_OK; otherwise its code and message, or EP_FAIL if it threw. `attempt`
// completes "AcmeExecutionProvider failed ...": a text, or a function that returns one.
template <class Attempt, class... P, class... A>
[[nodiscard]] Status call_slot(const CallSite& site, const Attempt& attempt, int32_t (*slot)(P...),
                               A... arguments) {
  ErrorSink error;
  EPHOST_ASSIGN_OR_RETURN(const int32_t code, plugin::call(site, slot, arguments..., &error));
  if (code == EPH_OK) return Status::ok_status();
  if constexpr (std::is_invocable_v<Attempt>) {
    return error.to_status(code, site.provider, attempt());
  } else {
    return error.to_status(code, site.provider, attempt);
  }
}

}  // namespace ephost::bridge
