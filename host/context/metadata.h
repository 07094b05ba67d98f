// The metadata of a context model in `metadata_props`, the only part of an ONNX model that
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

// Hash and size of a file or payload.
struct ContentChecksum {
  Hash128 hash;
  uint64_t size = 0;

  friend bool operator==(const ContentChecksum&, const ContentChecksum&) = default;
};

[[nodiscard]] std::string to_string(const ContentChecksum& checksum);
// nullopt unless `to_string` could have written `text`.
[[nodiscard]] std::optional<ContentChecksum> parse_content_checksum(std::string_view text);

// ModelProto.producer_name of the models that this host writes.
inline constexpr std::string_view kProducerName = "ephost";

using MetadataList = std::vector<std::pair<std::string, std::string>>;

struct ContextMetadata {
  std::map<std::string, ContentChecksum> binaries;      // by file name
  std::map<std::string, ContentChecksum> embedded;      // by partition_name
  std::map<std::string, ContentChecksum> initializers;  // by file name
  std::map<std::string, ContentChecksum> originals;     // by file name; not the context model's own
  std::map<std::string, std::string> compatibility;     // by source
  // The texts of payloads that have their own, by partition_name of their primary node.
  std::map<std::string, std::string> payload_compatibility;
  // Context models of the model with fixed extents, by file name; see SPECIFICATION.md.
  std::map<std::string, ContentChecksum> specializations;
  bool is_stated = false;  // read_metadata: there is an entry, if only the version

  [[nodiscard]] bool empty() const {
    return binaries.empty() && embedded.empty() && initializers.empty() && originals.empty() &&
           compatibility.empty() && payload_compatibility.empty() && specializations.empty();
  }
};

// Whether there is any entry of the context cache, of any version.
[[nodiscard]] bool has_context_metadata(const MetadataList& metadata);

// INVALID_GRAPH for an entry that is malformed, that is stated twice with different values, or
// whose kind or version this host does not know.
[[nodiscard]] Result<ContextMetadata> read_metadata(const MetadataList& metadata);

// Replaces the entries of the cache in `metadata` by those of `stated`, or removes them if it is
// empty. Other entries stay, in their order.
void write_metadata(const ContextMetadata& stated, MetadataList& metadata);

}  // namespace ephost::context
