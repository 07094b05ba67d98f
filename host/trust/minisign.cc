#include "host/trust/minisign.h"

#include <sodium.h>

#include <algorithm>
#include <vector>

#include "host/base/format.h"
#include "host/trust/encoding.h"

namespace ephost::trust {
namespace {

constexpr size_t kAlgorithmBytes = 2;
constexpr std::array<uint8_t, kAlgorithmBytes> kPlain{'E', 'd'};
constexpr std::array<uint8_t, kAlgorithmBytes> kPrehashed{'E', 'D'};
constexpr std::string_view kKeyFile = "public key";
constexpr std::string_view kSignatureFile = "signature";

// An algorithm, the id of a key, and a key or signature.
template <size_t Size>
struct Block {
  std::array<uint8_t, kAlgorithmBytes> algorithm = {};
  KeyId key;
  std::array<uint8_t, Size> bytes = {};
};

template <size_t Size>
std::string encode(const Block<Size>& block) {
  std::vector<uint8_t> all(block.algorithm.begin(), block.algorithm.end());
  all.insert(all.end(), block.key.bytes.begin(), block.key.bytes.end());
  all.insert(all.end(), block.bytes.begin(), block.bytes.end());
  return encode_base64(all);
}

template <size_t Size>
Result<Block<Size>> decode_block(std::string_view text, std::string_view what) {
  std::array<uint8_t, kAlgorithmBytes + sizeof(KeyId) + Size> all = {};
  EPHOST_RETURN_IF_ERROR(decode_base64(text, all, what));
  Block<Size> block;
  const auto key = std::copy_n(all.begin(), kAlgorithmBytes, block.algorithm.begin());
  static_cast<void>(key);
  std::copy_n(all.begin() + kAlgorithmBytes, sizeof(KeyId), block.key.bytes.begin());
  std::copy_n(all.begin() + kAlgorithmBytes + sizeof(KeyId), Size, block.bytes.begin());
  return block;
}

Status unknown_algorithm(std::string_view what) {
  return Status(StatusCode::kInvalidArgument,
                formatted("it is a {} of an algorithm that this host does not know; use Ed25519, "
                          "as minisign and \"ephost sign\" do",
                          what));
}

bool is_signed_by(const PublicKey& key, const std::array<uint8_t, 64>& signature,
                  std::span<const uint8_t> content) {
  return crypto_sign_verify_detached(signature.data(), content.data(), content.size(),
                                     key.bytes.data()) == 0;
}

}  // namespace

std::string to_text(const KeyId& id) {
  std::string text;
  // The bytes are a number in little-endian order.
  for (size_t i = id.bytes.size(); i > 0; --i) text += formatted("{:02X}", id.bytes[i - 1]);
  return text;
}

std::optional<KeyId> parse_key_id(std::string_view text) {
  KeyId id;
  if (text.size() != 2 * id.bytes.size()) return std::nullopt;
  std::array<uint8_t, sizeof(KeyId)> bytes = {};
  size_t size = 0;
  const char* end = nullptr;
  if (sodium_hex2bin(bytes.data(), bytes.size(), text.data(), text.size(), nullptr, &size, &end) !=
          0 ||
      size != bytes.size() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  std::reverse_copy(bytes.begin(), bytes.end(), id.bytes.begin());
  return id;
}

std::string encode_public_key(const PublicKey& key) {
  return encode(Block<32>{kPlain, key.id, key.bytes});
}

Result<PublicKey> decode_public_key(std::string_view text) {
  EPHOST_ASSIGN_OR_RETURN(const Block<32> block, decode_block<32>(text, kKeyFile));
  if (block.algorithm != kPlain) return unknown_algorithm(kKeyFile);
  return PublicKey{block.key, block.bytes};
}

std::string to_text(const PublicKey& key) {
  return formatted("{}minisign public key {}\n{}\n", kUntrustedPrefix, to_text(key.id),
                   encode_public_key(key));
}

Result<PublicKey> parse_public_key(std::string_view file) {
  EPHOST_ASSIGN_OR_RETURN(const auto lines, split_lines(file, 2, kKeyFile));
  EPHOST_RETURN_IF_ERROR(
      comment_of(lines[0], kUntrustedPrefix, kMaxCommentBytes, kKeyFile).status());
  return decode_public_key(lines[1]);
}

std::string to_text(const Signature& signature) {
  const Block<64> block{signature.prehashed ? kPrehashed : kPlain, signature.key, signature.bytes};
  return formatted("{}signature from key {}\n{}\n{}{}\n{}\n", kUntrustedPrefix,
                   to_text(signature.key), encode(block), kTrustedPrefix, signature.trusted_comment,
                   encode_base64(signature.comment_bytes));
}

Result<Signature> parse_signature(std::string_view file) {
  EPHOST_ASSIGN_OR_RETURN(const auto lines, split_lines(file, 4, kSignatureFile));
  EPHOST_RETURN_IF_ERROR(
      comment_of(lines[0], kUntrustedPrefix, kMaxCommentBytes, kSignatureFile).status());
  EPHOST_ASSIGN_OR_RETURN(const Block<64> block, decode_block<64>(lines[1], kSignatureFile));
  if (block.algorithm != kPlain && block.algorithm != kPrehashed) {
    return unknown_algorithm(kSignatureFile);
  }
  Signature signature{
      .prehashed = block.algorithm == kPrehashed, .key = block.key, .bytes = block.bytes};
  EPHOST_ASSIGN_OR_RETURN(
      const std::string_view comment,
      comment_of(lines[2], kTrustedPrefix, kMaxTrustedCommentBytes, kSignatureFile));
  signature.trusted_comment = comment;
  EPHOST_RETURN_IF_ERROR(decode_base64(lines[3], signature.comment_bytes, kSignatureFile));
  return signature;
}

Status verify(const Signature& signature, const PublicKey& key,
              std::span<const std::byte> content) {
  EPHOST_RETURN_IF_ERROR(start_sodium());
  const auto fail = [](std::string_view problem) {
    return Status(StatusCode::kInvalidArgument, std::string(problem));
  };
  if (signature.key != key.id) return fail("it was made with another key");
  const auto* const plain = reinterpret_cast<const uint8_t*>(content.data());
  const bool is_right = signature.prehashed
                            ? is_signed_by(key, signature.bytes, digest_of(content))
                            : is_signed_by(key, signature.bytes, std::span(plain, content.size()));
  if (!is_right) return fail("it is not a signature of this content");
  std::vector<uint8_t> commented(signature.bytes.begin(), signature.bytes.end());
  commented.insert(commented.end(), signature.trusted_comment.begin(),
                   signature.trusted_comment.end());
  if (is_signed_by(key, signature.comment_bytes, commented)) return {};
  return fail("its trusted comment was changed");
}

}  // namespace ephost::trust
