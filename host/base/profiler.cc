#include "host/base/profiler.h"

#include <unistd.h>

#include <cstdio>
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

void append_text(std::string_view text, std::string& json) { json += json_string(text); }

// Microseconds, with the nanoseconds as decimals. Events from elsewhere may begin before the
// profile.
void append_microseconds(Profiler::Clock::duration duration, std::string& json) {
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  const long long microseconds = std::llabs(static_cast<long long>(nanoseconds) / 1000);
  const long long rest = std::llabs(static_cast<long long>(nanoseconds) % 1000);
  char text[40];
  std::snprintf(text, sizeof(text), "%s%lld.%03lld", nanoseconds < 0 ? "-" : "", microseconds,
                rest);
  json += text;
}

// Where events stand: in a row of a section, which the format calls thread and process.
struct Row {
  int64_t process = 0;
  uint64_t thread = 0;
};

void begin_event(std::string_view name, std::string& json) {
  json += json.back() == '[' ? "\n{\"name\":" : ",\n{\"name\":";
  append_text(name, json);
}

template <class Arguments>
void append_event(std::string_view name, std::string_view category, const Row& row,
                  Profiler::Clock::duration start, Profiler::Clock::duration length,
                  const Arguments& arguments, std::string& json) {
  begin_event(name, json);
  json += ",\"cat\":";
  append_text(category, json);
  json += formatted(",\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":", row.process, row.thread);
  append_microseconds(start, json);
  json += ",\"dur\":";
  append_microseconds(length, json);
  json += ",\"args\":{";
  for (const auto& [key, value] : arguments) {
    if (&key != &arguments.front().first) json += ',';
    append_text(key, json);
    json += ':';
    append_text(value, json);
  }
  json += "}}";
}

// `what` is process_name or thread_name.
void append_label(std::string_view what, const Row& row, std::string_view label,
                  std::string& json) {
  begin_event(what, json);
  json += formatted(",\"ph\":\"M\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":", row.process,
                    row.thread);
  append_text(label, json);
  json += "}}";
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
  std::string json = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  for (const Event& event : events_) {
    row.thread = event.thread;
    append_event(event.name, event.category, row, event.start - begin_, event.length,
                 event.arguments, json);
  }
  if (!sections_.empty()) append_label("process_name", {row.process, 0}, "ephost", json);
  for (const Section& section : sections_) {
    row = {row.process + 1, 0};
    append_label("process_name", row, section.heading, json);
    std::map<std::string_view, uint64_t> rows;
    for (const ForeignEvent& event : section.events) {
      const auto [entry, is_new] = rows.emplace(event.track, rows.size() + 1);
      row.thread = entry->second;
      if (is_new) append_label("thread_name", row, event.track, json);
      append_event(event.name, event.category, row, event.start - begin_, event.length,
                   event.arguments, json);
    }
  }
  return printable_json(json + "\n]}\n");
}

Status Profiler::write() const {
  return write_file_atomically(file_, as_bytes(to_json())).with_context("writing a profile");
}

}  // namespace ephost
