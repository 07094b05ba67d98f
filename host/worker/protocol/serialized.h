// Messages as bytes, with bounds: protobuf makes nothing of a message above 2 GiB, and an empty
// message is a valid one.
#pragma once

#include <ephost/status.h>
#include <google/protobuf/message_lite.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "host/worker/transport/message.h"

namespace ephost::worker {

// The largest message of a worker, and the most fields of it. Two bytes make an object of some
// hundred bytes.
inline constexpr size_t kMaxFromWorker = kMaxFromWorkerBytes;
inline constexpr size_t kMostEntries = size_t{1} << 20;
// Payloads and the contents of tensors that a worker has made are sent in pieces of this size.
inline constexpr size_t kContentPiece = size_t{4} << 20;

// INVALID_ARGUMENT if it is larger than `most`, which is at most INT_MAX; `what` is its name.
[[nodiscard]] Result<std::string> serialized(const google::protobuf::MessageLite& message,
                                             std::string_view what, size_t most);

// Before a message of a worker is parsed: that it keeps to these bounds. EP_FAIL: "`what` of 20
// bytes; it may have 16".
[[nodiscard]] Status check_incoming(std::string_view bytes, std::string_view what);

}  // namespace ephost::worker
