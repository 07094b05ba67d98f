// Rules 17 to 21, 39, 40 and 44: calls of functions that need no graph.
#include <dlfcn.h>
#include <ephost/plugin_abi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "host/base/format.h"
#include "host/bridge/abi_text.h"
#include "host/conformance/kit/checks.h"
#include "host/conformance/support/probe.h"
#include "host/conformance/support/process_state.h"

namespace ephost::conformance {
namespace {

namespace fs = std::filesystem;
using bridge::DeviceInfo;
using plugin::LoadedPlugin;
using std::chrono::seconds;

DeviceInfo unknown_device() {
  DeviceInfo device;
  device.id = "no such device \u00e9";
  device.type = 99;
  device.name = std::string(1024, 'x');
  device.metadata = {{"key", "value"}};
  return device;
}

// Creates providers in odd ways and judges each by one rule (judge_creation).
void try_odd_creations(const Subject& subject, Report& report, int rule) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  const auto services = kit_services(*plugin);
  const auto attempt = [&](const std::string& how, std::vector<DeviceInfo> devices, auto change) {
    Result<Config> config = Config::make(plugin, {}, std::move(devices));
    if (!config.ok()) return;
    change(*config);
    const Creation creation = create(*plugin, *services, config->record());
    judge_creation(creation, how, report, rule);
    if (creation.ok()) destroy(*plugin, creation.provider);
  };
  const std::vector<DeviceInfo> usual = default_devices(*plugin);
  std::vector<DeviceInfo> many = usual;
  for (int i = 0; i < 100; ++i) many.insert(many.end(), usual.begin(), usual.end());
  attempt("as a session does", usual, [](Config&) {});
  attempt("without devices", {}, [](Config&) {});
  attempt("for a device that does not exist", {unknown_device()}, [](Config&) {});
  attempt("for each device a hundred times", many, [](Config&) {});
  attempt("for a target that does not exist", {},
          [](Config& config) { config.set_target(unknown_device()); });
  attempt("with an unknown purpose", usual, [](Config& config) { config.set_purpose(0xfff0); });
  attempt("with a directory that does not exist", usual,
          [](Config& config) { config.set_directory("/nonexistent/\u00e9"); });
}

// Asks for extensions that cannot exist.
void try_odd_extensions(const LoadedPlugin& plugin, eph_provider* provider, Report& report) {
  const std::string longest(65536, 'e');
  const std::vector<eph_string> ids = {{nullptr, 0},
                                       EPH_STRING(""),
                                       EPH_STRING("/"),
                                       EPH_STRING("ephost."),
                                       EPH_STRING("ephost.device"),
                                       EPH_STRING("ephost.device/1000000"),
                                       EPH_STRING("\xff\xfe"),
                                       {longest.data(), longest.size()}};
  for (const eph_string& id : ids) {
    const auto ask = [&](auto slot, auto self) {
      if (slot == nullptr) return;
      const auto table = plugin::call({plugin.manifest.provider, "get_extension"}, slot, self, id);
      if (!table.ok()) report.fail(text_of(table.status()), "return null for ids that you lack");
    };
    ask(plugin.provider.get_provider_extension, provider);
    ask(plugin.provider.get_extension, plugin.provider_self);
    ask(plugin.api.get_extension, plugin.api_self);
  }
}

void check_throws(const Subject& subject, Report& report) {
  try_odd_creations(subject, report, 17);
  if (!report.reason().empty()) return;
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  const auto services = kit_services(*plugin);
  for (const auto list : {&bridge::list_devices, &bridge::list_targets}) {
    const auto devices = list(*plugin, *services);
    // Lists that break a rule of their own are the business of the checks of rule 45.
    static_cast<void>(devices);
  }
  Report created;
  const LiveProvider provider(plugin, created);
  if (provider.get() != nullptr) try_odd_extensions(*plugin, provider.get(), report);
}

void check_codes(const Subject& subject, Report& report) { try_odd_creations(subject, report, 18); }
void check_results(const Subject& subject, Report& report) {
  try_odd_creations(subject, report, 19);
}

void check_destroy_null(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  const Status status = plugin::call({plugin->manifest.provider, "destroy"},
                                     plugin->provider.destroy, static_cast<eph_provider*>(nullptr));
  if (!status.ok()) report.fail(text_of(status), "do nothing for a null provider");
}

// Calls a slot as if it could throw: a plugin need not be compiled with noexcept.
template <class R, class... P, class... A>
R call_plainly(R (*slot)(P...), A... arguments) {
  return slot(arguments...);
}

// The calls of a life without a graph, each by its name. What they give is not judged.
class Life {
 public:
  explicit Life(std::shared_ptr<const LoadedPlugin> plugin)
      : plugin_(std::move(plugin)), services_(kit_services(*plugin_)) {}

