#include "host/trust/quarantine_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string_view>

#include "host/trust/policy.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::trust::quarantine_policy_test {
namespace {

using std::chrono::seconds;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr QuarantinePolicy kOff{0, seconds(600)};

class QuarantinePolicies : public ::testing::Test {
 protected:
  QuarantinePolicies() { ::unsetenv("EPHOST_QUARANTINE"); }
  ~QuarantinePolicies() override { ::unsetenv("EPHOST_QUARANTINE"); }

  [[nodiscard]] Result<ProcessQuarantine> of_process(std::string_view machine) const {
    const auto policy =
        load_machine_policy(folder_.write("policy.yaml", machine), Owner::kRootOrUser);
    if (!policy.ok()) return policy.status();
    return quarantine_of_process(*policy);
  }

  const ephost::test::TempDirectory folder_;
};

TEST_F(QuarantinePolicies, AreFailuresAndSeconds) {
  const auto policy = parse_quarantine_policy("2/60", "it");
  ASSERT_THAT(policy, IsOk());
  EXPECT_EQ(*policy, (QuarantinePolicy{2, seconds(60)}));
  EXPECT_EQ(quarantine_policy_text(*policy), "2/60");
  EXPECT_EQ(*parse_quarantine_policy("off", "it"), kOff);
  EXPECT_EQ(quarantine_policy_text(kOff), "off");
  for (const char* const text : {"", "3", "3/", "/600", "0/600", "3/0", "-3/600", "3/-1", "3/600s",
                                 "3 / 600", "999/1", "3/99999999999", "Off"}) {
    const auto refused = parse_quarantine_policy(text, "the entry");
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(refused.status().message(), HasSubstr("the entry cannot be \"")) << text;
  }
}

TEST_F(QuarantinePolicies, AreAsStrictTogetherAsEachOfThem) {
  const QuarantinePolicy often{3, seconds(600)};
  EXPECT_EQ(strictest(often, {2, seconds(60)}), (QuarantinePolicy{2, seconds(600)}));
  EXPECT_EQ(strictest({2, seconds(60)}, often), (QuarantinePolicy{2, seconds(600)}));
  EXPECT_EQ(strictest(often, {5, seconds(60)}), often);
  EXPECT_EQ(strictest(often, kOff), often);
  EXPECT_EQ(strictest(kOff, often), often);
  EXPECT_EQ(strictest(kOff, kOff), kOff);
}

TEST_F(QuarantinePolicies, OfAProcessHaveADefault) {
  const auto process = quarantine_of_process(MachinePolicy());
  ASSERT_THAT(process, IsOk());
  EXPECT_EQ(process->policy, (QuarantinePolicy{3, seconds(600)}));
  EXPECT_THAT(process->origins, IsEmpty());
  EXPECT_EQ(of_process("policy: 1\n")->policy, process->policy);
}

TEST_F(QuarantinePolicies, OfAProcessAreTheMachinesAndTheEnvironments) {
  EXPECT_EQ(of_process("policy: 1\nquarantine: 5/60\n")->policy,
            (QuarantinePolicy{5, seconds(60)}));
  EXPECT_EQ(of_process("policy: 1\nquarantine: off\n")->policy, kOff);
  ::setenv("EPHOST_QUARANTINE", "4/30", 1);
  const auto both = of_process("policy: 1\nquarantine: 5/60\n");
  EXPECT_EQ(both->policy, (QuarantinePolicy{4, seconds(60)}));
  EXPECT_THAT(both->origins, ElementsAre("EPHOST_QUARANTINE", EndsWith("policy.yaml")));
  ::setenv("EPHOST_QUARANTINE", "off", 1);
  EXPECT_EQ(of_process("policy: 1\nquarantine: 5/60\n")->policy,
            (QuarantinePolicy{5, seconds(60)}));
  EXPECT_EQ(of_process("policy: 1\n")->policy, kOff);
}

TEST_F(QuarantinePolicies, OfTheEnvironmentAreNeverIgnored) {
  ::setenv("EPHOST_QUARANTINE", "often", 1);
  const Status refused = of_process("policy: 1\n").status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.message(), HasSubstr("EPHOST_QUARANTINE cannot be \"often\""));
}

TEST_F(QuarantinePolicies, OfAnEmptyVariableAreTheDefault) {
  ::setenv("EPHOST_QUARANTINE", "", 1);
  EXPECT_EQ(of_process("policy: 1\n")->policy, QuarantinePolicy());
}

TEST_F(QuarantinePolicies, OfTheMachineAreNeverIgnored) {
  EXPECT_THAT(of_process("policy: 1\nquarantine: often\n").status().message(),
              HasSubstr("policy.yaml:2:13: key \"quarantine\": the policy cannot be \"often\""));
  EXPECT_FALSE(load_machine_policy(folder_ / "policy.yaml", Owner::kRootOrUser).ok());
}

}  // namespace
}  // namespace ephost::trust::quarantine_policy_test
