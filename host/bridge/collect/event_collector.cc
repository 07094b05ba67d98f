#include "host/bridge/collect/event_collector.h"

#include <chrono>
#include <limits>
#include <optional>
#include <string>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/callback.h"
#include "host/plugin/adopt.h"

namespace ephost::bridge {
namespace {

// More than a profile of use has; a provider that reports more is broken.
constexpr size_t kMaxEvents = size_t{1} << 20;
constexpr uint64_t kMaxArguments = 256;
constexpr uint64_t kMaxText = 4096;

Status refuse(const plugin::CallSite& site, std::string_view problem) {
  return Status(StatusCode::kEpFail,
                formatted("{}: eph_event {}; report this to the plugin's vendor",
                          plugin::describe(site), problem));
}

Status copy_text(eph_string text, std::string_view what, const plugin::CallSite& site,
                 std::string& copied) {
  if (text.size > kMaxText) {
    return refuse(site, formatted("has a {} of {} bytes, and at most {} are allowed", what,
                                  text.size, kMaxText));
  }
  if (text.data == nullptr && text.size != 0) {
    return refuse(site, formatted("has a {} at a null pointer", what));
  }
  if (!is_valid_utf8(view(text)))
    return refuse(site, formatted("has a {} that is not UTF-8", what));
  copied = view(text);
  return Status::ok_status();
}

// The begin on the host's clock; nothing if the event's times make no sense there.
std::optional<int64_t> host_begin(const eph_event& event) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  int64_t begin = 0;
  int64_t end = 0;
  if (event.begin_ns > kMost || event.duration_ns > kMost ||
      __builtin_add_overflow(static_cast<int64_t>(event.begin_ns), event.host_offset_ns, &begin) ||
      begin < 0 || __builtin_add_overflow(begin, static_cast<int64_t>(event.duration_ns), &end)) {
    return std::nullopt;
  }
  return begin;
}

}  // namespace

const eph_event_list_api EventCollector::kApi = {sizeof(eph_event_list_api), &EventCollector::add};

EventCollector::EventCollector(std::string_view provider)
    : eph_event_list{&kApi}, provider_(provider) {}

int32_t EventCollector::add(eph_event_list* handle, const eph_event* given,
                            eph_error* error) noexcept {
  return run_callback(error, [&] {
    auto& collector = *static_cast<EventCollector*>(handle);
    Status status = collector.copy(given);
    if (!status.ok() && collector.collected_.problem.ok()) collector.collected_.problem = status;
    return status;
  });
}

Status EventCollector::copy(const eph_event* given) {
  const plugin::CallSite site{provider_, "add"};
  EPHOST_ASSIGN_OR_RETURN(const eph_event event, plugin::adopt<eph_event>(given, site));
  if (collected_.events.size() == kMaxEvents) {
    return refuse(site, formatted("is one of more than {}", kMaxEvents));
  }
  Profiler::ForeignEvent copied;
  EPHOST_RETURN_IF_ERROR(copy_text(event.name, "name", site, copied.name));
  EPHOST_RETURN_IF_ERROR(copy_text(event.category, "category", site, copied.category));
  EPHOST_RETURN_IF_ERROR(copy_text(event.track, "track", site, copied.track));
  const bool is_clock_known = event.clock == EPH_CLOCK_DEVICE ||
                              (event.clock == EPH_CLOCK_HOST && event.host_offset_ns == 0);
  if (!is_clock_known) {
    return refuse(site, formatted("has the clock {} with a host_offset_ns of {}", event.clock,
                                  event.host_offset_ns));
  }
  const std::optional<int64_t> begin = host_begin(event);
  if (!begin) return refuse(site, "takes place at no time of the host's clock");
  copied.start = Profiler::Clock::time_point(std::chrono::nanoseconds(*begin));
  copied.length = std::chrono::nanoseconds(static_cast<int64_t>(event.duration_ns));
  if (event.run_id != 0) copied.arguments.emplace_back("run", std::to_string(event.run_id));
  EPHOST_ASSIGN_OR_RETURN(
      const auto arguments,
      plugin::adopt_array(event.arguments, event.argument_count, kMaxArguments, site, "arguments"));
  for (const eph_key_value& argument : arguments) {
    auto& [key, value] = copied.arguments.emplace_back();
    EPHOST_RETURN_IF_ERROR(copy_text(argument.key, "key of an argument", site, key));
    EPHOST_RETURN_IF_ERROR(copy_text(argument.value, "value of an argument", site, value));
  }
  collected_.events.push_back(std::move(copied));
  return Status::ok_status();
}

}  // namespace ephost::bridge
