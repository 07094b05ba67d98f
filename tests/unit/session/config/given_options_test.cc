#include "host/session/config/given_options.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::session::given_options_test {
namespace {

using test::IsOk;

TEST(GivenOptions, TheLastEntryOfAKeyStands) {
  GivenOptions options;
  options.set_entry("a", "1");
  options.set_entry("a", "2");
  EXPECT_EQ(options.entry("a"), "2");
  EXPECT_EQ(options.entries.size(), 1U);
  EXPECT_EQ(options.entry("b"), std::nullopt);
}

TEST(GivenOptions, AppendsWhatASelectionFileSays) {
  const test::TempDirectory folder;
  const auto file = folder.write("selection.yaml",
                                 "selection: 1\n"
                                 "providers:\n"
                                 "  - provider: dnnl\n"
                                 "    version: \">=0.1\"\n"
                                 "    options:\n"
                                 "      num_threads: 2\n"
                                 "session:\n"
                                 "  ep.context_enable: \"1\"\n");
  GivenOptions options;
  const Status status = options.load_selection(file);
  ASSERT_THAT(status, IsOk());
  ASSERT_EQ(options.providers.size(), 1U);
  EXPECT_EQ(options.providers[0].name, "dnnl");
  EXPECT_EQ(options.providers[0].version_range, ">=0.1");
  EXPECT_EQ(options.providers[0].options, (OptionList{{"num_threads", "2"}}));
  EXPECT_EQ(options.entry("ep.context_enable"), "1");
}

// `before` is set by the application, and `selected` by the selection.
std::string merged(const std::string& key, const std::string& before, const std::string& selected,
                   const std::string& after = {}) {
  const test::TempDirectory folder;
  GivenOptions options;
  if (!before.empty()) options.set_entry(key, before);
  const Status status = options.load_selection(folder.write(
      "s.yaml", "selection: 1\nproviders: []\nsession: {" + key + ": " + selected + "}\n"));
  EXPECT_THAT(status, IsOk());
  if (!after.empty()) options.set_entry(key, after);
  return std::string(options.entry(key).value_or("none"));
}

TEST(GivenOptions, TakeTheStricterOfTwoPolicies) {
  for (const char* const key : {"session.isolation", "session.isolation.acme"}) {
    EXPECT_EQ(merged(key, "sandbox", "worker"), "sandbox");
    EXPECT_EQ(merged(key, "worker", "sandbox"), "sandbox");
    EXPECT_EQ(merged(key, "", "sandbox", "none"), "sandbox");
    EXPECT_EQ(merged(key, "", "worker", "sandbox"), "sandbox");
  }
  EXPECT_EQ(merged("session.signatures", "require", "warn"), "require");
  EXPECT_EQ(merged("session.signatures", "", "warn", "\"off\""), "\"off\"") << "an error later";
  EXPECT_EQ(merged("session.signatures", "", "warn", "off"), "warn");
  EXPECT_EQ(merged("session.signatures", "", "warn", "require"), "require");
  EXPECT_EQ(merged("session.quarantine", "2/60", "5/600"), "2/600");
  EXPECT_EQ(merged("session.quarantine", "", "2/60", "off"), "2/60");
}

// Sessions refuse the entry, whatever was stated before.
TEST(GivenOptions, KeepWhatIsNoPolicyAsItIs) {
  EXPECT_EQ(merged("session.isolation", "", "sandbox", "cell"), "cell");
  EXPECT_EQ(merged("session.quarantine", "", "2/60", "often"), "often");
  EXPECT_EQ(merged("session.isolation.memory", "2", "1"), "1") << "a limit is not a policy";
}

TEST(GivenOptions, PassesOnWhatIsWrongWithASelection) {
  GivenOptions options;
  EXPECT_EQ(options.load_selection("nowhere.yaml").code(), StatusCode::kNoSuchFile);
}

}  // namespace
}  // namespace ephost::session::given_options_test
