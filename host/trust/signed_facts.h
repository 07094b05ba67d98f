// The facts in a trusted comment: fields `name:value` separated by tabs, as minisign's own comments
// have them. Besides `timestamp`, `file` and `hashed`, which minisign writes, these are ours:
// `provider`, `version`, `expires` and, for a context model, `files`.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ephost::trust {

struct SignedFacts {
  std::optional<int64_t> time;     // of signing, in seconds since 1970
  std::string file;                // its name then
  std::string provider;            // type name; empty if none is stated
  std::string version;             // of the plugin; empty if none is stated
  std::optional<int64_t> expires;  // from this second on, the signature does not count
  std::string files;               // SHA-256 over the files of a context model; see model_files.h
};

// Tabs and control characters of texts become spaces.
[[nodiscard]] std::string to_text(const SignedFacts& facts);

// Fields that are not known are passed over. INVALID_ARGUMENT for a field of ours that is given
// twice, and for an invalid time.
[[nodiscard]] Result<SignedFacts> parse_signed_facts(std::string_view trusted_comment);

// A time as utc_text writes it, or a day, which begins at midnight UTC; nothing for any other text.
[[nodiscard]] std::optional<int64_t> parse_time(std::string_view text);
// In seconds since 1970.
[[nodiscard]] int64_t current_time();

}  // namespace ephost::trust
