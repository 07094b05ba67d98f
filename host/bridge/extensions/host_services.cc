#include "host/bridge/extensions/host_services.h"

#include <ephost/ext/constants.h>
#include <ephost/ext/progress.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "host/base/files/mapped_pages.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/slot_call.h"

namespace ephost::bridge {
namespace {

Severity to_severity(int32_t severity) {
  return static_cast<Severity>(std::clamp<int32_t>(severity, EPH_LOG_DEBUG, EPH_LOG_ERROR));
}

// The calls of one loop's function by several threads. The first exception is kept for the plugin
// call that runs the loop, because parallel_for itself cannot fail.
class LoopCalls {
 public:
  LoopCalls(std::string_view provider, eph_range_function function, void* context)
      : site_(site_of_loop(provider)),
        caller_(&plugin::ThreadCalls::mine()),
        function_(function),
        context_(context) {}

  EPHOST_CATCHES_THREAD_END void operator()(uint64_t begin, uint64_t end) const {
    // The calling thread already has a scope for its call.
    std::optional<CallScope> scope;
    if (&plugin::ThreadCalls::mine() != caller_) scope.emplace(site_);
    try {
      function_(context_, begin, end);
    } catch (abi::__forced_unwind&) {
      throw;
    } catch (...) {
      const Status status = thrown_by(site_);
      const std::lock_guard lock(mutex_);
      if (failure_.empty()) failure_ = status.message();
    }
  }

  [[nodiscard]] std::string take_failure() { return std::move(failure_); }

 private:
  // The site of the call that runs the loop.
  static CallSite site_of_loop(std::string_view provider) {
    const CallSite site = plugin::ThreadCalls::mine().snapshot().site;
    return site.provider.empty() ? CallSite{provider, "a loop"} : site;
  }

  const CallSite site_;
  const plugin::ThreadCalls* const caller_;
  const eph_range_function function_;
  void* const context_;
  mutable std::mutex mutex_;
  mutable std::string failure_;
};

}  // namespace

HostServices::HostServices(std::string provider_name, PluginLog log, ProgressHooks hooks,
                           ThreadOffer threads)
    : eph_host{nullptr},
      provider_name_(std::move(provider_name)),
      log_(std::move(log)),
      hooks_(std::make_shared<ProgressHooks>(std::move(hooks))),
      threads_(std::move(threads)) {
  static constexpr eph_host_api kHostApi = {sizeof(eph_host_api), &HostServices::log,
                                            &HostServices::get_extension};
  api = &kHostApi;
}

void HostServices::set_progress_hooks(ProgressHooks hooks) {
  auto replacement = std::make_shared<ProgressHooks>(std::move(hooks));
  const std::lock_guard lock(hooks_mutex_);
  hooks_ = std::move(replacement);
}

std::shared_ptr<const ProgressHooks> HostServices::hooks() const {
  const std::lock_guard lock(hooks_mutex_);
  return hooks_;
}

void HostServices::log(const eph_host* handle, int32_t severity, eph_string message) noexcept {
  const HostServices& services = self(handle);
  if (!services.log_) return;
  try {
    services.log_(to_severity(severity), services.provider_name_, view(message));
  } catch (const std::exception&) {  // only this message is lost
  }
}

void HostServices::report(const eph_host* handle, double fraction, eph_string message) noexcept {
  const HostServices& services = self(handle);
  const auto hooks = services.hooks();
  if (!hooks->report) return;
  try {
    // The comparison also sends NaN to 0.
    const double bounded = fraction > 0 ? std::min(fraction, 1.0) : 0.0;
    hooks->report(services.provider_name_, bounded, view(message));
  } catch (const std::exception&) {  // only this report is lost
  }
}

int32_t HostServices::is_cancelled(const eph_host* handle) noexcept {
  const auto hooks = self(handle).hooks();
  try {
    return hooks->is_cancelled && hooks->is_cancelled() ? 1 : 0;
  } catch (const std::exception&) {
    return 0;
  }
}

void HostServices::release(const eph_host*, const void* data, uint64_t size) noexcept {
  release_pages({static_cast<const std::byte*>(data), static_cast<size_t>(size)});
}

void HostServices::parallel_for(const eph_host* handle, uint64_t total, uint64_t grain,
                                eph_range_function function, void* context) noexcept {
  const HostServices& services = self(handle);
  if (function == nullptr) {
    services.fail_loop("parallel_for of " + services.provider_name_ +
                       ": function is null; report this to the plugin's vendor");
    return;
  }
  LoopCalls calls(services.provider_name_, function, context);
  if (services.threads_.pool != nullptr) {
    services.threads_.pool->parallel_for(total, grain, services.threads_.loops, calls);
  } else if (total != 0) {
    calls(0, total);
  }
  const std::string failure = calls.take_failure();
  if (!failure.empty()) services.fail_loop(failure);
}

void HostServices::fail_loop(const std::string& failure) const {
  if (!plugin::fail_current_call(failure) && log_) log_(Severity::kError, provider_name_, failure);
}

uint32_t HostServices::thread_count(const eph_host* handle) noexcept {
  return self(handle).threads_.loops;
}

uint32_t HostServices::library_thread_count(const eph_host* handle) noexcept {
  return self(handle).threads_.libraries;
}

std::vector<std::string> offered_extensions() {
  return {EPH_EXT_CONSTANTS, EPH_EXT_PROGRESS, EPH_EXT_THREAD_POOL};
}

const void* HostServices::get_extension(const eph_host*, eph_string id) noexcept {
  static constexpr eph_progress_api kProgress = {sizeof(eph_progress_api), &HostServices::report,
                                                 &HostServices::is_cancelled};
  static constexpr eph_constants_api kConstants = {sizeof(eph_constants_api),
                                                   &HostServices::release};
  static constexpr eph_thread_pool_api kThreadPool = {
      sizeof(eph_thread_pool_api), &HostServices::parallel_for, &HostServices::thread_count,
      &HostServices::library_thread_count};
  if (view(id) == EPH_EXT_PROGRESS) return &kProgress;
  if (view(id) == EPH_EXT_THREAD_POOL) return &kThreadPool;
  return view(id) == EPH_EXT_CONSTANTS ? &kConstants : nullptr;
}

}  // namespace ephost::bridge
