// Plain values about a session: its inputs and outputs, what a run is told, what creation did.
#pragma once

#include <ephost/types/logging.h>
#include <ephost/types/session_options.h>
#include <ephost/types/session_provider.h>
#include <ephost/types/value.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ephost {

// A model as bytes. They are borrowed: the caller keeps them as long as the session lives.
struct ModelBytes {
  std::span<const std::byte> bytes;
};

// An input or output of the model.
struct ValueDescription {
  std::string name;
  std::string type;  // e.g. "float[batch,3]", "optional(seq(int64[?]))"
  ValueKind kind = ValueKind::kTensor;
  bool is_optional = false;  // it may be without value
  bool has_default = false;  // of an input: the model has an initializer for it
  // The type of a tensor's elements, of those in a sequence, or of a map's keys.
  ElementType element_type = ElementType::kUndefined;
  // Only for tensors.
  bool has_shape = false;
  std::vector<int64_t> shape;          // -1 where the extent is open
  std::vector<std::string> dim_names;  // beside `shape`; the symbol of an open extent, or empty
};

// What one run is told. A plain value.
struct RunOptions {
  // Set it to true from another thread to end the run with CANCELLED. Borrowed.
  const std::atomic<bool>* cancelled = nullptr;
  // Ends the run with DEADLINE_EXCEEDED once it has passed. Providers are told about it, and those
  // that check for a cancellation while they compute check it too.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  // Names the run in what providers log, in the id of its messages (LogMessage::log_id) and in the
  // session's profile; any text.
  std::string tag = {};
  // Drops messages of the run below this level; without it, those that the session drops.
  std::optional<LoggingLevel> log_severity_level = {};
  // Options of providers with the scope `run` (manifests/SCHEMA.md), as "ep.PROVIDER.OPTION", where
  // PROVIDER is a provider of the session, by its type name or short name. An option that is not
  // given has its default in this run, whatever it was before.
  OptionList config_entries = {};

  // Sets a configuration entry; the last one of a key stands.
  RunOptions& add_config_entry(std::string key, std::string value) {
    bool is_set = false;
    for (auto& [known, of] : config_entries) {
      if (known != key) continue;
      of = value;
      is_set = true;
    }
    if (!is_set) config_entries.push_back({std::move(key), std::move(value)});
    return *this;
  }
  // Sets the deadline to this time from now on.
  RunOptions& set_timeout(std::chrono::nanoseconds timeout) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point now = Clock::now();
    const bool is_far = timeout > Clock::time_point::max() - now;
    deadline = is_far ? Clock::time_point::max() : now + timeout;
    return *this;
  }
};

// How long a phase of session creation took.
struct Phase {
  std::string name;
  double seconds = 0;
};

// A block of memory that was planned before the first run. Values of unknown size are not in it.
struct PlannedMemory {
  uint32_t location = 0;  // 0: host memory; other numbers are memories of devices
  uint64_t peak_bytes = 0;
  uint64_t lower_bound_bytes = 0;  // no plan of the same steps needs less
};

}  // namespace ephost
