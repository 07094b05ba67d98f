#include "host/base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "host/base/format.h"
#include "host/base/printable.h"

namespace ephost {

namespace {

struct ProcessLog {
  ProcessLog() : logger("ephost", std::make_shared<spdlog::sinks::stderr_color_sink_mt>()) {
    logger.set_pattern("[%Y-%m-%d %H:%M:%S.%e] [%n] [%^%l%$] %v");
    logger.set_level(spdlog::level::trace);
  }

  std::atomic<LoggingLevel> level{LoggingLevel::kWarning};
  std::mutex mutex;  // guards `sink`, including while it runs
  LogSink sink;
  spdlog::logger logger;
};

ProcessLog& process_log() {
  // Never destroyed: destructors of other static objects may still log.
  static ProcessLog& instance = *new ProcessLog;
  return instance;
}

thread_local const Log* current_log = nullptr;

spdlog::level::level_enum to_spdlog(LoggingLevel level) {
  switch (level) {
    case LoggingLevel::kVerbose:
      return spdlog::level::debug;
    case LoggingLevel::kInfo:
      return spdlog::level::info;
    case LoggingLevel::kWarning:
      return spdlog::level::warn;
    case LoggingLevel::kError:
      return spdlog::level::err;
    case LoggingLevel::kFatal:
      break;
  }
  return spdlog::level::critical;
}

void write_to_process(LoggingLevel severity, std::string_view message) {
  const std::string safe = printable(message);
  ProcessLog& log = process_log();
  const std::lock_guard lock(log.mutex);
  if (log.sink) {
    log.sink(severity, safe);
  } else {
    log.logger.log(to_spdlog(severity), spdlog::string_view_t(safe.data(), safe.size()));
  }
}

void write(LoggingLevel severity, std::string_view message, const char* file, int line) {
  const Log* const log = LogScope::current();
  (log != nullptr ? *log : Log()).write(severity, kHostCategory, message, file, line);
}

// "host/base/log.cc:17": without the folder of the machine that the library was built on.
std::string place_in_code(std::string_view file, int line) {
  const size_t root = file.rfind("/host/");
  if (root != std::string_view::npos) file.remove_prefix(root + 1);
  return formatted("{}:{}", file, line);
}

}  // namespace

struct Log::State {
  std::shared_ptr<const LoggingFunction> function;  // null: the process's log
  std::optional<LoggingLevel> level;
  std::string id;
};

Log::Log(LoggingFunction function, std::optional<LoggingLevel> level, std::string id) {
  std::shared_ptr<const LoggingFunction> shared;
  if (function) shared = std::make_shared<const LoggingFunction>(std::move(function));
  state_ = std::make_shared<const State>(State{std::move(shared), level, std::move(id)});
}

Log Log::with(std::optional<LoggingLevel> level, std::string id) const {
  State state = state_ != nullptr ? *state_ : State();
  if (level) state.level = level;
  state.id = std::move(id);
  Log changed;
  changed.state_ = std::make_shared<const State>(std::move(state));
  return changed;
}

const std::string& Log::id() const {
  static const std::string none;
  return state_ != nullptr ? state_->id : none;
}

void Log::write(LoggingLevel severity, std::string_view category, std::string_view message,
                const char* file, int line) const noexcept {
  try {
    const bool has_level = state_ != nullptr && state_->level.has_value();
    if (severity < (has_level ? *state_->level : log_level())) return;
    if (state_ != nullptr && state_->function != nullptr) {
      const std::string safe = printable(message);
      const std::string place = file != nullptr ? place_in_code(file, line) : std::string();
      (*state_->function)({severity, category, state_->id, place, safe});
      return;
    }
    std::string text = id().empty() ? std::string() : formatted("[{}] ", id());
    if (category != kHostCategory) text += formatted("{}: ", category);
    text += message;
    write_to_process(severity, text);
  } catch (...) {
    // A lost log line must not turn the logged operation into a failure.
  }
}

void log_info(std::string_view message, const char* file, int line) {
  write(LoggingLevel::kInfo, message, file, line);
}
void log_warning(std::string_view message, const char* file, int line) {
  write(LoggingLevel::kWarning, message, file, line);
}
void log_error(std::string_view message, const char* file, int line) {
  write(LoggingLevel::kError, message, file, line);
}

LogScope::LogScope(const Log* log) : outer_(std::exchange(current_log, log)) {}
LogScope::~LogScope() { current_log = outer_; }
const Log* LogScope::current() { return current_log; }

void set_log_level(LoggingLevel level) {
  process_log().level.store(level, std::memory_order_relaxed);
}
LoggingLevel log_level() { return process_log().level.load(std::memory_order_relaxed); }

void set_log_sink(LogSink sink) {
  ProcessLog& log = process_log();
  const std::lock_guard lock(log.mutex);
  log.sink = std::move(sink);
}

}  // namespace ephost
