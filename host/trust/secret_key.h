// Secret keys in the format of minisign: 158 bytes in base64, encrypted with scrypt and a
// passphrase, or plain as `minisign -W` writes them. The memory of keys is cleared when they are
// destroyed.
#pragma once

#include <ephost/status.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "host/trust/minisign.h"

namespace ephost::trust {

// A secret key that can sign. Movable only.
class SecretKey {
 public:
  // A new key of random numbers. FAIL where the system has none.
  static Result<SecretKey> generate();

  SecretKey(SecretKey&& other) noexcept;
  SecretKey& operator=(SecretKey&& other) noexcept;
  ~SecretKey();

  [[nodiscard]] PublicKey public_key() const;

  // A secret key file, encrypted unless `passphrase` is empty. FAIL if the memory for the key
  // derivation cannot be allocated: a GiB, as for minisign's.
  [[nodiscard]] Result<std::string> to_text(std::string_view passphrase) const;

  // The signature of `content` over its digest. The trusted comment is one line of at most
  // kMaxTrustedCommentBytes.
  [[nodiscard]] Signature sign(std::span<const std::byte> content,
                               std::string trusted_comment) const;

 private:
  friend Result<SecretKey> open_secret_key(std::string_view file, std::string_view passphrase);
  SecretKey() = default;

  KeyId id_;
  std::array<uint8_t, 64> bytes_ = {};  // as Ed25519 has them: the seed and the public key
};

// Whether the text of a secret key file says that a passphrase is needed. INVALID_ARGUMENT if it is
// not such a file.
[[nodiscard]] Result<bool> needs_passphrase(std::string_view file);

// INVALID_ARGUMENT if it is not a secret key file, the passphrase is wrong, or the key derivation
// that it asks for takes more than minisign's own.
[[nodiscard]] Result<SecretKey> open_secret_key(std::string_view file, std::string_view passphrase);

}  // namespace ephost::trust
