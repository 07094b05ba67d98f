// A recorder of how long operations take, written as a Chrome trace (the "Trace Event Format":
// load it in chrome://tracing or Perfetto). Code without a profiler records nothing and has no
// overhead.
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

  // The file is not touched before `write`.
  explicit Profiler(std::filesystem::path file) : file_(std::move(file)) {}

  // Records an event that began at `start` and ends now, on the calling thread. `category` must be
  // a string literal. Does nothing after recording has ended.
  void add(std::string_view category, std::string name, Clock::time_point start,
           Arguments arguments = {});

  // Something that took place elsewhere, e.g. on a device.
  struct ForeignEvent {
    std::string category;
    std::string name;
    std::string track;  // the row that it is shown in
    Clock::time_point start;
    Clock::duration length{};
    std::vector<std::pair<std::string, std::string>> arguments;
  };
  // Adds events that are shown under a heading of their own, with one row for each track. Not only
  // while recording.
  void add_foreign(std::string heading, std::vector<ForeignEvent> events);

  [[nodiscard]] bool is_recording() const { return is_recording_.load(std::memory_order_relaxed); }
  void stop() { is_recording_ = false; }

  // Returns everything recorded so far: {"traceEvents": [{"ph": "X", "ts": microseconds, ...},
  // ...]}, in the order in which the events ended; after them, headings and rows ("ph": "M") and
  // events from elsewhere.
  [[nodiscard]] std::string to_json() const;
  // Returns FAIL if the file cannot be written.
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

  struct Section {
    std::string heading;
    std::vector<ForeignEvent> events;
  };

  const std::filesystem::path file_;
  const Clock::time_point begin_ = Clock::now();
  std::atomic<bool> is_recording_{true};
  mutable std::mutex mutex_;
  std::vector<Event> events_;
  std::vector<Section> sections_;
};

}  // namespace ephost
