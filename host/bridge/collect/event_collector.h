// The events that a provider hands over for a session's profile, each checked and copied.
#pragma once

#include <ephost/ext/profiling.h>
#include <ephost/status.h>

#include <string_view>
#include <utility>
#include <vector>

#include "host/base/profiler.h"

namespace ephost::bridge {

struct ProviderEvents {
  std::vector<Profiler::ForeignEvent> events;
  Status problem;  // why others are missing; OK if none are
};

// The eph_event_list of one call of `stop`.
class EventCollector : public eph_event_list {
 public:
  // `provider` is the provider's name, for messages, and is borrowed.
  explicit EventCollector(std::string_view provider);
  EventCollector(const EventCollector&) = delete;
  EventCollector& operator=(const EventCollector&) = delete;

  // With the first reason why an event was refused.
  [[nodiscard]] ProviderEvents take() { return std::move(collected_); }

 private:
  static int32_t add(eph_event_list* handle, const eph_event* given, eph_error* error) noexcept;
  static const eph_event_list_api kApi;
  Status copy(const eph_event* given);

  std::string_view provider_;
  ProviderEvents collected_;
};

}  // namespace ephost::bridge
