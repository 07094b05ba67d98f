// From an imported context model to the payloads of its EPContext nodes: resolves and contains
// paths, maps binaries, checks checksums, finds the primary of each secondary node. Which provider
// takes a node, and what it makes of the payload, is decided by the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ephost/status.h"
#include "host/base/cancellation.h"
#include "host/base/files/file_system.h"
#include "host/base/files/known_checksums.h"
#include "host/context/ep_context_node.h"
#include "host/graph/graph.h"

namespace ephost::context {

// Alignment of every payload in memory, whichever way it came.
inline constexpr size_t kPayloadAlignment = 64;

struct LoadOptions {
  // Folder that the nodes' paths are relative to: the model file's (empty means the current one),
  // or that of `ep.context_file_path` for a model from memory. Nothing: the model may not refer to
  // files.
  std::optional<std::filesystem::path> folder;
  // Folder of the initializers' external files if it is another one.
  std::optional<std::filesystem::path> initializers_folder;
  // Content of files by the name the model states, looked up before the folders.
  std::map<std::string, graph::Blob> files;
  // Gives the content of a binary by the name that the nodes state, instead of the folder. Called
  // at most once for each name; its failure is a missing file.
  std::function<Result<graph::Blob>(const std::string& name)> read_payload;
  // Locations of the model's external data that the importer compared with no checksum
  // (onnx_io::ImportReport).
  std::set<std::string> unchecked_external_data;
  // Compare each file and embedded payload with the checksum that the model states of it, if it
  // does.
  bool verify_checksums = true;
  // Refuse a model that states no checksum of a payload or of its external data. Nothing: refuse it
  // if a host of this kind wrote it, which states them.
  std::optional<bool> require_checksums;
  // Sources whose providers withstand any payload. Where all nodes that state files are of these,
  // the checksums of large files are compared in threads of their own; see
  // LoadedContext::finish_checksums.
  std::set<std::string> validating_sources;
  KnownChecksums known_checksums;  // of files that were compared before
  // Give the memory of mapped files back once their checksums are taken: nobody reads them soon.
  bool release_pages = false;
  const FileSystem* file_system = &posix_file_system();  // outlives the payloads
  Cancellation cancellation = {};                        // fails then, for whatever reason
};

// The content that one or several nodes of one source stand on.
struct CachedPayload {
  graph::Blob
      bytes;  // aligned to kPayloadAlignment; a file is mapped, its pages shared with others
  std::string source;
  std::string file_name;  // as the first of its nodes states it; empty: embedded
};

// One EPContext node.
struct CachedPartition {
  NodePlace place;
  EpContextNode attributes;  // without the payload
  uint32_t payload = 0;      // index into LoadedContext::payloads
};

struct LoadedContext {
  std::vector<CachedPayload> payloads;               // in the order of their first primary node
  std::vector<CachedPartition> partitions;           // in the order of find_ep_context_nodes
  std::map<std::string, std::string> compatibility;  // the stated strings, by source
  std::vector<std::string> unchecked;                // what the model states no checksum of
  std::vector<std::future<Status>> pending_checksums;

  // Waits for the checksums that are still being compared: INVALID_GRAPH if one is wrong. Nothing
  // that was made from the payloads may be used before. The superseded form of a file is not looked
  // for then: load without `validating_sources` to have it.
  [[nodiscard]] Status finish_checksums();
};

// A file is mapped once, however many nodes refer to it, and so is its checksum taken.
//
// INVALID_GRAPH naming the node where attributes are malformed, a path is refused (empty, absolute,
// with `..`, a link out of the folder, a directory or device), a file is missing or unreadable, a
// checksum is wrong or a required one is missing, or a secondary node has no primary. A secondary
// node belongs to the primary of its source whose partition_name, or else whose file, its
// `ep_cache_context` states; to the only payload of its source if neither is there. Checksums of
// the initializers' external file are checked as well: the model must not run with weights of
// another generation.
//
// If the file is not the one that the model states, but its superseded form (file_names.h) is still
// there, that one is taken: another process is just replacing the model, or died while doing so.
[[nodiscard]] Result<LoadedContext> load_context(const graph::Model& model,
                                                 const LoadOptions& options);

// The same for the initializers' external files, which the importer opens: content, by name, that
// stands under a superseded name and is what the model's metadata state, while the file of that
// name is not. To be passed to the importer as ImportOptions::external_files, and to `load_context`
// as LoadOptions::files; either would refuse the model otherwise. Empty too where there is no model
// at `path`, or a damaged one. Costs next to nothing where no publication was interrupted.
[[nodiscard]] std::map<std::string, graph::Blob> find_superseded_initializers(
    const std::filesystem::path& path, const LoadOptions& options);
// For a model in memory.
[[nodiscard]] std::map<std::string, graph::Blob> find_superseded_initializers(
    std::span<const std::byte> model, const LoadOptions& options);

}  // namespace ephost::context
