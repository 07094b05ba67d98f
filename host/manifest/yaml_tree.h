// YAML text as a plain tree with source locations, for the readers of manifests and selections.
// Accepts the subset of YAML that they need: one document of maps with text keys, lists and
// scalars. Anchors, aliases, tags, duplicate keys, deep nesting and oversized documents are
// refused. Only this unit uses yaml-cpp.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ephost::manifest {

// A location in a text file; both numbers start at 1.
struct Place {
  int line = 1;
  int column = 1;
};

struct YamlEntry;

struct YamlNode {
  enum class Kind { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  Place place;
  std::string text;                // of a scalar
  bool quoted = false;             // a quoted scalar or a block scalar
  std::vector<YamlNode> items;     // of a sequence
  std::vector<YamlEntry> entries;  // of a map, in the order of the document; keys are unique
};

struct YamlEntry {
  std::string key;
  Place place;
  YamlNode value;
};

// The size limit of a manifest or selection.
inline constexpr size_t kMaxYamlBytes = size_t{256} * 1024;

// `file` is only used in messages: INVALID_ARGUMENT, "file:line:column: what is wrong; what to do".
// The place of an error goes to `out_place` too, unless that is null.
[[nodiscard]] Result<YamlNode> parse_yaml(std::string_view text, const std::filesystem::path& file,
                                          Place* out_place = nullptr);

// Reads and parses the file; NO_SUCHFILE and other errors as in host/base/files/file.h.
[[nodiscard]] Result<YamlNode> load_yaml(const std::filesystem::path& file);

// Returns INVALID_ARGUMENT with "file:line:column: " before `message`.
[[nodiscard]] Status error_at(const std::filesystem::path& file, Place place,
                              std::string_view message);

// An error whose message begins with its place, as error_at makes it.
struct PlacedError {
  Place place;
  Status status;
};

}  // namespace ephost::manifest
