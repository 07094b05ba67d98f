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
  // Gives back what is kept of released blocks.
  virtual void trim(uint32_t memory) noexcept { static_cast<void>(memory); }
  // Sets the fields that are known.
  virtual void describe_usage(uint32_t memory, eph_memory_usage& usage) {
    static_cast<void>(memory);
    static_cast<void>(usage);
  }
  // Memory 0 is the host's.
  virtual void copy(const eph_copy& copy) = 0;
  // Throws Failure(EPH_DEVICE_LOST) if the device has failed for good.
  virtual void check_status() {}
  // Memory and fences of others: see ext/device.h. Throw Failure(EPH_NOT_IMPLEMENTED) for what the
  // device cannot use.
  virtual void* import_memory(uint32_t memory, const eph_external& from) {
    static_cast<void>(memory);
    static_cast<void>(from);
    throw Failure(EPH_NOT_IMPLEMENTED, "the device uses no memory of others");
  }
  virtual void release_import(uint32_t memory, void* data) noexcept {
    static_cast<void>(memory);
    static_cast<void>(data);
  }
  struct Exported {
    uint64_t handle = 0;
    uint64_t offset = 0;
  };
  virtual Exported export_memory(uint32_t memory, void* data, int32_t kind) {
    static_cast<void>(memory);
    static_cast<void>(data);
    static_cast<void>(kind);
    throw Failure(EPH_NOT_IMPLEMENTED, "the device lends no memory to others");
  }
  // `stream` is null, or one of the device.
  virtual void wait_external(eph_stream* stream, const eph_external& fence) {
    static_cast<void>(stream);
    static_cast<void>(fence);
    throw Failure(EPH_NOT_IMPLEMENTED, "the device waits for nothing of others");
  }

  [[nodiscard]] eph_device_handle* handle() { return reinterpret_cast<eph_device_handle*>(this); }
  static Device& of(eph_device_handle* handle) { return *reinterpret_cast<Device*>(handle); }
};

// A failure of work that was enqueued before; `step` is that of the work, if it is known.
class StreamFailure : public Failure {
 public:
  StreamFailure(int32_t code, const std::string& message, uint64_t step)
      : Failure(code, message), step_(step) {}
  [[nodiscard]] uint64_t step() const { return step_; }

 private:
  uint64_t step_;
};

// A queue of work of a StreamDevice: see ext/device.h. All functions throw the failure of the
// stream. `record`, `enqueue` and `wait` are called by one thread at a time, the others by any.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;  // waits for what still runs after a failure

  virtual void enqueue(ArrayView<eph_copy> copies, uint64_t step) = 0;
  virtual eph_point record() = 0;
  // `other` is of the same device.
  virtual void wait(Stream& other, eph_point point) = 0;
  virtual eph_point last_reached() = 0;
  // False if the time passes first. A failure is a StreamFailure where its step is known.
  virtual bool wait_host(eph_point point, uint64_t timeout_ns) = 0;
  // Calls `done` once; never if it throws.
  virtual void notify(eph_point point, void (*done)(void* context, int32_t code),
                      void* context) = 0;

  [[nodiscard]] eph_stream* handle() { return reinterpret_cast<eph_stream*>(this); }
  static Stream& of(eph_stream* handle) { return *reinterpret_cast<Stream*>(handle); }
};

// Work that was noted: see begin_capture in ext/device.h.
class Capture {
 public:
  Capture() = default;
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  virtual ~Capture() = default;

  virtual void launch(Stream& stream, uint64_t step) = 0;

  [[nodiscard]] eph_capture* handle() { return reinterpret_cast<eph_capture*>(this); }
  static Capture& of(eph_capture* handle) { return *reinterpret_cast<Capture*>(handle); }
};

// A device with streams. open_device returns a pointer to this type, or a class derived from it.
class StreamDevice : public Device {
 public:
  // With a native_queue, throws Failure(EPH_NOT_IMPLEMENTED) if it cannot be used.
  virtual std::unique_ptr<Stream> create_stream(const eph_stream_config& config) = 0;
  // What is enqueued and has not begun need not be done: what waits for it fails.
  virtual void abandon(Stream& stream) noexcept { static_cast<void>(stream); }
};

