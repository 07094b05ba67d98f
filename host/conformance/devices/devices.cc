// Rules 30 and 45 to 48: devices, targets, and what providers are created for.
#include <ephost/plugin_abi.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/abi_devices.h"
#include "host/bridge/abi_text.h"
#include "host/conformance/kit/checks.h"
#include "host/conformance/kit/part.h"
#include "host/conformance/support/probe.h"

namespace ephost::conformance {
namespace {

using bridge::DeviceInfo;
using plugin::LoadedPlugin;
using Listing = Result<std::vector<DeviceInfo>> (*)(const LoadedPlugin&,
                                                    const bridge::HostServices&);
using std::chrono::seconds;

Result<std::vector<DeviceInfo>> list_with(Listing listing, const LoadedPlugin& plugin) {
  const auto services = kit_services(plugin);
  return listing(plugin, *services);
}

// The ids with what compiled code depends on, one to a line.
std::string lines_of_devices(const std::vector<DeviceInfo>& devices) {
  std::vector<std::string> lines;
  for (const DeviceInfo& device : devices) {
    lines.push_back(formatted("{} type {} of {}, {}, {:x}:{:x}", quote(device.id), device.type,
                              quote(device.vendor), quote(device.architecture), device.vendor_id,
                              device.device_id));
  }
  return join(lines, "\n");
}

std::string describe_devices(const Subject& subject, std::span<const std::string> arguments) {
  const auto plugin = load_plugin(subject);
  if (!plugin.ok()) return text_of(plugin.status());
  const bool wants_targets = !arguments.empty() && arguments.front() == "targets";
  const auto devices =
      list_with(wants_targets ? &bridge::list_targets : &bridge::list_devices, **plugin);
  return devices.ok() ? lines_of_devices(*devices) : text_of(devices.status());
}

// Finds where lists, in this process and in another one, differ.
void judge_stability(const Subject& subject, Listing listing, const std::string& what,
                     Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  const auto first = list_with(listing, *plugin);
  const auto second = list_with(listing, *plugin);
  if (!first.ok() || !second.ok()) {
    return report.leave_out(formatted("the {} cannot be listed", what));
  }
  if (lines_of_devices(*first) != lines_of_devices(*second)) {
    report.fail(formatted("the {} are listed differently the second time: {}, then {}", what,
                          lines_of_devices(*first), lines_of_devices(*second)),
                "take ids that belong to the device: a UUID, a serial number, a bus address");
    return;
  }
  const std::vector<std::string> arguments = {what};
  const Result<std::string> elsewhere =
      run_part(subject, "list-devices", arguments, std::chrono::seconds(30));
  if (!elsewhere.ok()) {
    report.fail(text_of(elsewhere.status()), "the list must be the same in each process");
  } else if (*elsewhere != lines_of_devices(*first)) {
    report.fail(formatted("another process lists other {}: {}, and here {}", what, *elsewhere,
                          lines_of_devices(*first)),
                "take ids that survive a restart: no address, process id or random number");
  }
}

// Lists on several threads at once, and compares each list with that of one thread.
void judge_concurrency(const LoadedPlugin& plugin, Listing listing, std::string_view what,
                       Report& report) {
  constexpr size_t kThreads = 4;
  constexpr int kLists = 25;  // on each thread
  const auto alone = list_with(listing, plugin);
  if (!alone.ok()) return report.leave_out("they cannot be listed; checks 45.1 and 48.1 say why");
  const std::string expected = lines_of_devices(*alone);
  std::array<std::string, kThreads> found;
  {
    std::barrier start(static_cast<ptrdiff_t>(kThreads));
    std::vector<std::jthread> threads;
    for (std::string& text : found) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        for (int i = 0; i < kLists && (text.empty() || text == expected); ++i) {
          const auto devices = list_with(listing, plugin);
          text = devices.ok() ? lines_of_devices(*devices) : text_of(devices.status());
        }
      });
    }
  }
  const auto other = std::ranges::find_if(found, [&](auto& text) { return text != expected; });
  if (other == found.end()) return;
  report.fail(
      formatted("while other threads list {}, one gets: {}, and alone: {}", what, *other, expected),
      "keep what the function fills in on the stack, and guard what the driver shares");
}

void judge_list(const Subject& subject, Listing listing, std::string_view what, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  const auto devices = list_with(listing, *plugin);
  if (!devices.ok()) {
    report.fail(text_of(devices.status()), "list devices as rule 45 says, or none");
    return;
  }
  report.note(std::string(what), static_cast<double>(devices->size()));
}

void check_devices(const Subject& subject, Report& report) {
  judge_list(subject, &bridge::list_devices, "devices", report);
}
void check_stable_devices(const Subject& subject, Report& report) {
  judge_stability(subject, &bridge::list_devices, "devices", report);
}

// Refuses what it is given, from the device with this index on.
class FullList : public eph_device_list {
 public:
  explicit FullList(int room) : room_(room) { api = &kApi; }
  [[nodiscard]] bool has_refused() const { return room_ < 0; }

