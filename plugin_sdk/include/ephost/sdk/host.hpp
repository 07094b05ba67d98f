// host.hpp: what the host gives a provider when it is made: log, extensions, options, device list.
#pragma once

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

class DeviceList {
 public:
  explicit DeviceList(eph_device_list* list) : list_(list) {}
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
      : options_(config->options, config->option_count) {}

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

}  // namespace eph
