// No changed signature, key or content ever verifies, whatever was changed. The untrusted comment
// is the one part that may change, as nobody vouches for it.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/unit/trust/samples.h"

namespace ephost::trust::mutation_test {
namespace {

constexpr int kRounds = 20000;
constexpr std::string_view kContent = "the content that is signed";

class Mutator {
 public:
  std::string mutate(std::string text) {
    const size_t changes = 1 + below(3);
    for (size_t i = 0; i < changes; ++i) change(text);
    return text;
  }

 private:
  size_t below(size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random_);
  }

  void change(std::string& text) {
    const size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        text.erase(at, 1 + below(8));
        break;
      case 2:
        text.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 3:
        text.insert(at, text.substr(below(text.size() + 1), below(40)));
        break;
      case 4:
        text.resize(at);
        break;
      default:
        text.insert(at, 1, "\n\r\t= A+/"[below(8)]);
    }
  }

  std::mt19937 random_{20270115};
};

// The text without its first line.
std::string_view vouched(std::string_view text) {
  return text.substr(std::min(text.find('\n'), text.size()));
}

TEST(Mutations, OfASignatureNeverVerify) {
  const SecretKey key = testing::make_key();
  const std::string good = to_text(key.sign(as_bytes(kContent), "timestamp:1\tfile:content"));
  Mutator mutator;
  int parsed = 0;
  for (int i = 0; i < kRounds; ++i) {
    const std::string changed = mutator.mutate(good);
    const auto signature = parse_signature(changed);
    if (!signature.ok() || vouched(changed) == vouched(good)) continue;
    ++parsed;
    EXPECT_FALSE(verify(*signature, key.public_key(), as_bytes(kContent)).ok()) << changed;
  }
  EXPECT_GT(parsed, kRounds / 100);  // or this test checked nothing but the parser
}

TEST(Mutations, OfAPublicKeyNeverVerify) {
  const SecretKey key = testing::make_key();
  const Signature signature = key.sign(as_bytes(kContent), "");
  const std::string good = to_text(key.public_key());
  Mutator mutator;
  int parsed = 0;
  for (int i = 0; i < kRounds; ++i) {
    const std::string changed = mutator.mutate(good);
    auto mutated = parse_public_key(changed);
    if (!mutated.ok() || vouched(changed) == vouched(good)) continue;
    ++parsed;
    mutated->id = key.public_key().id;  // an id proves nothing
    if (mutated->bytes == key.public_key().bytes) continue;
    EXPECT_FALSE(verify(signature, *mutated, as_bytes(kContent)).ok()) << changed;
  }
  EXPECT_GT(parsed, kRounds / 100);
}

TEST(Mutations, OfTheContentNeverVerify) {
  const SecretKey key = testing::make_key();
  const Signature signature = key.sign(as_bytes(kContent), "");
  Mutator mutator;
  for (int i = 0; i < kRounds / 4; ++i) {
    const std::string changed = mutator.mutate(std::string(kContent));
    if (changed == kContent) continue;
    EXPECT_FALSE(verify(signature, key.public_key(), as_bytes(changed)).ok()) << changed;
  }
}

TEST(Mutations, OfASecretKeyAreRefusedOrHarmless) {
  const SecretKey key = testing::make_key();
  const std::string good = key.to_text("").value();
  Mutator mutator;
  for (int i = 0; i < kRounds; ++i) {
    const std::string changed = mutator.mutate(good);
    // One that asks for a passphrase would take a second each.
    const auto is_encrypted = needs_passphrase(changed);
    if (!is_encrypted.ok() || *is_encrypted) continue;
    const auto opened = open_secret_key(changed, "");
    if (!opened.ok()) continue;
    EXPECT_EQ(opened->public_key(), key.public_key()) << changed;
  }
}

}  // namespace
}  // namespace ephost::trust::mutation_test
