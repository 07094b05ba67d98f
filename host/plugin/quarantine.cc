#include "host/plugin/quarantine.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/base/utc_text.h"

namespace ephost::plugin {
namespace {

namespace fs = std::filesystem;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// The version of a file; a file that is not there has one too.
std::string version_of(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return "none";
  return formatted("{}:{}:{}:{}.{:09}", info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                   info.st_mtim.tv_nsec);
}

std::string files_of(const manifest::FoundPlugin& plugin) {
  return version_of(plugin.manifest.file) + " " + version_of(plugin.library);
}

std::string path_of(const manifest::FoundPlugin& plugin) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(plugin.manifest.file, error);
  return (error ? plugin.manifest.file : canonical).native();
}

}  // namespace

Quarantine::Quarantine(fs::path file, trust::QuarantinePolicy policy)
    : records_(std::move(file)), policy_(policy) {}

Status Quarantine::check(const manifest::FoundPlugin& plugin) const {
  if (policy_.failures == 0) return {};
  const FailureRecords::Content content = records_.read();
  if (!content.problem.empty()) {
    log_warning(
        formatted("failures of plugins are not known: {}; \"ephost quarantine clear\" "
                  "starts anew",
                  content.problem));
  }
  const std::string path = path_of(plugin);
  const std::string files = files_of(plugin);
  const int64_t time = now();
  const int64_t period = policy_.period.count();
  // Also those of the near future, if the clock was set back meanwhile; they count as long.
  std::vector<const FailureRecord*> recent;
  for (const FailureRecord& record : content.records) {
    const bool is_recent = record.time > time - period && record.time < time + period;
    if (is_recent && record.manifest == path && record.files == files) recent.push_back(&record);
  }
  if (recent.size() < policy_.failures) return {};
  std::ranges::stable_sort(recent, std::less<>(), &FailureRecord::time);
  const int64_t end = recent[recent.size() - policy_.failures]->time + period;
  return Status(
      StatusCode::kEpFail,
      formatted("it is quarantined until {}, because it failed {} times in {} s; last it {}; "
                "replace or repair it, or clear it with \"ephost quarantine clear {}\"",
                utc_text(end), recent.size(), period, recent.back()->what, plugin.manifest.name));
}

void Quarantine::record(const manifest::FoundPlugin& plugin, std::string_view what) const noexcept {
  if (policy_.failures == 0) return;
  try {
    const Status status = records_.add(
        {now(), plugin.manifest.name, path_of(plugin), files_of(plugin), std::string(what)});
    if (!status.ok()) {
      log_warning(formatted("the failure of the plugin {} is not recorded: {}",
                            quote(plugin.manifest.file.native()), status.message()));
    }
  } catch (const std::exception&) {  // out of memory: this failure does not count
  }
}

}  // namespace ephost::plugin
