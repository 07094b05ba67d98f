#include "host/worker/tables/remote_call.h"

namespace ephost::worker {

Status RemoteCall::bind(const eph_provider_api* self) {
  EPHOST_ASSIGN_OR_RETURN(front_, static_cast<const RemoteTable&>(*self).workers.front());
  outgoing_.emplace(front_->regions());
  return {};
}

Status RemoteCall::bind(eph_provider* handle) {
  provider_ = &RemoteProvider::self(handle);
  outgoing_.emplace(provider_->worker().regions());
  return {};
}

Status RemoteCall::bind(eph_computation* handle) {
  RemoteComputation& computation = RemoteComputation::self(handle);
  request_.set_computation(computation.facts.computation);
  return bind(computation.provider.handle());
}

Status RemoteCall::bind(eph_device_handle* handle) {
  device_ = &RemoteDevice::self(handle);
  outgoing_.emplace(device_->worker()->regions());
  return {};
}

Status RemoteCall::make(bool keeps_answer) {
  const auto call = [&] {
    if (provider_ != nullptr) return provider_->call(request_, *outgoing_, subjects_);
    if (device_ != nullptr) return device_->call(request_, *outgoing_);
    return front_->call(request_, *outgoing_, subjects_);
  };
  EPHOST_ASSIGN_OR_RETURN(own_answer_, call());
  answer_ = keeps_answer ? &provider_->keep(std::move(own_answer_)) : &own_answer_;
  return {};
}

}  // namespace ephost::worker
