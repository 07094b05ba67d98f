// A device that a plugin has opened in a worker. Providers that are created with it are made in the
// same worker.
#pragma once

#include <ephost/ext/device.h>

#include <memory>
#include <mutex>
#include <utility>

#include "host/worker/tables/remote_tables.h"

namespace ephost::worker {

class RemoteDevice {
 public:
  RemoteDevice(std::shared_ptr<Worker> worker, const eph_host* host)
      : worker_(std::move(worker)), host_(host) {}

  static RemoteDevice& self(eph_device_handle* handle) {
    return *reinterpret_cast<RemoteDevice*>(handle);
  }
  [[nodiscard]] eph_device_handle* handle() { return reinterpret_cast<eph_device_handle*>(this); }
  [[nodiscard]] const std::shared_ptr<Worker>& worker() const { return worker_; }
  [[nodiscard]] const HostTables& host() const { return host_; }
  // That of the plugin's own, in the worker.
  [[nodiscard]] uint64_t opened() const { return opened_; }
  void set_opened(uint64_t opened) { opened_ = opened; }

  // Makes a call that is about this device.
  Result<wire::Answer> call(wire::Request& request, Outgoing& outgoing) {
    request.set_opened(opened_);
    return worker_->call(request, outgoing, {.host = &host_});
  }
  // The same by a channel whose staging memory has values of the call.
  Result<wire::Answer> call_by(HostChannel& channel, wire::Request& request, Outgoing& outgoing) {
    request.set_opened(opened_);
    return worker_->call_by(channel, request, outgoing, {.host = &host_});
  }

  // The records of an answer, which live as long as the device.
  const eph_memory_info* keep_memories(wire::Answer answer) {
    const std::lock_guard lock(mutex_);
    memories_ = std::move(answer);
    return read_all<eph_memory_info>(memories_.memories(), storage_);
  }

 private:
  const std::shared_ptr<Worker> worker_;
  const HostTables host_;
  uint64_t opened_ = 0;
  std::mutex mutex_;  // guards what follows
  wire::Answer memories_;
  Storage storage_;
};

// What the host offers to what is made with it.
void write_offer(const HostTables& host, wire::Create& out);

}  // namespace ephost::worker
