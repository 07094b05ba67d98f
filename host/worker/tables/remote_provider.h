// A provider in a worker and its computations, and what their functions have in common.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "host/worker/tables/remote_tables.h"

namespace ephost::worker {

class RemoteProvider {
 public:
  RemoteProvider(std::shared_ptr<Worker> worker, const eph_host* host)
      : worker_(std::move(worker)), host_(host) {}

  static RemoteProvider& self(eph_provider* handle) {
    return *reinterpret_cast<RemoteProvider*>(handle);
  }
  [[nodiscard]] eph_provider* handle() { return reinterpret_cast<eph_provider*>(this); }
  [[nodiscard]] Worker& worker() const { return *worker_; }
  [[nodiscard]] const HostTables& host() const { return host_; }

  // Makes a call that is about this provider.
  Result<wire::Answer> call(wire::Request& request, Outgoing& outgoing, Subjects subjects = {});
  // The same by a channel whose staging memory has values of the call.
  Result<wire::Answer> call_by(HostChannel& channel, wire::Request& request, Outgoing& outgoing);
  // One that refers to no shared memory. `state` adds to the request what the call is about.
  template <class State>
  Result<wire::Answer> call(uint32_t which, State state) {
    wire::Request request;
    request.set_call(which);
    state(request);
    Outgoing outgoing(worker_->regions());
    return call(request, outgoing);
  }
  // For functions that cannot fail: whatever becomes of the worker, what they release is gone.
  template <class State>
  void call_release(uint32_t which, State state) noexcept {
    answer_call(nullptr, [&]() -> Result<int32_t> {
      EPHOST_RETURN_IF_ERROR(call(which, state).status());
      return EPH_OK;
    });
  }

  // What the worker said of the provider that it made.
  void adopt(const wire::Provider& made);
  // The table of an extension that the provider has, or null.
  [[nodiscard]] const void* extension(std::string_view id) const;

  // An answer whose content a record points to as long as the provider lives.
  wire::Answer& keep(wire::Answer answer) {
    const std::lock_guard lock(mutex_);
    return answers_.emplace_back(std::move(answer));
  }
  Storage& storage() { return storage_; }

  // The payload of a context, which lives as long as the provider: shared memory, copied once where
  // it lies in none.
  Status refer_payload(eph_bytes payload, Outgoing& outgoing, wire::Shared& out);

 private:
  const std::shared_ptr<Worker> worker_;
  const HostTables host_;
  uint64_t handle_ = 0;
  plugin::ProviderExtensions::TupleOf<std::optional> extensions_;
  std::mutex mutex_;  // guards what follows
  std::deque<wire::Answer> answers_;
  std::map<const void*, SharedMemory> payloads_;
  Storage storage_;  // for [owner] functions
};

struct RemoteComputation : eph_computation {
  RemoteComputation(RemoteProvider& of, const wire::Computation& made);

  static RemoteComputation& self(eph_computation* handle) {
    return static_cast<RemoteComputation&>(*handle);
  }

  RemoteProvider& provider;
  eph_computation_api table = {};
  RunFacts facts;
  wire::Computation answer;  // of the call that made it; what `describe` gives points into it
  Storage storage;
};

// What a worker made; null if it made none.
[[nodiscard]] eph_computation* adopt_computation(RemoteProvider& provider,
                                                 const wire::Computation& made);

}  // namespace ephost::worker
