// Content checksums. `Hash128` finds damage and names equal content (caches, context binaries,
// shared weights); it is no defence against an attacker. `sha256_of` is, and pins a plugin's
// library.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ephost/status.h"
#include "host/base/cancellation.h"

namespace ephost {

// A 128-bit XXH3 checksum, the same on every platform and in every release.
struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;

  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

[[nodiscard]] Hash128 content_checksum(std::span<const std::byte> bytes);
// The same; nothing once it is cancelled.
[[nodiscard]] std::optional<Hash128> content_checksum(std::span<const std::byte> bytes,
                                                      const Cancellation& cancellation);

// Checksums content that comes in pieces; how it is cut does not change the result.
class ContentHasher {
 public:
  ContentHasher();
  ContentHasher(ContentHasher&&) noexcept;
  ContentHasher& operator=(ContentHasher&&) noexcept;
  ~ContentHasher();

  void update(std::span<const std::byte> bytes);
  // The checksum of everything so far; more may follow.
  [[nodiscard]] Hash128 checksum() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// 32 lower-case hexadecimal digits, most significant first.
[[nodiscard]] std::string to_hex(const Hash128& hash);
// The reverse; nothing unless `text` is exactly 32 hexadecimal digits (either case).
[[nodiscard]] std::optional<Hash128> parse_hash128(std::string_view text);

// 64 lower-case hexadecimal digits. FAIL where OpenSSL is configured without the algorithm.
[[nodiscard]] Result<std::string> sha256_of(std::span<const std::byte> bytes);

// 40 lower-case hexadecimal digits; for formats that ask for it. FAIL likewise.
[[nodiscard]] Result<std::string> sha1_of(std::span<const std::byte> bytes);

}  // namespace ephost
