#include "host/bridge/host_services.h"

#include <ephost/ext/constants.h>
#include <ephost/ext/progress.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "host/base/mapped_pages.h"
#include "host/bridge/abi_text.h"

namespace ephost::bridge {
namespace {

Severity to_severity(int32_t severity) {
  return static_cast<Severity>(std::clamp<int32_t>(severity, EPH_LOG_DEBUG, EPH_LOG_ERROR));
}

}  // namespace

HostServices::HostServices(std::string provider_name, PluginLog log, ProgressHooks hooks)
    : eph_host{nullptr},
      provider_name_(std::move(provider_name)),
      log_(std::move(log)),
      hooks_(std::move(hooks)) {
  static constexpr eph_host_api kHostApi = {sizeof(eph_host_api), &HostServices::log,
                                            &HostServices::get_extension};
  api = &kHostApi;
}

void HostServices::log(const eph_host* handle, int32_t severity, eph_string message) noexcept {
  const HostServices& services = self(handle);
  if (!services.log_) return;
  try {
    services.log_(to_severity(severity), services.provider_name_, view(message));
  } catch (const std::exception&) {  // a message that cannot be logged is lost, nothing else
  }
}

void HostServices::report(const eph_host* handle, double fraction, eph_string message) noexcept {
  const HostServices& services = self(handle);
  if (!services.hooks_.report) return;
  try {
    // The comparison also sends NaN to 0.
    const double bounded = fraction > 0 ? std::min(fraction, 1.0) : 0.0;
    services.hooks_.report(services.provider_name_, bounded, view(message));
  } catch (const std::exception&) {  // likewise
  }
}

int32_t HostServices::is_cancelled(const eph_host* handle) noexcept {
  const HostServices& services = self(handle);
  try {
    return services.hooks_.is_cancelled && services.hooks_.is_cancelled() ? 1 : 0;
  } catch (const std::exception&) {
    return 0;
  }
}

void HostServices::release(const eph_host*, const void* data, uint64_t size) noexcept {
  release_pages({static_cast<const std::byte*>(data), static_cast<size_t>(size)});
}

std::vector<std::string> offered_extensions() { return {EPH_EXT_CONSTANTS, EPH_EXT_PROGRESS}; }

const void* HostServices::get_extension(const eph_host*, eph_string id) noexcept {
  static constexpr eph_progress_api kProgress = {sizeof(eph_progress_api), &HostServices::report,
                                                 &HostServices::is_cancelled};
  static constexpr eph_constants_api kConstants = {sizeof(eph_constants_api),
                                                   &HostServices::release};
  if (view(id) == EPH_EXT_PROGRESS) return &kProgress;
  return view(id) == EPH_EXT_CONSTANTS ? &kConstants : nullptr;
}

}  // namespace ephost::bridge
