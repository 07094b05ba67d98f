// Messages as bytes, with bounds: protobuf makes nothing of a message above 2 GiB, and an empty
// message is a valid one.
#pragma once

#include <ephost/status.h>
#include <google/protobuf/message_lite.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace ephost::worker {

// The largest message of a worker's. What it holds may take a hundred times as much memory.
inline constexpr size_t kMaxFromWorker = size_t{16} << 20;
// Payloads and the contents of tensors that a worker has made are sent in pieces of this size.
inline constexpr size_t kContentPiece = size_t{4} << 20;

// INVALID_ARGUMENT if it is larger than `most`, which is at most INT_MAX; `what` is its name.
[[nodiscard]] Result<std::string> serialized(const google::protobuf::MessageLite& message,
                                             std::string_view what, size_t most);

}  // namespace ephost::worker
