// What a plugin can ask of the host through eph_host: logging, and the extensions that the host
// offers.
#pragma once

#include <ephost/plugin_abi.h>

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ephost::bridge {

// What an application hooks into long compilations. Both may be empty; both are called from the
// thread that compiles.
struct ProgressHooks {
  // `fraction` in 0..1 of what the provider is doing now.
  std::function<void(std::string_view provider, double fraction, std::string_view message)> report;
  std::function<bool()> is_cancelled;
};

enum class Severity { kDebug, kInfo, kWarning, kError };
using PluginLog =
    std::function<void(Severity, std::string_view provider, std::string_view message)>;

// The ids of the extensions that the host offers.
[[nodiscard]] std::vector<std::string> offered_extensions();

// Lives longer than every provider that was created with it, and at one address.
class HostServices : public eph_host {
 public:
  HostServices(std::string provider_name, PluginLog log, ProgressHooks hooks);
  HostServices(const HostServices&) = delete;
  HostServices& operator=(const HostServices&) = delete;

  // Not while a call of the provider goes on.
  void set_progress_hooks(ProgressHooks hooks) { hooks_ = std::move(hooks); }

 private:
  static const HostServices& self(const eph_host* handle) {
    return *static_cast<const HostServices*>(handle);
  }
  static void log(const eph_host* handle, int32_t severity, eph_string message) noexcept;
  static const void* get_extension(const eph_host* handle, eph_string id) noexcept;
  static void report(const eph_host* handle, double fraction, eph_string message) noexcept;
  static int32_t is_cancelled(const eph_host* handle) noexcept;
  static void release(const eph_host* handle, const void* data, uint64_t size) noexcept;

  std::string provider_name_;
  PluginLog log_;
  ProgressHooks hooks_;
};

}  // namespace ephost::bridge
