#include "host/session/tools/check_selection.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "host/base/files/file.h"
#include "host/base/files/ownership.h"
#include "host/base/format.h"
#include "host/base/printable.h"
#include "host/base/text.h"
#include "host/bridge/collect/device_list.h"
#include "host/manifest/choose.h"
#include "host/manifest/options.h"
#include "host/manifest/selection.h"
#include "host/session/config/config_entries.h"
#include "host/session/config/session_config.h"
#include "host/session/environment/environment_state.h"
#include "host/session/environment/exception_barrier.h"
#include "host/session/environment/plugin_loader.h"
#include "host/session/plugins/device_choice.h"
#include "host/session/plugins/usable_plugin.h"
#include "host/session/tools/inspect_plugin.h"
#include "host/session/tools/plugin_records.h"
#include "host/worker/tables/worker_program.h"

namespace ephost::session {
namespace {

using manifest::FoundPlugin;
using manifest::Place;
using manifest::ProviderChoice;
using manifest::ProviderChoicePlaces;

class Check {
 public:
  Check(EnvironmentState& environment, SelectionCheck depth)
      : environment_(environment), plugins_(environment.plugins.all()), depth_(depth) {
    for (const FoundPlugin& plugin : plugins_->found) {
      verdicts_.emplace(plugin.manifest.file, report_.plugins.size());
      report_.plugins.push_back(
          {.manifest = plugin.manifest.file, .reason = "the selection does not name its provider"});
    }
  }

  SelectionReport run(const manifest::ExaminedSelection& examined) {
    for (const manifest::PlacedError& error : examined.errors) {
      const std::string place =
          manifest::error_at(examined.selection.file, error.place, "").message();
      find(error.place, error.status.message().substr(place.size()));
    }
    // First, because they say how plugins may be loaded.
    check_entries(examined);
    const std::vector<ProviderChoice>& choices = examined.selection.providers;
    for (size_t i = 0; i < choices.size(); ++i) check_choice(choices[i], examined.providers[i]);
    append_cpu();
    std::ranges::stable_sort(report_.findings, {}, [](const SelectionFinding& finding) {
      return std::tuple(finding.line, finding.column);
    });
    return std::move(report_);
  }

 private:
  void find(Place place, std::string message) {
    report_.findings.push_back({static_cast<uint32_t>(place.line),
                                static_cast<uint32_t>(place.column), std::move(message)});
  }

  // Whether there was no problem.
  bool expect(Place place, const Status& status) {
    if (!status.ok()) find(place, status.message());
    return status.ok();
  }

  SelectionVerdict& verdict_on(const FoundPlugin& plugin) {
    return report_.plugins[verdicts_.at(plugin.manifest.file)];
  }

  void check_choice(const ProviderChoice& choice, const ProviderChoicePlaces& places) {
    report_.providers.push_back({.name = choice.name,
                                 .version_range = choice.version.to_string(),
                                 .options = choice.options,
                                 .devices = choice.devices});
    const auto candidates = manifest::find_candidates(*plugins_, choice);
    if (!candidates.ok()) {
      const auto of_any_version = manifest::find_candidates(*plugins_, {.name = choice.name});
      const bool is_new =
          of_any_version.ok() && providers_.insert(of_any_version->provider()).second;
      if (is_new) refuse_versions(of_any_version->provider(), choice);
      find(of_any_version.ok() ? places.version : places.name, candidates.status().message());
      return;
    }
    const std::string& provider = candidates->provider();
    if (!providers_.insert(provider).second) {
      find(places.name, formatted("{} is the provider {}, which is listed already; remove one of "
                                  "the two",
                                  quote(choice.name), provider));
      return;
    }
    refuse_versions(provider, choice);
    check_plugin(*candidates, judge(*candidates, choice), choice, places);
  }

  // Says of all versions of a provider that the selection does not admit them.
  void refuse_versions(const std::string& provider, const ProviderChoice& choice) {
    for (const FoundPlugin& plugin : plugins_->found) {
      if (plugin.manifest.provider != provider) continue;
      verdict_on(plugin).reason =
          formatted("its version is not in {}", quote(choice.version.to_string()));
    }
  }

  // As a session with the selection loads plugins.
  [[nodiscard]] PluginLoader loader() const { return PluginLoader(environment_, &config_); }

