#include "host/base/profiler.h"

#include <unistd.h>

#include <cstdlib>
#include <map>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/json_text.h"
#include "host/base/printable.h"

namespace ephost {
namespace {

// Small numbers instead of the system's thread ids.
uint32_t thread_number() {
  static std::atomic<uint32_t> next{1};
  thread_local const uint32_t number = next.fetch_add(1);
  return number;
}

// Microseconds, with the nanoseconds as decimals. Events from elsewhere may begin before the
// profile.
std::string microseconds_json(Profiler::Clock::duration duration) {
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  const int64_t microseconds = std::abs(nanoseconds / 1000);
  const int64_t rest = std::abs(nanoseconds % 1000);
  return formatted("{}{}.{:03}", nanoseconds < 0 ? "-" : "", microseconds, rest);
}

// Where events stand: in a row of a section, which the format calls thread and process.
struct Row {
  int64_t process = 0;
  uint64_t thread = 0;
};

template <class Event>
std::string event_json(const Event& event, const Row& row, Profiler::Clock::duration start) {
  JsonText arguments('{');
  for (const auto& [key, value] : event.arguments) arguments.add(key, json_string(value));
  return JsonText('{')
      .add("name", json_string(event.name))
      .add("cat", json_string(event.category))
      .add("ph", json_string("X"))
      .add("pid", json_number(row.process))
      .add("tid", json_number(row.thread))
      .add("ts", microseconds_json(start))
      .add("dur", microseconds_json(event.length))
      .add("args", arguments.text())
      .text();
}

// `what` is process_name or thread_name.
std::string label_json(std::string_view what, const Row& row, std::string_view label) {
  return JsonText('{')
      .add("name", json_string(what))
      .add("ph", json_string("M"))
      .add("pid", json_number(row.process))
      .add("tid", json_number(row.thread))
      .add("args", JsonText('{').add("name", json_string(label)).text())
      .text();
}

}  // namespace

void Profiler::add(std::string_view category, std::string name, Clock::time_point start,
                   Arguments arguments) {
  if (!is_recording()) return;
  const Clock::duration length = Clock::now() - start;
  const uint32_t thread = thread_number();
  const std::lock_guard lock(mutex_);
  events_.push_back({category, std::move(name), start, length, thread, std::move(arguments)});
}

void Profiler::add_foreign(std::string heading, std::vector<ForeignEvent> events) {
  const std::lock_guard lock(mutex_);
  if (!events.empty()) sections_.push_back({std::move(heading), std::move(events)});
}

std::string Profiler::to_json() const {
  const std::lock_guard lock(mutex_);
  Row row{::getpid(), 0};
  JsonText lines('[');
  const auto add = [&](const std::string& event) { lines.add("\n" + event); };
  for (const Event& event : events_) {
    row.thread = event.thread;
    add(event_json(event, row, event.start - begin_));
  }
  if (!sections_.empty()) add(label_json("process_name", {row.process, 0}, "ephost"));
  for (const Section& section : sections_) {
    row = {row.process + 1, 0};
    add(label_json("process_name", row, section.heading));
    std::map<std::string_view, uint64_t> rows;
    for (const ForeignEvent& event : section.events) {
      const auto [entry, is_new] = rows.emplace(event.track, rows.size() + 1);
      row.thread = entry->second;
      if (is_new) add(label_json("thread_name", row, event.track));
      add(event_json(event, row, event.start - begin_));
    }
  }
  return printable_json("{\"displayTimeUnit\":\"ns\",\"traceEvents\":" + lines.text() + "}\n");
}

Status Profiler::write() const {
  return write_file_atomically(file_, as_bytes(to_json())).with_context("writing a profile");
}

}  // namespace ephost
