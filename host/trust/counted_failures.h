// The recorded failures of a plugin that count, and whether it is quarantined for them. Read by
// host/plugin/quarantine.h before a plugin is loaded, and by the command `quarantine`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/base/files/failure_records.h"
#include "host/manifest/search.h"
#include "host/trust/quarantine_policy.h"

namespace ephost::trust {

// FailureRecord::files of a plugin as it is now: a failure counts until its manifest, its library
// or a file that the manifest lists changes.
[[nodiscard]] std::string version_of_files(const manifest::FoundPlugin& plugin);
// FailureRecord::manifest of a plugin, by whatever path it was found.
[[nodiscard]] std::string recorded_path(const manifest::FoundPlugin& plugin);

struct CountedFailures {
  std::vector<const FailureRecord*> counting;  // oldest first
  std::optional<int64_t> until;                // when the quarantine ends; nothing if there is none
};

// `path` and `files` are those of the plugin, as above; `time` is the present, in seconds since
// 1970. Borrows from `records`.
[[nodiscard]] CountedFailures count_failures(std::span<const FailureRecord> records,
                                             const std::string& path, const std::string& files,
                                             const QuarantinePolicy& policy, int64_t time);

}  // namespace ephost::trust
