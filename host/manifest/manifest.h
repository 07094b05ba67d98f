// The manifest of a plugin: what its vendor states about it, read before any of its code is loaded.
// manifests/SCHEMA.md is the reference of the format. Nothing here looks at the library itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ephost/status.h"
#include "host/manifest/option_spec.h"
#include "host/manifest/platform.h"
#include "host/manifest/version.h"

namespace ephost::manifest {

struct YamlNode;

// The versions of the plugin ABI that a plugin speaks: one major, a closed range of minors.
struct AbiRange {
  uint32_t major = 0;
  uint32_t minor_min = 0;
  uint32_t minor_max = 0;
};

struct LibraryEntry {
  std::string path;                   // relative to the manifest's directory, with '/'
  std::optional<std::string> sha256;  // 64 lower-case hexadecimal digits
};

// A kind of device that the plugin can drive; empty texts are not stated.
struct Device {
  std::string type;  // "cpu", "gpu", "npu" or "other"
  std::string vendor;
  std::string id;
};

struct Manifest {
  std::filesystem::path file;
  int schema = 1;
  std::string provider;  // type name, e.g. "CPUExecutionProvider"
  std::string name;      // short name, [a-z0-9_]+, part of the names of context binaries
  std::string vendor;
  Version version;
  AbiRange abi;
  std::map<std::string, LibraryEntry, std::less<>> libraries;  // by platform; not empty
  std::vector<std::string> context_sources;      // values of EPContext's `source` that it accepts
  bool validates_contexts = false;               // survives any bytes as a payload
  std::vector<Device> devices;                   // may be empty
  std::vector<std::string> requires_extensions;  // of the host, as "name/revision"
  std::vector<OptionSpec> options;               // names are unique

  // Null when the manifest has no library for the platform.
  [[nodiscard]] const LibraryEntry* library_for(std::string_view platform) const;
};

// What tells one plugin from another, as far as a manifest states it in due form.
struct PluginIdentity {
  std::string provider;
  std::string name;  // may be empty
  std::optional<Version> version;
};

// Whose manifest the text of a file is, whatever is wrong with it: goes by the lines alone, so that
// it need not be YAML. Nothing where no line states a provider.
[[nodiscard]] std::optional<PluginIdentity> identify(std::string_view text);

// `file` serves the messages and the manifest's own field. Errors are INVALID_ARGUMENT:
// "file:line:column: key "x": what is wrong; what to do".
[[nodiscard]] Result<Manifest> parse_manifest(std::string_view text,
                                              const std::filesystem::path& file);
[[nodiscard]] Result<Manifest> read_manifest(const YamlNode& document,
                                             const std::filesystem::path& file);

// Reads and parses; NO_SUCHFILE and the like as in host/base/files/file.h.
[[nodiscard]] Result<Manifest> load_manifest(const std::filesystem::path& file);

}  // namespace ephost::manifest
