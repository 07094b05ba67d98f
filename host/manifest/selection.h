// The selection file of a user: which providers a session takes, in which order of priority, with
// which options, and the session's own entries. manifests/SCHEMA.md is the reference of the format.
// Whether the providers are installed and know their options is decided elsewhere (choose.h,
// options.h).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ephost/status.h"
#include "host/manifest/version.h"

namespace ephost::manifest {

struct YamlNode;

using KeyValues = std::vector<std::pair<std::string, std::string>>;

struct ProviderChoice {
  std::string name;  // a provider's type name or short name
  VersionRange version;
  KeyValues options;  // keys are unique
};

struct Selection {
  std::filesystem::path file;  // empty when it was put together by a program
  int selection = 1;
  std::vector<ProviderChoice> providers;  // highest priority first; names are unique
  KeyValues session_entries;              // keys are unique
};

// Errors are INVALID_ARGUMENT: "file:line:column: key "x": what is wrong; what to do".
[[nodiscard]] Result<Selection> parse_selection(std::string_view text,
                                                const std::filesystem::path& file);
[[nodiscard]] Result<Selection> read_selection(const YamlNode& document,
                                               const std::filesystem::path& file);

// Reads and parses; NO_SUCHFILE and the like as in host/base/files/file.h.
[[nodiscard]] Result<Selection> load_selection(const std::filesystem::path& file);

// Whether a document is meant as a selection: a map with the key "selection".
[[nodiscard]] bool is_selection(const YamlNode& document);

}  // namespace ephost::manifest
