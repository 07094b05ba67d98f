// The host's services for plugins, behind eph_host: logging and the extensions that the host
// offers.
#pragma once

#include <ephost/ext/thread_pool.h>
#include <ephost/plugin_abi.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/threads/thread_pool.h"

namespace ephost::bridge {

// An application's hooks into long compilations. Either may be empty; both are called on the
// compiling thread.
struct ProgressHooks {
  // `fraction`, from 0 to 1, is the progress of the provider's current call.
  std::function<void(std::string_view provider, double fraction, std::string_view message)> report;
  std::function<bool()> is_cancelled;
};

// How many threads a plugin may use, the calling thread included. Without a pool the calling thread
// works alone.
struct ThreadOffer {
  std::shared_ptr<ThreadPool> pool = nullptr;
  uint32_t loops = 1;      // in one loop
  uint32_t libraries = 1;  // that a library may start for itself
};

enum class Severity { kDebug, kInfo, kWarning, kError };
using PluginLog =
    std::function<void(Severity, std::string_view provider, std::string_view message)>;

// The ids of the extensions that the host offers.
[[nodiscard]] std::vector<std::string> offered_extensions();

// Outlives every provider that was created with it, at a fixed address.
class HostServices : public eph_host {
 public:
  HostServices(std::string provider_name, PluginLog log, ProgressHooks hooks,
               ThreadOffer threads = {});
  HostServices(const HostServices&) = delete;
  HostServices& operator=(const HostServices&) = delete;

  // The same services for a device that providers share.
  [[nodiscard]] std::unique_ptr<HostServices> without_hooks() const {
    return std::make_unique<HostServices>(provider_name_, log_, ProgressHooks(), threads_);
  }

  // May be called from any thread. A report in progress still goes to the previous hooks.
  void set_progress_hooks(ProgressHooks hooks);

 private:
  static const HostServices& self(const eph_host* handle) {
    return *static_cast<const HostServices*>(handle);
  }
  [[nodiscard]] std::shared_ptr<const ProgressHooks> hooks() const;
  static void log(const eph_host* handle, int32_t severity, eph_string message) noexcept;
  static const void* get_extension(const eph_host* handle, eph_string id) noexcept;
  static void report(const eph_host* handle, double fraction, eph_string message) noexcept;
  static int32_t is_cancelled(const eph_host* handle) noexcept;
  static void release(const eph_host* handle, const void* data, uint64_t size) noexcept;

  static void parallel_for(const eph_host* handle, uint64_t total, uint64_t grain,
                           eph_range_function function, void* context) noexcept;
  // Fails the plugin call that this thread is in; outside of any call, logs the failure.
  void fail_loop(const std::string& failure) const;
  static uint32_t thread_count(const eph_host* handle) noexcept;
  static uint32_t library_thread_count(const eph_host* handle) noexcept;

  std::string provider_name_;
  PluginLog log_;
  mutable std::mutex hooks_mutex_;  // a provider may run for one session while another is created
  std::shared_ptr<const ProgressHooks> hooks_;
  ThreadOffer threads_;
};

}  // namespace ephost::bridge
