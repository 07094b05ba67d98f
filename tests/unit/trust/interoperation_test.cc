// The program minisign verifies what this module signs, and the other way round. (The package is
// named minisign; scripts/setup.sh installs it for the tests.)
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "host/base/format.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/trust/samples.h"

namespace ephost::trust::interoperation_test {
namespace {

using test::IsOk;

constexpr const char* kPassphrase = "correct horse";

class Interoperation : public ::testing::Test {
 protected:
  // Runs `minisign ARGUMENTS` in the folder, with the passphrase on standard input as often as it
  // asks for it. Returns whether it succeeded.
  [[nodiscard]] bool minisign(const std::string& arguments) const {
    const std::string command =
        formatted("cd '{}' && printf '{}\\n{}\\n' | minisign {} > output.txt 2>&1",
                  folder_.path().native(), kPassphrase, kPassphrase, arguments);
    const int status = std::system(command.c_str());
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  [[nodiscard]] std::string output() const { return read("output.txt"); }
  [[nodiscard]] std::string read(std::string_view name) const {
    return read_file(folder_ / name).value();
  }

  void expect_verified_here(std::string_view signature_file) const {
    const PublicKey key = parse_public_key(read("key.pub")).value();
    const auto signature = parse_signature(read(signature_file));
    ASSERT_THAT(signature, IsOk());
    const std::string content = read("content");
    EXPECT_THAT(verify(*signature, key, as_bytes(content)), IsOk());
    EXPECT_EQ(signature->trusted_comment, "from the tool");
    EXPECT_FALSE(verify(*signature, key, as_bytes(content + "x")).ok());
  }

  ephost::test::TempDirectory folder_;
};

TEST_F(Interoperation, TheToolVerifiesOurSignatures) {
  const SecretKey key = testing::make_key();
  folder_.write("content", "some content\n");
  folder_.write("key.pub", to_text(key.public_key()));
  const std::string comment = to_text(
      SignedFacts{.time = 1'800'000'000, .file = "content", .provider = "AcmeExecutionProvider"});
  folder_.write("content.minisig", to_text(key.sign(as_bytes("some content\n"), comment)));
  EXPECT_TRUE(minisign("-V -H -p key.pub -m content")) << output();
  EXPECT_THAT(output(), ::testing::HasSubstr("provider:AcmeExecutionProvider"));
  folder_.write("content", "other content\n");
  EXPECT_FALSE(minisign("-V -p key.pub -m content"));
}

TEST_F(Interoperation, TheToolSignsWithOurPlainKeys) {
  const SecretKey key = testing::make_key();
  folder_.write("content", "some content\n");
  folder_.write("key.pub", to_text(key.public_key()));
  folder_.write("key.key", key.to_text("").value());
  ASSERT_TRUE(minisign("-S -s key.key -m content -t 'from the tool'")) << output();
  expect_verified_here("content.minisig");
}

TEST_F(Interoperation, TheToolSignsWithOurEncryptedKeys) {
  const SecretKey key = testing::make_key();
  folder_.write("content", "some content\n");
  folder_.write("key.pub", to_text(key.public_key()));
  folder_.write("key.key", key.to_text(kPassphrase).value());
  ASSERT_TRUE(minisign("-S -s key.key -m content -t 'from the tool'")) << output();
  expect_verified_here("content.minisig");
}

TEST_F(Interoperation, WeVerifyWhatTheToolSigns) {
  ASSERT_TRUE(minisign("-G -W -p key.pub -s key.key")) << output();
  folder_.write("content", "some content\n");
  ASSERT_TRUE(minisign("-S -H -s key.key -m content -x new.minisig -t 'from the tool'"))
      << output();
  expect_verified_here("new.minisig");
  EXPECT_TRUE(parse_signature(read("new.minisig"))->prehashed);
  ASSERT_TRUE(minisign("-S -l -s key.key -m content -x old.minisig -t 'from the tool'"))
      << output();
  expect_verified_here("old.minisig");
  EXPECT_FALSE(parse_signature(read("old.minisig"))->prehashed);
}

TEST_F(Interoperation, WeSignWithKeysOfTheTool) {
  folder_.write("content", "some content\n");
  for (const bool is_encrypted : {false, true}) {
    ASSERT_TRUE(minisign(formatted("-G -f {} -p key.pub -s key.key", is_encrypted ? "" : "-W")))
        << output();
    const std::string file = read("key.key");
    ASSERT_EQ(needs_passphrase(file).value(), is_encrypted);
    const auto key = open_secret_key(file, is_encrypted ? kPassphrase : "");
    ASSERT_THAT(key, IsOk());
    EXPECT_EQ(key->public_key(), parse_public_key(read("key.pub")).value());
    folder_.write("content.minisig", to_text(key->sign(as_bytes("some content\n"), "ours")));
    EXPECT_TRUE(minisign("-V -p key.pub -m content")) << output();
  }
}

}  // namespace
}  // namespace ephost::trust::interoperation_test
