#include "host/plugin/quarantine.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

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

// Without its time and what happened.
FailureRecord failure_of(const manifest::FoundPlugin& plugin) {
  return {.name = plugin.manifest.name,
          .manifest = trust::recorded_path(plugin),
          .files = trust::version_of_files(plugin),
          .program = program_of_process()};
}

}  // namespace

Quarantine::Quarantine(fs::path file, trust::QuarantinePolicy policy)
    : records_(std::move(file)), policy_(policy) {}

Status Quarantine::check(const manifest::FoundPlugin& plugin, Quarantined use) const {
  if (policy_.failures == 0) return {};
  const FailureRecords::Content content = records_.read();
  if (!content.problem.empty()) {
    log_warning(
        formatted("failures of plugins are not known: {}; \"ephost quarantine clear\" "
                  "starts again",
                  content.problem));
  }
  const trust::CountedFailures counted =
      trust::count_failures(content.records, trust::recorded_path(plugin),
                            trust::version_of_files(plugin), policy_, now());
  if (!counted.until) return {};
  Status refusal(
      StatusCode::kEpFail,
      formatted(
          "it is quarantined until {}, because it failed {} times in {} s; last it {}, in {}; "
          "replace or repair it, or clear it with \"ephost quarantine clear {}\"",
          utc_text(*counted.until), counted.counting.size(), policy_.period.count(),
          counted.counting.back()->what, counted.counting.back()->program, plugin.manifest.name));
  if (use == Quarantined::kRefused) return refusal;
  log_warning(formatted("{} of {} is used nevertheless, as nothing can replace it: {}",
                        quote(plugin.manifest.subject()), quote(plugin.manifest.file.native()),
                        refusal.message()));
  return {};
}

void Quarantine::record(const manifest::FoundPlugin& plugin, std::string_view what) const noexcept {
  if (policy_.failures == 0) return;
  try {
    FailureRecord failure = failure_of(plugin);
    failure.time = now();
    failure.what = what;
    const Status status = records_.add(std::move(failure));
    if (!status.ok()) {
      log_warning(formatted("the failure of the plugin {} is not recorded: {}",
                            quote(plugin.manifest.file.native()), status.message()));
    }
  } catch (const std::exception&) {  // out of memory: this failure does not count
  }
}

std::unique_ptr<const CrashRecord> Quarantine::record_crashes(
    const manifest::FoundPlugin& plugin) const {
  if (policy_.failures == 0) return nullptr;
  (void)records_.shorten();  // otherwise no more crashes are recorded
  return std::make_unique<const CrashRecord>(
      std::vector{plugin.manifest.subject(), plugin.library.native()},
      PreparedFailure(records_, failure_of(plugin)));
}

}  // namespace ephost::plugin
