// device.hpp: the base class of devices with memories of their own (ext/device.h), and the table of
// C functions made from it.
#pragma once

#include <ephost/ext/device.h>

#include <cstddef>
#include <cstdint>
#include <ephost/sdk/basics.hpp>
#include <ephost/sdk/host.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace eph {

// An opened device, which sessions and providers share. Its functions may be called by any number
// of threads at once. A provider class declares how it is opened, and gets it by Config::opened:
//
//   static std::unique_ptr<Device> open_device(Host host, const eph_device& device);
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  // At least one; they live as long as the device. Others refer to them by numbers from 1.
  virtual ArrayView<eph_memory_info> memories() = 0;
  virtual void* allocate(uint32_t memory, uint64_t size) = 0;  // null: out of memory
  virtual void release(uint32_t memory, void* data) noexcept = 0;
  // Memory 0 is the host's.
  virtual void copy(const eph_copy& copy) = 0;
  // Throws Failure(EPH_DEVICE_LOST) if the device has failed for good.
  virtual void check_status() {}

  [[nodiscard]] eph_device_handle* handle() { return reinterpret_cast<eph_device_handle*>(this); }
  static Device& of(eph_device_handle* handle) { return *reinterpret_cast<Device*>(handle); }
};

// What open_device gave for devices()[i]; null if no device is opened, as nothing will run.
template <class D>
[[nodiscard]] D* opened(const Config& config, std::size_t i) {
  return config.opened() == nullptr ? nullptr : static_cast<D*>(&Device::of(config.opened()[i]));
}

// `name` has to live as long as the record.
[[nodiscard]] constexpr eph_memory_info make_memory(std::string_view name, uint64_t alignment) {
  return {sizeof(eph_memory_info), to_abi(name), alignment, 0, 0};
}

namespace detail {

template <class P>
struct DeviceTable {
  template <class T, class = void>
  struct Declares : std::false_type {};
  template <class T>
  struct Declares<T, std::void_t<decltype(&T::open_device)>> : std::true_type {};

  static constexpr bool has_devices() { return Declares<P>::value; }

  static int32_t open(const eph_device_api*, const eph_host* host, const eph_device* device,
                      eph_device_handle** out, eph_error* error) noexcept {
    *out = nullptr;
    return guard(error, [&] {
      std::unique_ptr<Device> made = P::open_device(Host(host), *device);
      *out = release_made(std::move(made), "open_device")->handle();
    });
  }
  static void close(eph_device_handle* handle) noexcept {
    if (handle != nullptr) delete &Device::of(handle);
  }
  static int32_t get_status(eph_device_handle* handle, eph_error* error) noexcept {
    return guard(error, [&] { Device::of(handle).check_status(); });
  }
  static int32_t get_memories(eph_device_handle* handle, const eph_memory_info** out,
                              uint64_t* out_stride, uint64_t* out_count,
                              eph_error* error) noexcept {
    *out = nullptr;
    *out_stride = sizeof(eph_memory_info);
    *out_count = 0;
    return guard(error, [&] {
      const ArrayView<eph_memory_info> memories = Device::of(handle).memories();
      *out = memories.data();
      *out_count = memories.size();
    });
  }
  static int32_t allocate(eph_device_handle* handle, uint32_t memory, uint64_t size, void** out,
                          eph_error* error) noexcept {
    *out = nullptr;
    return guard(error, [&] {
      *out = Device::of(handle).allocate(memory, size);
      if (*out == nullptr) {
        throw Failure(EPH_OUT_OF_MEMORY, "memory " + std::to_string(memory) + " is out of " +
                                             std::to_string(size) + " bytes");
      }
    });
  }
  static void release(eph_device_handle* handle, uint32_t memory, void* data) noexcept {
    Device::of(handle).release(memory, data);
  }
  static int32_t copy(eph_device_handle* handle, const eph_copy* copies, uint64_t stride,
                      uint64_t count, eph_error* error) noexcept {
    return guard(error, [&] {
      const auto* at = reinterpret_cast<const char*>(copies);
      for (uint64_t i = 0; i < count; ++i, at += stride) {
        Device::of(handle).copy(*reinterpret_cast<const eph_copy*>(at));
      }
    });
  }

  static constexpr eph_device_api make() {
    return {sizeof(eph_device_api), &open,     &close,   &get_status,
            &get_memories,          &allocate, &release, &copy};
  }
  static const void* get_extension(const eph_provider_api*, eph_string id) noexcept {
    static constexpr eph_device_api kApi = make();
    return view(id) == EPH_EXT_DEVICE ? &kApi : nullptr;
  }
};

}  // namespace detail

}  // namespace eph
