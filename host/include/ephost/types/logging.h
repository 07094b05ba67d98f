// Log messages of environments, sessions and plugins: severities, and the function that receives
// them.
#pragma once

#include <ephost/types/function.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ephost {

// ONNX Runtime's OrtLoggingLevel, value for value. As a limit it stands for itself and all above
// it. The host itself has no verbose and no fatal messages; debug messages of plugins are verbose.
enum class LoggingLevel : int32_t { kVerbose = 0, kInfo = 1, kWarning = 2, kError = 3, kFatal = 4 };

// "VERBOSE", "INFO", "WARNING", "ERROR" or "FATAL".
[[nodiscard]] inline std::string_view logging_level_name(LoggingLevel level) {
  constexpr std::string_view kNames[] = {"VERBOSE", "INFO", "WARNING", "ERROR", "FATAL"};
  const auto index = static_cast<size_t>(level);
  return index < std::size(kNames) ? kNames[index] : "UNKNOWN";
}

// All texts last for the call only.
struct LogMessage {
  LoggingLevel severity = LoggingLevel::kWarning;
  // Where the message comes from: "ephost", or the type name of a provider.
  std::string_view category;
  // The log id of the session (SessionOptions::set_log_id) or the environment, followed in a run
  // with a tag by a colon and the tag; may be empty.
  std::string_view log_id;
  // "host/runtime/program.cc:120"; empty for messages of plugins.
  std::string_view code_location;
  // Well-formed UTF-8 without control characters, whatever a model or plugin put into it.
  std::string_view message;
};

// Called by the thread that has something to say, which may be any, and by several at a time. What
// it throws is dropped. It may call the host, but a message that this leads to calls it again.
using LoggingFunction = Function<void(const LogMessage&)>;

}  // namespace ephost