// A device that captures what is enqueued. open_device returns a pointer to this type, or a class
// derived from it.
class CapturingDevice : public StreamDevice {
 public:
  virtual void begin_capture(Stream& stream) = 0;
  virtual std::unique_ptr<Capture> end_capture(Stream& stream) = 0;
};

// What open_device gave for devices()[i]; null if no device is opened, as nothing will run.
template <class D>
[[nodiscard]] D* opened(const Config& config, std::size_t i) {
  return config.opened() == nullptr ? nullptr : static_cast<D*>(&Device::of(config.opened()[i]));
}

// `name` has to live as long as the record.
[[nodiscard]] constexpr eph_memory_info make_memory(std::string_view name, uint64_t alignment) {
  return {sizeof(eph_memory_info), to_abi(name), alignment, 0, 0, 0, 0, {}, {}, 0, 0, 0, 0};
}

namespace detail {

template <class P>
struct DeviceTable {
  template <class T, class = void>
  struct Declares : std::false_type {};
  template <class T>
  struct Declares<T, std::void_t<decltype(&T::open_device)>> : std::true_type {};

  static constexpr bool has_devices() { return Declares<P>::value; }

  // Whether open_device makes a device of this kind.
  template <class Kind, class T, class = void>
  struct Opens : std::false_type {};
  template <class Kind, class T>
  struct Opens<Kind, T, std::void_t<decltype(&T::open_device)>>
      : std::is_base_of<Kind, typename decltype(T::open_device(
                                  std::declval<Host>(),
                                  std::declval<const eph_device&>()))::element_type> {};

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
  static void trim(eph_device_handle* handle, uint32_t memory) noexcept {
    Device::of(handle).trim(memory);
  }
  static int32_t get_usage(eph_device_handle* handle, uint32_t memory, eph_memory_usage* out,
                           eph_error* error) noexcept {
    return guard(error, [&] {
      fill_record(
          out, [&](eph_memory_usage& usage) { Device::of(handle).describe_usage(memory, usage); });
    });
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

  static int32_t create_stream(eph_device_handle* handle, const eph_stream_config* config,
                               eph_stream** out, eph_error* error) noexcept {
    *out = nullptr;
    return guard(error, [&] {
      auto& device = static_cast<StreamDevice&>(Device::of(handle));
      *out = release_made(device.create_stream(*config), "create_stream")->handle();
    });
  }
  static void destroy_stream(eph_device_handle*, eph_stream* stream) noexcept {
    if (stream != nullptr) delete &Stream::of(stream);
  }
  static int32_t enqueue_copies(eph_device_handle*, eph_stream* stream, const eph_copy* copies,
                                uint64_t stride, uint64_t count, uint64_t step,
                                eph_error* error) noexcept {
    return guard(error, [&] {
      if (stride == sizeof(eph_copy)) return Stream::of(stream).enqueue({copies, count}, step);
      const auto* at = reinterpret_cast<const char*>(copies);
      for (uint64_t i = 0; i < count; ++i, at += stride) {
        Stream::of(stream).enqueue({reinterpret_cast<const eph_copy*>(at), 1}, step);
      }
    });
  }
  static int32_t record(eph_device_handle*, eph_stream* stream, eph_point* out_point,
                        eph_error* error) noexcept {
    *out_point = 0;
    return guard(error, [&] { *out_point = Stream::of(stream).record(); });
  }
  static int32_t wait(eph_device_handle*, eph_stream* stream, eph_stream* other, eph_point point,
                      eph_error* error) noexcept {
    return guard(error, [&] { Stream::of(stream).wait(Stream::of(other), point); });
  }
  static int32_t query(eph_device_handle*, eph_stream* stream, eph_point* out_reached,
                       eph_error* error) noexcept {
    *out_reached = 0;
    return guard(error, [&] { *out_reached = Stream::of(stream).last_reached(); });
  }
  static int32_t wait_host(eph_device_handle*, eph_stream* stream, eph_point point,
                           uint64_t timeout_ns, uint64_t* out_step, eph_error* error) noexcept {
    *out_step = EPH_NO_STEP;
    return guard(error, [&] {
      try {
        if (Stream::of(stream).wait_host(point, timeout_ns)) return;
      } catch (const StreamFailure& failure) {
        *out_step = failure.step();
        throw;
      }
      throw Failure(EPH_DEADLINE_EXCEEDED, "the point was not reached in time");
    });
  }
  static int32_t notify(eph_device_handle*, eph_stream* stream, eph_point point,
                        void (*done)(void* context, int32_t code), void* context,
                        eph_error* error) noexcept {
    return guard(error, [&] { Stream::of(stream).notify(point, done, context); });
  }

  static int32_t begin_capture(eph_device_handle* handle, eph_stream* stream,
                               eph_error* error) noexcept {
    return guard(error, [&] {
      static_cast<CapturingDevice&>(Device::of(handle)).begin_capture(Stream::of(stream));
    });
  }
  static int32_t end_capture(eph_device_handle* handle, eph_stream* stream,
                             eph_capture** out_capture, eph_error* error) noexcept {
    *out_capture = nullptr;
    return guard(error, [&] {
      auto& device = static_cast<CapturingDevice&>(Device::of(handle));
      *out_capture = release_made(device.end_capture(Stream::of(stream)), "end_capture")->handle();
    });
  }
  static int32_t launch(eph_device_handle*, eph_stream* stream, eph_capture* capture, uint64_t step,
                        eph_error* error) noexcept {
    return guard(error, [&] { Capture::of(capture).launch(Stream::of(stream), step); });
  }
  static void destroy_capture(eph_device_handle*, eph_capture* capture) noexcept {
    if (capture != nullptr) delete &Capture::of(capture);
  }

  static void abandon(eph_device_handle* handle, eph_stream* stream) noexcept {
    static_cast<StreamDevice&>(Device::of(handle)).abandon(Stream::of(stream));
  }

  static int32_t import_memory(eph_device_handle* handle, uint32_t memory, const eph_external* from,
                               void** out_data, eph_error* error) noexcept {
    *out_data = nullptr;
    return guard(error, [&] { *out_data = Device::of(handle).import_memory(memory, *from); });
  }
  static void release_import(eph_device_handle* handle, uint32_t memory, void* data) noexcept {
    Device::of(handle).release_import(memory, data);
  }
  static int32_t export_memory(eph_device_handle* handle, uint32_t memory, void* data, int32_t kind,
                               uint64_t* out_handle, uint64_t* out_offset,
                               eph_error* error) noexcept {
    *out_handle = 0;
    *out_offset = 0;
    return guard(error, [&] {
      const Device::Exported made = Device::of(handle).export_memory(memory, data, kind);
      *out_handle = made.handle;
      *out_offset = made.offset;
    });
  }
  static int32_t wait_external(eph_device_handle* handle, eph_stream* stream,
                               const eph_external* fence, eph_error* error) noexcept {
    return guard(error, [&] { Device::of(handle).wait_external(stream, *fence); });
  }

  static constexpr eph_device_api make() {
    eph_device_api api = {};
    api.struct_size = sizeof(api);
    api.open = &open;
    api.close = &close;
    api.get_status = &get_status;
    api.get_memories = &get_memories;
    api.allocate = &allocate;
    api.release = &release;
    api.trim = &trim;
    api.get_usage = &get_usage;
    api.copy = &copy;
    api.import_memory = &import_memory;
    api.release_import = &release_import;
    api.export_memory = &export_memory;
    api.wait_external = &wait_external;
    if constexpr (Opens<StreamDevice, P>::value) {
      api.create_stream = &create_stream;
      api.destroy_stream = &destroy_stream;
      api.enqueue_copies = &enqueue_copies;
      api.record = &record;
      api.wait = &wait;
      api.query = &query;
      api.wait_host = &wait_host;
      api.notify = &notify;
      api.abandon = &abandon;
    }
    if constexpr (Opens<CapturingDevice, P>::value) {
      api.begin_capture = &begin_capture;
      api.end_capture = &end_capture;
      api.launch = &launch;
      api.destroy_capture = &destroy_capture;
    }
    return api;
  }
  static const void* get_extension(const eph_provider_api*, eph_string id) noexcept {
    static constexpr eph_device_api kApi = make();
    return view(id) == EPH_EXT_DEVICE ? &kApi : nullptr;
  }
};

}  // namespace detail

}  // namespace eph
