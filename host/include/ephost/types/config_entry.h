// Descriptions of the configuration entries.
#pragma once

#include <cstdint>
#include <string>

namespace ephost {

// The part of the host that reads an entry.
enum class ConfigScope : int32_t {
  kSession = 0,  // SessionOptions::add_config_entry
  kRun = 1,      // RunOptions::add_config_entry
  kProcess = 2,  // the environment variable of that name
};

struct ConfigEntryDescription {
  // Capitals after the last point stand for a name, e.g. of a dimension:
  // "session.free_dimension_override_by_name.NAME".
  std::string key;
  ConfigScope scope = ConfigScope::kSession;
  std::string subject;  // what it belongs to, e.g. "Threads and time"
  std::string values;   // what it may be, e.g. "0 or 1", "path"
  // What holds without the entry: a value, or "none", "empty" or another phrase where no value says
  // the same.
  std::string default_value;
  std::string meaning;  // one line of text
  // ONNX Runtime does not have it, or has a function in its place.
  bool is_own = false;
};

}  // namespace ephost
