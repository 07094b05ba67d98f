// What a context model states about itself in `metadata_props`, the only part of an ONNX model that
// other tools carry along untouched. SPECIFICATION.md describes the entries and their values.
// Models that other hosts wrote have none of them; each entry is optional.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ephost/status.h"
#include "host/base/hash.h"

namespace ephost::context {

// Checksum and size of some content.
struct ContentChecksum {
  Hash128 hash;
  uint64_t size = 0;

  friend bool operator==(const ContentChecksum&, const ContentChecksum&) = default;
};

[[nodiscard]] std::string to_string(const ContentChecksum& checksum);
// Nothing unless `text` is what `to_string` writes.
[[nodiscard]] std::optional<ContentChecksum> parse_content_checksum(std::string_view text);

// ModelProto.producer_name of every model that this host writes.
inline constexpr std::string_view kProducerName = "ephost";

using MetadataList = std::vector<std::pair<std::string, std::string>>;

struct ContextMetadata {
  std::map<std::string, ContentChecksum> binaries;      // by file name
  std::map<std::string, ContentChecksum> embedded;      // by partition_name
  std::map<std::string, ContentChecksum> initializers;  // by file name
  std::map<std::string, ContentChecksum> originals;     // by file name; not the context model's own
  std::map<std::string, std::string> compatibility;     // by source
  bool is_stated = false;  // read_metadata: there is an entry, if only the version

  [[nodiscard]] bool empty() const {
    return binaries.empty() && embedded.empty() && initializers.empty() && originals.empty() &&
           compatibility.empty();
  }
};

// Whether any entry is one of the context cache, of whatever version.
[[nodiscard]] bool has_context_metadata(const MetadataList& metadata);

// INVALID_GRAPH for an entry that is malformed, stated twice with different values, of an unknown
// kind, or of a newer version than this host knows.
[[nodiscard]] Result<ContextMetadata> read_metadata(const MetadataList& metadata);

// Replaces what `metadata` states of the cache, by nothing if there is nothing; entries of others
// stay, in their order.
void write_metadata(const ContextMetadata& stated, MetadataList& metadata);

}  // namespace ephost::context
