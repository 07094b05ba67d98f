// Signatures of plugins, as the registry holds them against a policy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "host/base/files/file.h"
#include "host/base/hash.h"
#include "host/plugin/registry.h"
#include "host/trust/secret_key.h"
#include "host/trust/sign_manifest.h"
#include "tests/fixtures/fixtures.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::plugin::registry_signature_test {
namespace {

using test::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RegistrySignature : public ::testing::Test {
 protected:
  RegistrySignature() {
    library_ = test::copy_fixture("good", folder_ / "plugin");
    std::filesystem::create_directory(folder_ / "trust");
    std::filesystem::permissions(folder_ / "trust", std::filesystem::perms::owner_all);
    folder_.write("trust/key.pub", trust::to_text(key_.public_key()));
  }

  [[nodiscard]] std::filesystem::path manifest() const { return folder_ / "plugin/good.yaml"; }
  [[nodiscard]] manifest::FoundPlugin find() const {
    return test::find_plugin_in(folder_ / "plugin");
  }
  [[nodiscard]] trust::Verifier verifier(SignaturePolicy policy) const {
    return {policy, {.places = {.user = folder_ / "trust"}}};
  }

  void complete() const {
    const auto completed = trust::complete_manifest(manifest());
    ASSERT_THAT(completed, IsOk());
    test::write_bytes(manifest(), completed->text);
  }
  void sign() const {
    const std::string text = test::read_bytes(manifest());
    test::write_bytes(trust::signature_file(manifest()),
                      trust::to_text(key_.sign(as_bytes(text), "")));
  }

  [[nodiscard]] bool is_mapped() const {
    return test::read_bytes("/proc/self/maps").find(library_.string()) != std::string::npos;
  }

  test::TempDirectory folder_;
  trust::SecretKey key_ = trust::SecretKey::generate().value();
  std::filesystem::path library_;
};

TEST_F(RegistrySignature, IsLookedAtBeforeAnyCodeIsLoaded) {
  Registry registry;
  registry.set_verifier(verifier(SignaturePolicy::kRequire));
  const auto refused = registry.load(find());
  EXPECT_EQ(refused.status().code(), StatusCode::kEpFail);
  EXPECT_THAT(refused.status().message(),
              AllOf(HasSubstr("is not signed"), HasSubstr("while loading provider")));
  EXPECT_EQ(registry.check(find()).code(), StatusCode::kEpFail);
  EXPECT_FALSE(is_mapped());
  EXPECT_THAT(registry.refusals(), SizeIs(1));
}

TEST_F(RegistrySignature, LetsAPluginLoad) {
  complete();
  sign();
  Registry registry;
  registry.set_verifier(verifier(SignaturePolicy::kRequire));
  EXPECT_THAT(registry.check(find()), IsOk());
  const auto loaded = registry.load(find());
  EXPECT_THAT(loaded, IsOk());
}

TEST_F(RegistrySignature, IsOfTheTextThatWasRead) {
  complete();
  sign();
  const manifest::FoundPlugin found = find();
  // What lies there by now is not what the search has read.
  test::write_bytes(manifest(), "changed");
  Registry registry;
  registry.set_verifier(verifier(SignaturePolicy::kRequire));
  EXPECT_THAT(registry.load(found), IsOk());
}

TEST_F(RegistrySignature, HasToCoverTheLibrary) {
  sign();
  Registry registry;
  registry.set_verifier(verifier(SignaturePolicy::kRequire));
  EXPECT_THAT(registry.load(find()).status().message(),
              AllOf(HasSubstr("does not cover"), HasSubstr("libgood.so"), HasSubstr("\"sha256\"")));
  EXPECT_FALSE(is_mapped());
}

TEST_F(RegistrySignature, HasToCoverWhatTheLibraryNeedsBesideIt) {
  std::filesystem::remove_all(folder_ / "plugin");
  library_ = test::copy_fixture("missing_dependency", folder_ / "plugin");
  std::filesystem::rename(folder_ / "plugin/missing_dependency.yaml", manifest());
  complete();
  sign();
  const manifest::FoundPlugin found = find();
  Registry registry;
  registry.set_verifier(verifier(SignaturePolicy::kRequire));
  EXPECT_THAT(registry.check(found), IsOk());
  folder_.write("plugin/libephost_absent.so", "put there by somebody else");
  for (const Status& status : {registry.check(found), registry.load(found).status()}) {
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("does not cover \"libephost_absent.so\""), HasSubstr("\"files\"")));
  }
  EXPECT_FALSE(is_mapped());
}

TEST_F(RegistrySignature, DoesNotLetChangedFilesPass) {
  folder_.write("plugin/data.bin", "data");
  complete();
  sign();
  test::write_bytes(folder_ / "plugin/data.bin", "Data");
  Registry registry;  // the checksums count without any policy
  EXPECT_THAT(registry.load(find()).status().message(),
              AllOf(HasSubstr("data.bin\" has the SHA-256"), HasSubstr("states ")));
  std::filesystem::remove(folder_ / "plugin/data.bin");
  EXPECT_THAT(registry.check(find()).message(), HasSubstr("the file \"data.bin\""));
}

TEST_F(RegistrySignature, OnlyWarnsUnderWarn) {
  Registry registry;
  registry.set_verifier(verifier(SignaturePolicy::kWarn));
  EXPECT_THAT(registry.load(find()), IsOk());
  EXPECT_THAT(registry.check(find()), IsOk());
}

TEST_F(RegistrySignature, RefusesWhatWasRevokedUnderWarn) {
  complete();
  sign();
  ASSERT_THAT(trust::revoke(folder_ / "trust", {.keys = {key_.public_key().id}}), IsOk());
  Registry registry;
  registry.set_verifier(verifier(SignaturePolicy::kWarn));
  EXPECT_THAT(registry.load(find()).status().message(), HasSubstr("was revoked"));
}

TEST_F(RegistrySignature, RefusesARevokedLibraryThatTheManifestDoesNotState) {
  const std::string library = test::read_bytes(library_);
  ASSERT_THAT(trust::revoke(folder_ / "trust", {.files = {*sha256_of(as_bytes(library))}}), IsOk());
  Registry registry;
  registry.set_verifier(verifier(SignaturePolicy::kWarn));
  EXPECT_THAT(registry.check(find()).message(), HasSubstr("was revoked"));
  EXPECT_THAT(registry.load(find()).status().message(), HasSubstr("was revoked"));
  EXPECT_FALSE(is_mapped());
}

TEST_F(RegistrySignature, OfAStricterSessionIsJudgedForThatSession) {
  Registry registry;
  registry.set_verifier(verifier(SignaturePolicy::kOff));
  EXPECT_FALSE(registry.load(find(), SignaturePolicy::kRequire).ok());
  EXPECT_THAT(registry.refusals(), IsEmpty());
  const auto loaded = registry.load(find());
  EXPECT_THAT(loaded, IsOk());
  // Nor does the strict one get what is loaded for another.
  EXPECT_THAT(registry.load(find(), SignaturePolicy::kRequire).status().message(),
              HasSubstr("is not signed"));
}

}  // namespace
}  // namespace ephost::plugin::registry_signature_test
