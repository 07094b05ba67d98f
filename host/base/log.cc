#include "host/base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "host/base/printable.h"

namespace ephost {

namespace {

struct LogState {
  LogState() : logger("ephost", std::make_shared<spdlog::sinks::stderr_color_sink_mt>()) {
    logger.set_pattern("[%Y-%m-%d %H:%M:%S.%e] [%n] [%^%l%$] %v");
    logger.set_level(spdlog::level::trace);
  }

  std::atomic<LogLevel> level{LogLevel::kWarning};
  std::mutex mutex;  // guards `sink`, including while it runs
  LogSink sink;
  spdlog::logger logger;
};

LogState& state() {
  // Never destroyed: destructors of other static objects may still log.
  static LogState& instance = *new LogState;
  return instance;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      break;
  }
  return spdlog::level::off;
}

void write(LogLevel level, std::string_view message) {
  try {
    LogState& log = state();
    if (level < log.level.load(std::memory_order_relaxed)) return;
    const std::string safe = printable(message);
    const std::lock_guard lock(log.mutex);
    if (log.sink) {
      log.sink(level, safe);
    } else {
      log.logger.log(to_spdlog(level), spdlog::string_view_t(safe.data(), safe.size()));
    }
  } catch (...) {
    // A lost log line must not turn the logged operation into a failure.
  }
}

}  // namespace

void log_info(std::string_view message) { write(LogLevel::kInfo, message); }
void log_warning(std::string_view message) { write(LogLevel::kWarning, message); }
void log_error(std::string_view message) { write(LogLevel::kError, message); }

void set_log_level(LogLevel level) { state().level.store(level, std::memory_order_relaxed); }
LogLevel log_level() { return state().level.load(std::memory_order_relaxed); }

void set_log_sink(LogSink sink) {
  LogState& log = state();
  const std::lock_guard lock(log.mutex);
  log.sink = std::move(sink);
}

}  // namespace ephost
