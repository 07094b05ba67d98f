#include "host/trust/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/status_matchers.h"
#include "tests/unit/trust/samples.h"

namespace ephost::trust::verifier_test {
namespace {

namespace fs = std::filesystem;
using test::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::make_key;
using testing::Plugin;

std::string problem(const Plugin& plugin) {
  const SignatureState state = plugin.examine();
  EXPECT_EQ(state.status.code(), StatusCode::kEpFail);
  return state.status.message();
}

TEST(Verifier, AcceptsWhatATrustedKeySigned) {
  const Plugin plugin;
  const SecretKey key = make_key();
  plugin.trust({.key = key.public_key(), .name = "Acme"});
  plugin.sign(key, {.time = 1, .provider = "AcmeExecutionProvider", .version = "1.2.3"});
  const SignatureState state = plugin.examine();
  EXPECT_THAT(state.status, IsOk());
  EXPECT_EQ(state.summary(), "signed by " + to_text(key.public_key().id) + " (Acme)");
}

TEST(Verifier, NamesTheFileTheReasonAndTheRemedy) {
  const Plugin plugin;
  EXPECT_THAT(problem(plugin),
              AllOf(HasSubstr(plugin.manifest_file().native() + "\" is not signed"),
                    HasSubstr("acme.yaml.minisig\""), HasSubstr("\"ephost sign\"")));
  EXPECT_EQ(plugin.examine().summary(), "unsigned");
}

TEST(Verifier, RefusesAKeyThatNobodyTrusts) {
  const Plugin plugin;
  const SecretKey key = make_key();
  plugin.sign(key);
  EXPECT_THAT(problem(plugin), AllOf(HasSubstr(to_text(key.public_key().id) + " is not trusted"),
                                     HasSubstr("\"ephost trust add\"")));
  EXPECT_EQ(plugin.examine().summary(), "not trusted");
}

TEST(Verifier, RefusesAKeyThatOnlyHasATrustedId) {
  const Plugin plugin;
  const SecretKey key = make_key();
  PublicKey other = make_key().public_key();
  other.id = key.public_key().id;
  plugin.trust(TrustedKey{.key = other});
  plugin.sign(key);
  EXPECT_THAT(problem(plugin), HasSubstr("not a signature of this content"));
}

TEST(Verifier, RefusesAChangedManifest) {
  const Plugin plugin;
  const SecretKey key = make_key();
  plugin.trust(key);
  plugin.sign(key);
  plugin.folder.write("plugin/acme.yaml", plugin.manifest_text() + "# changed\n");
  EXPECT_THAT(problem(plugin), HasSubstr("not a signature of this content"));
}

TEST(Verifier, RefusesTheSignatureOfAnotherManifest) {
  const Plugin plugin, other;
  const SecretKey key = make_key();
  plugin.trust(key);
  other.folder.write("plugin/acme.yaml", other.manifest_text() + "# another release\n");
  other.sign(key);
  fs::create_symlink(signature_file(other.manifest_file()), signature_file(plugin.manifest_file()));
  EXPECT_THAT(problem(plugin), HasSubstr("not a signature of this content"));
}

TEST(Verifier, HoldsTheManifestAgainstTheTrustedComment) {
  const Plugin plugin;
  const SecretKey key = make_key();
  plugin.trust(key);
  plugin.sign(key, {.provider = "BcmeExecutionProvider", .version = "1.2.3"});
  EXPECT_THAT(problem(plugin), HasSubstr("is about \"BcmeExecutionProvider\" 1.2.3"));
  plugin.sign(key, {.provider = "AcmeExecutionProvider", .version = "1.2.2"});
  EXPECT_THAT(problem(plugin), HasSubstr("is about \"AcmeExecutionProvider\" 1.2.2"));
}

TEST(Verifier, LetsSignaturesAndKeysExpire) {
  Plugin plugin;
  const SecretKey key = make_key();
  plugin.trust({.key = key.public_key(), .expires = 2'000});
  plugin.sign(key, {.expires = 1'000});
  plugin.now = 999;
  EXPECT_THAT(plugin.examine().status, IsOk());
  plugin.now = 1'000;
  EXPECT_THAT(problem(plugin), HasSubstr("it expired on 1970-01-01T00:16:40Z"));
  plugin.sign(key);
  EXPECT_THAT(plugin.examine().status, IsOk());
  plugin.now = 2'000;
  EXPECT_THAT(problem(plugin), HasSubstr("is trusted until 1970-01-01T00:33:20Z only"));
}

TEST(Verifier, KeepsPinnedKeysToTheirProviders) {
  const Plugin plugin;
  const SecretKey key = make_key();
  plugin.trust({.key = key.public_key(), .providers = {"BcmeExecutionProvider"}});
  plugin.sign(key);
  EXPECT_THAT(problem(plugin), HasSubstr("is trusted for BcmeExecutionProvider alone"));
  plugin.trust({.key = key.public_key(), .models = true});
  EXPECT_THAT(problem(plugin), HasSubstr("is trusted for context models alone"));
}

TEST(Verifier, KeepsProvidersToTheirPinnedKeys) {
  const Plugin plugin;
  const SecretKey pinned = make_key(), other = make_key();
  plugin.trust({.key = pinned.public_key(), .providers = {"AcmeExecutionProvider"}});
  plugin.trust(other);
  plugin.sign(other);
  EXPECT_THAT(problem(plugin),
              AllOf(HasSubstr("is not the one that AcmeExecutionProvider is pinned to"),
                    HasSubstr(to_text(pinned.public_key().id))));
  plugin.sign(pinned);
  EXPECT_THAT(plugin.examine().status, IsOk());
}

TEST(Verifier, RevocationWinsOverEverything) {
  const Plugin plugin;
  const SecretKey key = make_key();
  plugin.trust(key);
  plugin.sign(key);
  ASSERT_THAT(plugin.examine().status, IsOk());
  ASSERT_THAT(revoke(plugin.folder / "user", {.keys = {key.public_key().id}}), IsOk());
  EXPECT_THAT(problem(plugin), HasSubstr("was revoked"));
  EXPECT_TRUE(plugin.examine().is_revoked);
  EXPECT_EQ(plugin.examine().summary(), "revoked");
}

TEST(Verifier, RevokesFilesWhoeverSignsThem) {
  const Plugin plugin;
  const SecretKey key = make_key();
  plugin.trust(key);
  const std::string library(64, 'a'), kernel(64, 'b');
  plugin.folder.write("plugin/acme.yaml", plugin.manifest_text() +
                                              "sha256: { linux-x86_64: " + library +
                                              " }\nfiles: { kernel.bin: " + kernel + " }\n");
  plugin.sign(key);
  ASSERT_THAT(plugin.examine().status, IsOk());
  const std::string text = plugin.manifest_text();
  for (const std::string& file : {library, kernel, sha256_of(as_bytes(text)).value()}) {
    ASSERT_THAT(revoke(plugin.folder / "user", {.files = {file}}), IsOk());
    EXPECT_THAT(problem(plugin), HasSubstr(file));
    EXPECT_TRUE(plugin.examine().is_revoked);
    fs::remove(plugin.folder / "user" / "revoked.yaml");
  }
}

TEST(Verifier, RefusesSignatureFilesThatCannotBeRead) {
  const Plugin plugin;
  const SecretKey key = make_key();
  plugin.trust(key);
  plugin.sign(key);
  const fs::path file = signature_file(plugin.manifest_file());
  const std::string good = read_file(file).value();
  for (const std::string& bad : {std::string(), good.substr(0, good.size() / 2), good + good}) {
    plugin.folder.write("plugin/acme.yaml.minisig", bad);
    EXPECT_THAT(problem(plugin), HasSubstr("cannot be read"));
  }
  plugin.folder.write("plugin/acme.yaml.minisig", std::string(kMaxSignatureBytes + 1, 'a'));
  EXPECT_THAT(problem(plugin), HasSubstr("16384"));
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_THAT(problem(plugin), HasSubstr("cannot be read"));
  fs::remove(file);
  fs::create_symlink("nowhere", file);
  EXPECT_THAT(problem(plugin), HasSubstr("is not signed"));
}

TEST(Verifier, TrustsNobodyWhereOthersMayWriteTheKeys) {
  const Plugin plugin;
  const SecretKey key = make_key();
  plugin.trust(key);
  plugin.sign(key);
  fs::permissions(plugin.folder / "user", fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(problem(plugin), HasSubstr("others may write it"));
  EXPECT_EQ(plugin.examine().summary(), "not trusted");
}

class ModelSignature : public ::testing::Test {
 protected:
  ModelSignature() { plugin_.trust(TrustedKey{.key = key_.public_key(), .models = true}); }

  void sign(const ModelFiles& files) {
    const SignedFacts facts{.files = digest_of_files(files).value()};
    plugin_.folder.write("model.onnx.minisig",
                         to_text(key_.sign(as_bytes("model"), to_text(facts))));
  }
  [[nodiscard]] std::string problem(const ModelFiles& files, std::string_view content = "model") {
    const SignatureState state =
        plugin_.verifier().examine_model(plugin_.folder / "model.onnx", as_bytes(content), files);
    return state.status.message();
  }

  SecretKey key_ = make_key();
  Plugin plugin_;
};

TEST_F(ModelSignature, CoversTheModelAndItsFiles) {
  const ModelFiles files{{"a.bin", as_bytes("a")}, {"b.bin", as_bytes("b")}};
  sign(files);
  EXPECT_EQ(problem(files), "");
  EXPECT_THAT(problem(files, "Model"), HasSubstr("not a signature of this content"));
  EXPECT_THAT(problem({{"a.bin", as_bytes("a")}, {"b.bin", as_bytes("c")}}),
              HasSubstr("it is of other files"));
  EXPECT_THAT(problem({{"a.bin", as_bytes("b")}, {"b.bin", as_bytes("a")}}),
              HasSubstr("it is of other files"));
  EXPECT_THAT(problem({{"a.bin", as_bytes("a")}}), HasSubstr("it is of other files"));
  EXPECT_THAT(problem({}), HasSubstr("it is of other files"));
}

TEST_F(ModelSignature, OfMinisignDoesForAModelWithoutFiles) {
  plugin_.folder.write("model.onnx.minisig", to_text(key_.sign(as_bytes("model"), "a comment")));
  EXPECT_EQ(problem({}), "");
  EXPECT_THAT(problem({{"a.bin", as_bytes("a")}}), HasSubstr("does not cover the files"));
}

TEST_F(ModelSignature, IsNotMadeWithAKeyForPlugins) {
  plugin_.trust(TrustedKey{.key = key_.public_key(), .providers = {"AcmeExecutionProvider"}});
  sign({});
  EXPECT_THAT(problem({}), HasSubstr("is trusted for plugins of AcmeExecutionProvider alone"));
}

TEST_F(ModelSignature, RevokesFiles) {
  const ModelFiles files{{"a.bin", as_bytes("a")}};
  sign(files);
  ASSERT_THAT(revoke(plugin_.folder / "user", {.files = {sha256_of(as_bytes("a")).value()}}),
              IsOk());
  EXPECT_THAT(problem(files), HasSubstr("was revoked"));
}

TEST_F(ModelSignature, IsNotFoundForAModelInMemory) {
  const SignatureState state = plugin_.verifier().examine_model({}, as_bytes("model"), {});
  EXPECT_EQ(state.status.code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(state.status.message(), HasSubstr("load it from a file"));
}

}  // namespace
}  // namespace ephost::trust::verifier_test
