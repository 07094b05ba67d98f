// `ephost quarantine list|clear [NAME]`: the policy, the failures of plugins, and which plugins are
// quarantined for them.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/base/files/failure_records.h"
#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/base/utc_text.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/report/report.h"
#include "host/cli/report/table.h"
#include "host/cli/shell/command.h"
#include "host/manifest/search.h"
#include "host/trust/counted_failures.h"
#include "host/trust/policy.h"
#include "host/trust/quarantine_policy.h"
#include "host/trust/signed_facts.h"

namespace ephost::cli {
namespace {

struct QuarantineFlags {
  ReportFlags report;
  std::string name;  // of a plugin or its provider; empty: all plugins
};

// What the records say of the plugins whose manifests they name, as these are now.
class Judge {
 public:
  Judge(const std::vector<FailureRecord>& records, const trust::QuarantinePolicy& policy) {
    for (const FailureRecord& record : records) {
      if (states_.contains(record.manifest)) continue;
      State& state = states_[record.manifest];
      const auto plugin = manifest::read_plugin(record.manifest);
      if (!plugin.ok()) continue;
      state.provider = plugin->manifest.provider;
      state.files = trust::version_of_files(*plugin);
      state.failures = trust::count_failures(records, record.manifest, state.files, policy,
                                             trust::current_time());
    }
  }

  // Whether the record is about the plugin or provider with this name; any, if it is empty.
  [[nodiscard]] bool is_about(const FailureRecord& record, const std::string& name) const {
    return name.empty() || record.name == name || states_.at(record.manifest).provider == name;
  }
  [[nodiscard]] bool counts(const FailureRecord& record) const {
    return std::ranges::count(states_.at(record.manifest).failures.counting, &record) != 0;
  }
  // When the quarantine of the plugin ends for which this record counts.
  [[nodiscard]] std::optional<int64_t> until(const FailureRecord& record) const {
    return counts(record) ? states_.at(record.manifest).failures.until : std::nullopt;
  }
  // "quarantined until TIME", "counts", "expired" or "of other files".
  [[nodiscard]] std::string state(const FailureRecord& record) const {
    if (const auto end = until(record)) return "quarantined until " + utc_text(*end);
    if (counts(record)) return "counts";
    return states_.at(record.manifest).files == record.files ? "expired" : "of other files";
  }

 private:
  struct State {
    std::string provider;
    std::string files;
    trust::CountedFailures failures;
  };
  std::map<std::string, State> states_;  // by manifest
};

// {"text": "3/600", "failures": 3, "seconds": 600, "origins": [...]}.
Json policy_json(const trust::ProcessQuarantine& process) {
  return {{"text", trust::quarantine_policy_text(process.policy)},
          {"failures", process.policy.failures},
          {"seconds", process.policy.period.count()},
          {"origins", process.origins}};
}

std::string policy_text(const trust::ProcessQuarantine& process) {
  const std::string origin =
      process.origins.empty() ? "the default" : join(process.origins, " and ");
  if (process.policy.failures == 0) {
    return formatted("\nno plugin is quarantined ({}), unless a session asks for it\n",
                     printable(origin));
  }
  return formatted(
      "\na plugin is quarantined after {} in {} s ({}), or less if a session says so\n",
      counted(process.policy.failures, "failure"), process.policy.period.count(),
      printable(origin));
}

Result<int> list_failures(const QuarantineFlags& flags) {
  EPHOST_ASSIGN_OR_RETURN(const trust::MachinePolicy machine,
                          trust::load_machine_policy(trust::machine_policy_file()));
  EPHOST_ASSIGN_OR_RETURN(const trust::ProcessQuarantine process,
                          trust::quarantine_of_process(machine));
  const FailureRecords records(FailureRecords::default_file());
  const FailureRecords::Content content = records.read();
  Json failures = Json::array();
  const Judge judge(content.records, process.policy);
  Table table({{"name"}, {"time"}, {"manifest"}, {"what"}, {"program"}, {"state"}});
  for (const FailureRecord& record : content.records) {
    if (!judge.is_about(record, flags.name)) continue;
    const std::optional<int64_t> until = judge.until(record);
    failures.push_back({{"name", record.name},
                        {"time", utc_text(record.time)},
                        {"manifest", record.manifest},
                        {"what", record.what},
                        {"program", record.program},
                        {"counts", judge.counts(record)},
                        {"quarantined_until", until ? Json(utc_text(*until)) : Json()}});
    table.add_row({record.name, utc_text(record.time), record.manifest, record.what, record.program,
                   judge.state(record)});
  }
  if (!content.problem.empty()) log_warning(content.problem);
  if (flags.report.json()) {
    print(to_text(Json{{"file", records.file().native()},
                       {"policy", policy_json(process)},
                       {"failures", failures},
                       {"problem", content.problem.empty() ? Json() : Json(content.problem)}}));
  } else {
    print((table.empty() ? "no failures are recorded\n" : table.to_text()) + policy_text(process));
  }
  return kExitSuccess;
}

Result<int> clear_failures(const QuarantineFlags& flags) {
  const FailureRecords records(FailureRecords::default_file());
  const FailureRecords::Content content = records.read();
  const Judge judge(content.records, {});
  std::set<std::string> names = {flags.name};
  for (const FailureRecord& record : content.records) {
    if (!flags.name.empty() && judge.is_about(record, flags.name)) names.insert(record.name);
  }
  size_t removed = 0;
  for (const std::string& name : names) {
    EPHOST_ASSIGN_OR_RETURN(const size_t count, records.remove(name));
    removed += count;
  }
  if (removed == 0 && !flags.name.empty()) {
    return Status(StatusCode::kNoSuchFile,
                  formatted("no failures of a plugin {} are recorded; \"ephost quarantine list\" "
                            "shows those that are",
                            quote(flags.name)));
  }
  if (flags.report.json()) {
    print(to_text(Json{{"file", records.file().native()}, {"removed", removed}}));
  } else if (!flags.report.quiet) {
    print(counted(removed, "failure") + " removed\n");
  }
  return kExitSuccess;
}

ArgumentParser add_verb(ArgumentParser& quarantine, const std::string& name,
                        const std::string& help, QuarantineFlags& flags) {
  ArgumentParser app = quarantine.add_subcommand(name, help);
  app.add("NAME", flags.name,
          "Only of the plugin with this name, such as acme, or with a provider of this name")
      .type_name("NAME");
  add_report_flags(app, flags.report);
  return app;
}

}  // namespace

Command add_quarantine(ArgumentParser& root) {
  auto flags = std::make_shared<QuarantineFlags>();
  ArgumentParser quarantine =
      root.add_subcommand("quarantine", "Show or clear the recorded failures of plugins");
  quarantine.require_subcommand();
  std::vector<Command> verbs = {
      {add_verb(quarantine, "list", "List when plugins crashed or hung", *flags),
       [flags] { return list_failures(*flags); }},
      {add_verb(quarantine, "clear", "Forget that, so that they are used again", *flags),
       [flags] { return clear_failures(*flags); }}};
  return {quarantine, [flags, verbs = std::move(verbs)]() -> Result<int> {
            apply(flags->report);
            return run_chosen(verbs);
          }};
}

}  // namespace ephost::cli
