// The manifest of a plugin: its description by the vendor, read before any of its code is loaded.
// manifests/SCHEMA.md documents the format. Nothing here examines the library itself.
#pragma once

#include <ephost/status.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/manifest/isolation.h"
#include "host/manifest/option_spec.h"
#include "host/manifest/platform.h"
#include "host/manifest/version.h"

namespace ephost::manifest {

struct YamlNode;

// The versions of the plugin ABI that a plugin supports: one major version, an inclusive range of
// minors.
struct AbiRange {
  uint32_t major = 0;
  uint32_t minor_min = 0;
  uint32_t minor_max = 0;
};

struct LibraryEntry {
  std::string path;                   // relative to the manifest's directory, with '/'
  std::optional<std::string> sha256;  // 64 lower-case hexadecimal digits
};

// A kind of device that the plugin can drive; unspecified fields are empty.
struct Device {
  std::string type;  // "cpu", "gpu", "npu" or "other"
  std::string vendor;
  std::string id;
};

// What a plugin offers.
enum class Kind {
  kProvider,
  kLayer,  // stands between the host and the providers of other plugins (host/layers)
};

// The layers that the host has, whose names no plugin may take.
inline constexpr std::array<std::string_view, 3> kHostLayers = {"trace", "validate", "regroup"};

struct Manifest {
  std::filesystem::path file;
  int schema = 1;
  Kind kind = Kind::kProvider;
  std::string provider;  // type name, e.g. "CPUExecutionProvider"; empty for a layer
  // Short name, [a-z0-9_]+, used in the names of context binaries; the name of a layer.
  std::string name;
  std::string vendor;
  Version version;
  AbiRange abi;
  std::map<std::string, LibraryEntry, std::less<>> libraries;  // by platform; not empty
  // SHA-256 of the plugin's other files, as 64 lower-case hexadecimal digits, by path: relative to
  // the manifest's directory, with '/'.
  std::map<std::string, std::string, std::less<>> files;
  std::vector<std::string> context_sources;      // accepted values of EPContext's `source`
  bool validates_contexts = false;               // safely rejects any invalid payload
  bool deterministic = false;                    // writes the same payloads for the same input
  std::vector<Device> devices;                   // may be empty
  std::vector<std::string> requires_extensions;  // of the host, as "name/revision"
  std::vector<OptionSpec> options;               // names are unique
  bool options_open = false;                     // takes options besides these, as text
  Isolation isolation = Isolation::kNone;        // that the plugin asks for, at least

  // The directory of `file` as an absolute path: where the plugin's own files are.
  [[nodiscard]] std::string directory() const;
  // The name for messages: the type name of a provider, the name of a layer.
  [[nodiscard]] const std::string& subject() const {
    return kind == Kind::kLayer ? name : provider;
  }
  // Null if the manifest has no library for the platform.
  [[nodiscard]] const LibraryEntry* library_for(std::string_view platform) const;
};

// What identifies a plugin, as far as its manifest gives it in valid form.
struct PluginIdentity {
  std::string provider;
  std::string name;  // may be empty
  std::optional<Version> version;
};

// Identifies the plugin of a manifest even if the manifest is invalid: it only looks at single
// lines, so that the text need not be YAML. Nothing if no line names a provider.
[[nodiscard]] std::optional<PluginIdentity> identify(std::string_view text);

// `file` is used in messages and becomes the manifest's `file`. Errors are INVALID_ARGUMENT:
// "file:line:column: key "x": what is wrong; what to do".
[[nodiscard]] Result<Manifest> parse_manifest(std::string_view text,
                                              const std::filesystem::path& file);
[[nodiscard]] Result<Manifest> read_manifest(const YamlNode& document,
                                             const std::filesystem::path& file);

// Reads and parses the file; NO_SUCHFILE and other errors as in host/base/files/file.h.
[[nodiscard]] Result<Manifest> load_manifest(const std::filesystem::path& file);

}  // namespace ephost::manifest
