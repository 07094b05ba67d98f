// Streams of a device (ephost.device/1): queues of work beside the host.
#pragma once

#include <ephost/ext/device.h>
#include <ephost/status.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "host/bridge/extensions/device.h"

namespace ephost::bridge {

// How a wait for a point ended.
struct StreamWait {
  bool is_over = true;  // false: the time passed first
  // The failure that the stream carries, without the name of a step.
  Status status;
  uint64_t step = EPH_NO_STEP;  // of what failed
};

class Stream;

// Work that a stream has noted. Keeps the device open.
class Capture {
 public:
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture();

  [[nodiscard]] Status launch(const Stream& stream, uint64_t step) const;

 private:
  friend class Stream;
  explicit Capture(std::shared_ptr<const Device> device) : device_(std::move(device)) {}

  const std::shared_ptr<const Device> device_;
  eph_capture* handle_ = nullptr;
};

// Keeps the device open. Functions that enqueue are for one thread at a time.
class Stream {
 public:
  // `purpose`: EPH_STREAM_*. `native_queue`: of the application, 0: a queue of its own. The device
  // has streams.
  static Result<std::unique_ptr<Stream>> create(std::shared_ptr<const Device> device,
                                                int32_t purpose, uint64_t native_queue = 0);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  [[nodiscard]] eph_stream* handle() const { return handle_; }
  [[nodiscard]] const Device& device() const { return *device_; }

  // As Device::copy, without waiting for it; both sides stay as they are until it is done.
  [[nodiscard]] Status enqueue_copy(uint32_t to_memory, void* to, uint32_t from_memory,
                                    const void* from, uint64_t size, uint64_t step,
                                    std::string_view what) const;
  [[nodiscard]] Result<eph_point> record() const;
  // `other` is of the same device.
  [[nodiscard]] Status wait(const Stream& other, eph_point point) const;
  [[nodiscard]] StreamWait wait_host(eph_point point, uint64_t timeout_ns) const;
  // The last point that was reached; 0 if none was.
  [[nodiscard]] Result<eph_point> query() const;
  // The device has captures.
  [[nodiscard]] Status begin_capture() const;
  [[nodiscard]] Result<std::unique_ptr<Capture>> end_capture() const;
  // What has not begun is not done any more, and fails.
  void abandon() const;
  // `done` is called once, by any thread, unless this fails.
  [[nodiscard]] Status notify(eph_point point, void (*done)(void* context, int32_t code),
                              void* context) const;

 private:
  explicit Stream(std::shared_ptr<const Device> device) : device_(std::move(device)) {}

  const std::shared_ptr<const Device> device_;
  eph_stream* handle_ = nullptr;
};

}  // namespace ephost::bridge
