#include "host/worker/tables/incoming.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstdint>
#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/worker/protocol/serialized.h"

namespace ephost::worker {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr size_t kMostEntries = size_t{1} << 20;
// A message of this size cannot have many.
constexpr size_t kSmall = kMostEntries;

Status broken(std::string text) { return Status(StatusCode::kEpFail, std::move(text)); }

}  // namespace

Status unreadable(std::string_view what) {
  return broken(formatted("{} that cannot be read", what));
}

Status check_incoming(const Message& message, std::string_view what) {
  if (!message.descriptors.empty()) return unreadable(what);
  if (message.bytes.size() > kMaxFromWorker) {
    return broken(
        formatted("{} of {} bytes; it may have {}", what, message.bytes.size(), kMaxFromWorker));
  }
  if (message.bytes.size() <= kSmall) return {};
  CodedInputStream stream(reinterpret_cast<const uint8_t*>(message.bytes.data()),
                          static_cast<int>(message.bytes.size()));
  for (size_t entries = 0; const uint32_t tag = stream.ReadTag(); ++entries) {
    if (entries == kMostEntries) {
      return broken(formatted("{} with more than {} entries", what, kMostEntries));
    }
    if (!WireFormatLite::SkipField(&stream, tag)) return unreadable(what);
  }
  return {};
}

}  // namespace ephost::worker
