#include "host/base/environment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace ephost::environment_test {
namespace {

// Sets a variable, or takes it away, while it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(before_.empty() ? nullptr : before_.c_str()); }

 private:
  void set(const char* value) const {
    if (value == nullptr) {
      ::unsetenv(name_);
    } else {
      ::setenv(name_, value, 1);
    }
  }

  const char* const name_;
  std::string before_;
};

TEST(Environment, HasValuesAndAbsoluteFolders) {
  const Variable variable("EPHOST_TEST_FOLDER", "/a/b");
  const Variable relative("EPHOST_TEST_OTHER", "a/b");
  EXPECT_STREQ(environment_value("EPHOST_TEST_FOLDER"), "/a/b");
  EXPECT_EQ(environment_value("EPHOST_TEST_MISSING"), nullptr);
  EXPECT_EQ(environment_folder("EPHOST_TEST_FOLDER"), "/a/b");
  EXPECT_EQ(environment_folder("EPHOST_TEST_OTHER"), "");
  EXPECT_EQ(environment_folder("EPHOST_TEST_MISSING"), "");
  const std::vector<std::string> entries = environment_entries();
  EXPECT_EQ(std::ranges::count(entries, "EPHOST_TEST_OTHER=a/b"), 1);
  EXPECT_FALSE(has_raised_privileges());
}

struct KnownFolder {
  UserFolder folder;
  const char* variable;
  const char* in_home;
  const char* of_root;
};

TEST(Environment, KnowsTheFoldersOfTheUser) {
  const Variable home("HOME", "/home/somebody");
  for (const KnownFolder& known :
       {KnownFolder{UserFolder::kConfig, "XDG_CONFIG_HOME", "/home/somebody/.config", nullptr},
        KnownFolder{UserFolder::kData, "XDG_DATA_HOME", "/home/somebody/.local/share", nullptr},
        KnownFolder{UserFolder::kState, "XDG_STATE_HOME", "/home/somebody/.local/state",
                    "/var/lib"},
        KnownFolder{UserFolder::kCache, "XDG_CACHE_HOME", "/home/somebody/.cache", "/var/cache"}}) {
    const bool is_of_machine = known.of_root != nullptr && ::geteuid() == 0;
    const char* const expected = is_of_machine ? known.of_root : known.in_home;
    {
      const Variable stated(known.variable, "/elsewhere");
      EXPECT_EQ(user_folder(known.folder), "/elsewhere") << known.variable;
    }
    {
      const Variable relative(known.variable, "elsewhere");
      EXPECT_EQ(user_folder(known.folder), expected) << known.variable;
    }
    const Variable missing(known.variable, nullptr);
    EXPECT_EQ(user_folder(known.folder), expected) << known.variable;
    const Variable homeless("HOME", "not/absolute");
    EXPECT_EQ(user_folder(known.folder), is_of_machine ? known.of_root : "") << known.variable;
  }
}

}  // namespace
}  // namespace ephost::environment_test
