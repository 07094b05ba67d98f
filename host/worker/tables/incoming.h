// Messages of a worker, which may have any bytes.
#pragma once

#include <ephost/status.h>

#include <string_view>

#include "host/worker/transport/message.h"

namespace ephost::worker {

// Before it is parsed: that it is not too large, and does not turn into more entries than there may
// be, each of which is an object although two bytes make one. EP_FAIL: "`what` that ...".
[[nodiscard]] Status check_incoming(const Message& message, std::string_view what);
[[nodiscard]] Status unreadable(std::string_view what);

// `what`: "an answer".
template <class T>
[[nodiscard]] Result<T> read_message(const Message& message, std::string_view what) {
  EPHOST_RETURN_IF_ERROR(check_incoming(message, what));
  T read;
  if (!read.ParseFromString(message.bytes)) return unreadable(what);
  return read;
}

}  // namespace ephost::worker
