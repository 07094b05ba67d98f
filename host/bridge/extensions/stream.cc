#include "host/bridge/extensions/stream.h"

#include <utility>

#include "host/base/format.h"
#include "host/bridge/slot_call.h"

namespace ephost::bridge {

Result<std::unique_ptr<Stream>> Stream::create(std::shared_ptr<const Device> device,
                                               int32_t purpose, uint64_t native_queue) {
  std::unique_ptr<Stream> made(new Stream(std::move(device)));
  const Device& of = made->device();
  const eph_stream_config config = {sizeof(config), purpose, 0, native_queue};
  const std::string_view attempt =
      native_queue == 0 ? "creating a stream" : "creating a stream on a queue of the application";
  EPHOST_RETURN_IF_ERROR(call_slot({of.provider_name(), "create_stream"}, attempt,
                                   of.api().create_stream, of.handle(), &config, &made->handle_));
  if (made->handle_ != nullptr) return made;
  return Status(StatusCode::kEpFail,
                of.provider_name() +
                    " reported success and gave no stream; report this to the plugin's vendor");
}

Stream::~Stream() {
  if (handle_ == nullptr) return;
  plugin::call_release({device_->provider_name(), "destroy_stream"}, device_->api().destroy_stream,
                       device_->handle(), handle_);
}

Status Stream::enqueue_copy(uint32_t to_memory, void* to, uint32_t from_memory, const void* from,
                            uint64_t size, uint64_t step, std::string_view what) const {
  if (size == 0) return Status::ok_status();
  const eph_copy copy = {sizeof(eph_copy), to, from, to_memory, from_memory, size};
  const auto attempt = [&] {
    return formatted("enqueuing a copy of {} ({} bytes) from {} to {}", what, size,
                     device_->name_of(from_memory), device_->name_of(to_memory));
  };
  return call_slot({device_->provider_name(), "enqueue_copies", what}, attempt,
                   device_->api().enqueue_copies, device_->handle(), handle_, &copy,
                   uint64_t{sizeof(copy)}, uint64_t{1}, step);
}

Result<eph_point> Stream::record() const {
  eph_point point = 0;
  EPHOST_RETURN_IF_ERROR(call_slot({device_->provider_name(), "record"},
                                   "recording a point of a stream", device_->api().record,
                                   device_->handle(), handle_, &point));
  if (point != 0) return point;
  return Status(StatusCode::kEpFail,
                device_->provider_name() +
                    " recorded point 0 of a stream, which is none; report this to the plugin's "
                    "vendor");
}

Status Stream::wait(const Stream& other, eph_point point) const {
  return call_slot({device_->provider_name(), "wait"}, "making a stream wait for another one",
                   device_->api().wait, device_->handle(), handle_, other.handle_, point);
}

StreamWait Stream::wait_host(eph_point point, uint64_t timeout_ns) const {
  StreamWait wait;
  wait.status = call_slot({device_->provider_name(), "wait_host"}, "working on a stream",
                          device_->api().wait_host, device_->handle(), handle_, point, timeout_ns,
                          &wait.step);
  const bool is_timed = point != 0 && timeout_ns != UINT64_MAX;
  if (!is_timed || wait.status.code() != StatusCode::kDeadlineExceeded) return wait;
  // The stream itself may have failed with this code.
  StreamWait failure = wait_host(0, 0);
  if (!failure.status.ok()) return failure;
  wait.is_over = false;
  return wait;
}

Result<eph_point> Stream::query() const {
  eph_point reached = 0;
  EPHOST_RETURN_IF_ERROR(call_slot({device_->provider_name(), "query"}, "working on a stream",
                                   device_->api().query, device_->handle(), handle_, &reached));
  return reached;
}

Status Stream::notify(eph_point point, void (*done)(void* context, int32_t code),
                      void* context) const {
  return call_slot({device_->provider_name(), "notify"}, "taking a function to be called",
                   device_->api().notify, device_->handle(), handle_, point, done, context);
}

void Stream::abandon() const {
  if (device_->api().abandon == nullptr) return;
  plugin::call_release({device_->provider_name(), "abandon"}, device_->api().abandon,
                       device_->handle(), handle_);
}

Status Stream::begin_capture() const {
  return call_slot({device_->provider_name(), "begin_capture"}, "beginning to capture",
                   device_->api().begin_capture, device_->handle(), handle_);
}

Result<std::unique_ptr<Capture>> Stream::end_capture() const {
  std::unique_ptr<Capture> made(new Capture(device_));
  EPHOST_RETURN_IF_ERROR(call_slot({device_->provider_name(), "end_capture"}, "capturing",
                                   device_->api().end_capture, device_->handle(), handle_,
                                   &made->handle_));
  if (made->handle_ != nullptr) return made;
  return Status(StatusCode::kEpFail,
                device_->provider_name() +
                    " reported success and gave no capture; report this to the plugin's vendor");
}

Capture::~Capture() {
  if (handle_ == nullptr) return;
  plugin::call_release({device_->provider_name(), "destroy_capture"},
                       device_->api().destroy_capture, device_->handle(), handle_);
}

Status Capture::launch(const Stream& stream, uint64_t step) const {
  return call_slot({device_->provider_name(), "launch"}, "launching what was captured",
                   device_->api().launch, device_->handle(), stream.handle(), handle_, step);
}

}  // namespace ephost::bridge
