// The streams that exist, with the devices that they belong to. A run whose computation enqueues
// its work is looked at when that has ended. May be used by any thread.
#pragma once

#include <ephost/ext/device.h>

#include <map>
#include <mutex>

namespace ephost::layers {

class KnownStreams {
 public:
  // A device as the layer calls it.
  struct Device {
    const eph_device_api* table = nullptr;
    eph_device_handle* handle = nullptr;
  };
  void add(const eph_stream* stream, const Device& device);
  void remove(const eph_stream* stream);

  // Waits until all that is enqueued on the stream has ended. Whether it has succeeded: a failure
  // stays with the stream, where the host finds it.
  [[nodiscard]] bool wait_for(eph_stream* stream);

 private:
  std::mutex mutex_;
  std::map<const eph_stream*, Device> devices_;
};

}  // namespace ephost::layers
