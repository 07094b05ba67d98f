// Examination of every EPContext node of a model, which continues after each problem. The loader
// enforces what it finds, and verification reports it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <future>
#include <limits>
#include <optional>
#include <vector>

#include "ephost/status.h"
#include "host/context/metadata.h"
#include "host/context/read/loader.h"
#include "host/context/read/payload_files.h"

namespace ephost::context {

inline constexpr uint32_t kNoPayload = std::numeric_limits<uint32_t>::max();

struct ExaminedNode {
  NodePlace place;
  EpContextNode attributes;  // without the payload
  uint32_t payload = kNoPayload;
  std::vector<graph::Tensor> constants;  // those that `attributes.constants` names
  Status status;                         // what is wrong with the node, naming it
};

struct ExaminedPayload {
  CachedPayload payload;
  uint32_t primary = 0;  // its first node, an index into Examination::nodes
  ChecksumState checksum = ChecksumState::kUnknown;
};

struct Examination {
  Status metadata_status;  // if not OK, `metadata` is empty
  ContextMetadata metadata;
  std::vector<ExaminedPayload> payloads;
  std::vector<ExaminedNode> nodes;
  std::vector<Status> initializers;  // problems of their external files
  // The producer or the metadata of the model say that a host of this kind wrote it; such a host
  // writes all checksums.
  bool is_of_this_host = false;
  std::vector<std::string> unchecked;  // has no stated checksum, e.g. `file "m.bin"`
  std::vector<std::future<Status>> pending_checksums;
};

// The folder of the external files of initializers; nullopt if there is none.
[[nodiscard]] inline const std::optional<std::filesystem::path>& initializers_folder(
    const LoadOptions& options) {
  return options.initializers_folder ? options.initializers_folder : options.folder;
}

[[nodiscard]] Examination examine_context(const graph::Model& model, const LoadOptions& options);

// INVALID_GRAPH if `options` require a checksum that is not stated.
[[nodiscard]] Status check_required_checksums(const Examination& examination,
                                              const LoadOptions& options);

// The first problem, or OK.
[[nodiscard]] Status first_failure(const Examination& examination);

}  // namespace ephost::context
