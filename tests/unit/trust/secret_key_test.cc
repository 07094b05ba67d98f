#include "host/trust/secret_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/status_matchers.h"
#include "tests/unit/trust/samples.h"

namespace ephost::trust::secret_key_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

std::string write(const SecretKey& key, std::string_view passphrase) {
  return key.to_text(passphrase).value();
}

TEST(SecretKey, ComesBackFromItsFile) {
  const SecretKey key = testing::make_key();
  const std::string file = write(key, "");
  EXPECT_FALSE(needs_passphrase(file).value());
  const auto read = open_secret_key(file, "");
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->public_key(), key.public_key());
  EXPECT_EQ(to_text(read->sign(as_bytes("x"), "c")), to_text(key.sign(as_bytes("x"), "c")));
}

TEST(SecretKey, IsEncryptedWithItsPassphrase) {
  const SecretKey key = testing::make_key();
  const std::string file = write(key, "open sesame");
  EXPECT_TRUE(needs_passphrase(file).value());
  const auto read = open_secret_key(file, "open sesame");
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->public_key(), key.public_key());
  EXPECT_THAT(open_secret_key(file, "open sesam").status().message(),
              HasSubstr("the passphrase is wrong"));
}

TEST(SecretKey, DiffersFromKeyToKey) {
  EXPECT_NE(testing::make_key().public_key(), testing::make_key().public_key());
}

// Changes one byte of the decoded key, which is in the second line.
std::string damage(const std::string& file, size_t digit) {
  std::string damaged = file;
  char& one = damaged[damaged.find('\n') + 1 + digit];
  one = one == 'A' ? 'B' : 'A';
  return damaged;
}

TEST(SecretKey, IsRefusedWhereverItIsDamaged) {
  const std::string file = write(testing::make_key(), "");
  constexpr size_t kSaltAndLimits = 8, kKeyId = 72, kDigits = 208;
  for (size_t digit = 0; digit < kDigits; ++digit) {
    // A key without a passphrase has no use for these.
    if (digit >= kSaltAndLimits && digit <= kKeyId) continue;
    EXPECT_FALSE(open_secret_key(damage(file, digit), "").ok()) << digit;
  }
}

TEST(SecretKey, DoesNotWorkForeverForAHostileFile) {
  std::string file = write(testing::make_key(), "");
  const size_t begin = file.find('\n') + 1;
  file.replace(begin, 8, "RWRTY0Iy");   // "Ed", "Sc", "B2": encrypted
  file.replace(begin + 56, 4, "////");  // work and memory beyond all bounds
  EXPECT_THAT(open_secret_key(file, "x").status().message(),
              HasSubstr("takes more work or memory than that of minisign"));
}

TEST(SecretKey, IsNotReadFromOtherFiles) {
  EXPECT_FALSE(needs_passphrase("").ok());
  EXPECT_FALSE(needs_passphrase(to_text(testing::make_key().public_key())).ok());
}

}  // namespace
}  // namespace ephost::trust::secret_key_test
