// What a context model states about itself in `metadata_props`, the only place of an ONNX file that
// other tools carry along untouched. Models from elsewhere state nothing of it; each entry is
// optional.
//
//   key                                        value
//   ephost.ep_context.version                  1
//   ephost.ep_context.binary.<file>            sum of the binary, by the name that the nodes state
//   ephost.ep_context.embedded.<partition>     sum of the payload inside the primary node of that
//                                              partition_name
//   ephost.ep_context.initializers.<file>      sum of the external file of the initializers
//   ephost.ep_context.original.<file>          checksum of an external file of the source model
//   that
//                                              initializers stayed in
//   ephost.ep_context.compatibility.<source>   the provider's compatibility string
//
// A sum is written `xxh3:<32 hexadecimal digits>:<size in bytes>`.
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

// Sum and size of some content.
struct ContentSum {
  Hash128 hash;
  uint64_t size = 0;

  friend bool operator==(const ContentSum&, const ContentSum&) = default;
};

[[nodiscard]] std::string to_string(const ContentSum& sum);
// Nothing unless `text` is what `to_string` writes.
[[nodiscard]] std::optional<ContentSum> parse_content_sum(std::string_view text);

// ModelProto.producer_name of every model that this host writes.
inline constexpr std::string_view kProducerName = "ephost";

using MetadataList = std::vector<std::pair<std::string, std::string>>;

struct ContextMetadata {
  std::map<std::string, ContentSum> binaries;        // by file name
  std::map<std::string, ContentSum> embedded;        // by partition_name
  std::map<std::string, ContentSum> initializers;    // by file name
  std::map<std::string, ContentSum> originals;       // by file name; not the context model's own
  std::map<std::string, std::string> compatibility;  // by source
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
