#include "host/trust/minisign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "tests/support/status_matchers.h"
#include "tests/unit/trust/samples.h"

namespace ephost::trust::minisign_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

// The key that signs the releases of minisign, from its documentation.
constexpr std::string_view kPublished = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";

TEST(Minisign, ReadsAPublishedKey) {
  const auto key = decode_public_key(kPublished);
  ASSERT_THAT(key, IsOk());
  EXPECT_EQ(to_text(key->id), "E7620F1842B4E81F");
  EXPECT_EQ(encode_public_key(*key), kPublished);
  const auto again = parse_public_key(to_text(*key));
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(*again, *key);
  EXPECT_EQ(parse_key_id("e7620f1842b4e81f"), key->id);
  EXPECT_EQ(parse_key_id("e7620f1842b4e81"), std::nullopt);
  EXPECT_EQ(parse_key_id("e7620f1842b4e81g"), std::nullopt);
}

TEST(Minisign, VerifiesWhatItSigned) {
  const SecretKey key = testing::make_key();
  const Signature made = key.sign(as_bytes("content"), "a trusted comment");
  const auto read = parse_signature(to_text(made));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->trusted_comment, "a trusted comment");
  EXPECT_THAT(verify(*read, key.public_key(), as_bytes("content")), IsOk());
  EXPECT_THAT(verify(*read, key.public_key(), as_bytes("Content")).message(),
              HasSubstr("not a signature of this content"));
  EXPECT_THAT(verify(*read, testing::make_key().public_key(), as_bytes("content")).message(),
              HasSubstr("made with another key"));
}

TEST(Minisign, NoticesAChangedTrustedComment) {
  const SecretKey key = testing::make_key();
  Signature signature = key.sign(as_bytes("content"), "expires:2027");
  signature.trusted_comment = "expires:2037";
  EXPECT_THAT(verify(signature, key.public_key(), as_bytes("content")).message(),
              HasSubstr("trusted comment was changed"));
}

TEST(Minisign, DoesNotTakeTheOlderFormForTheNewerOne) {
  const SecretKey key = testing::make_key();
  Signature signature = key.sign(as_bytes("content"), "");
  signature.prehashed = false;
  EXPECT_FALSE(verify(signature, key.public_key(), as_bytes("content")).ok());
}

struct Malformed {
  std::string text;
  std::string problem;
};

void PrintTo(const Malformed& malformed, std::ostream* out) { *out << malformed.problem; }

class MalformedSignature : public ::testing::TestWithParam<Malformed> {};

const std::string kGood = to_text(testing::make_key().sign(as_bytes("content"), "a comment"));

std::string with(std::string_view before, std::string_view after) {
  std::string text = kGood;
  return text.replace(text.find(before), before.size(), after);
}

INSTANTIATE_TEST_SUITE_P(
    All, MalformedSignature,
    ::testing::Values(
        Malformed{"", "0 lines instead of 4"},
        Malformed{kGood.substr(0, kGood.size() - 1), "the last line has no end"},
        Malformed{kGood.substr(0, kGood.find("trusted comment: a")), "2 lines instead of 4"},
        Malformed{kGood + "\n", "more than 4 lines"},
        Malformed{with("untrusted comment: ", "comment: "), "does not begin with"},
        Malformed{with("trusted comment: a", "trusted comment:a"), "does not begin with"},
        Malformed{with("\ntrusted", "=\ntrusted"), "not the base64 text of 74 bytes"},
        Malformed{with("\ntrusted", " \ntrusted"), "not the base64 text of 74 bytes"},
        Malformed{with("\nRU", "\nRX"), "an algorithm that this host does not know"},
        Malformed{with("\nRU", "\n"), "not the base64 text of 74 bytes"},
        Malformed{with("\nRU", "\n\xd2U"), "not the base64 text of 74 bytes"},
        Malformed{with("a comment", "a\rcomment"), "control characters"},
        Malformed{with("a comment", std::string("a\0comment", 9)), "control characters"},
        Malformed{with("a comment", std::string(kMaxTrustedCommentBytes + 1, 'a')),
                  "a comment has more than 8000 bytes"},
        Malformed{with("signature from", std::string(kMaxCommentBytes + 1, 'a')),
                  "a comment has more than 1000 bytes"}));

TEST_P(MalformedSignature, IsRefusedWithTheReason) {
  const auto signature = parse_signature(GetParam().text);
  ASSERT_FALSE(signature.ok());
  EXPECT_EQ(signature.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(signature.status().message(), HasSubstr(GetParam().problem));
}

TEST(Minisign, RefusesMalformedKeys) {
  const std::string text(kPublished);
  EXPECT_FALSE(decode_public_key("").ok());
  EXPECT_FALSE(decode_public_key(text.substr(1)).ok());
  EXPECT_FALSE(decode_public_key(text + "=").ok());
  EXPECT_THAT(decode_public_key("RWX" + text.substr(3)).status().message(),
              HasSubstr("an algorithm that this host does not know"));
  PublicKey key;
  key.bytes.fill(0xff);
  std::string other_slash = encode_public_key(key);
  other_slash[other_slash.find('/')] = '\xaf';
  EXPECT_FALSE(decode_public_key(other_slash).ok());
  EXPECT_FALSE(parse_public_key(text + "\n").ok());
  EXPECT_FALSE(parse_public_key("untrusted comment: x\n" + text).ok());
}

}  // namespace
}  // namespace ephost::trust::minisign_test
