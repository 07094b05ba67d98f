// Functions that read the values of configuration entries, for the table of config_entries.cc. Each
// fails with INVALID_ARGUMENT for a value that its key does not admit.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/session/config/session_config.h"

namespace ephost::session::setters {

[[nodiscard]] Status set_flag(std::string_view key, std::string_view text, bool& flag);
// `zero` is what the message says that 0 stands for.
[[nodiscard]] Status set_number(std::string_view key, const std::string& text,
                                std::string_view zero, uint64_t& number);
// A limit of a budget; "no limit" is a very high one.
[[nodiscard]] Status set_budget(std::string_view key, const std::string& text, uint64_t& budget);
[[nodiscard]] Status set_threads(std::string_view key, const std::string& text, uint32_t& number);

// One member of the configuration each.
template <bool SessionConfig::*kMember>
[[nodiscard]] Status flag(SessionConfig& config, std::string_view key, const std::string& text) {
  return set_flag(key, text, config.*kMember);
}

template <auto kMember>
[[nodiscard]] Status text(SessionConfig& config, std::string_view, const std::string& value) {
  config.*kMember = value;
  return Status::ok_status();
}

template <uint32_t SessionConfig::*kMember>
[[nodiscard]] Status threads(SessionConfig& config, std::string_view key, const std::string& text) {
  return set_threads(key, text, config.*kMember);
}

template <uint64_t context::CacheLimits::*kMember>
[[nodiscard]] Status limit(SessionConfig& config, std::string_view key, const std::string& text) {
  return set_number(key, text, "no limit", config.cache_limits.*kMember);
}

template <uint64_t optimize::FoldLimits::*kMember>
[[nodiscard]] Status fold_limit(SessionConfig& config, std::string_view key,
                                const std::string& text) {
  return set_budget(key, text, config.fold_limits.*kMember);
}

template <uint64_t SessionConfig::*kMember>
[[nodiscard]] Status budget(SessionConfig& config, std::string_view key, const std::string& text) {
  return set_budget(key, text, config.*kMember);
}

// What takes more than one line.
[[nodiscard]] Status require_checksums(SessionConfig& config, std::string_view key,
                                       const std::string& text);
[[nodiscard]] Status flag_without_effect(SessionConfig& config, std::string_view key,
                                         const std::string& text);
[[nodiscard]] Status allow_spinning(SessionConfig& config, std::string_view key,
                                    const std::string& text);
[[nodiscard]] Status affinities(SessionConfig& config, std::string_view key,
                                const std::string& text);
[[nodiscard]] Status execution_mode(SessionConfig& config, std::string_view key,
                                    const std::string& text);
[[nodiscard]] Status timeout(SessionConfig& config, std::string_view key, const std::string& text);
[[nodiscard]] Status min_external_bytes(SessionConfig& config, std::string_view key,
                                        const std::string& text);
[[nodiscard]] Status patterns(SessionConfig& config, std::string_view key, const std::string& text);
[[nodiscard]] Status lock_timeout(SessionConfig& config, std::string_view key,
                                  const std::string& text);
[[nodiscard]] Status capture(SessionConfig& config, std::string_view key, const std::string& text);
[[nodiscard]] Status device_memory_limit(SessionConfig& config, std::string_view key,
                                         const std::string& text);
[[nodiscard]] Status nan(SessionConfig& config, std::string_view key, const std::string& text);
[[nodiscard]] Status specialize(SessionConfig& config, std::string_view key,
                                const std::string& text);
[[nodiscard]] Status runs_before(SessionConfig& config, std::string_view key,
                                 const std::string& text);
[[nodiscard]] Status max_specializations(SessionConfig& config, std::string_view key,
                                         const std::string& text);
[[nodiscard]] Status shape_profiles(SessionConfig& config, std::string_view key,
                                    const std::string& text);
// Names of layers, separated by `;`. The plugins of the environment decide which exist.
[[nodiscard]] Status layers(SessionConfig& config, std::string_view key, const std::string& text);
[[nodiscard]] Status native_queue(SessionConfig& config, std::string_view key,
                                  const std::string& text);
[[nodiscard]] Status isolation(SessionConfig& config, std::string_view key,
                               const std::string& text);
// Absolute paths of what is there, separated by `;`.
template <auto Files>
[[nodiscard]] Status granted_files(SessionConfig& config, std::string_view key,
                                   const std::string& text);
[[nodiscard]] Status on_crash(SessionConfig& config, std::string_view key, const std::string& text);
// Whole seconds.
template <auto Limit>
[[nodiscard]] Status call_limit(SessionConfig& config, std::string_view key,
                                const std::string& text);
template <auto Limit>
[[nodiscard]] Status worker_limit(SessionConfig& config, std::string_view key,
                                  const std::string& text);
[[nodiscard]] Status validate_guard(SessionConfig& config, std::string_view key,
                                    const std::string& text);
[[nodiscard]] Status validate_deadline(SessionConfig& config, std::string_view key,
                                       const std::string& text);
[[nodiscard]] Status validate_abort_after(SessionConfig& config, std::string_view key,
                                          const std::string& text);
[[nodiscard]] Status signatures(SessionConfig& config, std::string_view key,
                                const std::string& text);
[[nodiscard]] Status quarantine(SessionConfig& config, std::string_view key,
                                const std::string& text);
[[nodiscard]] Status trace_format(SessionConfig& config, std::string_view key,
                                  const std::string& text);
[[nodiscard]] Status order(SessionConfig& config, std::string_view key, const std::string& text);
// Two entries make up the passes: see read_passes in session_config.cc.
[[nodiscard]] Status read_later(SessionConfig& config, std::string_view key,
                                const std::string& text);

}  // namespace ephost::session::setters
