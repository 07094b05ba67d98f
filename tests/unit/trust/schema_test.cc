// The examples of manifests/SCHEMA.md that are about signatures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "host/base/files/file.h"
#include "host/trust/policy.h"
#include "host/trust/quarantine_policy.h"
#include "host/trust/trusted_keys.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::trust::schema_test {
namespace {

using test::IsOk;
using ::testing::SizeIs;

// The block of the page that begins with `begin`.
std::string example(std::string_view begin) {
  const std::string page =
      read_file(std::filesystem::path(EPHOST_MANIFEST_DIRECTORY) / "SCHEMA.md").value();
  const size_t at = page.find("```yaml\n" + std::string(begin));
  if (at == std::string::npos) return {};
  const size_t first = page.find('\n', at) + 1;
  return page.substr(first, page.find("```", first) - first);
}

TEST(TrustSchema, ThePolicyIsAccepted) {
  const ephost::test::TempDirectory folder;
  const auto policy =
      load_machine_policy(folder.write("policy.yaml", example("policy: 1\n")), Owner::kRootOrUser);
  ASSERT_THAT(policy, IsOk());
  EXPECT_EQ(policy->signatures, SignaturePolicy::kRequire);
  EXPECT_EQ(policy->quarantine, (QuarantinePolicy{2, std::chrono::hours(1)}));
}

TEST(TrustSchema, KeysAndRevocationsAreAccepted) {
  const ephost::test::TempDirectory folder;
  folder.write("key.yaml", example("trust: 1\n"));
  folder.write("revoked.yaml", example("revocations: 1\n"));
  const auto keys = load_trusted_keys({.user = folder.path()}, true);
  ASSERT_THAT(keys, IsOk());
  EXPECT_THAT(keys->keys, SizeIs(1));
  EXPECT_THAT(keys->revoked.keys, SizeIs(1));
  EXPECT_THAT(keys->revoked.files, SizeIs(1));
}

}  // namespace
}  // namespace ephost::trust::schema_test
