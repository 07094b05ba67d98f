// The common part of the tests of replaced files: an attacker who replaces them, and loads in
// between. The fixtures "constructor", "resolver" and "dependent_constructor" stand for the other
// file; what runs of them while they are loaded sets EPHOST_FIXTURE_HAS_RUN, or ends the process.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>
#include <new>
#include <span>
#include <string>

#include "host/base/hash.h"
#include "host/manifest/search.h"
#include "host/plugin/registry.h"
#include "tests/support/temp_directory.h"

namespace ephost::plugin {

inline constexpr const char* kHasRun = "EPHOST_FIXTURE_HAS_RUN";

// A child process that calls `step(n)` for n = 0, 1, ... until the object is destroyed. With odd
// numbers it restores what it changed with the even number before; most of the time everything is
// as it should be, so that most changes happen while something is being loaded.
template <class Step>
class Attacker {
 public:
  explicit Attacker(Step step) {
    child_ = ::fork();
    if (child_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int n = 0;; ++n) {
      step(n);
      ::usleep(n % 2 == 0 ? 20 : 20 + n % 1000);
    }
  }
  Attacker(const Attacker&) = delete;
  Attacker& operator=(const Attacker&) = delete;
  ~Attacker() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

 private:
  pid_t child_ = -1;
};

struct Outcomes {
  int loaded = 0;
  int refused = 0;   // for whatever reason
  int replaced = 0;  // after the checks, while the loader was at work
};

inline std::string checksum_of(const std::string& bytes) {
  return *sha256_of(std::as_bytes(std::span(bytes)));
}

// The plugin `plugin_` in a folder of its own, which a test fills.
class AttackedPlugin : public ::testing::Test {
 protected:
  AttackedPlugin() { ::unsetenv(kHasRun); }

  // Loads the plugin, each time from scratch, until the right library passed all checks `count`
  // times.
  Outcomes load_repeatedly(int count) {
    Outcomes outcomes;
    for (int i = 0; outcomes.loaded + outcomes.replaced < count; ++i) {
      Registry registry;
      const auto loaded = registry.load(plugin_);
      ++(loaded.ok() ? outcomes.loaded : outcomes.refused);
      if (!loaded.ok()) {
        outcomes.replaced += loaded.status().message().find("was replaced") != std::string::npos;
        EXPECT_THAT(loaded.status().message(),
                    ::testing::AnyOf(::testing::HasSubstr("was replaced while"),
                                     ::testing::HasSubstr("its manifest"),
                                     ::testing::HasSubstr("but the manifest"),
                                     ::testing::HasSubstr("install it again"),
                                     ::testing::HasSubstr("No such file")));
      }
      EXPECT_EQ(::getenv(kHasRun), nullptr) << "in load " << i;
      if (::testing::Test::HasFailure()) break;
    }
    std::cout << outcomes.loaded << " loaded, " << outcomes.refused << " refused, of these "
              << outcomes.replaced << " in the loader\n";
    return outcomes;
  }

  // What became of a load, up to when it returned.
  struct FirstMoments {
    bool has_returned = false;
    bool is_loaded = false;
    bool has_run_other_code = false;
  };

  // In a process of its own, which may crash afterwards: a library that is in use does not survive
  // that its file is truncated.
  FirstMoments load_in_a_process() {
    void* const shared = ::mmap(nullptr, sizeof(FirstMoments), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto* const moments = new (shared) FirstMoments;
    const pid_t child = ::fork();
    if (child == 0) {
      Registry registry;
      const auto loaded = registry.load(plugin_);
      *moments = {true, loaded.ok(), ::getenv(kHasRun) != nullptr};
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    const FirstMoments result = *moments;
    ::munmap(shared, sizeof(FirstMoments));
    return result;
  }

  const test::TempDirectory directory_;
  manifest::FoundPlugin plugin_;
};

}  // namespace ephost::plugin
