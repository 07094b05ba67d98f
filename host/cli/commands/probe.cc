#include "host/cli/commands/probe.h"

#include <ephost/inspect_plugin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <system_error>
#include <thread>

#include "host/base/threads/thread_pool.h"
#include "host/base/utc_text.h"

namespace ephost::cli {
namespace {

constexpr const char* kProbingGroup = "Probing";

// Joins its threads, whatever happens.
struct Threads {
  std::vector<std::thread> all;
  ~Threads() {
    for (std::thread& thread : all) thread.join();
  }
};

}  // namespace

std::vector<Argument> add_probe_flags(ArgumentParser& app, ProbeFlags& flags) {
  Argument isolation =
      app.add("--isolation", flags.isolation,
              "Where plugins run: in a worker process, in one that is also limited in what it may "
              "use, or in this process (none); EPHOST_ISOLATION can only make it stricter")
          .type_name("LEVEL")
          .one_of({"none", "worker", "sandbox"})
          .show_default()
          .group(kProbingGroup);
  Argument limit = app.add("--call-limit", flags.call_limit_seconds,
                           "How long one call of a plugin in a worker may take")
                       .type_name("SECONDS")
                       .in_range(0.001, 1e6)
                       .show_default()
                       .group(kProbingGroup);
  Argument refresh =
      app.add_flag("--refresh", flags.refresh,
                   "Run plugins even if it is known from another time what they offer")
          .group(kProbingGroup);
  return {isolation, limit, refresh};
}

InspectOptions inspect_options(const ProbeFlags& flags) {
  return {.isolation = flags.isolation,
          .call_limit = std::chrono::ceil<std::chrono::milliseconds>(
              std::chrono::duration<double>(flags.call_limit_seconds)),
          .refresh = flags.refresh};
}

std::vector<Result<PluginDescription>> probe_plugins(const Environment& environment,
                                                     std::span<const InstalledPlugin> plugins,
                                                     const InspectOptions& how) {
  std::vector<Result<PluginDescription>> probes(plugins.size(), PluginDescription());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < plugins.size(); i = next++) {
      probes[i] = inspect_plugin(environment, plugins[i].manifest, how);
    }
  };
  // In one process, plugins are loaded one at a time anyway.
  const size_t most = how.isolation == "none" ? 1 : ThreadPool::default_thread_count();
  Threads threads;
  try {
    while (threads.all.size() + 1 < std::min(most, plugins.size())) threads.all.emplace_back(work);
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): fewer threads do as well
  }
  work();
  return probes;
}

Status problem_of(const Result<PluginDescription>& probe) {
  if (!probe.ok()) return probe.status();
  for (const Status* const status :
       {&probe->device_status, &probe->operators_status, &probe->provider_status}) {
    if (!status->ok()) return *status;
  }
  return {};
}

std::string recorded_text(const PluginDescription& description) {
  return description.recorded_time == 0 ? std::string() : utc_text(description.recorded_time);
}

Json recorded_json(const PluginDescription& description) {
  const std::string text = recorded_text(description);
  return text.empty() ? Json() : Json(text);
}

}  // namespace ephost::cli
