// Messages of a worker, which may have any bytes.
#pragma once

#include <ephost/status.h>

#include <string>
#include <string_view>
#include <utility>

#include "host/worker/protocol/serialized.h"
#include "host/worker/transport/message.h"

namespace ephost::worker {

// EP_FAIL: what a worker did that it must not do.
[[nodiscard]] inline Status worker_fault(std::string what) {
  return Status(StatusCode::kEpFail, std::move(what));
}

// EP_FAIL: "`what` that ...", where `what` is "an answer".
template <class T>
[[nodiscard]] Result<T> read_message(const Message& message, std::string_view what) {
  EPHOST_RETURN_IF_ERROR(check_incoming(message.bytes, what));
  T read;
  if (message.descriptors.empty() && read.ParseFromString(message.bytes)) return read;
  return Status(StatusCode::kEpFail, std::string(what) + " that cannot be read");
}

}  // namespace ephost::worker