 private:
  static int32_t add(eph_device_list* handle, const eph_device*, eph_error* error) noexcept {
    if (--static_cast<FullList*>(handle)->room_ >= 0) return EPH_OK;
    error->api->set_message(error, EPH_STRING("the list is full"));
    return EPH_FAIL;
  }
  static constexpr eph_device_list_api kApi = {sizeof(eph_device_list_api), &FullList::add};
  int room_;
};

void check_refused_device(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  const auto services = kit_services(*plugin);
  FullList full(0);
  KitError error;
  const auto code =
      plugin::call({plugin->manifest.provider, "get_devices"}, plugin->provider.get_devices,
                   plugin->provider_self, static_cast<const eph_host*>(services.get()),
                   static_cast<eph_device_list*>(&full), static_cast<eph_error*>(&error));
  if (!code.ok()) {
    report.fail(text_of(code.status()), "catch everything within the function");
  } else if (!full.has_refused()) {
    report.leave_out("the machine has no device that the host could refuse");
  } else if (*code == EPH_OK) {
    report.fail("get_devices succeeds although the host has refused a device",
                "return the code of eph_device_list_api.add if it is not EPH_OK");
  } else if (error.message().empty()) {
    report.fail("get_devices passes the host's failure on without a message",
                "hand the same eph_error to the host's functions");
  }
}

void check_concurrent_lists(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  judge_concurrency(*plugin, &bridge::list_devices, "devices", report);
  judge_concurrency(*plugin, &bridge::list_targets, "targets", report);
}

void try_creation(const LoadedPlugin& plugin, Config& config, const std::string& how, bool may_fail,
                  Report& report) {
  const auto services = kit_services(plugin);
  const Creation creation = create(plugin, *services, config.record());
  judge_creation(creation, how, report);
  if (creation.ok()) return destroy(plugin, creation.provider);
  if (may_fail || !creation.thrown.empty()) return;
  report.fail(formatted("create fails {}: {}", how, creation.message),
              "create a provider, as it is done with all devices and no purpose");
}

void check_chosen_devices(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  const auto devices = list_with(&bridge::list_devices, *plugin);
  if (!devices.ok()) return report.leave_out("the devices cannot be listed; check 45.1 says why");
  const LiveProvider usual(plugin, report);
  if (usual.get() == nullptr) return;
  for (const DeviceInfo& device : *devices) {
    Result<Config> config = Config::make(plugin, {}, {device});
    if (!config.ok()) return;
    // A virtual device may be one for compilation only.
    try_creation(*plugin, *config, formatted("for the device {} alone", quote(device.id)),
                 device.is_virtual(), report);
  }
  std::vector<DeviceInfo> reversed(devices->rbegin(), devices->rend());
  Result<Config> config = Config::make(plugin, {}, std::move(reversed));
  if (config.ok()) try_creation(*plugin, *config, "for all devices in reverse", true, report);
}

void check_purposes(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  const LiveProvider usual(plugin, report);
  if (usual.get() == nullptr) return;
  constexpr uint32_t kKnown = EPH_PURPOSE_WRITES_CONTEXT | EPH_PURPOSE_COMPILE_ONLY |
                              EPH_PURPOSE_SHARED | EPH_PURPOSE_PROFILING;
  for (uint32_t purpose = 0; purpose <= kKnown; ++purpose) {
    for (const uint32_t unknown : {uint32_t{0}, uint32_t{1} << 31U}) {
      Result<Config> config = Config::make(plugin, {}, default_devices(*plugin));
      if (!config.ok()) return;
      config->set_purpose(purpose | unknown);
      try_creation(*plugin, *config, formatted("with the purpose {:#x}", purpose | unknown), false,
                   report);
    }
  }
}

void check_targets(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  if (plugin->provider.list_targets == nullptr) {
    return report.leave_out("the provider compiles for devices that are present only");
  }
  judge_list(subject, &bridge::list_targets, "targets", report);
}

void check_stable_targets(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  if (plugin->provider.list_targets == nullptr) {
    return report.leave_out("the provider compiles for devices that are present only");
  }
  judge_stability(subject, &bridge::list_targets, "targets", report);
}

void check_target_creation(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  const auto targets = list_with(&bridge::list_targets, *plugin);
  if (!targets.ok() || targets->empty()) {
    return report.leave_out("the provider lists no targets");
  }
  for (const DeviceInfo& target : *targets) {
    Result<Config> config = Config::make(plugin, {}, {});
    if (!config.ok()) return;
    config->set_target(target);
    config->set_purpose(EPH_PURPOSE_COMPILE_ONLY | EPH_PURPOSE_WRITES_CONTEXT);
    try_creation(*plugin, *config, formatted("for the target {}", quote(target.id)), false, report);
  }
}

// What `validate` makes of a text for a device.
struct Verdict {
  Status status;
  int32_t verdict = -1;
};

