#include "host/base/profiler.h"

#include <unistd.h>

#include <cstdio>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/printable.h"

namespace ephost {
namespace {

// Small numbers instead of the system's thread ids.
uint32_t thread_number() {
  static std::atomic<uint32_t> next{1};
  thread_local const uint32_t number = next.fetch_add(1);
  return number;
}

void append_text(std::string_view text, std::string& json) {
  json += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(c));
      json += escaped;
    } else {
      json += c;
    }
  }
  json += '"';
}

// Microseconds, with the nanoseconds as decimals.
void append_microseconds(Profiler::Clock::duration duration, std::string& json) {
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  char text[40];
  std::snprintf(text, sizeof(text), "%lld.%03lld", static_cast<long long>(nanoseconds / 1000),
                static_cast<long long>(nanoseconds % 1000));
  json += text;
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

std::string Profiler::to_json() const {
  const std::lock_guard lock(mutex_);
  const auto process = ::getpid();
  std::string json = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  for (const Event& event : events_) {
    json += &event == events_.data() ? "\n{\"name\":" : ",\n{\"name\":";
    append_text(event.name, json);
    json += ",\"cat\":";
    append_text(event.category, json);
    json += formatted(",\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":", process, event.thread);
    append_microseconds(event.start - begin_, json);
    json += ",\"dur\":";
    append_microseconds(event.length, json);
    json += ",\"args\":{";
    for (const auto& [name, value] : event.arguments) {
      if (&name != &event.arguments.front().first) json += ',';
      append_text(name, json);
      json += ':';
      append_text(value, json);
    }
    json += "}}";
  }
  return printable_json(json + "\n]}\n");
}

Status Profiler::write() const {
  return write_file_atomically(file_, as_bytes(to_json())).with_context("writing a profile");
}

}  // namespace ephost
