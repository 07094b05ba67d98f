// Public keys and signatures in the format of minisign (https://jedisct1.github.io/minisign/):
// Ed25519 over the BLAKE2b-512 digest of the content, or over the content itself in the older form.
// Texts are read strictly: one spelling of each part, and nothing besides. Secret keys are in
// secret_key.h; which keys are trusted is in trusted_keys.h. Only this folder uses libsodium.
#pragma once

#include <ephost/status.h>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ephost::trust {

// Tells keys apart; it proves nothing.
struct KeyId {
  std::array<uint8_t, 8> bytes = {};
  friend auto operator<=>(const KeyId&, const KeyId&) = default;
};

// 16 upper-case hexadecimal digits, as minisign shows it.
[[nodiscard]] std::string to_text(const KeyId& id);
// The inverse, in either case; nothing for any other text.
[[nodiscard]] std::optional<KeyId> parse_key_id(std::string_view text);

struct PublicKey {
  KeyId id;
  std::array<uint8_t, 32> bytes = {};
  friend auto operator<=>(const PublicKey&, const PublicKey&) = default;
};

// The largest public key file and signature file that are read, in bytes; minisign's own limits are
// lower.
inline constexpr size_t kMaxKeyFileBytes = 2048;
inline constexpr size_t kMaxSignatureBytes = 16384;
// The longest comments, in bytes, as minisign has them.
inline constexpr size_t kMaxCommentBytes = 1000;
inline constexpr size_t kMaxTrustedCommentBytes = 8000;

// The key without a comment: 56 characters that begin with "RW".
[[nodiscard]] std::string encode_public_key(const PublicKey& key);
// INVALID_ARGUMENT for anything else.
[[nodiscard]] Result<PublicKey> decode_public_key(std::string_view text);
// A public key file: a line with a comment that nobody vouches for, and the key.
[[nodiscard]] std::string to_text(const PublicKey& key);
[[nodiscard]] Result<PublicKey> parse_public_key(std::string_view file);

struct Signature {
  bool prehashed = true;  // over the digest of the content; otherwise the older form
  KeyId key;
  std::array<uint8_t, 64> bytes = {};
  std::string trusted_comment;                 // covered by `comment_bytes`
  std::array<uint8_t, 64> comment_bytes = {};  // over `bytes` and the trusted comment
};

// A signature file: an untrusted comment, the signature, the trusted comment and its signature,
// each in a line of its own. The untrusted comment is not kept.
[[nodiscard]] std::string to_text(const Signature& signature);
// INVALID_ARGUMENT for anything else.
[[nodiscard]] Result<Signature> parse_signature(std::string_view file);

// INVALID_ARGUMENT unless `key` signed exactly this content and the trusted comment.
[[nodiscard]] Status verify(const Signature& signature, const PublicKey& key,
                            std::span<const std::byte> content);

}  // namespace ephost::trust
