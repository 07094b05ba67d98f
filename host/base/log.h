// The host's log: whole messages to standard error, or to functions of the application. On standard
// error, equal warnings and errors of an environment and its sessions are counted and summed up
// (log_repeats.h), unless their ids differ. A message
// belongs to the log whose scope its thread is in: that of an environment, a session or a run. In
// no scope it belongs to the process. Only host/plugin, host/session and host/cli write messages;
// other modules return data. Every function may be called from any thread.
#pragma once

#include <ephost/types/logging.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ephost {

// The category of the host's own messages.
inline constexpr std::string_view kHostCategory = "ephost";

// Write to the log of the current scope. The place in the code is that of the call.
void log_info(std::string_view message, const char* file = __builtin_FILE(),
              int line = __builtin_LINE());
void log_warning(std::string_view message, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE());
void log_error(std::string_view message, const char* file = __builtin_FILE(),
               int line = __builtin_LINE());

// Where messages go, which are dropped, and with which id. A value; copies are the same log.
class Log {
 public:
  // The process's log: standard error or the sink, and the level, that are set below.
  Log() = default;
  // Calls `function`; the process's log if it is empty. Without a level, the process's applies.
  Log(LoggingFunction function, std::optional<LoggingLevel> level, std::string id);

  // The same, with another level if one is given, and with another id.
  [[nodiscard]] Log with(std::optional<LoggingLevel> level, std::string id) const;

  [[nodiscard]] const std::string& id() const;

  void write(LoggingLevel severity, std::string_view category, std::string_view message,
             const char* file = nullptr, int line = 0) const noexcept;

 private:
  class Repeats;
  struct State;
  std::shared_ptr<const State> state_;  // null: the process's log
};

// The calling thread is in the scope of a log while this object lives. Scopes are nested.
class LogScope {
 public:
  // Borrows the log; null: the process's.
  explicit LogScope(const Log* log);
  explicit LogScope(const Log& log) : LogScope(&log) {}
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;
  ~LogScope();

  // The log of the innermost scope; null outside of any.
  [[nodiscard]] static const Log* current();

 private:
  const Log* const outer_;
};

// Drops messages to the process's log below `level`. The default is what the environment variable
// EPHOST_LOG_LEVEL says, or else kWarning.
void set_log_level(LoggingLevel level);
[[nodiscard]] LoggingLevel log_level();

// How messages are written to standard error: "TIME [ephost] [level] message", or a line of JSON.
// The default is what the environment variable EPHOST_LOG_FORMAT says, or else kText.
enum class LogFormat { kText, kJson };
void set_log_format(LogFormat format);
[[nodiscard]] LogFormat log_format();

// Writes how often messages that belong to no environment were repeated. For others that is written
// when their environment ends.
void flush_log();

// Sets the function that receives each message to the process's log in place of standard error. It
// is never called concurrently, and no more once `set_log_sink` has returned with another sink. It
// must not log or set a sink itself. Exceptions that it throws are dropped. An empty function
// restores standard error.
using LogSink = std::function<void(LoggingLevel, std::string_view message)>;
void set_log_sink(LogSink sink);

}  // namespace ephost