  // How the plugin, as it is now, failed when it was last run as isolated as sessions have it, or
  // in a worker where they have it in their own process; if that is known.
  [[nodiscard]] Status recorded_failure(const FoundPlugin& plugin) const {
    const auto program = worker::find_worker_program();
    auto options = loader().options_for(plugin.manifest);
    if (!program.ok() || !options.ok()) return {};
    options->level = manifest::stricter(options->level, manifest::Isolation::kWorker);
    options->program = *program;
    const PluginRecords records(PluginRecords::default_folder());
    const auto record = records.find(records.subject_of(plugin, *options));
    return record ? record->status() : Status();
  }

  // Says of each candidate what the selection makes of it, and returns the one that it chooses:
  // null if none can be loaded.
  const FoundPlugin* judge(const manifest::Candidates& candidates, const ProviderChoice& choice) {
    const FoundPlugin* chosen = nullptr;
    for (const FoundPlugin& plugin : candidates.plugins) {
      SelectionVerdict& verdict = verdict_on(plugin);
      const Status loadable = loader().check(plugin);
      if (!loadable.ok()) {
        verdict.reason = "it cannot be loaded";
      } else if (const Status failure = recorded_failure(plugin); !failure.ok()) {
        verdict.reason =
            "it could not be loaded when it was last probed: " + printable_line(failure.message());
      } else if (chosen != nullptr) {
        verdict.reason =
            formatted("used only if version {} of {} fails", chosen->manifest.version.to_string(),
                      quote(chosen->manifest.file.native()));
      } else {
        chosen = &plugin;
        verdict.position = static_cast<uint32_t>(report_.providers.size());
        verdict.reason = "the highest version that can be loaded";
        const std::string& range = choice.version.to_string();
        if (!range.empty()) verdict.reason += " in " + quote(range);
      }
    }
    if (chosen == nullptr) return nullptr;
    SelectedProvider& selected = report_.providers.back();
    selected.provider = chosen->manifest.provider;
    selected.version = chosen->manifest.version.to_string();
    selected.manifest = chosen->manifest.file;
    selected.library = chosen->library;
    return chosen;
  }

  void check_plugin(const manifest::Candidates& candidates, const FoundPlugin* chosen,
                    const ProviderChoice& choice, const ProviderChoicePlaces& places) {
    if (chosen == nullptr) {
      const FoundPlugin& first = candidates.plugins.front();
      expect(places.name, loader().check(first));
      return;
    }
    bool is_sound = true;
    for (size_t i = 0; i < choice.options.size(); ++i) {
      const auto checked =
          manifest::validate_options(chosen->manifest, std::span(choice.options).subspan(i, 1));
      is_sound &= expect(places.options[i], checked.status());
    }
    if (depth_ == SelectionCheck::kFind) return;
    is_sound &= check_devices(candidates, choice, places);
    if (is_sound) check_provider(choice, places);
  }

  bool check_devices(const manifest::Candidates& candidates, const ProviderChoice& choice,
                     const ProviderChoicePlaces& places) {
    const auto list = [](const std::shared_ptr<const plugin::LoadedPlugin>& plugin) {
      const bridge::HostServices services(plugin->manifest.provider, plugin_log(),
                                          bridge::ProgressHooks{});
      return bridge::list_devices(*plugin, services);
    };
    const auto listed = with_usable_plugin(loader(), candidates, list);
    if (!expect(places.name, listed.status())) return false;
    bool is_sound = true;
    for (size_t i = 0; i < choice.devices.size(); ++i) {
      const auto found =
          choose_devices(candidates.provider(), *listed, std::span(choice.devices).subspan(i, 1));
      is_sound &= expect(places.devices[i], found.status());
    }
    return is_sound;
  }

  void check_provider(const ProviderChoice& choice, const ProviderChoicePlaces& places) {
    const Result<PluginDescription> described =
        inspect_plugin(environment_,
                       ProviderRequest{.name = choice.name,
                                       .version_range = choice.version.to_string(),
                                       .options = choice.options,
                                       .devices = choice.devices},
                       config_);
    if (!expect(places.name, described.status())) return;
    const Status& created = described->provider_status;
    if (created.ok()) return;
    find(places.name, "the provider cannot be created: " + created.message());
  }

  // Every session has the CPU provider.
  void append_cpu() {
    const std::string cpu(kCpuProvider);
    if (providers_.contains(cpu)) return;
    report_.providers.push_back({.name = cpu, .is_appended = true});
    const auto candidates = manifest::find_candidates(*plugins_, {.name = cpu});
    if (!expect({}, candidates.status())) return;
    if (const FoundPlugin* chosen = judge(*candidates, {.name = cpu})) {
      verdict_on(*chosen).reason = "every session has the CPU provider";
    }
  }

