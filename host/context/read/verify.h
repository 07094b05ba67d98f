// The report of `ephost verify` about a context model: the rules of the loader, applied to every
// node without stopping at a problem. Loads no plugin.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/context/metadata.h"
#include "host/context/read/loader.h"
#include "host/context/read/payload_files.h"
#include "host/graph/graph.h"

namespace ephost::context {

// e.g. "ok", "missing file".
[[nodiscard]] std::string_view checksum_state_name(ChecksumState state);

struct VerifiedNode {
  std::string description;  // the node and, in a nested graph, the path of that graph
  std::string partition_name;
  std::string source;
  bool main_context = true;
  bool embedded = true;
  std::string primary;  // partition_name of the primary node of a secondary node
  std::string file;     // as the primary node names it; empty: embedded
  std::optional<uint64_t> payload_bytes;
  ChecksumState checksum = ChecksumState::kUnknown;  // of the payload
  std::string sdk_version;
  std::string hardware_architecture;
  // As given in the model for the payload, or else for its source.
  std::optional<std::string> compatibility;
};

struct VerifyReport {
  std::vector<VerifiedNode> nodes;
  std::vector<std::string> problems;                       // one sentence each
  std::vector<std::string> unchecked;                      // whatever has no stated checksum
  std::map<std::string, ContentChecksum> specializations;  // as given in the model
  bool needs_checksums = false;  // sessions refuse the model if something is unchecked

  [[nodiscard]] bool ok() const { return problems.empty(); }
};

// The report of a model without EPContext nodes is empty. `ok` is true exactly if `load_context`
// succeeds with `require_checksums` off.
[[nodiscard]] VerifyReport verify_context_model(const graph::Model& model,
                                                const LoadOptions& options);

}  // namespace ephost::context
