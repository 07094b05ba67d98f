// A plugin as the checks of loading, interface and devices take hold of it: without a session, and
// as raw as each of them needs it. Failures are texts for findings; nothing is logged.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/bridge/collect/device_list.h"
#include "host/bridge/extensions/host_services.h"
#include "host/bridge/provider.h"
#include "host/conformance/kit/check.h"
#include "host/manifest/search.h"
#include "host/plugin/calls/call.h"
#include "host/plugin/loading/library.h"
#include "host/plugin/registry.h"
#include "host/trust/verifier.h"

namespace ephost::conformance {

// The library with what its entry point returned, which nothing has checked.
struct RawPlugin {
  manifest::Manifest manifest;
  std::shared_ptr<const plugin::Library> library;
  const eph_plugin_preamble* preamble = nullptr;
};

[[nodiscard]] Result<manifest::FoundPlugin> find_plugin(const Subject& subject);
// Why the host would not even try to load the library's file.
[[nodiscard]] Status check_library_file(const manifest::FoundPlugin& found);
// Loads the library without calling it. Fails where the host would not load it.
[[nodiscard]] Result<std::shared_ptr<const plugin::Library>> load_library(
    const manifest::FoundPlugin& found);
[[nodiscard]] Result<RawPlugin> open_raw(const Subject& subject);
// The failures of this user's plugins, and when they count as too many.
[[nodiscard]] Result<plugin::Quarantine> user_quarantine();
// The signature policy of the machine and of this user.
[[nodiscard]] Result<trust::Verifier> user_verifier();
// As the host loads it for its sessions.
[[nodiscard]] Result<std::shared_ptr<const plugin::LoadedPlugin>> load_plugin(
    const Subject& subject);

// The two for checks that need a plugin which can be loaded; what is wrong with others, the checks
// of rules 1 to 15 say. Without a value, the check is left out.
[[nodiscard]] std::optional<RawPlugin> need_raw(const Subject& subject, Report& report);
[[nodiscard]] std::shared_ptr<const plugin::LoadedPlugin> need_plugin(const Subject& subject,
                                                                      Report& report);

// A minor version of a raw plugin: the table, which may be null.
[[nodiscard]] Result<const eph_plugin_api*> get_api(const RawPlugin& raw, uint32_t minor);

// Receives messages.
class KitError : public eph_error {
 public:
  KitError() : eph_error{&kApi} {}
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  static void set_message(eph_error* error, eph_string message) noexcept;
  static constexpr eph_error_api kApi = {sizeof(eph_error_api), &KitError::set_message};
  std::string message_;
};

// A host without any extension.
class BareHost : public eph_host {
 public:
  BareHost() : eph_host{&kApi} {}

 private:
  static void log(const eph_host* host, int32_t severity, eph_string message) noexcept;
  static const void* get_extension(const eph_host* host, eph_string id) noexcept;
  static constexpr eph_host_api kApi = {sizeof(eph_host_api), &BareHost::log,
                                        &BareHost::get_extension};
};

// The services that the host offers, quiet.
[[nodiscard]] std::unique_ptr<bridge::HostServices> kit_services(
    const plugin::LoadedPlugin& plugin);

// Options by name and text; those that are missing have their defaults.
using GivenOptions = std::vector<std::pair<std::string, std::string>>;

// What `create` is given: memory that the records point to included.
class Config {
 public:
  // INVALID_ARGUMENT for options that the manifest does not allow. Opens the devices, if the plugin
  // has something to open, for as long as the object lives.
  [[nodiscard]] static Result<Config> make(
      const std::shared_ptr<const plugin::LoadedPlugin>& plugin, const GivenOptions& options,
      std::vector<bridge::DeviceInfo> devices);
  // The records in one piece. `extra` bytes of garbage, a multiple of 8, follow each record that
  // can grow, and its struct_size covers them, as if the host were newer.
  [[nodiscard]] const eph_provider_config* record(uint64_t extra = 0);
  void set_purpose(uint32_t purpose) { purpose_ = purpose; }
  void set_target(bridge::DeviceInfo target) { target_ = std::move(target); }
  void set_directory(std::string directory) { directory_ = std::move(directory); }

 private:
  std::vector<manifest::TypedOption> typed_;
  std::vector<eph_option> options_;
  std::vector<bridge::DeviceInfo> devices_;
  std::vector<std::shared_ptr<const bridge::Device>> opened_;
  std::vector<eph_device_handle*> handles_;
  std::optional<bridge::DeviceInfo> target_;
  std::string directory_;
  uint32_t purpose_ = 0;
  std::vector<std::vector<eph_key_value>> metadata_;
  std::vector<uint64_t> device_bytes_;
  std::vector<uint64_t> target_bytes_;
  std::vector<uint64_t> config_bytes_;
};

// What a call of `create` ended with.
struct Creation {
  int32_t code = EPH_OK;
  eph_provider* provider = nullptr;
  std::string message;
  std::string thrown;  // the text of what left the function; empty if nothing did
  [[nodiscard]] bool ok() const { return thrown.empty() && code == EPH_OK && provider != nullptr; }
};

[[nodiscard]] Creation create(const plugin::LoadedPlugin& plugin, const eph_host& host,
                              const eph_provider_config* config);
void destroy(const plugin::LoadedPlugin& plugin, eph_provider* provider);

// Finds what the rules say of any creation: nothing is thrown, success has a result, failure has
// none, and a message and a known code. `how` completes "create ...", e.g. "without devices".
// Only what one rule says (17, 18 or 19), unless `rule` is 0.
void judge_creation(const Creation& creation, const std::string& how, Report& report, int rule = 0);

// The devices that a session without a choice would use; none if the plugin cannot list any.
[[nodiscard]] std::vector<bridge::DeviceInfo> default_devices(const plugin::LoadedPlugin& plugin);

// A provider with defaults and default_devices, destroyed with the object. Leaves the check out
// where it cannot be created: the checks of rule 23 say why.
class LiveProvider {
 public:
  LiveProvider(std::shared_ptr<const plugin::LoadedPlugin> plugin, Report& report);
  LiveProvider(const LiveProvider&) = delete;
  LiveProvider& operator=(const LiveProvider&) = delete;
  ~LiveProvider();

  [[nodiscard]] eph_provider* get() const { return provider_; }  // null: left out
  [[nodiscard]] const eph_host& host() const { return *services_; }

 private:
  std::shared_ptr<const plugin::LoadedPlugin> plugin_;
  std::unique_ptr<bridge::HostServices> services_;
  std::optional<Config> config_;
  eph_provider* provider_ = nullptr;
};

// The text of a failure, as findings have it.
[[nodiscard]] std::string text_of(const Status& status);

// A stable text of the bytes at `data`, to see whether they have changed.
[[nodiscard]] std::string checksum_of(const void* data, uint64_t size);

}  // namespace ephost::conformance
