#include "host/base/hash.h"

#include <openssl/evp.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <new>

namespace ephost {

namespace {

Hash128 from_xxh(XXH128_hash_t hash) { return {hash.high64, hash.low64}; }

void append_hex(uint8_t byte, std::string& out_text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out_text += kDigits[byte >> 4];
  out_text += kDigits[byte & 0xf];
}

std::optional<uint64_t> parse_hex64(std::string_view digits) {
  uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

Result<std::string> digest_of(std::span<const std::byte> bytes, const EVP_MD* algorithm,
                              std::string_view name) {
  std::array<uint8_t, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, algorithm, nullptr) != 1) {
    return Status(StatusCode::kFail, "OpenSSL refused to compute a " + std::string(name) +
                                         "; check that its default provider is enabled");
  }
  std::string text;
  for (unsigned int i = 0; i < size; ++i) append_hex(digest[i], text);
  return text;
}

}  // namespace

Hash128 content_checksum(std::span<const std::byte> bytes) {
  return from_xxh(XXH3_128bits(bytes.data(), bytes.size()));
}

struct ContentHasher::State {
  State() : xxh(XXH3_createState()) {
    if (xxh == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(xxh);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { XXH3_freeState(xxh); }

  XXH3_state_t* xxh;
};

ContentHasher::ContentHasher() : state_(std::make_unique<State>()) {}
ContentHasher::ContentHasher(ContentHasher&&) noexcept = default;
ContentHasher& ContentHasher::operator=(ContentHasher&&) noexcept = default;
ContentHasher::~ContentHasher() = default;

void ContentHasher::update(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_128bits_update(state_->xxh, bytes.data(), bytes.size());
}

Hash128 ContentHasher::checksum() const { return from_xxh(XXH3_128bits_digest(state_->xxh)); }

std::optional<Hash128> content_checksum(std::span<const std::byte> bytes,
                                        const Cancellation& cancellation) {
  constexpr size_t kPiece = size_t{16} << 20;
  if (bytes.size() <= kPiece) return content_checksum(bytes);
  ContentHasher hasher;
  for (std::span<const std::byte> rest = bytes; !rest.empty();) {
    if (cancellation.is_requested()) return std::nullopt;
    const auto piece = rest.first(std::min(kPiece, rest.size()));
    hasher.update(piece);
    rest = rest.subspan(piece.size());
  }
  return hasher.checksum();
}

std::string to_hex(const Hash128& hash) {
  std::string text;
  text.reserve(32);
  for (const uint64_t half : {hash.high, hash.low}) {
    for (int shift = 56; shift >= 0; shift -= 8) {
      append_hex(static_cast<uint8_t>(half >> shift), text);
    }
  }
  return text;
}

std::optional<Hash128> parse_hash128(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  const std::optional<uint64_t> high = parse_hex64(text.substr(0, 16));
  const std::optional<uint64_t> low = parse_hex64(text.substr(16));
  if (!high || !low) return std::nullopt;
  return Hash128{*high, *low};
}

Result<std::string> sha256_of(std::span<const std::byte> bytes) {
  return digest_of(bytes, EVP_sha256(), "SHA-256");
}

Result<std::string> sha1_of(std::span<const std::byte> bytes) {
  return digest_of(bytes, EVP_sha1(), "SHA-1");
}

}  // namespace ephost
