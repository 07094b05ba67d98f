#include "host/trust/trusted_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "tests/support/status_matchers.h"
#include "tests/unit/trust/samples.h"

namespace ephost::trust::trusted_keys_test {
namespace {

namespace fs = std::filesystem;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class TrustedKeysTest : public ::testing::Test {
 protected:
  [[nodiscard]] Result<TrustedKeys> load(bool user_keys = true) const {
    return load_trusted_keys({.machine = folder_ / "machine", .user = folder_ / "user"}, user_keys);
  }
  [[nodiscard]] std::string error() const { return load().status().message(); }
  void add(std::string_view folder, TrustedKey key) const {
    const Status added = add_trusted_key(folder_ / folder, key);
    ASSERT_THAT(added, IsOk());
  }

  ephost::test::TempDirectory folder_;
};

TEST_F(TrustedKeysTest, ThereNeedNotBeAny) {
  const auto keys = load();
  ASSERT_THAT(keys, IsOk());
  EXPECT_THAT(keys->keys, SizeIs(0));
}

TEST_F(TrustedKeysTest, AreNotMissedBecauseOfAShortSuffix) {
  add("user", {.key = testing::make_key().public_key()});
  folder_.write("user/list.yml", "revocations: 1\nfiles: [\"" + std::string(64, 'a') + "\"]\n");
  const auto keys = load();
  ASSERT_THAT(keys, IsOk());
  EXPECT_THAT(keys->revoked.files, ElementsAre(std::string(64, 'a')));
}

TEST_F(TrustedKeysTest, CountWhateverTheUmaskIs) {
  const mode_t before = ::umask(0);
  add("config/ephost/trust", {.key = testing::make_key().public_key()});
  ::umask(before);
  const auto keys = load_trusted_keys({.user = folder_ / "config/ephost/trust"}, true);
  ASSERT_THAT(keys, IsOk());
  EXPECT_THAT(keys->keys, SizeIs(1));
}

TEST_F(TrustedKeysTest, ComeBackAsTheyWereAdded) {
  const TrustedKey added{.key = testing::make_key().public_key(),
                         .name = "Acme \"Corp\" \\ x",
                         .providers = {"AcmeExecutionProvider", "BcmeExecutionProvider"},
                         .models = true,
                         .expires = 1'900'000'000};
  add("user", added);
  const auto read = load();
  ASSERT_THAT(read, IsOk());
  ASSERT_THAT(read->keys, SizeIs(1));
  const TrustedKey& key = read->keys.front();
  EXPECT_EQ(key.key, added.key);
  EXPECT_EQ(key.name, added.name);
  EXPECT_EQ(key.providers, added.providers);
  EXPECT_TRUE(key.models);
  EXPECT_EQ(key.expires, added.expires);
  EXPECT_FALSE(key.is_machine);
}

TEST_F(TrustedKeysTest, AreTheMachinesFirst) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make what root trusts";
  add("user", {.key = testing::make_key().public_key(), .name = "mine"});
  add("machine", {.key = testing::make_key().public_key(), .name = "ours"});
  const auto all = load();
  ASSERT_THAT(all, IsOk());
  ASSERT_THAT(all->keys, SizeIs(2));
  EXPECT_EQ(all->keys.front().name, "ours");
  EXPECT_TRUE(all->keys.front().is_machine);
  const auto machine = load(false);
  ASSERT_THAT(machine->keys, SizeIs(1));
  EXPECT_EQ(machine->keys.front().name, "ours");
}

TEST_F(TrustedKeysTest, MayBePublicKeyFiles) {
  const PublicKey key = testing::make_key().public_key();
  fs::create_directory(folder_ / "user");
  folder_.write("user/acme.pub", to_text(key));
  folder_.write("user/README", "not a key");
  const auto read = load();
  ASSERT_THAT(read, IsOk());
  ASSERT_THAT(read->keys, SizeIs(1));
  EXPECT_EQ(read->keys.front().key, key);
  EXPECT_EQ(read->keys.front().name, "acme");
  folder_.write("user/bad.pub", "bad");
  EXPECT_THAT(error(), HasSubstr("bad.pub"));
}

TEST_F(TrustedKeysTest, VouchForWhatTheyArePinnedTo) {
  const TrustedKey open{};
  EXPECT_TRUE(open.may_sign_plugin("A") && open.may_sign_plugin("") && open.may_sign_models());
  const TrustedKey pinned{.providers = {"A"}};
  EXPECT_TRUE(pinned.may_sign_plugin("A"));
  EXPECT_FALSE(pinned.may_sign_plugin("B") || pinned.may_sign_plugin("") ||
               pinned.may_sign_models());
  const TrustedKey models{.models = true};
  EXPECT_TRUE(models.may_sign_models());
  EXPECT_FALSE(models.may_sign_plugin("A") || models.may_sign_plugin(""));
  const TrustedKey both{.providers = {"A"}, .models = true};
  EXPECT_TRUE(both.may_sign_plugin("A") && both.may_sign_models());
  EXPECT_FALSE(both.may_sign_plugin("B"));
}

TEST_F(TrustedKeysTest, AreRefusedWhereOthersMayReplaceTheirFolder) {
  fs::create_directory(folder_ / "open");
  fs::create_directory_symlink("open/keys", folder_ / "user");
  fs::create_directory(folder_ / "open/keys");
  fs::permissions(folder_ / "open/keys", fs::perms::owner_all);
  EXPECT_THAT(load(), IsOk()) << error();
  fs::permissions(folder_ / "open", fs::perms::all);
  EXPECT_EQ(load().status().code(), StatusCode::kFail);
  EXPECT_THAT(error(), HasSubstr("the folder \"" + (folder_ / "open").string() + "\""));
  // What allows plugins does not allow keys.
  ::setenv("EPHOST_ALLOW_WRITABLE_PLUGINS", "1", 1);
  EXPECT_FALSE(load().ok());
  ::unsetenv("EPHOST_ALLOW_WRITABLE_PLUGINS");
}

TEST_F(TrustedKeysTest, AreRefusedWhereOthersMayWrite) {
  add("user", {.key = testing::make_key().public_key()});
  const fs::path file = *fs::directory_iterator(folder_ / "user");
  for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    for (const fs::path& path : {fs::path(folder_ / "user"), file}) {
      fs::permissions(path, others, fs::perm_options::add);
      EXPECT_EQ(load().status().code(), StatusCode::kFail);
      EXPECT_THAT(error(), HasSubstr("\"" + path.native() + "\""));
      EXPECT_THAT(error(), HasSubstr("others may write it"));
      EXPECT_THAT(error(), HasSubstr("chmod go-w"));
      fs::permissions(path, others, fs::perm_options::remove);
      EXPECT_THAT(load(), IsOk());
    }
  }
}

TEST_F(TrustedKeysTest, AreRefusedWhereOthersOwn) {
  add("user", {.key = testing::make_key().public_key()});
  if (::chown((folder_ / "user").c_str(), 12345, 12345) != 0) {
    GTEST_SKIP() << "only root can give a folder away";
  }
  EXPECT_THAT(error(), HasSubstr("owner 12345"));
}

TEST_F(TrustedKeysTest, AreReadStrictly) {
  fs::create_directory(folder_ / "user");
  const std::string key = encode_public_key(testing::make_key().public_key());
  const auto error_of = [&](const std::string& text) {
    folder_.write("user/a.yaml", text);
    return error();
  };
  EXPECT_EQ(error_of("trust: 1\nkey: " + key + "\n"), "");
  EXPECT_THAT(error_of("key: " + key + "\n"), HasSubstr("\"trust\""));
  EXPECT_THAT(error_of("trust: 2\nkey: " + key + "\n"), HasSubstr("trust format 2"));
  EXPECT_THAT(error_of("trust: 1\nkey: RWxx\n"), HasSubstr("a.yaml:2:6"));
  EXPECT_THAT(error_of("trust: 1\nkey: " + key + "\nproviders: []\n"),
              HasSubstr("the list is empty"));
  EXPECT_THAT(error_of("trust: 1\nkey: " + key + "\nproviders: [a-b]\n"), HasSubstr("a-b"));
  EXPECT_THAT(error_of("trust: 1\nkey: " + key + "\nexpires: soon\n"), HasSubstr("is not a time"));
  EXPECT_THAT(error_of("trust: 1\nkey: " + key + "\nprovider: a\n"),
              HasSubstr("did you mean \"providers\"?"));
  EXPECT_THAT(error_of("revocations: 1\nkeys: [12]\n"), HasSubstr("not the id of a key"));
  EXPECT_THAT(error_of("revocations: 1\nfiles: [12]\n"), HasSubstr("not a SHA-256"));
  EXPECT_THAT(error_of("revocations: 1\nfile: [12]\n"), HasSubstr("did you mean \"files\"?"));
}

TEST_F(TrustedKeysTest, RevocationsAddUp) {
  const KeyId one = testing::make_key().public_key().id;
  const std::string sha256(64, 'a');
  ASSERT_THAT(revoke(folder_ / "user", {.keys = {one}}), IsOk());
  ASSERT_THAT(revoke(folder_ / "user", {.files = {sha256}}), IsOk());
  const auto read = load(false);
  ASSERT_THAT(read, IsOk());
  EXPECT_THAT(read->revoked.keys, ElementsAre(one));
  EXPECT_THAT(read->revoked.files, ElementsAre(sha256));
}

TEST_F(TrustedKeysTest, AnOversizedFileIsRefused) {
  fs::create_directory(folder_ / "user");
  folder_.write("user/a.yaml", std::string(1 << 20, '#'));
  EXPECT_THAT(error(), HasSubstr("has more than 262144 bytes"));
}

TEST(TrustPlaces, FollowTheEnvironment) {
  ::setenv("XDG_CONFIG_HOME", "/x", 1);
  EXPECT_EQ(default_trust_places().user, "/x/ephost/trust");
  ::setenv("XDG_CONFIG_HOME", "relative", 1);
  ::setenv("HOME", "/h", 1);
  EXPECT_EQ(default_trust_places().user, "/h/.config/ephost/trust");
  EXPECT_EQ(default_trust_places().machine, "/etc/ephost/trust");
  ::unsetenv("XDG_CONFIG_HOME");
}

}  // namespace
}  // namespace ephost::trust::trusted_keys_test
