#include "host/base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "host/base/environment.h"
#include "host/base/format.h"
#include "host/base/json_text.h"
#include "host/base/log_repeats.h"
#include "host/base/printable.h"
#include "host/base/text.h"

namespace ephost {

namespace {

// "%^" and "%$" enclose what is coloured on a terminal.
constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%eZ [%n] [%^%l%$] %v";

// What an environment variable stands for, in any case; `fallback` if it is not set or says
// something else, which `complaint` then names. Variables are ignored in a privileged process.
template <class Value, size_t kCount>
Value read_variable(const char* name,
                    const std::array<std::pair<std::string_view, Value>, kCount>& known,
                    Value fallback, std::string& complaint) {
  const char* const text = environment_value(name);
  if (text == nullptr || *text == '\0') return fallback;
  std::vector<std::string_view> names;
  for (const auto& [word, value] : known) {
    if (equal_ignoring_case(word, text)) return value;
    names.push_back(word);
  }
  complaint = formatted("the environment variable {} cannot be {}; use one of {}", name,
                        quote(text), join(names, ", "));
  return fallback;
}

constexpr std::array<std::pair<std::string_view, LoggingLevel>, 5> kLevels = {
    {{"verbose", LoggingLevel::kVerbose},
     {"info", LoggingLevel::kInfo},
     {"warning", LoggingLevel::kWarning},
     {"error", LoggingLevel::kError},
     {"fatal", LoggingLevel::kFatal}}};
constexpr std::array<std::pair<std::string_view, LogFormat>, 2> kFormats = {
    {{"text", LogFormat::kText}, {"json", LogFormat::kJson}}};

struct ProcessLog {
  ProcessLog() : logger("ephost", std::make_shared<spdlog::sinks::stderr_color_sink_mt>()) {
    std::string complaints[2];
    level = read_variable("EPHOST_LOG_LEVEL", kLevels, LoggingLevel::kWarning, complaints[0]);
    set_format(read_variable("EPHOST_LOG_FORMAT", kFormats, LogFormat::kText, complaints[1]));
    logger.set_level(spdlog::level::trace);
    for (const std::string& complaint : complaints) {
      if (!complaint.empty()) print({LoggingLevel::kWarning, "ephost", "", "", complaint}, 0);
    }
  }

  void set_format(LogFormat new_format);
  // To standard error.
  void print(const LogLine& line, uint64_t repeated);
  void write(const LogLine& line, LogRepeats& repeats);
  void finish(LogRepeats& repeats);

  std::atomic<LoggingLevel> level{LoggingLevel::kWarning};
  std::mutex mutex;  // guards what follows, including the sink while it runs
  LogFormat format = LogFormat::kText;
  LogSink sink;
  spdlog::logger logger;
  LogRepeats repeats;  // of messages that belong to no log of their own
};

ProcessLog& process_log() {
  // Never destroyed: destructors of other static objects may still log.
  static ProcessLog& instance = *new ProcessLog;
  return instance;
}

struct FlushAtEnd {
  ~FlushAtEnd() { flush_log(); }
};

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

std::string_view name_of(LoggingLevel level) {
  for (const auto& [name, known] : kLevels) {
    if (known == level) return name;
  }
  return "fatal";
}

// "[id] Provider: message".
std::string text_of(const LogLine& line) {
  std::string text = line.id.empty() ? std::string() : formatted("[{}] ", line.id);
  if (line.category != kHostCategory) text += formatted("{}: ", line.category);
  return text + line.text;
}

// ISO 8601, UTC, milliseconds.
std::string time_text(std::chrono::system_clock::time_point time) {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch());
  const std::time_t seconds = since.count() / 1000;
  std::tm parts = {};
  ::gmtime_r(&seconds, &parts);
  return formatted("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                   parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                   since.count() % 1000);
}

std::string json_of(const LogLine& line, uint64_t repeated) {
  JsonText json('{');
  json.add("time", json_string(time_text(std::chrono::system_clock::now())))
      .add("level", json_string(name_of(line.severity)))
      .add("logger", json_string(line.category));
  if (!line.id.empty()) json.add("id", json_string(line.id));
  if (!line.place.empty()) json.add("location", json_string(line.place));
  json.add("message", json_string(line.text));
  if (repeated > 0) json.add("repeated", json_number(repeated));
  return json.text();
}

void ProcessLog::set_format(LogFormat new_format) {
  format = new_format;
  logger.set_pattern(format == LogFormat::kJson ? "%v" : kTextPattern,
                     spdlog::pattern_time_type::utc);
}

void ProcessLog::print(const LogLine& line, uint64_t repeated) {
  std::string text;
  if (format == LogFormat::kJson) {
    text = json_of(line, repeated);
  } else {
    if (repeated > 0) {
      text = formatted("repeated {} more {}: ", repeated, repeated == 1 ? "time" : "times");
    }
    text += text_of(line);
  }
  logger.log(to_spdlog(line.severity), spdlog::string_view_t(text.data(), text.size()));
}

void ProcessLog::write(const LogLine& line, LogRepeats& of) {
  const std::lock_guard lock(mutex);
  if (sink) {
    sink(line.severity, text_of(line));
    return;
  }
  of.add(line, LogRepeats::Clock::now(),
         [this](const LogLine& due, uint64_t repeated) { print(due, repeated); });
}

void ProcessLog::finish(LogRepeats& of) {
  const std::lock_guard lock(mutex);
  of.finish([this](const LogLine& due, uint64_t repeated) { print(due, repeated); });
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

// The counts of equal messages of a log and those that were made of it, which are written when the
// last of them is gone.
class Log::Repeats {
 public:
  Repeats() = default;
  Repeats(const Repeats&) = delete;
  Repeats& operator=(const Repeats&) = delete;
  ~Repeats() {
    try {
      process_log().finish(counts);
    } catch (...) {
      // A lost log line must not turn the end of a session into a failure.
    }
  }

  LogRepeats counts;  // guarded by the mutex of the process's log
};

struct Log::State {
  std::shared_ptr<const LoggingFunction> function;  // null: the process's log
  std::optional<LoggingLevel> level;
  std::string id;
  std::shared_ptr<Repeats> repeats;
};

Log::Log(LoggingFunction function, std::optional<LoggingLevel> level, std::string id) {
  std::shared_ptr<const LoggingFunction> shared;
  if (function) shared = std::make_shared<const LoggingFunction>(std::move(function));
  state_ = std::make_shared<const State>(
      State{std::move(shared), level, std::move(id), std::make_shared<Repeats>()});
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
    ProcessLog& process = process_log();
    const bool counts_apart = state_ != nullptr && state_->repeats != nullptr;
    if (!counts_apart) static const FlushAtEnd flush_at_end;
    process.write({.severity = severity,
                   .category = printable_line(category),
                   .id = printable_line(id()),
                   .place = file != nullptr ? place_in_code(file, line) : std::string(),
                   .text = printable(message)},
                  counts_apart ? state_->repeats->counts : process.repeats);
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

void set_log_format(LogFormat format) {
  ProcessLog& log = process_log();
  const std::lock_guard lock(log.mutex);
  log.set_format(format);
}

LogFormat log_format() {
  ProcessLog& log = process_log();
  const std::lock_guard lock(log.mutex);
  return log.format;
}

void flush_log() { process_log().finish(process_log().repeats); }

void set_log_sink(LogSink sink) {
  ProcessLog& log = process_log();
  const std::lock_guard lock(log.mutex);
  log.sink = std::move(sink);
}

}  // namespace ephost
