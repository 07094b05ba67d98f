#include "host/plugin/quarantine.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/base/utc_text.h"
#include "host/trust/counted_failures.h"

namespace ephost::plugin {
namespace {

namespace fs = std::filesystem;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
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
  const trust::CountedFailures counted =
      trust::count_failures(content.records, trust::recorded_path(plugin),
                            trust::version_of_files(plugin), policy_, now());
  if (!counted.until) return {};
  return Status(
      StatusCode::kEpFail,
      formatted("it is quarantined until {}, because it failed {} times in {} s; last it {}; "
                "replace or repair it, or clear it with \"ephost quarantine clear {}\"",
                utc_text(*counted.until), counted.counting.size(), policy_.period.count(),
                counted.counting.back()->what, plugin.manifest.name));
}

void Quarantine::record(const manifest::FoundPlugin& plugin, std::string_view what) const noexcept {
  if (policy_.failures == 0) return;
  try {
    const Status status = records_.add({now(), plugin.manifest.name, trust::recorded_path(plugin),
                                        trust::version_of_files(plugin), std::string(what)});
    if (!status.ok()) {
      log_warning(formatted("the failure of the plugin {} is not recorded: {}",
                            quote(plugin.manifest.file.native()), status.message()));
    }
  } catch (const std::exception&) {  // out of memory: this failure does not count
  }
}

}  // namespace ephost::plugin
