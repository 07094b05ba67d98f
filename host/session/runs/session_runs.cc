#include "host/session/runs/session_runs.h"

#include <algorithm>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/status_kinds.h"
#include "host/base/text.h"
#include "host/base/thrown.h"
#include "host/bridge/abi_options.h"
#include "host/bridge/abi_text.h"
#include "host/manifest/names.h"
#include "host/session/config/config_entries.h"

namespace ephost::session {
namespace {

using TypedOptions = std::vector<manifest::TypedOption>;

bool is_named(const bridge::Provider& provider, std::string_view name) {
  return manifest::names_provider(name, provider.name(), provider.short_name());
}

std::set<const bridge::Provider*> providers_with_computations(const PreparedModel& prepared) {
  std::set<const bridge::Provider*> found;
  for (const PreparedGraph* graph : prepared.graphs()) {
    for (const auto& computation : graph->computations) {
      if (computation) found.insert(&computation->provider());
    }
  }
  return found;
}

// The ABI knows no deadline before the clock's beginning, and 0 means none.
uint64_t deadline_ns(const runtime::RunControl& control) {
  if (!control.deadline) return 0;
  using std::chrono::nanoseconds;
  const auto since = std::chrono::duration_cast<nanoseconds>(control.deadline->time_since_epoch());
  return static_cast<uint64_t>(std::max<int64_t>(since.count(), 1));
}

Status begin_run(const bridge::Provider& provider, const RunOptions& options,
                 const runtime::RunControl& control, const TypedOptions& of_provider) {
  const std::vector<eph_option> converted = bridge::to_abi(of_provider);
  eph_run_config config = {};
  config.struct_size = sizeof(config);
  config.run_id = control.id;
  config.tag = bridge::to_abi(options.tag);
  config.deadline_ns = deadline_ns(control);
  config.options = converted.data();
  config.option_count = converted.size();
  return provider.runs().begin(config);
}

}  // namespace

Result<SessionRuns> SessionRuns::create(const PreparedModel& prepared) {
  SessionRuns runs;
  runs.metrics_ = prepared.metrics;
  runs.providers_ = prepared.providers;
  runs.lost_ = prepared.lost;
  const std::set<const bridge::Provider*> used = providers_with_computations(prepared);
  for (size_t i = 0; i < runs.providers_.size(); ++i) {
    const bridge::Provider& provider = *runs.providers_[i];
    if (!provider.runs().wants_runs() || !used.contains(&provider)) continue;
    EPHOST_ASSIGN_OR_RETURN(TypedOptions options,
                            manifest::validate_run_options(provider.plugin().manifest, {}));
    runs.listeners_.push_back({i, std::move(options)});
  }
  return runs;
}

Result<std::vector<OptionList>> SessionRuns::sort_by_provider(const OptionList& entries) const {
  constexpr std::string_view kPrefix = "ep.";
  std::vector<OptionList> sorted(providers_.size());
  for (const auto& [key, value] : entries) {
    if (const KnownEntry* known = find_run_entry(key)) {
      log_warning(formatted("the option {} of a run has {}", quote(key), known->meaning));
      continue;
    }
    const std::string_view text = key;
    const size_t dot = text.find('.', kPrefix.size());
    if (!text.starts_with(kPrefix) || dot == std::string_view::npos) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("the option {} has no effect here; write ep.PROVIDER.OPTION, e.g. "
                              "ep.acme.power_mode",
                              quote(key)));
    }
    const std::string_view name = text.substr(kPrefix.size(), dot - kPrefix.size());
    const auto found = std::ranges::find_if(
        providers_, [&](const auto& provider) { return is_named(*provider, name); });
    if (found == providers_.end()) {
      const bool is_lost = std::ranges::any_of(lost_, [&](const LostProvider& lost) {
        return manifest::names_provider(name, lost.name, lost.short_name);
      });
      if (is_lost) continue;
      std::vector<std::string> names;
      for (const auto& provider : providers_) names.push_back(provider->name());
      return Status(StatusCode::kInvalidArgument,
                    formatted("the option {} is for a provider that the session does not have; its "
                              "providers are {}",
                              quote(key), join(names, ", ")));
    }
    sorted[static_cast<size_t>(found - providers_.begin())].emplace_back(text.substr(dot + 1),
                                                                         value);
  }
  return sorted;
}

