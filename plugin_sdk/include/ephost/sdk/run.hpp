// run.hpp: the host's record of a run of a session, and the list that takes a provider's events
// for the session's trace.
#pragma once

#include <ephost/ext/profiling.h>
#include <ephost/ext/run.h>

#include <cstdint>
#include <ephost/sdk/basics.hpp>
#include <ephost/sdk/host.hpp>
#include <string_view>

namespace eph {

// The argument of Provider::begin_run. A view, valid during the call.
class RunConfig {
 public:
  explicit RunConfig(const eph_run_config* config) : config_(config) {}

  [[nodiscard]] uint64_t id() const { return config_->run_id; }
  // Chosen by the application; mostly empty.
  [[nodiscard]] std::string_view tag() const { return view(config_->tag); }
  // In nanoseconds of CLOCK_MONOTONIC; 0: never.
  [[nodiscard]] uint64_t deadline_ns() const { return config_->deadline_ns; }
  // Those with the scope `run`.
  [[nodiscard]] Options options() const { return Options(config_->options, config_->option_count); }

 private:
  const eph_run_config* config_;
};

// Takes the events of Provider::stop_profiling.
class EventList {
 public:
  explicit EventList(eph_event_list* list) : list_(list) {}
  // Adds a copy; throws Failure for an event that the host refuses.
  void add(eph_event event) {
    event.struct_size = sizeof(event);
    detail::ThrowingError error;
    error.check(list_->api->add(list_, &event, &error));
  }

 private:
  eph_event_list* list_;
};

}  // namespace eph
