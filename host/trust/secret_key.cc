#include "host/trust/secret_key.h"

#include <sodium.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/trust/encoding.h"

namespace ephost::trust {
namespace {

constexpr std::string_view kWhat = "secret key";
constexpr std::array<uint8_t, 2> kSigning{'E', 'd'};
constexpr std::array<uint8_t, 2> kScrypt{'S', 'c'};
constexpr std::array<uint8_t, 2> kNoDerivation{0, 0};
constexpr std::array<uint8_t, 2> kBlake2b{'B', '2'};

// Where the parts of a secret key are, in bytes from its beginning.
constexpr size_t kDerivation = 2, kChecksumKind = 4, kSalt = 6, kOpsLimit = 38, kMemLimit = 46,
                 kKeyId = 54, kSecret = 62, kChecksum = 126, kSize = 158;

// Clears itself.
struct Bytes : std::array<uint8_t, kSize> {
  Bytes() : std::array<uint8_t, kSize>{} {}
  Bytes(const Bytes&) = default;
  Bytes& operator=(const Bytes&) = default;
  ~Bytes() { sodium_memzero(data(), size()); }

  template <size_t Count>
  [[nodiscard]] bool has_at(size_t place, const std::array<uint8_t, Count>& expected) const {
    return std::equal(expected.begin(), expected.end(), begin() + static_cast<ptrdiff_t>(place));
  }
  template <class Range>
  void put_at(size_t place, const Range& range) {
    std::copy(range.begin(), range.end(), begin() + static_cast<ptrdiff_t>(place));
  }
  [[nodiscard]] uint64_t number_at(size_t place) const {
    uint64_t number = 0;
    for (size_t i = 8; i > 0; --i) number = number << 8 | (*this)[place + i - 1];
    return number;
  }
  void put_number_at(size_t place, uint64_t number) {
    for (size_t i = 0; i < 8; ++i) (*this)[place + i] = static_cast<uint8_t>(number >> (8 * i));
  }
};

Status refused(std::string_view problem) {
  return Status(StatusCode::kInvalidArgument, std::string(problem));
}

Result<Bytes> decode_secret_key(std::string_view file) {
  EPHOST_ASSIGN_OR_RETURN(const auto lines, split_lines(file, 2, kWhat));
  EPHOST_RETURN_IF_ERROR(comment_of(lines[0], kUntrustedPrefix, kMaxCommentBytes, kWhat).status());
  Bytes bytes;
  EPHOST_RETURN_IF_ERROR(decode_base64(lines[1], bytes, kWhat));
  if (!bytes.has_at(0, kSigning) || !bytes.has_at(kChecksumKind, kBlake2b) ||
      !(bytes.has_at(kDerivation, kScrypt) || bytes.has_at(kDerivation, kNoDerivation))) {
    return refused("it is a secret key of an algorithm that this host does not know");
  }
  return bytes;
}

// Encrypts or decrypts what begins with the key's id, with a key that scrypt derives.
Status apply_passphrase(Bytes& bytes, std::string_view passphrase) {
  const uint64_t work = bytes.number_at(kOpsLimit);
  const uint64_t memory = bytes.number_at(kMemLimit);
  constexpr uint64_t kMostWork = crypto_pwhash_scryptsalsa208sha256_OPSLIMIT_SENSITIVE;
  constexpr uint64_t kMostMemory = crypto_pwhash_scryptsalsa208sha256_MEMLIMIT_SENSITIVE;
  if (work > kMostWork || memory > kMostMemory) {
    return refused("its key derivation takes more work or memory than that of minisign");
  }
  std::array<uint8_t, kSize - kKeyId> stream = {};
  if (crypto_pwhash_scryptsalsa208sha256(stream.data(), stream.size(), passphrase.data(),
                                         passphrase.size(), bytes.data() + kSalt, work,
                                         static_cast<size_t>(memory)) != 0) {
    return Status(
        StatusCode::kFail,
        formatted("there is no memory to derive a key from the passphrase ({} MiB)", memory >> 20));
  }
  for (size_t i = 0; i < stream.size(); ++i) bytes[kKeyId + i] ^= stream[i];
  sodium_memzero(stream.data(), stream.size());
  return {};
}

std::array<uint8_t, kSize - kChecksum> checksum_of(const Bytes& bytes) {
  std::array<uint8_t, kSize - kChecksum> checksum = {};
  crypto_generichash_state state;
  crypto_generichash_init(&state, nullptr, 0, checksum.size());
  crypto_generichash_update(&state, bytes.data(), kSigning.size());
  crypto_generichash_update(&state, bytes.data() + kKeyId, kChecksum - kKeyId);
  crypto_generichash_final(&state, checksum.data(), checksum.size());
  return checksum;
}

}  // namespace

Result<SecretKey> SecretKey::generate() {
  EPHOST_RETURN_IF_ERROR(start_sodium());
  SecretKey key;
  std::array<uint8_t, 32> public_bytes = {};
  crypto_sign_keypair(public_bytes.data(), key.bytes_.data());
  randombytes_buf(key.id_.bytes.data(), key.id_.bytes.size());
  return key;
}

SecretKey::SecretKey(SecretKey&& other) noexcept : id_(other.id_), bytes_(other.bytes_) {
  sodium_memzero(other.bytes_.data(), other.bytes_.size());
}

SecretKey& SecretKey::operator=(SecretKey&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SecretKey::~SecretKey() { sodium_memzero(bytes_.data(), bytes_.size()); }

PublicKey SecretKey::public_key() const {
  PublicKey key{.id = id_};
  std::copy(bytes_.begin() + 32, bytes_.end(), key.bytes.begin());
  return key;
}

Result<std::string> SecretKey::to_text(std::string_view passphrase) const {
  Bytes bytes;
  bytes.put_at(0, kSigning);
  bytes.put_at(kDerivation, passphrase.empty() ? kNoDerivation : kScrypt);
  bytes.put_at(kChecksumKind, kBlake2b);
  bytes.put_at(kKeyId, id_.bytes);
  bytes.put_at(kSecret, bytes_);
  bytes.put_at(kChecksum, checksum_of(bytes));
  if (!passphrase.empty()) {
    randombytes_buf(bytes.data() + kSalt, kOpsLimit - kSalt);
    bytes.put_number_at(kOpsLimit, crypto_pwhash_scryptsalsa208sha256_OPSLIMIT_SENSITIVE);
    bytes.put_number_at(kMemLimit, crypto_pwhash_scryptsalsa208sha256_MEMLIMIT_SENSITIVE);
    EPHOST_RETURN_IF_ERROR(apply_passphrase(bytes, passphrase));
  }
  return formatted("{}minisign {} secret key\n{}\n", kUntrustedPrefix,
                   passphrase.empty() ? "unencrypted" : "encrypted", encode_base64(bytes));
}

Signature SecretKey::sign(std::span<const std::byte> content, std::string trusted_comment) const {
  Signature signature{.key = id_, .trusted_comment = std::move(trusted_comment)};
  const auto digest = digest_of(content);
  crypto_sign_detached(signature.bytes.data(), nullptr, digest.data(), digest.size(),
                       bytes_.data());
  std::vector<uint8_t> commented(signature.bytes.begin(), signature.bytes.end());
  commented.insert(commented.end(), signature.trusted_comment.begin(),
                   signature.trusted_comment.end());
  crypto_sign_detached(signature.comment_bytes.data(), nullptr, commented.data(), commented.size(),
                       bytes_.data());
  return signature;
}

Result<bool> needs_passphrase(std::string_view file) {
  EPHOST_ASSIGN_OR_RETURN(const Bytes bytes, decode_secret_key(file));
  return bytes.has_at(kDerivation, kScrypt);
}

Result<SecretKey> open_secret_key(std::string_view file, std::string_view passphrase) {
  EPHOST_RETURN_IF_ERROR(start_sodium());
  EPHOST_ASSIGN_OR_RETURN(Bytes bytes, decode_secret_key(file));
  const bool is_encrypted = bytes.has_at(kDerivation, kScrypt);
  if (is_encrypted) EPHOST_RETURN_IF_ERROR(apply_passphrase(bytes, passphrase));
  // minisign writes no checksum for a key without a passphrase.
  constexpr std::array<uint8_t, kSize - kChecksum> kNoChecksum = {};
  const bool has_checksum = is_encrypted || !bytes.has_at(kChecksum, kNoChecksum);
  if (has_checksum && !bytes.has_at(kChecksum, checksum_of(bytes))) {
    return refused(is_encrypted ? "the passphrase is wrong, or the key is damaged"
                                : "the key is damaged");
  }
  SecretKey key;
  std::copy_n(bytes.begin() + kKeyId, key.id_.bytes.size(), key.id_.bytes.begin());
  std::copy_n(bytes.begin() + kSecret, key.bytes_.size(), key.bytes_.begin());
  // The second half of a secret key is its public key, which a damaged file may contradict.
  std::array<uint8_t, 32> public_bytes = {};
  std::array<uint8_t, 64> secret_bytes = {};
  crypto_sign_seed_keypair(public_bytes.data(), secret_bytes.data(), key.bytes_.data());
  const bool agrees = secret_bytes == key.bytes_;
  sodium_memzero(secret_bytes.data(), secret_bytes.size());
  if (agrees) return key;
  return refused("the key is damaged");
}

}  // namespace ephost::trust
