#include "host/manifest/manifest.h"

#include <algorithm>
#include <array>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/manifest/field.h"
#include "host/manifest/names.h"
#include "host/manifest/yaml_tree.h"

namespace ephost::manifest {

namespace {

namespace fs = std::filesystem;

// The schema number is checked first: a newer schema may have other keys.
Status check_schema(const Field& document) {
  constexpr int64_t kSchema = 1;
  EPHOST_ASSIGN_OR_RETURN(const auto entries, document.entries());
  const auto schema = std::find_if(entries.begin(), entries.end(),
                                   [](const auto& entry) { return entry.first == "schema"; });
  if (schema == entries.end()) {
    return document.error(
        "the key \"schema\" is missing, so this is not a plugin manifest; add a line "
        "like \"schema: 1\"");
  }
  EPHOST_ASSIGN_OR_RETURN(const int64_t number, schema->second.integer());
  if (number == kSchema) return Status::ok_status();
  return schema->second.error(
      formatted("manifest schema {} is not supported; this host reads schema {}{}", number, kSchema,
                number > kSchema ? ": update the host" : ": write \"schema: 1\""));
}

Result<Version> read_version(const Field& field) {
  // A version with fewer than three numbers parses as a YAML number; a specific message helps more.
  EPHOST_ASSIGN_OR_RETURN(const std::string text, field.scalar());
  Result<Version> version = Version::parse(text);
  if (!version.ok()) return field.error(version.status().message());
  return version;
}

Result<AbiRange> read_abi(const Field& field) {
  static constexpr std::array<std::string_view, 2> kKeys{"major", "minor"};
  EPHOST_ASSIGN_OR_RETURN(const FieldMap map, field.map(kKeys));
  AbiRange abi;
  EPHOST_ASSIGN_OR_RETURN(const Field major, map.require("major", "1"));
  EPHOST_ASSIGN_OR_RETURN(abi.major, major.unsigned_number());
  if (abi.major == 0) return major.error("there is no ABI 0; write the major version of the SDK");
  EPHOST_ASSIGN_OR_RETURN(const Field minor, map.require("minor", "[0, 0]"));
  EPHOST_ASSIGN_OR_RETURN(const std::vector<Field> ends, minor.list());
  if (ends.size() != 2) {
    return minor.error("the range of minor versions has two ends; write [lowest, highest]");
  }
  EPHOST_ASSIGN_OR_RETURN(abi.minor_min, ends[0].unsigned_number());
  EPHOST_ASSIGN_OR_RETURN(abi.minor_max, ends[1].unsigned_number());
  if (abi.minor_max < abi.minor_min) {
    return minor.error("the range of minor versions is empty; write [lowest, highest]");
  }
  return abi;
}

// Returns why the text of a file's path cannot be accepted; empty if it can.
std::string path_problem(std::string_view text) {
  const fs::path path(text);
  // Refused on every system, so that a manifest means the same everywhere.
  if (text.find_first_of("\\:") != std::string_view::npos) {
    return "contains '\\' or ':'; separate folders with '/'";
  }
  if (text.find('$') != std::string_view::npos) {
    return "contains '$', which the system's loader expands; rename the file or its folder";
  }
  if (path.is_absolute()) return "is absolute; give it relative to the manifest's directory";
  if (std::find(path.begin(), path.end(), fs::path("..")) != path.end()) {
    return "has a \"..\" component; keep the file in the manifest's directory or below it";
  }
  if (!path.has_filename() || path.filename() == ".") return "does not name a file; name one";
  return {};
}

Status read_libraries(const Field& field, Manifest& manifest) {
  EPHOST_ASSIGN_OR_RETURN(const auto entries, field.entries());
  if (entries.empty()) {
    return field.error(
        formatted("no library is named; add a line like \"{}: libplugin.so\"", host_platform()));
  }
  for (const auto& [platform, value] : entries) {
    if (const std::string problem = platform_problem(platform); !problem.empty()) {
      return value.at_key().error(problem);
    }
    EPHOST_ASSIGN_OR_RETURN(std::string path, value.text());
    if (const std::string problem = path_problem(path); !problem.empty()) {
      return value.error(formatted("the path {} {}", quote(path), problem));
    }
    manifest.libraries[platform].path = std::move(path);
  }
  return Status::ok_status();
}

Result<std::string> read_sha256(const Field& field) {
  EPHOST_ASSIGN_OR_RETURN(const std::string text, field.scalar());
  std::string checksum = ascii_lower(text);
  if (checksum.size() == 64 &&
      checksum.find_first_not_of("0123456789abcdef") == std::string::npos) {
    return checksum;
  }
  return field.error(
      formatted("{} is not a SHA-256 checksum; write the 64 hexadecimal digits that sha256sum "
                "prints",
                quote(text)));
}

Status read_checksums(const Field& field, Manifest& manifest) {
  EPHOST_ASSIGN_OR_RETURN(const auto entries, field.entries());
  for (const auto& [platform, value] : entries) {
    const auto library = manifest.libraries.find(platform);
    if (library == manifest.libraries.end()) {
      return value.at_key().error(formatted(
          "\"library\" has no entry {}; remove the checksum or add the library", quote(platform)));
    }
    EPHOST_ASSIGN_OR_RETURN(library->second.sha256, read_sha256(value));
  }
  return Status::ok_status();
}

Status read_files(const Field& field, Manifest& manifest) {
  EPHOST_ASSIGN_OR_RETURN(const auto entries, field.entries());
  for (const auto& [path, value] : entries) {
    if (const std::string problem = path_problem(path); !problem.empty()) {
      return value.at_key().error(formatted("the path {} {}", quote(path), problem));
    }
    EPHOST_ASSIGN_OR_RETURN(manifest.files[path], read_sha256(value));
  }
  return Status::ok_status();
}

Result<Device> read_device(const Field& field) {
  static constexpr std::array<std::string_view, 3> kKeys{"type", "vendor", "id"};
  static constexpr std::array<std::string_view, 4> kTypes{"cpu", "gpu", "npu", "other"};
  EPHOST_ASSIGN_OR_RETURN(const FieldMap map, field.map(kKeys));
  Device device;
  EPHOST_ASSIGN_OR_RETURN(const Field type, map.require("type", "cpu"));
  EPHOST_ASSIGN_OR_RETURN(device.type, type.text());
  if (std::find(kTypes.begin(), kTypes.end(), device.type) == kTypes.end()) {
    return type.error(formatted("the device type {} is not known; write one of {}",
                                quote(device.type), join(kTypes, ", ")));
  }
  if (const Field* vendor = map.find("vendor")) {
    EPHOST_ASSIGN_OR_RETURN(device.vendor, vendor->text());
  }
  if (const Field* id = map.find("id")) {
    EPHOST_ASSIGN_OR_RETURN(device.id, id->text());
  }
  return device;
}

Result<std::vector<Device>> read_devices(const Field& field) {
  EPHOST_ASSIGN_OR_RETURN(const std::vector<Field> items, field.list());
  std::vector<Device> devices;
  for (const Field& item : items) {
    EPHOST_ASSIGN_OR_RETURN(Device device, read_device(item));
    devices.push_back(std::move(device));
  }
  return devices;
}

bool is_extension_id(std::string_view id) {
  const size_t slash = id.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view revision = id.substr(slash + 1);
  return name_problem(id.substr(0, slash), kOptionName).empty() && !revision.empty() &&
         revision.size() < 10 && revision.find_first_not_of("0123456789") == std::string_view::npos;
}

Result<std::vector<std::string>> read_extensions(const Field& field) {
  EPHOST_ASSIGN_OR_RETURN(std::vector<std::string> ids, field.text_list());
  for (const std::string& id : ids) {
    if (is_extension_id(id)) continue;
    return field.error(formatted(
        "{} is not an extension id; write name/revision, e.g. ephost.progress/1", quote(id)));
  }
  return ids;
}

Result<std::vector<OptionSpec>> read_options(const Field& field) {
  EPHOST_ASSIGN_OR_RETURN(const std::vector<Field> items, field.list());
  std::vector<OptionSpec> options;
  for (const Field& item : items) {
    EPHOST_ASSIGN_OR_RETURN(OptionSpec option, read_option_spec(item));
    const bool known = std::any_of(options.begin(), options.end(), [&](const OptionSpec& other) {
      return other.name == option.name;
    });
    if (known) {
      return item.error(
          formatted("the option {} is declared twice; remove one of the two", quote(option.name)));
    }
    options.push_back(std::move(option));
  }
  return options;
}

Result<Kind> read_kind(const FieldMap& map) {
  const Field* const field = map.find("kind");
  if (field == nullptr) return Kind::kProvider;
  EPHOST_ASSIGN_OR_RETURN(const std::string kind, field->text());
  if (kind == "provider") return Kind::kProvider;
  if (kind == "layer") return Kind::kLayer;
  return field->error(
      formatted("the kind {} is not known; write one of provider, layer", quote(kind)));
}

// A layer has a name, and nothing that belongs to providers.
Status read_layer_name(const FieldMap& map, Manifest& manifest) {
  static constexpr std::array<std::string_view, 9> kOfProviders{
      "provider", "context_sources", "validates_contexts", "deterministic", "devices",
      "requires", "options",         "options_open",       "isolation"};
  for (const std::string_view key : kOfProviders) {
    if (const Field* const field = map.find(key)) {
      return field->at_key().error(
          "only providers have this key, and the manifest says \"kind: layer\"; remove one of the "
          "two");
    }
  }
  EPHOST_ASSIGN_OR_RETURN(const Field name, map.require("name", "counter"));
  EPHOST_ASSIGN_OR_RETURN(manifest.name, read_name(name, kShortName));
  if (!std::ranges::count(kHostLayers, std::string_view(manifest.name))) return Status::ok_status();
  return name.error(
      formatted("the host has a layer {} of its own; choose another name", quote(manifest.name)));
}

Status read_provider_names(const FieldMap& map, Manifest& manifest) {
  EPHOST_ASSIGN_OR_RETURN(const Field provider, map.require("provider", "CPUExecutionProvider"));
  EPHOST_ASSIGN_OR_RETURN(manifest.provider, read_name(provider, kProviderName));
  EPHOST_ASSIGN_OR_RETURN(const Field name, map.require("name", "cpu"));
  EPHOST_ASSIGN_OR_RETURN(manifest.name, read_name(name, kShortName));
  return Status::ok_status();
}

Status read_identity(const FieldMap& map, Manifest& manifest) {
  EPHOST_ASSIGN_OR_RETURN(manifest.kind, read_kind(map));
  EPHOST_RETURN_IF_ERROR(manifest.kind == Kind::kLayer ? read_layer_name(map, manifest)
                                                       : read_provider_names(map, manifest));
  EPHOST_ASSIGN_OR_RETURN(const Field vendor, map.require("vendor", "Example Inc."));
  EPHOST_ASSIGN_OR_RETURN(manifest.vendor, vendor.text());
  EPHOST_ASSIGN_OR_RETURN(const Field version, map.require("version", "1.0.0"));
  EPHOST_ASSIGN_OR_RETURN(manifest.version, read_version(version));
  EPHOST_ASSIGN_OR_RETURN(const Field abi, map.require("abi", "{ major: 1, minor: [0, 0] }"));
  EPHOST_ASSIGN_OR_RETURN(manifest.abi, read_abi(abi));
  return Status::ok_status();
}

Status read_code(const FieldMap& map, Manifest& manifest) {
  EPHOST_ASSIGN_OR_RETURN(const Field library,
                          map.require("library", "{ linux-x86_64: libplugin.so }"));
  EPHOST_RETURN_IF_ERROR(read_libraries(library, manifest));
  if (const Field* checksums = map.find("sha256"))
    EPHOST_RETURN_IF_ERROR(read_checksums(*checksums, manifest));
  if (const Field* files = map.find("files")) EPHOST_RETURN_IF_ERROR(read_files(*files, manifest));
  return Status::ok_status();
}

Status read_capabilities(const FieldMap& map, Manifest& manifest) {
  if (const Field* sources = map.find("context_sources")) {
    EPHOST_ASSIGN_OR_RETURN(manifest.context_sources, sources->text_list());
  }
  if (const Field* validates = map.find("validates_contexts")) {
    EPHOST_ASSIGN_OR_RETURN(manifest.validates_contexts, validates->boolean());
  }
  if (const Field* deterministic = map.find("deterministic")) {
    EPHOST_ASSIGN_OR_RETURN(manifest.deterministic, deterministic->boolean());
  }
  if (const Field* devices = map.find("devices")) {
    EPHOST_ASSIGN_OR_RETURN(manifest.devices, read_devices(*devices));
  }
  if (const Field* extensions = map.find("requires")) {
    EPHOST_ASSIGN_OR_RETURN(manifest.requires_extensions, read_extensions(*extensions));
  }
  if (const Field* options = map.find("options")) {
    EPHOST_ASSIGN_OR_RETURN(manifest.options, read_options(*options));
  }
  if (const Field* open = map.find("options_open")) {
    EPHOST_ASSIGN_OR_RETURN(manifest.options_open, open->boolean());
  }
  if (const Field* isolation = map.find("isolation")) {
    EPHOST_ASSIGN_OR_RETURN(manifest.isolation, read_isolation(*isolation));
  }
  return Status::ok_status();
}

// The value in ": value  # comment", without quotes.
std::string_view scalar_of(std::string_view rest) {
  constexpr std::string_view kAround = ": \t\r\"'";
  rest = rest.substr(0, rest.find(" #"));
  rest.remove_prefix(std::min(rest.find_first_not_of(kAround), rest.size()));
  return rest.substr(0, rest.find_last_not_of(kAround) + 1);
}

}  // namespace

std::string Manifest::directory() const {
  std::error_code failed;  // then the path stays as it was found
  const std::filesystem::path absolute = std::filesystem::absolute(file, failed);
  return (failed ? file : absolute).parent_path().lexically_normal().native();
}

const LibraryEntry* Manifest::library_for(std::string_view platform) const {
  const auto found = libraries.find(platform);
  return found == libraries.end() ? nullptr : &found->second;
}

std::optional<PluginIdentity> identify(std::string_view text) {
  PluginIdentity identity;
  const auto is_name = [](std::string_view name, const NameRule& rule) {
    return name_problem(name, rule).empty();
  };
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t colon = std::min(line.find(": "), line.size());
    const std::string_view key = line.substr(0, colon);
    const std::string value(scalar_of(line.substr(colon)));
    if (key == "provider" && is_name(value, kProviderName)) identity.provider = value;
    if (key == "name" && is_name(value, kShortName)) identity.name = value;
    if (key != "version") continue;
    if (auto version = Version::parse(value); version.ok()) identity.version = *version;
  }
  if (identity.provider.empty()) return std::nullopt;
  return identity;
}

