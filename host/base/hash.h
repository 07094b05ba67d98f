// Content checksums and digests. `Hash128` detects damage and identifies equal content (caches,
// context binaries, shared weights); it does not protect against an attacker. `sha256_of` does, and
// pins a plugin's library. The algorithms are those of xxHash and OpenSSL; this unit only gives
// them spans, cancellation and Status.
#pragma once

#include <ephost/status.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "host/base/cancellation.h"

namespace ephost {

// The 128-bit XXH3 checksum, which is the same on every platform and in every release.
struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;

  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

[[nodiscard]] Hash128 content_checksum(std::span<const std::byte> bytes);
// The same; returns nothing once it is cancelled.
[[nodiscard]] std::optional<Hash128> content_checksum(std::span<const std::byte> bytes,
                                                      const Cancellation& cancellation);

// Computes the checksum of content that arrives in pieces; how it is split does not affect the
// result.
class ContentHasher {
 public:
  ContentHasher();
  ContentHasher(ContentHasher&&) noexcept;
  ContentHasher& operator=(ContentHasher&&) noexcept;
  ~ContentHasher();

  void update(std::span<const std::byte> bytes);
  // Returns the checksum of everything so far; more may follow.
  [[nodiscard]] Hash128 checksum() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// 32 lower-case hexadecimal digits, most significant first.
[[nodiscard]] std::string to_hex(const Hash128& hash);
// The inverse of to_hex; returns nothing unless `text` is exactly 32 hexadecimal digits in either
// case.
[[nodiscard]] std::optional<Hash128> parse_hash128(std::string_view text);

// 64 lower-case hexadecimal digits. Returns FAIL if OpenSSL is configured without the algorithm.
[[nodiscard]] Result<std::string> sha256_of(std::span<const std::byte> bytes);

// 40 lower-case hexadecimal digits, for formats that prescribe SHA-1. Returns FAIL likewise.
[[nodiscard]] Result<std::string> sha1_of(std::span<const std::byte> bytes);

}  // namespace ephost