  void check_entries(const manifest::ExaminedSelection& examined) {
    report_.session_entries = examined.selection.session_entries;
    read_policies(report_.session_entries);
    GivenOptions all;
    bool is_sound = true;
    for (size_t i = 0; i < report_.session_entries.size(); ++i) {
      const auto& [key, value] = report_.session_entries[i];
      const Place place = examined.session_entries[i];
      std::vector<std::string> warnings;
      GivenOptions one;
      one.set_entry(key, value);
      const Status read = read_session_config(one, warnings).status();
      is_sound &= expect(place, read);
      if (key == "session.layers" || key.starts_with(kLayersPrefix)) {
        check_layers(place, value);
      }
      check_named_provider(place, key);
      for (const std::string& warning : warnings) {
        find(place, names_provider(key) ? formatted("{} is an option of a provider; write it under "
                                                    "the provider's \"options\"",
                                                    quote(key))
                                        : warning);
      }
      all.set_entry(key, value);
    }
    // What the entries state together.
    std::vector<std::string> warnings;
    if (!is_sound || examined.session_entries.empty()) return;
    expect(examined.session_entries.front(), read_session_config(all, warnings).status());
  }

  // The sound entries say how a session loads plugins. No session would load one with an invalid
  // policy.
  void read_policies(const OptionList& entries) {
    OptionList sound;
    for (const auto& entry : entries) {
      if (read_session_config(OptionList{entry}).ok()) {
        sound.push_back(entry);
      } else if (entry.first.starts_with("session.isolation") ||
                 entry.first == "session.signatures" || entry.first == "session.quarantine") {
        depth_ = SelectionCheck::kFind;
      }
    }
    if (auto config = read_session_config(sound); config.ok()) {
      config_ = *std::move(config);
    } else {
      depth_ = SelectionCheck::kFind;
    }
  }

  // Checks an entry about one provider.
  void check_named_provider(Place place, const std::string& key) {
    if (find_known_entry(key) != nullptr) return;
    for (const std::string_view prefix :
         {kIsolationPrefix, kReadablePrefix, kWritablePrefix, kOnCrashPrefix, kLayersPrefix}) {
      if (!key.starts_with(prefix)) continue;
      expect(place, manifest::check_is_offered(*plugins_, key.substr(prefix.size()),
                                               formatted("the entry {}", quote(key))));
    }
  }

  void check_layers(Place place, std::string_view names) {
    for (const std::string& name : split_names(names)) {
      if (manifest::is_host_layer(name)) continue;
      const auto candidates = manifest::find_layer(*plugins_, name);
      if (!expect(place, candidates.status())) continue;
      const auto is_sound = [](const auto&) { return Result(true); };
      expect(place, depth_ == SelectionCheck::kFind
                        ? loader().check(candidates->plugins.front())
                        : with_usable_plugin(loader(), *candidates, is_sound).status());
    }
  }

  // Whether a key has the form of a provider's option for a run, "ep.PROVIDER.OPTION".
  [[nodiscard]] bool names_provider(std::string_view key) const {
    if (!key.starts_with("ep.")) return false;
    key.remove_prefix(3);
    const std::string_view name = key.substr(0, key.find('.'));
    return std::ranges::any_of(plugins_->found, [&](const FoundPlugin& plugin) {
      return plugin.manifest.provider == name || equal_ignoring_case(plugin.manifest.name, name);
    });
  }

  EnvironmentState& environment_;
  std::shared_ptr<const manifest::SearchResult> plugins_;
  SelectionCheck depth_;
  SessionConfig config_;                          // as the selection's sound entries have it
  std::set<std::string, std::less<>> providers_;  // that the selection names
  SelectionReport report_;
  std::map<std::filesystem::path, size_t> verdicts_;  // by manifest: index into report_.plugins
};

}  // namespace

Result<SelectionReport> check_selection(EnvironmentState& environment,
                                        const std::filesystem::path& file, SelectionCheck depth) {
  const LogScope scope(environment.log);
  return without_exceptions("checking a selection", [&]() -> Result<SelectionReport> {
    EPHOST_RETURN_IF_ERROR(check_writers(file, FilesBeside::kAreNotUsed));
    EPHOST_ASSIGN_OR_RETURN(const std::string text, read_file(file, manifest::kMaxYamlBytes));
    return Check(environment, depth).run(manifest::examine_selection(text, file));
  });
}

}  // namespace ephost::session
