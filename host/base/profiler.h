// Records what took how long, and writes it as a Chrome trace (the "Trace Event Format": load it in
// chrome://tracing or Perfetto). Who has no profiler records nothing and pays nothing.
#pragma once

#include <ephost/status.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ephost {

// Thread-safe.
class Profiler {
 public:
  using Clock = std::chrono::steady_clock;
  // Shown with the event, e.g. {"provider", "CPUExecutionProvider"}.
  using Arguments = std::vector<std::pair<std::string_view, std::string>>;

  // Nothing is done with the file before `write`.
  explicit Profiler(std::filesystem::path file) : file_(std::move(file)) {}

  // An event that began at `start` and ends now, on the calling thread. `category` is a literal.
  // Nothing once recording has ended.
  void add(std::string_view category, std::string name, Clock::time_point start,
           Arguments arguments = {});

  [[nodiscard]] bool is_recording() const { return is_recording_.load(std::memory_order_relaxed); }
  void stop() { is_recording_ = false; }

  // Everything recorded so far: {"traceEvents": [{"ph": "X", "ts": microseconds, ...}, ...]}, in
  // the order of the events' ends.
  [[nodiscard]] std::string to_json() const;
  // FAIL where the file cannot be written.
  [[nodiscard]] Status write() const;
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  struct Event {
    std::string_view category;
    std::string name;
    Clock::time_point start;
    Clock::duration length;
    uint32_t thread = 0;
    Arguments arguments;
  };

  const std::filesystem::path file_;
  const Clock::time_point begin_ = Clock::now();
  std::atomic<bool> is_recording_{true};
  mutable std::mutex mutex_;
  std::vector<Event> events_;
};

}  // namespace ephost
