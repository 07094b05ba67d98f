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
#include "host/manifest/yaml_tree.h"

namespace ephost::manifest {

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
  KeyValues session_entries;              // keys are unique, unless there are errors
};

// Where a selection file says something about a provider.
struct ProviderChoicePlaces {
  Place name;
  Place version;               // as `name` if the file gives none
  std::vector<Place> options;  // of the values, beside ProviderChoice::options
  std::vector<Place> devices;  // beside ProviderChoice::devices
};

// A selection file with everything that is wrong with its format.
struct ExaminedSelection {
  Selection selection;                          // what could be read
  std::vector<ProviderChoicePlaces> providers;  // beside Selection::providers
  std::vector<Place> session_entries;           // of the values, beside Selection::session_entries
  std::vector<PlacedError> errors;              // INVALID_ARGUMENT
};

// Goes on after each error, except where the text is not YAML.
[[nodiscard]] ExaminedSelection examine_selection(std::string_view text,
                                                  const std::filesystem::path& file);

// Errors are INVALID_ARGUMENT: "file:line:column: key "x": what is wrong; what to do". Of several
// errors, it is the first that examine_selection finds.
[[nodiscard]] Result<Selection> parse_selection(std::string_view text,
                                                const std::filesystem::path& file);
[[nodiscard]] Result<Selection> read_selection(const YamlNode& document,
                                               const std::filesystem::path& file);

// Reads and parses the file; NO_SUCHFILE and other errors as in host/base/files/file.h. It decides
// which code runs with which options, so that one that others may change is INVALID_ARGUMENT
// (host/base/files/ownership.h).
[[nodiscard]] Result<Selection> load_selection(const std::filesystem::path& file);

// Whether a document is meant as a selection: a map with the key "selection".
[[nodiscard]] bool is_selection(const YamlNode& document);

}  // namespace ephost::manifest
