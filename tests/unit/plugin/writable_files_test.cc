// Files of plugins that others may write into, which was allowed: where a checksum is stated, no
// byte is used but those that were checked, neither when the plugin is loaded nor later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <iomanip>
#include <sstream>
#include <string>

#include "host/base/files/file.h"
#include "host/plugin/loading/plugin_files.h"
#include "host/plugin/registry.h"
#include "host/trust/secret_key.h"
#include "host/trust/sign_manifest.h"
#include "host/trust/verifier.h"
#include "tests/fixtures/fixtures.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/plugin/attacked_plugin.h"

namespace ephost::plugin::writable_files_test {
namespace {

using test::IsOk;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// How many bytes that are mapped from the file, and may only be read or run, differ from `bytes`.
struct Compared {
  size_t bytes = 0;
  size_t differing = 0;
};
Compared compare_mapped(const std::filesystem::path& file, const std::string& bytes) {
  Compared compared;
  std::istringstream maps(test::read_bytes("/proc/self/maps"));
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with(" " + file.string()) || line.find("-xp") == std::string::npos) continue;
    std::istringstream fields(line);
    uintptr_t begin = 0;
    uintptr_t end = 0;
    size_t offset = 0;
    std::string access;
    char dash = 0;
    fields >> std::hex >> begin >> dash >> end >> access >> offset;
    const char* const mapped = reinterpret_cast<const char*>(begin);
    for (size_t i = 0; i < end - begin && offset + i < bytes.size(); ++i) {
      ++compared.bytes;
      compared.differing += mapped[i] != bytes[offset + i];
    }
  }
  return compared;
}

// The plugin "good", whose library is writable for everybody.
class WritableFiles : public AttackedPlugin {
 protected:
  void SetUp() override {
    ::setenv("EPHOST_ALLOW_WRITABLE_PLUGINS", "1", 1);
    library_ = test::copy_fixture("good", directory_ / "plugin");
    for (const auto& folder : {directory_.path(), directory_ / "plugin"}) {
      ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
    }
    ASSERT_EQ(::chmod(library_.c_str(), 0666), 0);
    const std::filesystem::path manifest = directory_ / "plugin/good.yaml";
    const auto completed = trust::complete_manifest(manifest);
    ASSERT_THAT(completed, IsOk());
    test::write_bytes(manifest, completed->text);
    plugin_ = test::find_plugin_in(directory_ / "plugin");
  }

  std::filesystem::path library_;
};

TEST_F(WritableFiles, KeepNothingFromBeingLoaded) {
  Registry registry;
  const auto loaded = registry.load(plugin_);
  EXPECT_THAT(loaded, IsOk());
}

TEST_F(WritableFiles, MayBeWrittenLaterWithoutEffect) {
  const std::string bytes = test::read_bytes(library_);
  Registry registry;
  const auto loaded = registry.load(plugin_);
  ASSERT_THAT(loaded, IsOk());
  std::fstream file(library_, std::ios::binary | std::ios::in | std::ios::out);
  file << std::string(bytes.size(), '\xcc');
  file.close();
  const Compared code = compare_mapped(library_, bytes);
  EXPECT_GT(code.bytes, 0U);
  EXPECT_EQ(code.differing, 0U);
  file.open(library_, std::ios::binary | std::ios::in | std::ios::out);
  file << bytes;
}

// Only the owner of a file, and root, can have a lease on it.
TEST_F(WritableFiles, OfSomebodyElseAreRefusedWhereTheirChecksumIsStated) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown(library_.c_str(), 1234, 1234), 0);
  const auto open_as_nobody = [&] {
    EXPECT_EQ(::seteuid(65534), 0);
    auto files = PluginFiles::open(plugin_);
    EXPECT_EQ(::seteuid(0), 0);
    return files.status();
  };
  const Status refused = open_as_nobody();
  EXPECT_EQ(refused.code(), StatusCode::kEpFail);
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("others can write into \"" + library_.string()),
                                       HasSubstr("its SHA-256 means nothing")));
  plugin_.manifest.libraries.begin()->second.sha256.reset();
  EXPECT_THAT(open_as_nobody(), IsOk());
}

TEST_F(WritableFiles, OfRootNeedNoLease) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  ASSERT_EQ(::chmod(library_.c_str(), 0644), 0);
  ASSERT_EQ(::seteuid(65534), 0);
  const auto files = PluginFiles::open(plugin_);
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_THAT(files, IsOk());
}

TEST_F(WritableFiles, MakeASignatureWorthless) {
  const trust::SecretKey key = trust::SecretKey::generate().value();
  test::write_bytes(trust::signature_file(plugin_.manifest.file),
                    trust::to_text(key.sign(as_bytes(plugin_.text), "")));
  const trust::Verifier::Sources sources{.places = {},
                                         .keys = {{.key = key.public_key(), .name = "vendor"}}};
  Registry strict;
  strict.set_verifier({SignaturePolicy::kRequire, sources});
  for (const Status& status : {strict.check(plugin_), strict.load(plugin_).status()}) {
    EXPECT_EQ(status.code(), StatusCode::kEpFail);
    EXPECT_THAT(status.message(), AllOf(HasSubstr("the signature of the plugin"),
                                        HasSubstr("has the mode 0666"), HasSubstr("chmod go-w")));
  }
  EXPECT_THAT(test::read_bytes("/proc/self/maps"), Not(HasSubstr(library_.string())));
  Registry lenient;
  lenient.set_verifier({SignaturePolicy::kWarn, sources});
  const auto loaded = lenient.load(plugin_);
  ASSERT_THAT(loaded, IsOk());
  EXPECT_FALSE(lenient.load(plugin_, SignaturePolicy::kRequire).ok());
  ASSERT_EQ(::chmod(library_.c_str(), 0644), 0);
  Registry another;
  another.set_verifier({SignaturePolicy::kRequire, sources});
  EXPECT_THAT(another.load(plugin_), IsOk());
}

}  // namespace
}  // namespace ephost::plugin::writable_files_test
