// What `ephost verify` tells about a context model. It looks at everything and stops at nothing:
// the loader's rules, node by node, as data. Loads no plugin.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/context/read/loader.h"
#include "host/context/read/payload_files.h"
#include "host/graph/graph.h"

namespace ephost::context {

// e.g. "ok", "missing file".
[[nodiscard]] std::string_view checksum_state_name(ChecksumState state);

struct VerifiedNode {
  std::string description;  // node and, in a nested graph, the path of that
  std::string partition_name;
  std::string source;
  bool main_context = true;
  bool embedded = true;
  std::string primary;  // partition_name of a secondary's primary
  std::string file;     // as stated, of the primary; empty: embedded
  std::optional<uint64_t> payload_bytes;
  ChecksumState checksum = ChecksumState::kUnknown;  // of the payload
  std::string sdk_version;
  std::string hardware_architecture;
  std::optional<std::string> compatibility;  // what the model states for the source
};

struct VerifyReport {
  std::vector<VerifiedNode> nodes;
  std::vector<std::string> problems;   // one sentence each
  std::vector<std::string> unchecked;  // what the model states no checksum of
  bool needs_checksums = false;        // sessions refuse the model if something is unchecked

  [[nodiscard]] bool ok() const { return problems.empty(); }
};

// A model without EPContext nodes gives an empty report. `ok` exactly where `load_context`
// succeeds with `require_checksums` off.
[[nodiscard]] VerifyReport verify_context_model(const graph::Model& model,
                                                const LoadOptions& options);

}  // namespace ephost::context
