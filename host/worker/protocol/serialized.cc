#include "host/worker/protocol/serialized.h"

#include "host/base/format.h"

namespace ephost::worker {

Result<std::string> serialized(const google::protobuf::MessageLite& message, std::string_view what,
                               size_t most) {
  const size_t size = message.ByteSizeLong();
  std::string bytes;
  if (size <= most && message.SerializeToString(&bytes)) return bytes;
  return Status(
      StatusCode::kInvalidArgument,
      formatted("{} has {} bytes; between host and worker it may have {}", what, size, most));
}

}  // namespace ephost::worker
