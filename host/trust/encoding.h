// Parts that the file formats of minisign share. Internal to the folder.
#pragma once

#include <ephost/status.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ephost::trust {

inline constexpr std::string_view kUntrustedPrefix = "untrusted comment: ";
inline constexpr std::string_view kTrustedPrefix = "trusted comment: ";

// The lines of `file`, each of which ends with a newline. INVALID_ARGUMENT unless there are `count`
// of them, without control characters other than tabs; `what` is what the file should be.
[[nodiscard]] Result<std::vector<std::string_view>> split_lines(std::string_view file, size_t count,
                                                                std::string_view what);

// The text after `prefix`. INVALID_ARGUMENT without the prefix, or for more than `max_bytes`.
[[nodiscard]] Result<std::string_view> comment_of(std::string_view line, std::string_view prefix,
                                                  size_t max_bytes, std::string_view what);

[[nodiscard]] std::string encode_base64(std::span<const uint8_t> bytes);
// Fills `out`. INVALID_ARGUMENT unless `text` is the one spelling of that many bytes.
[[nodiscard]] Status decode_base64(std::string_view text, std::span<uint8_t> out,
                                   std::string_view what);

// To be called before anything else of libsodium. FAIL where the system has no random numbers.
[[nodiscard]] Status start_sodium();

// BLAKE2b-512.
[[nodiscard]] std::array<uint8_t, 64> digest_of(std::span<const std::byte> content);

}  // namespace ephost::trust