  // Calls `around` with the name of each call and with what makes it.
  void live(const std::function<void(std::string_view, const std::function<void()>&)>& around) {
    const eph_provider_api& api = plugin_->provider;
    const eph_host* const host = services_.get();
    KitError error;
    bridge::DeviceCollector list(plugin_->manifest.provider);
    around("get_devices", [&] {
      static_cast<void>(call_plainly(api.get_devices, plugin_->provider_self, host,
                                     static_cast<eph_device_list*>(&list),
                                     static_cast<eph_error*>(&error)));
    });
    std::vector<DeviceInfo> devices = list.take();
    std::erase_if(devices, [](const DeviceInfo& device) { return device.is_virtual(); });
    Result<Config> config = Config::make(plugin_, {}, std::move(devices));
    if (!config.ok()) return;
    const eph_provider_config* const record = config->record();
    eph_provider* provider = nullptr;
    around("create", [&] {
      static_cast<void>(call_plainly(api.create, plugin_->provider_self, host, record, &provider,
                                     static_cast<eph_error*>(&error)));
    });
    if (provider == nullptr) return;
    if (api.describe != nullptr) {
      around("describe", [&] {
        eph_provider_info info = {};
        info.struct_size = sizeof(info);
        static_cast<void>(
            call_plainly(api.describe, provider, &info, static_cast<eph_error*>(&error)));
      });
    }
    if (api.get_kernels != nullptr) {
      around("get_kernels", [&] {
        const eph_kernel_def* kernels = nullptr;
        uint64_t count = 0;
        static_cast<void>(call_plainly(api.get_kernels, provider, &kernels, &count,
                                       static_cast<eph_error*>(&error)));
      });
    }
    if (api.get_compatibility != nullptr) {
      around("get_compatibility", [&] {
        eph_string text = {};
        static_cast<void>(
            call_plainly(api.get_compatibility, provider, &text, static_cast<eph_error*>(&error)));
      });
    }
    around("destroy", [&] { call_plainly(api.destroy, provider); });
  }

