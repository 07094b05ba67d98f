// The order in which the host calls a provider and its computations: what ABI.md says in
// "Lifecycles" and "Threads". What is wrong here is a defect of the host, whose test this is.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>

#include "host/layers/validate/finding.h"

namespace ephost::layers {

// The order of calls of one provider. May be used by any thread.
class ProviderOrder {
 public:
  // A call of a slot that is [owner] of the provider begins and ends. An overlapping call is a
  // finding.
  [[nodiscard]] std::optional<Finding> begin_owner_call(std::string_view slot);
  void end_owner_call();

  void add_computation();
  void remove_computation();
  // How many calls of `compute` may overlap; 0 counts as 1, and UINT32_MAX means any number.
  void set_max_concurrent(uint32_t count);
  [[nodiscard]] std::optional<Finding> begin_compute();
  void end_compute();

  [[nodiscard]] std::optional<Finding> begin_run(uint64_t run_id);
  [[nodiscard]] std::optional<Finding> end_run(uint64_t run_id);
  void drop_run(uint64_t run_id);  // it could not be begun, or is over for the host

  [[nodiscard]] std::optional<Finding> start_profiling();
  void drop_profiling();  // it could not be started, or is over for the host
  [[nodiscard]] std::optional<Finding> stop_profiling();

  // What is left, or still running, when the provider is destroyed.
  [[nodiscard]] std::vector<Finding> leftovers() const;

 private:
  bool forget_run(uint64_t run_id);

  mutable std::mutex mutex_;
  std::string_view owner_slot_;  // empty: none is running
  int owner_calls_ = 0;
  uint64_t computations_ = 0;
  uint32_t max_concurrent_ = 1;
  uint32_t computing_ = 0;
  std::multiset<uint64_t> runs_;  // those that a faulty host has begun twice have two ends to come
  int profiles_ = 0;
};

// The order of calls of one device. May be used by any thread.
class DeviceOrder {
 public:
  void add_block(uint32_t memory, const void* data);
  [[nodiscard]] std::optional<Finding> remove_block(uint32_t memory, const void* data);
  void add_stream(const eph_stream* stream);
  [[nodiscard]] std::optional<Finding> remove_stream(const eph_stream* stream);

  // What is left when the device is closed.
  [[nodiscard]] std::vector<Finding> leftovers() const;

 private:
  mutable std::mutex mutex_;
  std::set<std::pair<uint32_t, const void*>> blocks_;
  std::set<const eph_stream*> streams_;
};

// The order of calls of one computation. May be used by any thread.
class ComputationOrder {
 public:
  void add_state(const void* state);
  [[nodiscard]] std::optional<Finding> remove_state(const void* state);
  // A null state is none.
  [[nodiscard]] std::optional<Finding> begin_compute(const void* state);
  void end_compute(const void* state);
  [[nodiscard]] std::optional<Finding> describe();

  // What is left, or still running, when the computation is destroyed.
  [[nodiscard]] std::vector<Finding> leftovers() const;

 private:
  mutable std::mutex mutex_;
  size_t computing_ = 0;
  std::map<const void*, bool> states_;  // whether a call of compute uses it
  bool was_described_ = false;
  bool has_computed_ = false;
};

}  // namespace ephost::layers