Result<std::vector<TypedOptions>> SessionRuns::options_of_run(const OptionList& entries) const {
  std::vector<TypedOptions> options(listeners_.size());
  if (entries.empty()) return options;
  EPHOST_ASSIGN_OR_RETURN(const std::vector<OptionList> given, sort_by_provider(entries));
  for (size_t i = 0; i < providers_.size(); ++i) {
    if (given[i].empty()) continue;
    const bridge::Provider& provider = *providers_[i];
    EPHOST_ASSIGN_OR_RETURN(TypedOptions typed,
                            manifest::validate_run_options(provider.plugin().manifest, given[i]));
    if (!provider.runs().takes_run_options()) {
      return Status(StatusCode::kNotImplemented,
                    formatted("{} has options with the scope run, and its library does not take "
                              "them; report this to the plugin's vendor",
                              provider.name()));
    }
    const auto listener = std::ranges::find(listeners_, i, &Listener::provider);
    if (listener == listeners_.end()) continue;
    options[static_cast<size_t>(listener - listeners_.begin())] = std::move(typed);
  }
  return options;
}

Status SessionRuns::run_with_providers(const RunOptions& options,
                                       const runtime::RunControl& control,
                                       const std::function<Status()>& body) const {
  EPHOST_ASSIGN_OR_RETURN(const std::vector<TypedOptions> typed,
                          options_of_run(options.config_entries));
  Status status;
  size_t begun = 0;
  try {
    for (; begun < listeners_.size() && status.ok(); begun += status.ok() ? 1 : 0) {
      const Listener& listener = listeners_[begun];
      const bridge::Provider& provider = *providers_[listener.provider];
      status = control.judge(begin_run(provider, options, control,
                                       typed[begun].empty() ? listener.options : typed[begun]));
      if (!status.ok() && !is_cancellation(status) && control.failed_provider != nullptr) {
        *control.failed_provider = &provider.name();
      }
    }
    if (status.ok()) status = body();
  } catch (const std::bad_alloc& thrown) {
    status = status_of_thrown(thrown);
    end(begun, control.id, status);
    throw;
  } catch (...) {
    status = Status(StatusCode::kFail, "the run ended with an exception");
    end(begun, control.id, status);
    throw;
  }
  end(begun, control.id, status);
  return status;
}

void SessionRuns::end(size_t count, uint64_t run_id, Status& status) const {
  while (count-- > 0) {
    const bridge::Provider& provider = *providers_[listeners_[count].provider];
    Status ended = provider.runs().end(run_id, status.code());
    if (ended.ok()) continue;
    if (status.ok()) {
      status = std::move(ended);
    } else {
      log_warning(formatted("after a run that failed: {}", ended.message()));
    }
  }
}

void SessionRuns::count_failure(const std::string& provider, const Status& status) const {
  metrics_->add(Family::kProviderFailures,
                {provider, "run", std::string(status_code_name(status.code()))});
}

Status SessionRuns::change_options(const OptionList& entries) const {
  EPHOST_ASSIGN_OR_RETURN(const std::vector<OptionList> given, sort_by_provider(entries));
  std::vector<TypedOptions> changes(providers_.size());
  for (size_t i = 0; i < providers_.size(); ++i) {
    EPHOST_ASSIGN_OR_RETURN(
        changes[i], manifest::validate_option_changes(providers_[i]->plugin().manifest, given[i]));
  }
  std::vector<TypedOptions> previous(providers_.size());
  for (size_t i = 0; i < providers_.size(); ++i) {
    if (changes[i].empty()) continue;
    auto changed = providers_[i]->change_options(changes[i]);
    if (changed.ok()) {
      previous[i] = std::move(changed).value();
      continue;
    }
    while (i-- > 0) {
      if (previous[i].empty()) continue;
      const auto undone = providers_[i]->change_options(previous[i]);
      if (!undone.ok()) log_error("undoing a change of options: " + undone.status().message());
    }
    return std::move(changed).status();
  }
  return Status::ok_status();
}

}  // namespace ephost::session