 private:
  std::shared_ptr<const LoadedPlugin> plugin_;
  std::unique_ptr<bridge::HostServices> services_;
};

void check_call_settings(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  Life(plugin).live([&](std::string_view name, const std::function<void()>& call) {
    const plugin::CallSite site = {plugin->manifest.provider, name};
    const ProcessState before = ProcessState::settings();
    ProcessState after;
    {
      // The scope restores the floating-point control in the end, so the state is taken before.
      const plugin::CallScope scope(site);
      try {
        call();
      } catch (...) {
        // Check 17.1 finds this.
      }
      after = ProcessState::settings();
    }
    judge_state(before, after, std::string(name), report);
  });
}

void check_load_settings(const Subject& subject, Report& report) {
  const Result<manifest::FoundPlugin> found = find_plugin(subject);
  if (!found.ok()) return report.leave_out("the manifest names no library that can be loaded here");
  if (!check_library_file(*found).ok()) {
    return report.leave_out("the library cannot be loaded; see rules 3 and 5");
  }
  // Not as the host loads it, which restores the floating-point control afterwards.
  const ProcessState before = ProcessState::settings();
  void* const library = ::dlopen(found->library.c_str(), RTLD_NOW | RTLD_LOCAL);
  judge_state(before, ProcessState::settings(), "loading the library", report);
  if (library == nullptr) report.leave_out("the library cannot be loaded; check 3.1 says why");
}

void check_durations(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  Life(plugin).live([&](std::string_view name, const std::function<void()>& call) {
    const plugin::CallSite site = {plugin->manifest.provider, name};
    const auto begin = std::chrono::steady_clock::now();
    {
      const plugin::CallScope scope(site);
      try {
        call();
      } catch (...) {
        // Check 17.1 finds this.
      }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    report.note(formatted("{} (ms)", name), took.count() * 1000);
    constexpr double kMost = 10;
    if (took.count() > kMost) {
      report.fail(formatted("{} takes {:.1f} s", name, took.count()),
                  "leave to compile what takes long, and report progress there");
    }
  });
}

void check_provider_storm(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  Report created;
  { const LiveProvider first(plugin, created); }
  if (!created.reason().empty()) return report.leave_out(created.reason());
  const int rounds = subject.level == Level::kFull ? 100 : 15;
  Report ignored;
  judge_growth(rounds, "creating and destroying a provider", report,
               [&] { const LiveProvider provider(plugin, ignored); });
}

void check_parallel(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  Report created;
  const LiveProvider kept(plugin, created);
  if (kept.get() == nullptr) return report.leave_out(created.reason());
  const int rounds = subject.level == Level::kFull ? 50 : 5;
  std::array<Report, 4> reports;
  std::vector<std::thread> threads;
  for (Report& own : reports) {
    threads.emplace_back([&plugin, &own, rounds] {
      for (int i = 0; i < rounds; ++i) const LiveProvider provider(plugin, own);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Report& own : reports) {
    if (own.reason().empty()) continue;
    report.fail("a provider cannot be created while others are created and destroyed",
                "keep what providers share behind a lock, or in the objects themselves");
    return;
  }
}

void check_directory(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  Report created;
  { const LiveProvider here(plugin, created); }
  if (!created.reason().empty()) return report.leave_out(created.reason());
  std::error_code ignored;
  const fs::path before = fs::current_path(ignored);
  fs::current_path("/", ignored);
  Report elsewhere;
  { const LiveProvider there(plugin, elsewhere); }
  fs::current_path(before, ignored);
  if (!elsewhere.reason().empty()) {
    report.fail("a provider cannot be created from another working directory",
                "look for files of the plugin in the directory that eph_provider_config gives");
  }
}

constexpr std::array kCallChecks = {
    Check{17, 1, "nothing-thrown", "Nothing leaves create and get_extension but their result",
          Level::kBasic, seconds(60), &check_throws},
    Check{18, 1, "codes-and-messages", "A failure of create has a known code and a message",
          Level::kBasic, seconds(60), &check_codes},
    Check{19, 1, "results", "create gives a provider if it succeeds, and null if it fails",
          Level::kBasic, seconds(60), &check_results},
    Check{21, 1, "destroy-null", "destroy accepts null", Level::kBasic, seconds(60),
          &check_destroy_null},
    Check{21, 2, "provider-storm", "Creating and destroying providers leaves nothing behind",
          Level::kBasic, seconds(300), &check_provider_storm},
    Check{22, 1, "providers-in-parallel", "Threads create and destroy providers at the same time",
          Level::kBasic, seconds(60), &check_parallel},
    Check{39, 1, "process-unchanged", "Calls leave the settings of process and thread alone",
          Level::kBasic, seconds(60), &check_call_settings},
    Check{39, 2, "process-unchanged-by-loading",
          "Loading leaves the settings of process and thread alone", Level::kBasic, seconds(60),
          &check_load_settings},
    Check{40, 1, "calls-return", "Calls without a graph return within ten seconds", Level::kBasic,
          seconds(60), &check_durations},
    Check{44, 1, "directory", "The working directory does not matter", Level::kBasic, seconds(60),
          &check_directory}};

}  // namespace

std::span<const Check> call_checks() { return kCallChecks; }

}  // namespace ephost::conformance
