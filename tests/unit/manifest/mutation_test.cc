// Damaged manifests and selections yield a value or an error, never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "host/manifest/manifest.h"
#include "host/manifest/selection.h"
#include "tests/unit/manifest/sample.h"

namespace ephost::manifest::mutation_test {
namespace {

constexpr int kRounds = 10000;

constexpr std::string_view kSelectionSample =
    "selection: 1\nproviders:\n  - provider: A\n    version: \">=1, <2\"\n    options: { x: 1 }\n"
    "  - cpu\nsession: { ep.context_enable: 1 }\n";

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  std::string mutate(std::string text) {
    const int changes = 1 + below(4);
    for (int i = 0; i < changes; ++i) change(text);
    return text;
  }

 private:
  int below(size_t bound) {
    return static_cast<int>(std::uniform_int_distribution<size_t>(0, bound - 1)(random_));
  }

  void change(std::string& text) {
    static constexpr std::string_view kTelling = "[]{}:,-?&*!|>'\"%@`#~\n\t \\0.";
    const auto at = static_cast<size_t>(below(text.size() + 1));
    const auto count = static_cast<size_t>(below(12));
    switch (below(6)) {
      case 0:
        text.insert(at, 1, kTelling[static_cast<size_t>(below(kTelling.size()))]);
        break;
      case 1:
        text.erase(at, count);
        break;
      case 2:
        text.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 3:
        text.insert(at, text.substr(static_cast<size_t>(below(text.size() + 1)), count * 4));
        break;
      case 4:
        text.resize(at);
        break;
      default:
        text.insert(at, std::string(count, kTelling[static_cast<size_t>(below(kTelling.size()))]));
    }
  }

  std::mt19937 random_;
};

TEST(Mutation, NoManifestCrashesTheParser) {
  Mutator mutator(1);
  int refused = 0;
  for (int i = 0; i < kRounds; ++i) {
    const Result<Manifest> result =
        parse_manifest(mutator.mutate(std::string(testing::kSample)), "m");
    if (result.ok()) continue;
    ++refused;
    EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(result.status().message(), ::testing::StartsWith("m:"));
  }
  EXPECT_GT(refused, kRounds / 2);
}

TEST(Mutation, NoSelectionCrashesTheParser) {
  Mutator mutator(2);
  for (int i = 0; i < kRounds; ++i) {
    const Result<Selection> result =
        parse_selection(mutator.mutate(std::string(kSelectionSample)), "s");
    if (!result.ok()) {
      EXPECT_THAT(result.status().message(), ::testing::StartsWith("s:"));
    }
  }
}

TEST(Mutation, NoVersionRangeCrashesTheParser) {
  Mutator mutator(3);
  for (int i = 0; i < kRounds; ++i) {
    const Result<VersionRange> range = VersionRange::parse(mutator.mutate(">=1.2.0-rc.1+b, <2.1"));
    if (range.ok()) static_cast<void>(range->contains({}));
  }
}

}  // namespace
}  // namespace ephost::manifest::mutation_test
