// fake_host.h: the host as a provider sees it outside of graphs and runs: errors, the log,
// extensions, devices. It keeps what it is told. The other fakes are fake_graph.h, fake_claims.h,
// fake_run.h and fake_context_writer.h. None of them uses code of the real host.
#pragma once

#include <ephost/ext/thread_pool.h>
#include <ephost/plugin_abi.h>

#include <algorithm>
#include <cstdint>
#include <ephost/sdk/basics.hpp>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace ephost::test {

// Keeps the last message.
class FakeError : public eph_error {
 public:
  FakeError() : eph_error{&kApi} {}
  std::string message;

 private:
  static void set_message(eph_error* error, eph_string text) noexcept {
    static_cast<FakeError*>(error)->message = eph::view(text);
  }
  static constexpr eph_error_api kApi = {sizeof(eph_error_api), &set_message};
};

// Keeps what is logged; offers the extensions that it is given.
class FakeHost : public eph_host {
 public:
  explicit FakeHost(std::map<std::string, const void*> extensions = {})
      : eph_host{&kApi}, extensions_(std::move(extensions)) {}
  [[nodiscard]] std::vector<std::string> logged() const {
    const std::lock_guard lock(mutex_);
    return logged_;
  }

 private:
  static void log(const eph_host* host, int32_t, eph_string text) noexcept {
    const auto* own = static_cast<const FakeHost*>(host);
    const std::lock_guard lock(own->mutex_);
    own->logged_.emplace_back(eph::view(text));
  }
  static const void* get_extension(const eph_host* host, eph_string id) noexcept {
    const auto& offered = static_cast<const FakeHost*>(host)->extensions_;
    const auto found = offered.find(std::string(eph::view(id)));
    return found == offered.end() ? nullptr : found->second;
  }
  static constexpr eph_host_api kApi = {sizeof(eph_host_api), &log, &get_extension};

  const std::map<std::string, const void*> extensions_;
  mutable std::mutex mutex_;
  mutable std::vector<std::string> logged_;
};

// Splits loops into as many ranges as there may be, without threads. The last range comes first: no
// loop may rely on their order.
inline constexpr eph_thread_pool_api kFakeThreadPool = {
    sizeof(eph_thread_pool_api),
    [](const eph_host*, uint64_t total, uint64_t grain, eph_range_function function,
       void* context) noexcept {
      for (uint64_t piece = (total + grain - 1) / grain; piece-- > 0;) {
        function(context, piece * grain, std::min((piece + 1) * grain, total));
      }
    },
    [](const eph_host*) noexcept { return uint32_t{4}; },
    [](const eph_host*) noexcept { return uint32_t{4}; }};

// A plugin's table for a minor version; null if it has none.
inline const eph_plugin_api* get_api(const eph_plugin_preamble* preamble,
                                     uint32_t minor = EPH_ABI_MINOR) {
  const eph_load_info info = {sizeof(info), EPH_STRING("/opt/plugins"), minor, 0};
  return preamble->get_api(&info);
}

class FakeDeviceList : public eph_device_list {
 public:
  FakeDeviceList() : eph_device_list{&kApi} {}
  std::vector<std::string> ids;
  std::vector<std::string> names;
  std::vector<std::string> architectures;

 private:
  static int32_t add(eph_device_list* list, const eph_device* device, eph_error*) noexcept {
    auto* own = static_cast<FakeDeviceList*>(list);
    own->ids.emplace_back(eph::view(device->id));
    own->names.emplace_back(eph::view(device->name));
    own->architectures.emplace_back(eph::view(device->architecture));
    return EPH_OK;
  }
  static constexpr eph_device_list_api kApi = {sizeof(eph_device_list_api), &add};
};

}  // namespace ephost::test
