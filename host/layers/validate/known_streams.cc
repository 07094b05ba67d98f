#include "host/layers/validate/known_streams.h"

#include <cstdint>

#include "host/layers/decorate/decorator.h"

namespace ephost::layers {

void KnownStreams::add(const eph_stream* stream, const Device& device) {
  const std::lock_guard lock(mutex_);
  devices_[stream] = device;
}

void KnownStreams::remove(const eph_stream* stream) {
  const std::lock_guard lock(mutex_);
  devices_.erase(stream);
}

bool KnownStreams::wait_for(eph_stream* stream) {
  Device device;
  {
    const std::lock_guard lock(mutex_);
    const auto found = devices_.find(stream);
    if (found == devices_.end()) return true;
    device = found->second;
  }
  eph_error ignored = {&kIgnoresMessages};
  eph_point point = 0;
  uint64_t step = 0;
  return may_throw(device.table->record)(device.handle, stream, &point, &ignored) == EPH_OK &&
         may_throw(device.table->wait_host)(device.handle, stream, point, UINT64_MAX, &step,
                                            &ignored) == EPH_OK;
}

}  // namespace ephost::layers
