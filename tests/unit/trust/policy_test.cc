#include "host/trust/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::trust::policy_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

TEST(Policy, HasThreeWords) {
  EXPECT_EQ(parse_signature_policy("off"), SignaturePolicy::kOff);
  EXPECT_EQ(parse_signature_policy("warn"), SignaturePolicy::kWarn);
  EXPECT_EQ(parse_signature_policy("require"), SignaturePolicy::kRequire);
  EXPECT_EQ(parse_signature_policy("Require"), std::nullopt);
  EXPECT_EQ(signature_policy_name(SignaturePolicy::kWarn), "warn");
}

TEST(Policy, TheStrictestCounts) {
  EXPECT_EQ(strictest(SignaturePolicy::kOff, SignaturePolicy::kWarn), SignaturePolicy::kWarn);
  EXPECT_EQ(strictest(SignaturePolicy::kRequire, SignaturePolicy::kWarn),
            SignaturePolicy::kRequire);
}

TEST(Policy, OfTheMachineIsOptional) {
  const ephost::test::TempDirectory folder;
  const auto policy = load_machine_policy(folder / "policy.yaml", Owner::kRootOrUser);
  ASSERT_THAT(policy, IsOk());
  EXPECT_EQ(policy->signatures, SignaturePolicy::kOff);
  EXPECT_TRUE(policy->user_keys);
  EXPECT_EQ(policy->isolation, Isolation::kNone);
}

TEST(Policy, OfTheMachineIsRead) {
  const ephost::test::TempDirectory folder;
  const auto policy = load_machine_policy(
      folder.write("policy.yaml", "policy: 1\nsignatures: require\nuser_keys: false\n"),
      Owner::kRootOrUser);
  ASSERT_THAT(policy, IsOk());
  EXPECT_EQ(policy->signatures, SignaturePolicy::kRequire);
  EXPECT_FALSE(policy->user_keys);
  const auto isolated =
      load_machine_policy(folder.write("policy.yaml", "policy: 1\nisolation: worker\n"));
  ASSERT_THAT(isolated, IsOk());
  EXPECT_EQ(isolated->isolation, Isolation::kWorker);
}

TEST(Policy, OfTheMachineIsNeverIgnored) {
  const ephost::test::TempDirectory folder;
  const auto error_of = [&](std::string_view text) {
    return load_machine_policy(folder.write("policy.yaml", text), Owner::kRootOrUser)
        .status()
        .message();
  };
  EXPECT_THAT(error_of(""), HasSubstr("policy.yaml:1:1"));
  EXPECT_THAT(error_of("signatures: require\n"), HasSubstr("\"policy\""));
  EXPECT_THAT(error_of("policy: 2\n"), HasSubstr("policy format 2 is not supported"));
  EXPECT_THAT(error_of("policy: 1\nsignatures: yes\n"), HasSubstr("write off, warn or require"));
  EXPECT_THAT(error_of("policy: 1\nisolation: cell\n"),
              HasSubstr("policy.yaml:2:12: key \"isolation\": the isolation cannot be \"cell\"; "
                        "write one of none, worker, sandbox"));
  EXPECT_THAT(error_of("policy: 1\nsignature: require\n"),
              HasSubstr("did you mean \"signatures\"?"));
}

TEST(Policy, OfTheMachineIsNotTakenFromOthers) {
  const ephost::test::TempDirectory folder;
  const std::filesystem::path file = folder.write("open/policy.yaml", "policy: 1\n");
  const auto load = [&] { return load_machine_policy(file, Owner::kRootOrUser).status(); };
  EXPECT_THAT(load(), IsOk());
  for (const std::filesystem::path& path : {file, file.parent_path()}) {
    const std::filesystem::perms before = std::filesystem::status(path).permissions();
    std::filesystem::permissions(path, std::filesystem::perms::all);
    EXPECT_EQ(load().code(), StatusCode::kFail);
    EXPECT_THAT(load().message(), HasSubstr("decides whom to trust"));
    EXPECT_THAT(load().message(), HasSubstr("777"));
    std::filesystem::permissions(path, before);
  }
  // Nor may others have removed it.
  std::filesystem::remove(file);
  EXPECT_THAT(load(), IsOk());
  std::filesystem::permissions(file.parent_path(), std::filesystem::perms::all);
  EXPECT_EQ(load().code(), StatusCode::kFail);
  std::filesystem::permissions(file.parent_path(), std::filesystem::perms::owner_all);
  folder.write("open/policy.yaml", "policy: 1\n");
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown(file.c_str(), 65534, 65534), 0);
  EXPECT_THAT(load_machine_policy(file).status().message(), HasSubstr("owner 65534"));
}

TEST(Policy, OfTheEnvironmentIsRead) {
  ::setenv("EPHOST_SIGNATURES", "warn", 1);
  EXPECT_EQ(policy_of_environment().value(), SignaturePolicy::kWarn);
  ::setenv("EPHOST_SIGNATURES", "yes", 1);
  EXPECT_THAT(policy_of_environment().status().message(),
              HasSubstr("set it to off, warn or require"));
  ::unsetenv("EPHOST_SIGNATURES");
  EXPECT_EQ(policy_of_environment().value(), SignaturePolicy::kOff);
}

TEST(Policy, IsolationOfTheEnvironmentIsRead) {
  ::setenv("EPHOST_ISOLATION", "sandbox", 1);
  EXPECT_EQ(isolation_of_environment().value(), Isolation::kSandbox);
  ::setenv("EPHOST_ISOLATION", "cell", 1);
  EXPECT_THAT(isolation_of_environment().status().message(),
              HasSubstr("write one of none, worker, sandbox"));
  ::unsetenv("EPHOST_ISOLATION");
  EXPECT_EQ(isolation_of_environment().value(), Isolation::kNone);
}

}  // namespace
}  // namespace ephost::trust::policy_test