Result<Manifest> read_manifest(const YamlNode& document, const fs::path& file) {
  static constexpr std::array<std::string_view, 18> kKeys{"schema",
                                                          "kind",
                                                          "provider",
                                                          "name",
                                                          "vendor",
                                                          "version",
                                                          "abi",
                                                          "library",
                                                          "sha256",
                                                          "files",
                                                          "context_sources",
                                                          "devices",
                                                          "validates_contexts",
                                                          "deterministic",
                                                          "requires",
                                                          "options",
                                                          "options_open",
                                                          "isolation"};
  const Field root = Field::root(document, file);
  EPHOST_RETURN_IF_ERROR(check_schema(root));
  EPHOST_ASSIGN_OR_RETURN(const FieldMap map, root.map(kKeys));
  Manifest manifest;
  manifest.file = file;
  EPHOST_RETURN_IF_ERROR(read_identity(map, manifest));
  EPHOST_RETURN_IF_ERROR(read_code(map, manifest));
  EPHOST_RETURN_IF_ERROR(read_capabilities(map, manifest));
  return manifest;
}

Result<Manifest> parse_manifest(std::string_view text, const fs::path& file) {
  EPHOST_ASSIGN_OR_RETURN(const YamlNode document, parse_yaml(text, file));
  return read_manifest(document, file);
}

Result<Manifest> load_manifest(const fs::path& file) {
  EPHOST_ASSIGN_OR_RETURN(const YamlNode document, load_yaml(file));
  return read_manifest(document, file);
}

}  // namespace ephost::manifest