Verdict ask_verdict(const LoadedPlugin& plugin, const DeviceInfo& device, std::string_view text) {
  const auto services = kit_services(plugin);
  const bridge::AbiDevices records(std::span(&device, 1));
  KitError error;
  Verdict verdict;
  const auto code = plugin::call({plugin.manifest.provider, "validate"}, plugin.provider.validate,
                                 plugin.provider_self, static_cast<const eph_host*>(services.get()),
                                 records.data(), bridge::to_abi(text), &verdict.verdict,
                                 static_cast<eph_error*>(&error));
  if (!code.ok()) {
    verdict.status = code.status();
  } else if (*code != EPH_OK) {
    verdict.status = Status(StatusCode::kEpFail, error.message());
  }
  return verdict;
}

void judge_own_text(const LoadedPlugin& plugin, const DeviceInfo& device, std::string_view text,
                    Report& report) {
  const Verdict verdict = ask_verdict(plugin, device, text);
  if (verdict.status.ok() && (verdict.verdict == EPH_COMPATIBILITY_OPTIMAL ||
                              verdict.verdict == EPH_COMPATIBILITY_PREFER_RECOMPILATION)) {
    return;
  }
  report.fail(formatted("validate does not accept the provider's own text {} for {}: verdict {} {}",
                        quote(text), quote(device.id), verdict.verdict, verdict.status.message()),
              "accept what get_compatibility of this version writes for the same device");
}

void check_verdicts(const Subject& subject, Report& report) {
  const auto plugin = need_plugin(subject, report);
  if (!plugin) return;
  if (plugin->provider.validate == nullptr) {
    return report.leave_out("the provider judges no compatibility");
  }
  const std::vector<DeviceInfo> devices = default_devices(*plugin);
  const LiveProvider provider(plugin, report);
  if (provider.get() == nullptr) return;
  KitError error;
  eph_string own = {};
  const auto code = plugin::call({plugin->manifest.provider, "get_compatibility"},
                                 plugin->provider.get_compatibility, provider.get(), &own,
                                 static_cast<eph_error*>(&error));
  const std::string text(code.ok() && *code == EPH_OK ? bridge::view(own) : "");
  std::vector<std::string> texts = {"", "nonsense", "\x01\xff", std::string(65536, 'x')};
  for (size_t size = 0; size < text.size(); size += 1 + size / 4) {
    texts.push_back(text.substr(0, size));
  }
  for (const DeviceInfo& device : devices) {
    if (!text.empty()) judge_own_text(*plugin, device, text, report);
    for (const std::string& other : texts) {
      const Verdict verdict = ask_verdict(*plugin, device, other);
      const bool is_verdict = verdict.verdict >= EPH_COMPATIBILITY_NOT_APPLICABLE &&
                              verdict.verdict <= EPH_COMPATIBILITY_UNSUPPORTED;
      if (verdict.status.ok() && is_verdict) continue;
      if (!verdict.status.ok() && !verdict.status.message().empty()) continue;
      report.fail(
          formatted("validate of {} gives {} and no message", quote(other), verdict.verdict),
          "give one of EPH_COMPATIBILITY_*, or a failure with a message");
    }
  }
}

constexpr std::array kDeviceChecks = {
    Check{18, 2, "refused-device", "get_devices passes a failure of the host on", Level::kBasic,
          seconds(60), &check_refused_device},
    Check{30, 1, "compatibility-verdicts",
          "validate accepts the provider's own text, and judges any other", Level::kBasic,
          seconds(60), &check_verdicts},
    Check{45, 1, "devices", "The devices have unique ids and valid texts", Level::kBasic,
          seconds(60), &check_devices},
    Check{45, 2, "stable-devices", "The devices are the same in each list and process",
          Level::kBasic, seconds(60), &check_stable_devices},
    Check{45, 3, "concurrent-lists", "Threads that list at once get what one thread alone gets",
          Level::kBasic, seconds(60), &check_concurrent_lists},
    Check{46, 1, "chosen-devices", "A provider is created for each device alone", Level::kBasic,
          seconds(60), &check_chosen_devices},
    Check{47, 1, "purposes", "A provider is created for any purpose, unknown ones included",
          Level::kBasic, seconds(60), &check_purposes},
    Check{48, 1, "targets", "The targets have unique ids and valid texts", Level::kBasic,
          seconds(60), &check_targets},
    Check{48, 2, "stable-targets", "The targets are the same in each list and process",
          Level::kBasic, seconds(60), &check_stable_targets},
    Check{48, 3, "created-for-target", "A provider is created for each target", Level::kBasic,
          seconds(60), &check_target_creation}};

constexpr std::array kDeviceParts = {Part{"list-devices", &describe_devices}};

}  // namespace

std::span<const Check> device_checks() { return kDeviceChecks; }
std::span<const Part> device_parts() { return kDeviceParts; }

}  // namespace ephost::conformance
