#include "host/layers/validate/lifecycle.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "host/base/format.h"

namespace ephost::layers {
namespace {

constexpr int kLifecycles = 0;
constexpr int kThreads = 22;
constexpr int kBlocks = 38;
constexpr int kStreams = 65;
constexpr int kMaxConcurrent = 50;
constexpr int kRuns = 51;
constexpr int kProfiles = 54;

Finding of_host(int rule, std::string what) {
  return {rule, std::move(what), std::string(kReportTheHost)};
}

std::string counted(size_t count, std::string_view one, std::string_view many) {
  return formatted("{} {}", count, count == 1 ? one : many);
}

}  // namespace

std::optional<Finding> ProviderOrder::begin_owner_call(std::string_view slot) {
  const std::lock_guard lock(mutex_);
  if (owner_calls_++ == 0) {
    owner_slot_ = slot;
    return std::nullopt;
  }
  return of_host(kThreads, formatted("was called while {} was running: one thread at a time may "
                                     "call the provider",
                                     owner_slot_));
}

void ProviderOrder::end_owner_call() {
  const std::lock_guard lock(mutex_);
  --owner_calls_;
}

void ProviderOrder::add_computation() {
  const std::lock_guard lock(mutex_);
  ++computations_;
}

void ProviderOrder::remove_computation() {
  const std::lock_guard lock(mutex_);
  --computations_;
}

void ProviderOrder::set_max_concurrent(uint32_t count) {
  const std::lock_guard lock(mutex_);
  max_concurrent_ = std::max<uint32_t>(count, 1);
}

std::optional<Finding> ProviderOrder::begin_compute() {
  const std::lock_guard lock(mutex_);
  if (++computing_ <= max_concurrent_ || max_concurrent_ == UINT32_MAX) return std::nullopt;
  return of_host(kMaxConcurrent,
                 formatted("was called while {} ran: max_concurrent is {}",
                           counted(computing_ - 1, "other", "others"), max_concurrent_));
}

void ProviderOrder::end_compute() {
  const std::lock_guard lock(mutex_);
  --computing_;
}

std::optional<Finding> ProviderOrder::begin_run(uint64_t run_id) {
  const std::lock_guard lock(mutex_);
  runs_.insert(run_id);
  if (runs_.count(run_id) == 1) return std::nullopt;
  return of_host(kRuns, formatted("was called for run {}, which had begun", run_id));
}

std::optional<Finding> ProviderOrder::end_run(uint64_t run_id) {
  const std::lock_guard lock(mutex_);
  if (forget_run(run_id)) return std::nullopt;
  return of_host(kRuns, formatted("was called for run {}, which had not begun", run_id));
}

void ProviderOrder::drop_run(uint64_t run_id) {
  const std::lock_guard lock(mutex_);
  (void)forget_run(run_id);
}

bool ProviderOrder::forget_run(uint64_t run_id) {
  const auto known = runs_.find(run_id);
  if (known == runs_.end()) return false;
  runs_.erase(known);
  return true;
}

std::optional<Finding> ProviderOrder::start_profiling() {
  const std::lock_guard lock(mutex_);
  if (profiles_++ == 0) return std::nullopt;
  return of_host(kProfiles, "was called twice without `stop`");
}

void ProviderOrder::drop_profiling() {
  const std::lock_guard lock(mutex_);
  --profiles_;
}

std::optional<Finding> ProviderOrder::stop_profiling() {
  const std::lock_guard lock(mutex_);
  if (profiles_ == 0) return of_host(kProfiles, "was called without `start`");
  --profiles_;
  return std::nullopt;
}

std::vector<Finding> ProviderOrder::leftovers() const {
  const std::lock_guard lock(mutex_);
  std::vector<Finding> found;
  if (owner_calls_ != 0) {
    found.push_back(of_host(kThreads, formatted("was called while {} was running", owner_slot_)));
  }
  if (computations_ != 0) {
    found.push_back(
        of_host(kLifecycles, formatted("was called while {} lived",
                                       counted(computations_, "computation", "computations"))));
  }
  if (!runs_.empty()) {
    found.push_back(of_host(
        kRuns, formatted("was called before {} had ended", counted(runs_.size(), "run", "runs"))));
  }
  return found;
}

void DeviceOrder::add_block(uint32_t memory, const void* data) {
  const std::lock_guard lock(mutex_);
  blocks_.emplace(memory, data);
}

std::optional<Finding> DeviceOrder::remove_block(uint32_t memory, const void* data) {
  const std::lock_guard lock(mutex_);
  if (blocks_.erase({memory, data}) != 0) return std::nullopt;
  return of_host(kBlocks,
                 formatted("was called for memory {} with what `allocate` had not given", memory));
}

void DeviceOrder::add_stream(const eph_stream* stream) {
  const std::lock_guard lock(mutex_);
  streams_.insert(stream);
}

std::optional<Finding> DeviceOrder::remove_stream(const eph_stream* stream) {
  const std::lock_guard lock(mutex_);
  if (streams_.erase(stream) != 0) return std::nullopt;
  return of_host(kStreams, "was called with what `create_stream` had not given");
}

std::vector<Finding> DeviceOrder::leftovers() const {
  const std::lock_guard lock(mutex_);
  std::vector<Finding> found;
  if (!streams_.empty()) {
    found.push_back(of_host(kStreams, formatted("was called before {} had been destroyed",
                                                counted(streams_.size(), "stream", "streams"))));
  }
  if (!blocks_.empty()) {
    found.push_back(
        of_host(kBlocks, formatted("was called before {} of device memory had been released",
                                   counted(blocks_.size(), "block", "blocks"))));
  }
  return found;
}

void ComputationOrder::add_state(const void* state) {
  const std::lock_guard lock(mutex_);
  if (state != nullptr) states_.emplace(state, false);
}

std::optional<Finding> ComputationOrder::remove_state(const void* state) {
  const std::lock_guard lock(mutex_);
  const auto known = states_.find(state);
  if (known == states_.end()) {
    return of_host(kLifecycles, "was called with a state that is not the computation's");
  }
  const bool is_used = known->second;
  states_.erase(known);
  if (!is_used) return std::nullopt;
  return of_host(kThreads, "was called while a call of `compute` used the state");
}

std::optional<Finding> ComputationOrder::begin_compute(const void* state) {
  const std::lock_guard lock(mutex_);
  has_computed_ = true;
  ++computing_;
  if (state == nullptr) return std::nullopt;
  const auto known = states_.find(state);
  if (known == states_.end()) {
    return of_host(kLifecycles, "was called with a state that is not the computation's");
  }
  if (!std::exchange(known->second, true)) return std::nullopt;
  return of_host(kThreads, "was called with a state that another call of it was using");
}

void ComputationOrder::end_compute(const void* state) {
  const std::lock_guard lock(mutex_);
  --computing_;
  const auto known = states_.find(state);
  if (known != states_.end()) known->second = false;
}

std::optional<Finding> ComputationOrder::describe() {
  const std::lock_guard lock(mutex_);
  if (has_computed_) return of_host(kLifecycles, "was called after the first run");
  if (!std::exchange(was_described_, true)) return std::nullopt;
  return of_host(kLifecycles, "was called twice");
}

std::vector<Finding> ComputationOrder::leftovers() const {
  const std::lock_guard lock(mutex_);
  std::vector<Finding> found;
  if (computing_ != 0) {
    found.push_back(of_host(kThreads, formatted("was called while {} of `compute` ran",
                                                counted(computing_, "call", "calls"))));
  }
  if (!states_.empty()) {
    found.push_back(
        of_host(kLifecycles, formatted("was called while {} lived",
                                       counted(states_.size(), "state of it", "states of it"))));
  }
  return found;
}

}  // namespace ephost::layers
