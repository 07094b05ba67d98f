// Every configuration entry with its meaning and its default, and how it is read: the one table
// that sessions, `ephost config list` and the tests of the documentation are made of.
#pragma once

#include <ephost/status.h>
#include <ephost/types/config_entry.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ephost::session {

struct SessionConfig;

using ConfigSetter = Status (*)(SessionConfig& config, std::string_view key,
                                const std::string& text);

// As ConfigEntryDescription.
struct KnownEntry {
  std::string_view key;
  ConfigScope scope;
  std::string_view subject;
  std::string_view values;
  std::string_view default_value;
  std::string_view meaning;
  bool is_own;
  ConfigSetter set;  // null where a name is a part of the key, or no session reads the entry
};

[[nodiscard]] std::span<const KnownEntry> known_entries();

// The entry of a session with exactly this key; null if there is none.
[[nodiscard]] const KnownEntry* find_known_entry(std::string_view key);

// The same for an entry of runs.
[[nodiscard]] const KnownEntry* find_run_entry(std::string_view key);

// "; did you mean ...?", or nothing if no key of a session is similar.
[[nodiscard]] std::string similar_key(std::string_view key);

// For the public API.
[[nodiscard]] std::vector<ConfigEntryDescription> known_config_entries();

}  // namespace ephost::session
