#include "host/worker/protocol/serialized.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstdint>

#include "host/base/format.h"

namespace ephost::worker {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

Result<std::string> serialized(const google::protobuf::MessageLite& message, std::string_view what,
                               size_t most) {
  const size_t size = message.ByteSizeLong();
  std::string bytes;
  if (size <= most && message.SerializeToString(&bytes)) return bytes;
  return Status(
      StatusCode::kInvalidArgument,
      formatted("{} has {} bytes; between host and worker it may have {}", what, size, most));
}

Status check_incoming(std::string_view bytes, std::string_view what) {
  if (bytes.size() > kMaxFromWorker) {
    return Status(StatusCode::kEpFail,
                  formatted("{} of {} bytes; it may have {}", what, bytes.size(), kMaxFromWorker));
  }
  if (bytes.size() <= kMostEntries) return {};
  CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
  for (size_t entries = 0; const uint32_t tag = stream.ReadTag(); ++entries) {
    if (entries == kMostEntries) {
      return Status(StatusCode::kEpFail,
                    formatted("{} with more than {} entries", what, kMostEntries));
    }
    if (!WireFormatLite::SkipField(&stream, tag)) break;  // it cannot be parsed either
  }
  return {};
}

}  // namespace ephost::worker
