#include "host/base/hash.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "host/base/files/file.h"

namespace ephost::hash_test {
namespace {

TEST(ContentChecksum, IsTheStandardXxh3Value) {
  // The published value for empty input with seed 0.
  EXPECT_EQ(to_hex(content_checksum({})), "99aa06d3014798d86001c324468d497f");
}

TEST(ContentChecksum, DiffersWithOneBit) {
  EXPECT_NE(content_checksum(as_bytes("abc")), content_checksum(as_bytes("abb")));
}

TEST(ContentChecksum, OfLargeContentIsTheSameWithCancellation) {
  const std::string content(size_t{40} << 20, 'x');
  EXPECT_EQ(content_checksum(as_bytes(content), Cancellation()),
            content_checksum(as_bytes(content)));
}

TEST(ContentChecksum, EndsWhenItIsCancelled) {
  const std::atomic<bool> cancelled = true;
  const std::string content(size_t{40} << 20, 'x');
  EXPECT_EQ(content_checksum(as_bytes(content), Cancellation(&cancelled)), std::nullopt);
}

TEST(ContentHasher, DoesNotDependOnHowContentIsCut) {
  std::string content;
  for (int i = 0; i < 5000; ++i) content += std::to_string(i * i);
  ContentHasher hasher;
  for (size_t i = 0, step = 1; i < content.size(); i += step, step = step * 2 % 997) {
    hasher.update(as_bytes(std::string_view(content).substr(i, step)));
  }
  EXPECT_EQ(hasher.checksum(), content_checksum(as_bytes(content)));
}

TEST(ContentHasher, ContinuesAfterAnIntermediateChecksum) {
  ContentHasher hasher;
  hasher.update(as_bytes("ab"));
  EXPECT_EQ(hasher.checksum(), content_checksum(as_bytes("ab")));
  hasher.update({});
  hasher.update(as_bytes("c"));
  EXPECT_EQ(hasher.checksum(), content_checksum(as_bytes("abc")));
}

TEST(Hash128, PrintsMostSignificantDigitsFirst) {
  EXPECT_EQ(to_hex({0x0123456789abcdef, 0xf}), "0123456789abcdef000000000000000f");
}

TEST(Hash128, ParsesWhatItPrints) {
  const Hash128 hash{0x0123456789abcdef, 0xfedcba9876543210};
  EXPECT_EQ(parse_hash128(to_hex(hash)), hash);
  EXPECT_EQ(parse_hash128("0123456789ABCDEFFEDCBA9876543210"), hash);
}

TEST(Hash128, RefusesWhatIsNot32Digits) {
  EXPECT_EQ(parse_hash128(""), std::nullopt);
  EXPECT_EQ(parse_hash128(std::string(31, '0')), std::nullopt);
  EXPECT_EQ(parse_hash128(std::string(33, '0')), std::nullopt);
  EXPECT_EQ(parse_hash128("0x" + std::string(30, '0')), std::nullopt);
  EXPECT_EQ(parse_hash128("-" + std::string(31, '0')), std::nullopt);
  EXPECT_EQ(parse_hash128(std::string(16, '0') + "+" + std::string(15, '0')), std::nullopt);
}

TEST(Sha256, MatchesThePublishedDigests) {
  EXPECT_EQ(sha256_of(as_bytes("abc")).value(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of({}).value(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of(as_bytes(std::string(1000000, 'a'))).value(),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha1, MatchesThePublishedDigests) {
  EXPECT_EQ(sha1_of(as_bytes("abc")).value(), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1_of({}).value(), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

}  // namespace
}  // namespace ephost::hash_test
