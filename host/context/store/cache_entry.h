// `entry.txt`, the file that describes an entry of the cache store: what its key was made of, and
// the checksums of its files. It is text, so that a person can see why two keys differ.
// ../SPECIFICATION.md describes its lines.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ephost/status.h"
#include "host/context/metadata.h"
#include "host/context/write/writer.h"

namespace ephost::context {

inline constexpr std::string_view kEntryFileName = "entry.txt";
inline constexpr std::string_view kEntryModelName = "model_ctx.onnx";

struct CacheEntry {
  std::string key_text;
  // By name, the context model included.
  std::vector<std::pair<std::string, ContentChecksum>> files;
  std::vector<std::pair<std::string, uint64_t>> partitions;  // name and number of nodes
  // Name of each partition and the digest of what its context was made from (graph/graph_digest.h,
  // with the lines of its provider). Empty for entries of hosts that do not write them.
  std::vector<std::pair<std::string, std::string>> contexts;
  std::string model_name;  // of the source model; empty: it was in memory
};

// The files that the writer wrote, as files of an entry.
[[nodiscard]] std::vector<std::pair<std::string, ContentChecksum>> entry_files(
    std::span<const WrittenFile> files);

[[nodiscard]] std::string to_text(const CacheEntry& entry);

// INVALID_GRAPH unless `to_text` wrote `text`.
[[nodiscard]] Result<CacheEntry> parse_cache_entry(std::string_view text);

}  // namespace ephost::context
