// The host's log: whole messages to standard error, or to a sink that the application sets. Only
// host/plugin, host/session and host/cli write to it; other modules return data. Every function may
// be called from any thread.
#pragma once

#include <functional>
#include <string_view>

namespace ephost {

enum class LogLevel { kInfo, kWarning, kError, kOff };

void log_info(std::string_view message);
void log_warning(std::string_view message);
void log_error(std::string_view message);

// Drops messages below `level`. The default is kWarning.
void set_log_level(LogLevel level);
[[nodiscard]] LogLevel log_level();

// Sets the function that receives each message at or above the level in place of standard error. It
// is never called concurrently, and no more once `set_log_sink` has returned with another sink. It
// must not log or set a sink itself. Exceptions that it throws are dropped. An empty function
// restores standard error.
using LogSink = std::function<void(LogLevel, std::string_view message)>;
void set_log_sink(LogSink sink);

}  // namespace ephost
