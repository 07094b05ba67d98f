#include "host/session/tools/plugin_records.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <string_view>
#include <system_error>
#include <vector>

#include "host/base/environment.h"
#include "host/base/files/file.h"
#include "host/base/files/file_system.h"
#include "host/base/files/folders/directory.h"
#include "host/base/files/ownership.h"
#include "host/base/files/private_files.h"
#include "host/base/format.h"
#include "host/base/hash.h"
#include "host/session/tools/description_codec.h"

namespace ephost::session {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFirstLine = "ephost plugin 1\n";
constexpr uint64_t kMostBytes = uint64_t{8} << 20;
constexpr size_t kMostRecords = 1024;
constexpr int64_t kSettledAfter = 2;  // seconds
constexpr size_t kHashSize = 32;

// Lists of devices, which change when one is plugged in or its driver is loaded.
constexpr std::array<const char*, 5> kDeviceFolders = {"/sys/bus/pci/devices",
                                                       "/sys/bus/usb/devices", "/sys/class/drm",
                                                       "/sys/class/accel", "/sys/class/misc"};

// Variables that shells and terminals change, and that say nothing to a driver.
constexpr std::array<std::string_view, 11> kIgnoredVariables = {"PWD",
                                                                "OLDPWD",
                                                                "SHLVL",
                                                                "_",
                                                                "COLUMNS",
                                                                "LINES",
                                                                "TERM",
                                                                "WINDOWID",
                                                                "SSH_CONNECTION",
                                                                "EPHOST_LOG_LEVEL",
                                                                "EPHOST_LOG_FORMAT"};

std::string hash_of(std::string_view text) { return to_hex(content_checksum(as_bytes(text))); }

// Which version of a file lies at a path; notes whether it changed a moment ago.
std::string version_of(const fs::path& file, int64_t now, bool& is_settled) {
  const std::optional<FileVersion> version = FileVersion::at(file);
  if (!version) {
    is_settled = false;
    return "none";
  }
  if (version->changed / 1'000'000'000 > now - kSettledAfter) is_settled = false;
  return formatted("{}:{}:{}:{}:{}", version->device, version->inode, version->size,
                   version->modified, version->changed);
}

std::string boot_id() {
  const Result<std::string> id = read_file("/proc/sys/kernel/random/boot_id", 64);
  return id.ok() ? *id : "unknown\n";
}

std::string devices_of_machine() {
  std::string names;
  for (const char* const folder : kDeviceFolders) {
    std::error_code ignored;
    for (const std::string& name : list_directory(folder, ignored)) names += name + '\n';
    names += '\n';
  }
  return hash_of(names);
}

std::string environment_text() {
  std::vector<std::string> variables = environment_entries();
  std::erase_if(variables, [](const std::string_view variable) {
    const std::string_view name = variable.substr(0, variable.find('='));
    return std::ranges::find(kIgnoredVariables, name) != kIgnoredVariables.end();
  });
  std::ranges::sort(variables);
  std::string all;
  for (const std::string& variable : variables) all.append(variable).append(1, '\0');
  return hash_of(all);
}

int64_t now_seconds() { return static_cast<int64_t>(std::time(nullptr)); }

// Does not wait for the disk: a record that a crash of the system damages is not used.
class Unsynced : public PrivateFileSystem {
 public:
  int fsync(int) const override { return 0; }
};

// Records of plugins that are gone are never looked up again, so that all are removed once there
// are too many: those that still matter come back.
void make_room(const fs::path& folder) {
  std::error_code ignored;
  const std::vector<std::string> names = list_directory(folder, ignored);
  if (names.size() < kMostRecords) return;
  for (const std::string& name : names) {
    if (parse_hash128(name)) fs::remove(folder / name, ignored);
  }
}

}  // namespace

fs::path PluginRecords::default_folder() {
  if (has_raised_privileges()) return {};
  const fs::path cache = user_folder(UserFolder::kCache);
  return cache.empty() ? cache : cache / "ephost" / "plugins";
}

PluginRecords::Subject PluginRecords::subject_of(const manifest::FoundPlugin& plugin,
                                                 const worker::IsolationOptions& options) const {
  if (folder_.empty()) return {};
  const int64_t now = now_seconds();
  const manifest::Manifest& manifest = plugin.manifest;
  std::error_code error;
  const fs::path path = fs::weakly_canonical(manifest.file, error);
  if (error) return {};
  Subject subject;
  subject.is_settled = true;
  const auto version = [&](const fs::path& file) {
    return version_of(file, now, subject.is_settled);
  };
  const std::string isolation =
      formatted("{}{}\n{}", manifest::isolation_name(options.level),
                options.listed_only ? " listed" : "", options.files.text());
  subject.file = folder_ / hash_of(formatted("{}\n{}", path.native(), isolation));
  std::string text =
      formatted("{}\n{} {}\n{}{}\n{}\n{}\n{} {} {}\n{} {}\n", EPHOST_VERSION,
                options.program.native(), version(options.program), boot_id(), devices_of_machine(),
                environment_text(), isolation, path.native(), version(path), hash_of(plugin.text),
                plugin.library.native(), version(plugin.library));
  for (const auto& [name, checksum] : manifest.files) {
    const auto file = manifest::open_plugin_file(manifest, name);
    text += formatted("{} {}\n", name, file.ok() ? version(file->path()) : "none");
  }
  subject.dependencies = std::move(text);
  return subject;
}

std::optional<Result<PluginDescription>> PluginRecords::find(const Subject& subject) const {
  std::error_code ignored;
  if (subject.file.empty() || !fs::exists(subject.file, ignored)) return std::nullopt;
  if (!check_ownership(subject.file).ok()) return std::nullopt;
  const Result<std::string> content = read_file(subject.file, kMostBytes);
  if (!content.ok()) return std::nullopt;
  std::string_view rest = *content;
  if (!rest.starts_with(kFirstLine)) return std::nullopt;
  rest.remove_prefix(kFirstLine.size());
  const auto checksum = parse_hash128(rest.substr(0, kHashSize));
  rest.remove_prefix(std::min(kHashSize, rest.size()));
  if (!checksum || content_checksum(as_bytes(rest)) != *checksum) return std::nullopt;
  const std::string dependencies =
      formatted("\n{}\n{}", subject.dependencies.size(), subject.dependencies);
  if (!rest.starts_with(dependencies)) return std::nullopt;
  rest.remove_prefix(dependencies.size());
  std::optional<PluginDescription> description = decode_description(rest);
  const int64_t now = now_seconds();
  if (!description || description->recorded_time > now ||
      description->recorded_time <= now - kLongestSeconds) {
    return std::nullopt;
  }
  if (!description->provider_status.ok()) return description->provider_status;
  return *std::move(description);
}

void PluginRecords::remember(const Subject& subject, const Subject& now,
                             const Result<PluginDescription>& description) const {
  if (subject.file.empty() || !subject.is_settled || subject.dependencies != now.dependencies) {
    return;
  }
  PluginDescription recorded;
  if (description.ok()) {
    recorded = *description;
  } else {
    recorded.provider_status = description.status();
  }
  recorded.recorded_time = now_seconds();
  const std::string rest =
      formatted("\n{}\n{}", subject.dependencies.size(), subject.dependencies) +
      encode_description(recorded);
  const std::string content =
      formatted("{}{}", kFirstLine, to_hex(content_checksum(as_bytes(rest)))) + rest;
  if (content.size() > kMostBytes || !make_private_folders(folder_).ok()) return;
  make_room(folder_);
  static const Unsynced file_system;
  static_cast<void>(write_file_atomically(subject.file, as_bytes(content), file_system));
}

}  // namespace ephost::session
