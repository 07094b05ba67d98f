#include "host/base/hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "host/base/file.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/temp_directory.h"

namespace ephost {
namespace {

using testing::HasSubstr;

TEST(ContentSum, IsTheStandardXxh3Value) {
  // The published value for no bytes with seed 0.
  EXPECT_EQ(to_hex(content_sum({})), "99aa06d3014798d86001c324468d497f");
}

TEST(ContentSum, DiffersWithOneBit) {
  EXPECT_NE(content_sum(as_bytes("abc")), content_sum(as_bytes("abb")));
}

TEST(ContentHasher, DoesNotDependOnHowContentIsCut) {
  std::string content;
  for (int i = 0; i < 5000; ++i) content += std::to_string(i * i);
  ContentHasher hasher;
  for (size_t i = 0, step = 1; i < content.size(); i += step, step = step * 2 % 997) {
    hasher.update(as_bytes(std::string_view(content).substr(i, step)));
  }
  EXPECT_EQ(hasher.sum(), content_sum(as_bytes(content)));
}

TEST(ContentHasher, GoesOnAfterAnIntermediateSum) {
  ContentHasher hasher;
  hasher.update(as_bytes("ab"));
  EXPECT_EQ(hasher.sum(), content_sum(as_bytes("ab")));
  hasher.update({});
  hasher.update(as_bytes("c"));
  EXPECT_EQ(hasher.sum(), content_sum(as_bytes("abc")));
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

TEST(Sha256, MatchesTheKnownSums) {
  test::TempDirectory dir;
  EXPECT_EQ(sha256_of_file(dir.write("a", "abc")).value(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of_file(dir.write("b", "")).value(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, ReadsAFileLargerThanItsBuffer) {
  test::TempDirectory dir;
  EXPECT_EQ(sha256_of_file(dir.write("a", std::string(1000000, 'a'))).value(),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, ReportsAMissingFile) {
  test::TempDirectory dir;
  EXPECT_EQ(sha256_of_file(dir / "none").status().code(), StatusCode::kNoSuchFile);
}

TEST(Sha256, ReportsAFailingRead) {
  test::TempDirectory dir;
  test::FaultyFileSystem faulty;
  faulty.fail_at = 2;
  const Result<std::string> sum = sha256_of_file(dir.write("a", "abc"), faulty);
  ASSERT_FALSE(sum.ok());
  EXPECT_THAT(sum.status().message(), HasSubstr("cannot read"));
}

}  // namespace
}  // namespace ephost
