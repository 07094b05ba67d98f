// Loader of the payloads of the EPContext nodes of an imported model: it resolves paths and keeps
// them inside their folder, maps binaries, compares checksums, and finds the primary node of each
// secondary node. The caller decides which provider gets a node.
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

// Alignment of every payload in memory, in bytes, whether mapped or embedded.
inline constexpr size_t kPayloadAlignment = 64;

struct LoadOptions {
  // Folder that the paths in the nodes are relative to: that of the model file (empty means the
  // current folder), or that of `ep.context_file_path` for a model in memory. nullopt: the model
  // may not refer to files.
  std::optional<std::filesystem::path> folder;
  // Folder of the external files of initializers, if it is not `folder`.
  std::optional<std::filesystem::path> initializers_folder;
  // Content of files by the name that the model gives; looked up before the folders.
  std::map<std::string, graph::Blob> files;
  // Returns the content of a binary by the name that the nodes state, instead of the folder. Called
  // at most once for each name; a failure counts as a missing file.
  std::function<Result<graph::Blob>(const std::string& name)> read_payload;
  // Locations of external data that the importer did not compare with a checksum
  // (onnx_io::ImportReport).
  std::set<std::string> unchecked_external_data;
  // Compare each file and each embedded payload with the checksum that the model gives, if it
  // does.
  bool verify_checksums = true;
  // Refuse a model without a checksum of a payload or of external data. nullopt: refuse it if
  // a host of this kind wrote it, as such a host writes all of them.
  std::optional<bool> require_checksums;
  // Sources whose providers withstand any payload. If all nodes have one of these sources, the
  // checksums of large files are compared in background threads; see
  // LoadedContext::finish_checksums.
  std::set<std::string> validating_sources;
  KnownChecksums known_checksums;  // of files that earlier loads compared
  // Release the pages of mapped files once their checksums are computed, if they are not read soon.
  bool release_pages = false;
  const FileSystem* file_system = &posix_file_system();  // outlives the payloads
  Cancellation cancellation = {};                        // the load fails once it is requested
};

// The payload of one or several nodes of the same source.
struct CachedPayload {
  // Aligned to kPayloadAlignment; the content of a file is mapped, with pages that others share.
  graph::Blob bytes;
  std::string source;
  std::string file_name;      // as the first of its nodes names it; empty: embedded
  std::string compatibility;  // a text of its own, as given in the model; may be empty
};

// One EPContext node.
struct CachedPartition {
  NodePlace place;
  EpContextNode attributes;              // without the payload
  uint32_t payload = 0;                  // index into LoadedContext::payloads
  std::vector<graph::Tensor> constants;  // those that `attributes.constants` names
};

struct LoadedContext {
  std::vector<CachedPayload> payloads;               // in the order of their first primary node
  std::vector<CachedPartition> partitions;           // in the order of find_ep_context_nodes
  std::map<std::string, std::string> compatibility;  // as stated, by source
  std::vector<std::string> unchecked;                // whatever has no stated checksum
  std::vector<std::future<Status>> pending_checksums;

  // What a payload depends on: its own text, else that of its source; empty if none is stated.
  [[nodiscard]] const std::string& compatibility_of(const CachedPayload& payload) const;

  // Waits for the checksums that are still being compared: INVALID_GRAPH if one is wrong. Nothing
  // made from the payloads may be used before that. The superseded form of such a file is not
  // looked for; to find it, load again without `validating_sources`.
  [[nodiscard]] Status finish_checksums();
};

// Maps each file, and computes its checksum, only once, however many nodes refer to it.
//
// INVALID_GRAPH, naming the node, if attributes are malformed, a path is refused (empty, absolute,
// with `..`, a link out of the folder, a directory or device), a file is missing or unreadable, a
// checksum is wrong or a required one is missing, a named constant is missing, changed or of
// another type, or a secondary node has no primary node. A secondary node belongs to the primary
// node of its source whose partition_name, or else whose file, its `ep_cache_context` names; or
// else to the only payload of its source. The checksums of external files of initializers are
// compared as well, as the model must not run with weights of another generation.
//
// If a file differs from the stated one, but its superseded form (file_names.h) still exists, the
// latter is loaded: another process is replacing the model, or died while doing so.
[[nodiscard]] Result<LoadedContext> load_context(const graph::Model& model,
                                                 const LoadOptions& options);

// Does the same for the external files of initializers, which the importer opens: the content, by
// name, of superseded files that have the stated checksum while the current files do not. Pass it
// to the importer as ImportOptions::external_files and to `load_context` as LoadOptions::files,
// which would refuse the model otherwise. Empty if `path` is not a sound model. Cheap unless a
// publication was interrupted.
[[nodiscard]] std::map<std::string, graph::Blob> find_superseded_initializers(
    const std::filesystem::path& path, const LoadOptions& options);
// The same for a model in memory.
[[nodiscard]] std::map<std::string, graph::Blob> find_superseded_initializers(
    std::span<const std::byte> model, const LoadOptions& options);

}  // namespace ephost::context
