// What a plugin can ask of the host through eph_host: logging, and the extensions that the host
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

#include "host/base/thread_pool.h"

namespace ephost::bridge {

// What an application hooks into long compilations. Both may be empty; both are called from the
// thread that compiles.
struct ProgressHooks {
  // `fraction` in 0..1 of what the provider is doing now.
  std::function<void(std::string_view provider, double fraction, std::string_view message)> report;
  std::function<bool()> is_cancelled;
};

// The threads that a plugin may use, in numbers that include the calling one. The pool is borrowed;
// without one there is just that.
struct ThreadOffer {
  ThreadPool* pool = nullptr;
  uint32_t loops = 1;      // in one loop
  uint32_t libraries = 1;  // that a library may have of its own
};

enum class Severity { kDebug, kInfo, kWarning, kError };
using PluginLog =
    std::function<void(Severity, std::string_view provider, std::string_view message)>;

// The ids of the extensions that the host offers.
[[nodiscard]] std::vector<std::string> offered_extensions();

// Lives longer than every provider that was created with it, and at one address.
class HostServices : public eph_host {
 public:
  HostServices(std::string provider_name, PluginLog log, ProgressHooks hooks,
               ThreadOffer threads = {});
  HostServices(const HostServices&) = delete;
  HostServices& operator=(const HostServices&) = delete;

  // From any thread. A report that is under way still goes to the former ones.
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
  // Makes the call of the plugin that this thread is in fail; outside of one, the log tells.
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
