// Sessions with a provider that dies in its worker, for tests of session.on_crash.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/integration/session/recovery/workers.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::test {

inline constexpr const char* kFault = "EPHOST_FAULT";  // read by tests/fixtures/faulty

inline size_t count(std::string_view text, std::string_view wanted) {
  size_t found = 0;
  for (size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) ++found;
  return found;
}

inline std::vector<std::string> names_of(const Session& session) {
  std::vector<std::string> names;
  for (const SessionProvider& provider : inside(session).model()->providers) {
    names.push_back(provider.name);
  }
  return names;
}

// A fault that is committed once while this object exists, by whichever worker comes first.
class FaultOnce {
 public:
  FaultOnce(const TempDirectory& folder, const std::string& fault)
      : mark_(folder / "fault_once"), fault_(kFault, fault), once_("EPHOST_FAULT_ONCE", mark_) {
    std::filesystem::remove(mark_);
  }
  [[nodiscard]] bool was_committed() const { return std::filesystem::exists(mark_); }

 private:
  std::filesystem::path mark_;
  Variable fault_;
  Variable once_;
};

class RecoverySample : public ::testing::Test {
 protected:
  static SessionOptions isolated(const std::string& policy, OptionList provider = {}) {
    SessionOptions options = scripted(std::move(provider));
    options.add_config_entry("session.isolation.scripted", "worker");
    options.add_config_entry("session.on_crash.scripted", policy);
    return options;
  }
  static Environment environment() { return scripted_environment(fixture_directory("faulty")); }
  // With a second scripted provider, which has no faults.
  static Environment environment_of_two() {
    EnvironmentOptions both;
    both.plugin_directories = {fixture_directory("faulty"), fixture_directory("scripted"),
                               EPHOST_PLUGINS};
    both.search_default_directories = false;
    return std::move(Environment::create(both)).value();
  }
  [[nodiscard]] Result<Session> create(const SessionOptions& options) const {
    return Session::create(environment(), model_, options);
  }
  // A session whose worker dies as soon as it computes; later workers do not.
  [[nodiscard]] Result<Session> create_doomed(const SessionOptions& options) const {
    const Variable fault(kFault, "eph_computation_api.compute:segv");
    return create(options);
  }
  void expect_right(Session& session) const {
    const auto outputs = test::run(session);
    ASSERT_THAT(outputs, IsOk());
    expect_close(*outputs, expected_);
  }

  const Variable quarantine_{"EPHOST_QUARANTINE", "off"};
  const Variable program_{"EPHOST_WORKER_PROGRAM", EPHOST_WORKER_PROGRAM};
  const TempDirectory folder_;
  const std::filesystem::path model_ = save(folder_, scripted_model());
  const std::vector<Value> expected_ = expected_outputs(model_);
  const LogCapture log_;
};

}  // namespace ephost::test
