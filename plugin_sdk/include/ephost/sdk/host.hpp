// host.hpp: the arguments of a provider's `create` and `get_devices`: log, extensions, threads,
// options, devices, device list.
#pragma once

#include <ephost/ext/thread_pool.h>

#include <cstddef>
#include <cstdint>
#include <ephost/sdk/basics.hpp>
#include <string_view>

namespace eph {

class Host {
 public:
  explicit Host(const eph_host* host) : host_(host) {}
  void log(int32_t severity, std::string_view message) const {
    host_->api->log(host_, severity, to_abi(message));
  }
  // The table of an optional interface, or null.
  template <class Table>
  [[nodiscard]] const Table* extension(std::string_view id) const {
    return static_cast<const Table*>(host_->api->get_extension(host_, to_abi(id)));
  }
  [[nodiscard]] const eph_host* handle() const { return host_; }

 private:
  const eph_host* host_;
};

// The host's threads (ext/thread_pool.h). A copyable view; if the host does not offer them, loops
// run on the calling thread.
class ThreadPool {
 public:
  ThreadPool() = default;
  explicit ThreadPool(Host host)
      : table_(host.extension<eph_thread_pool_api>(EPH_EXT_THREAD_POOL)), host_(host.handle()) {}

  // Calls body(begin, end) on ranges that together make up [0, total); all but the last have at
  // least `grain` items. The body must not throw.
  template <class Body>
  void parallel_for(uint64_t total, uint64_t grain, const Body& body) const {
    if (table_ == nullptr) {
      if (total != 0) body(uint64_t{0}, total);
      return;
    }
    table_->parallel_for(
        host_, total, grain,
        [](void* context, uint64_t begin, uint64_t end) {
          (*static_cast<const Body*>(context))(begin, end);
        },
        const_cast<Body*>(&body));
  }
  [[nodiscard]] uint32_t thread_count() const {
    return table_ == nullptr ? 1 : table_->get_thread_count(host_);
  }
  // The share of a library with threads of its own; 0 if the host does not give one.
  [[nodiscard]] uint32_t library_thread_count() const {
    return table_ == nullptr ? 0 : table_->get_library_thread_count(host_);
  }

 private:
  const eph_thread_pool_api* table_ = nullptr;
  const eph_host* host_ = nullptr;
};

class DeviceList {
 public:
  explicit DeviceList(eph_device_list* list) : list_(list) {}
  // `device.id` is required.
  void add(eph_device device) {
    device.struct_size = sizeof(device);
    detail::ThrowingError error;
    error.check(list_->api->add(list_, &device, &error));
  }

 private:
  eph_device_list* list_;
};

class Options {
 public:
  explicit Options(const eph_provider_config* config)
      : Options(config->options, config->option_count) {}
  Options(const eph_option* options, uint64_t count)
      : options_(options, static_cast<std::size_t>(count)) {}

  [[nodiscard]] ArrayView<eph_option> all() const { return options_; }

  [[nodiscard]] const eph_option* find(std::string_view name) const {
    for (const eph_option& option : options_) {
      if (view(option.name) == name) return &option;
    }
    return nullptr;
  }
  [[nodiscard]] int64_t get_int(std::string_view name, int64_t fallback) const {
    const eph_option* option = find(name);
    return option ? option->int_value : fallback;
  }
  [[nodiscard]] double get_float(std::string_view name, double fallback) const {
    const eph_option* option = find(name);
    return option ? option->float_value : fallback;
  }
  [[nodiscard]] bool get_bool(std::string_view name, bool fallback) const {
    const eph_option* option = find(name);
    return option ? option->int_value != 0 : fallback;
  }
  [[nodiscard]] std::string_view get_string(std::string_view name,
                                            std::string_view fallback) const {
    const eph_option* option = find(name);
    return option ? view(option->string_value) : fallback;
  }

 private:
  ArrayView<eph_option> options_;
};

// The devices that a session uses. Each is read by the stride, as a later host may pass longer
// records.
class Devices {
 public:
  Devices(const eph_device* first, uint64_t stride, uint64_t count)
      : first_(first), stride_(stride), count_(count) {}
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(count_); }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  const eph_device& operator[](std::size_t i) const {
    return *reinterpret_cast<const eph_device*>(reinterpret_cast<const char*>(first_) +
                                                i * stride_);
  }

 private:
  const eph_device* first_;
  uint64_t stride_;
  uint64_t count_;
};

// What a provider is created for. Valid during `create`.
class Config : public Options {
 public:
  explicit Config(const eph_provider_config* config) : Options(config), config_(*config) {}

  [[nodiscard]] Devices devices() const {
    return {config_.devices, config_.device_stride, config_.device_count};
  }
  // What open_device gave for each of devices(), or null; see `opened` in device.hpp.
  [[nodiscard]] eph_device_handle* const* opened() const { return config_.opened; }
  // The device to compile for, which need not be present; null: devices().
  [[nodiscard]] const eph_device* target() const { return config_.target; }
  // The folder of the manifest: an absolute path.
  [[nodiscard]] std::string_view directory() const { return view(config_.directory); }
  // `purpose`: one of EPH_PURPOSE_*.
  [[nodiscard]] bool is_for(uint32_t purpose) const { return (config_.purpose & purpose) != 0; }

 private:
  const eph_provider_config& config_;
};

// An entry of eph_device.metadata; nothing if there is none.
[[nodiscard]] inline std::string_view metadata_of(const eph_device& device, std::string_view key) {
  for (const eph_key_value& entry :
       ArrayView<eph_key_value>(device.metadata, static_cast<std::size_t>(device.metadata_count))) {
    if (view(entry.key) == key) return view(entry.value);
  }
  return {};
}

}  // namespace eph
