// Looks at every EPContext node of a model and stops at none: the one implementation of the rules
// that the loader enforces and verification reports.
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
  Status status;  // what is wrong with it, naming it
};

struct ExaminedPayload {
  CachedPayload payload;
  uint32_t primary = 0;  // first node of it
  ChecksumState checksum = ChecksumState::kUnknown;
};

struct Examination {
  Status metadata_status;  // if not OK, the entries count as not stated
  ContextMetadata metadata;
  std::vector<ExaminedPayload> payloads;
  std::vector<ExaminedNode> nodes;
  std::vector<Status> initializers;  // what is wrong with their external files
  // The model's producer or its metadata say that a host of this kind wrote it, which states a
  // checksum of everything.
  bool is_of_this_host = false;
  std::vector<std::string> unchecked;  // what the model states no checksum of, e.g. `file "m.bin"`
  std::vector<std::future<Status>> pending_checksums;
};

// The folder of the initializers' external files, if there is one.
[[nodiscard]] inline const std::optional<std::filesystem::path>& initializers_folder(
    const LoadOptions& options) {
  return options.initializers_folder ? options.initializers_folder : options.folder;
}

[[nodiscard]] Examination examine_context(const graph::Model& model, const LoadOptions& options);

// INVALID_GRAPH if something is unchecked that `options` have checked.
[[nodiscard]] Status check_required_checksums(const Examination& examination,
                                              const LoadOptions& options);

// The first thing that is wrong, or OK.
[[nodiscard]] Status first_failure(const Examination& examination);

}  // namespace ephost::context
