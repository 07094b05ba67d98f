// The selection file of a user: the providers that a session uses in order of priority, their
// options, and the session's configuration entries. manifests/SCHEMA.md documents the format.
// Whether the providers are installed and accept their options is checked elsewhere (choose.h,
// options.h).
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/manifest/version.h"

namespace ephost::manifest {

struct YamlNode;

using KeyValues = std::vector<std::pair<std::string, std::string>>;

struct ProviderChoice {
  std::string name;  // a provider's type name or short name
  VersionRange version;
  KeyValues options;                 // keys are unique
  std::vector<std::string> devices;  // ids, types, or types and numbers; empty: not chosen
};

struct Selection {
  std::filesystem::path file;  // empty if a program created the selection
  int selection = 1;
  std::vector<ProviderChoice> providers;  // highest priority first; names are unique
  KeyValues session_entries;              // keys are unique
};

// Errors are INVALID_ARGUMENT: "file:line:column: key "x": what is wrong; what to do".
[[nodiscard]] Result<Selection> parse_selection(std::string_view text,
                                                const std::filesystem::path& file);
[[nodiscard]] Result<Selection> read_selection(const YamlNode& document,
                                               const std::filesystem::path& file);

// Reads and parses the file; NO_SUCHFILE and other errors as in host/base/files/file.h.
[[nodiscard]] Result<Selection> load_selection(const std::filesystem::path& file);

// Whether a document is meant as a selection: a map with the key "selection".
[[nodiscard]] bool is_selection(const YamlNode& document);

}  // namespace ephost::manifest
