#include "host/session/session_options.h"

#include <gtest/gtest.h>

#include "tests/support/temp_directory.h"

namespace ephost {
namespace {

TEST(SessionOptions, TheLastEntryOfAKeyStands) {
  SessionOptions options;
  options.add_config_entry("a", "1").add_config_entry("a", "2");
  EXPECT_EQ(options.config_entry("a"), "2");
  EXPECT_EQ(options.config_entries().size(), 1U);
  EXPECT_EQ(options.config_entry("b"), std::nullopt);
}

TEST(SessionOptions, AppendsWhatASelectionFileSays) {
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
  SessionOptions options;
  const Status status = options.load_selection(file);
  ASSERT_TRUE(status.ok()) << status.to_string();
  ASSERT_EQ(options.providers().size(), 1U);
  EXPECT_EQ(options.providers()[0].name, "dnnl");
  EXPECT_EQ(options.providers()[0].version_range, ">=0.1");
  EXPECT_EQ(options.providers()[0].options, (OptionList{{"num_threads", "2"}}));
  EXPECT_EQ(options.config_entry("ep.context_enable"), "1");
}

TEST(SessionOptions, PassesOnWhatIsWrongWithASelection) {
  SessionOptions options;
  EXPECT_EQ(options.load_selection("nowhere.yaml").code(), StatusCode::kNoSuchFile);
}

}  // namespace
}  // namespace ephost
