#include "host/trust/counted_failures.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/hash.h"

namespace ephost::trust {
namespace {

namespace fs = std::filesystem;

// The version of a file; a file that is not there has one too.
std::string version_of(const fs::path& file) {
  constexpr int64_t kSecond = 1'000'000'000;
  const std::optional<FileVersion> version = FileVersion::at(file);
  if (!version) return "none";
  return formatted("{}:{}:{}:{}.{:09}", version->device, version->inode, version->size,
                   version->modified / kSecond, version->modified % kSecond);
}

}  // namespace

std::string version_of_files(const manifest::FoundPlugin& plugin) {
  std::string text = version_of(plugin.manifest.file) + " " + version_of(plugin.library);
  if (plugin.manifest.files.empty()) return text;
  std::string others;
  for (const auto& [path, checksum] : plugin.manifest.files) {
    const auto file = manifest::open_plugin_file(plugin.manifest, path);
    others += formatted("{} {}\n", path, file.ok() ? version_of(file->path()) : "none");
  }
  // There may be many.
  return text + " " + to_hex(content_checksum(as_bytes(others)));
}

std::string recorded_path(const manifest::FoundPlugin& plugin) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(plugin.manifest.file, error);
  return (error ? plugin.manifest.file : canonical).native();
}

CountedFailures count_failures(std::span<const FailureRecord> records, const std::string& path,
                               const std::string& files, const QuarantinePolicy& policy,
                               int64_t time) {
  CountedFailures counted;
  if (policy.failures == 0) return counted;
  const int64_t period = policy.period.count();
  for (const FailureRecord& record : records) {
    // Also those of the near future, if the clock was set back meanwhile; they count as long.
    const bool is_recent = record.time > time - period && record.time < time + period;
    if (is_recent && record.manifest == path && record.files == files) {
      counted.counting.push_back(&record);
    }
  }
  std::ranges::stable_sort(counted.counting, std::less<>(), &FailureRecord::time);
  if (counted.counting.size() >= policy.failures) {
    counted.until = counted.counting[counted.counting.size() - policy.failures]->time + period;
  }
  return counted;
}

}  // namespace ephost::trust
