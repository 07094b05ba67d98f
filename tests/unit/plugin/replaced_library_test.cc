// The library of a plugin is replaced while it is loaded: whatever happens, no code runs but that
// of the file that was checked.
#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <iostream>
#include <string>
#include <thread>

#include "host/plugin/loading/guarded_load.h"
#include "host/plugin/loading/held_file.h"
#include "host/plugin/loading/library.h"
#include "host/plugin/loading/mapped_lines.h"
#include "host/plugin/registry.h"
#include "tests/fixtures/fixtures.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/plugin/attacked_plugin.h"

namespace ephost::plugin::replaced_library_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

std::filesystem::path library_of(const std::string& fixture) {
  return test::fixture_directory(fixture) / ("lib" + fixture + ".so");
}

// The plugin "good" in a folder of its own, whose manifest has the library's checksum.
class ReplacedLibrary : public AttackedPlugin {
 protected:
  void SetUp() override {
    library_ = test::copy_fixture("good", directory_ / "plugin");
    other_ = directory_.path() / "other.so";
    std::filesystem::copy_file(library_of("constructor"), other_);
    good_ = directory_.path() / "good.so";
    std::filesystem::copy_file(library_, good_);
    plugin_ = test::find_plugin_in(directory_ / "plugin");
    plugin_.manifest.libraries.begin()->second.sha256 = checksum_of(test::read_bytes(library_));
  }

  std::filesystem::path library_;
  std::filesystem::path other_;
  std::filesystem::path good_;
};

TEST_F(ReplacedLibrary, RunsNoCodeOfAFileThatIsRenamedIntoItsPlace) {
  const std::string added = directory_ / "added.so";
  const Attacker attacker([&](int n) {
    const std::filesystem::path& file = n % 2 == 0 ? other_ : good_;
    if (::link(file.c_str(), added.c_str()) == 0) ::rename(added.c_str(), library_.c_str());
  });
  const Outcomes outcomes = load_repeatedly(1000);
  EXPECT_GT(outcomes.replaced, 0);
}

TEST_F(ReplacedLibrary, RunsNoCodeOfAFolderThatIsRenamedIntoThePlaceOfItsOwn) {
  const std::string folder = library_.parent_path();
  const std::string other = directory_ / "other";
  std::filesystem::create_directory(other);
  std::filesystem::copy_file(other_, std::filesystem::path(other) / library_.filename());
  const Attacker attacker([&](int) {
    ::renameat2(AT_FDCWD, folder.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
  });
  const Outcomes outcomes = load_repeatedly(1000);
  EXPECT_GT(outcomes.replaced, 0);
}

TEST_F(ReplacedLibrary, RunsNoCodeThatIsWrittenIntoTheFile) {
  const std::string good = test::read_bytes(good_);
  const std::string other = test::read_bytes(other_);
  const Attacker attacker([&](int n) {
    const std::string& bytes = n % 2 == 0 ? other : good;
    const int file = ::open(library_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (file < 0) return;
    if (::write(file, bytes.data(), bytes.size()) < 0) ::_exit(1);
    ::close(file);
  });
  int loaded = 0;
  for (int i = 0; i < 1000; ++i) {
    const FirstMoments load = load_in_a_process();
    EXPECT_TRUE(load.has_returned) << "in load " << i;
    EXPECT_FALSE(load.has_run_other_code) << "in load " << i;
    if (::testing::Test::HasFailure()) break;
    loaded += load.is_loaded ? 1 : 0;
  }
  std::cout << loaded << " loaded\n";
  EXPECT_GT(loaded, 0);
}

TEST_F(ReplacedLibrary, RunsNoResolverOfTheOtherFile) {
  MappedFile checked = *MappedFile::open(library_);
  std::filesystem::rename(library_, directory_ / "checked.so");
  std::filesystem::copy_file(library_of("resolver"), library_);
  const auto library = Library::open(std::move(checked));
  ASSERT_FALSE(library.ok());
  EXPECT_THAT(library.status().message(), HasSubstr("was replaced while it was being loaded"));
}

TEST_F(ReplacedLibrary, CanBeLoadedOnceTheRightFileIsThereAgain) {
  MappedFile checked = *MappedFile::open(library_);
  std::filesystem::rename(other_, library_);
  EXPECT_FALSE(Library::open(std::move(checked)).ok());
  std::filesystem::rename(good_, library_);
  Registry registry;
  const auto loaded = registry.load(plugin_);
  EXPECT_THAT(loaded, IsOk());
  EXPECT_EQ(::getenv(kHasRun), nullptr);
}

TEST_F(ReplacedLibrary, LeavesNothingBehindWhereItIsRefused) {
  MappedFile checked = *MappedFile::open(library_);
  std::filesystem::rename(other_, library_);
  EXPECT_FALSE(Library::open(std::move(checked)).ok());
  const std::string maps = test::read_bytes("/proc/self/maps");
  EXPECT_EQ(maps.find(library_.string()), std::string::npos);
  EXPECT_EQ(maps.find("ephost-load-guard"), std::string::npos);
}

// A debugger and the library itself (dladdr) see the path in the plugin's folder.
TEST(GuardedLibrary, HasItsOwnPath) {
  const test::TempDirectory directory;
  const std::filesystem::path path = test::copy_fixture("good", directory / "plugin");
  const auto library = Library::open(*MappedFile::open(path));
  ASSERT_THAT(library, IsOk());
  Dl_info info = {};
  auto* const entry =
      (*library)->find_function<std::remove_pointer_t<eph_plugin_v1_function>>("eph_plugin_v1");
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(entry), &info), 0);
  EXPECT_EQ(info.dli_fname, path.string());
}

TEST(GuardedLibrary, LeavesStacksThatNobodyCanExecute) {
  const test::TempDirectory directory;
  const std::filesystem::path path = test::copy_fixture("good", directory / "plugin");
  const auto library = Library::open(*MappedFile::open(path));
  ASSERT_THAT(library, IsOk());
  const std::string maps = test::read_bytes("/proc/self/maps");
  const size_t stack = maps.find("[stack]");
  ASSERT_NE(stack, std::string::npos);
  EXPECT_THAT(maps.substr(maps.rfind('\n', stack) + 1), HasSubstr("rw-p"));
}

TEST(HeldFile, KeepsWritersWaiting) {
  const test::TempDirectory directory;
  const std::filesystem::path path = directory.write("file", "content");
  std::atomic<bool> is_open{false};
  std::thread writer;
  {
    const auto held = HeldFile::open(path);
    ASSERT_THAT(held, IsOk());
    writer = std::thread([&] {
      const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      is_open = true;
      ::close(file);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(is_open);
  }
  writer.join();
  EXPECT_TRUE(is_open);
}

TEST(HeldFile, RefusesAFileThatIsBeingWritten) {
  const test::TempDirectory directory;
  const std::filesystem::path path = directory.write("file", "content");
  const int writer = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const auto held = HeldFile::open(path);
  ::close(writer);
  ASSERT_FALSE(held.ok());
  EXPECT_EQ(held.status().code(), StatusCode::kEpFail);
  EXPECT_THAT(held.status().message(), HasSubstr("is being written to by another process"));
}

TEST(HeldFile, CanBeHeldTwice) {
  const test::TempDirectory directory;
  const std::filesystem::path path = directory.write("file", std::string(size_t{2} << 20, 'x'));
  const auto first = HeldFile::open(path);
  const auto second = HeldFile::open(path);
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  EXPECT_LT(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC), 0);
}

TEST(MappedLines, CountsWhatIsMappedForMoreThanReading) {
  const std::string maps =
      "7f00-7f10 r--p 00000000 fe:00 12 /a\n"
      "7f10-7f20 r-xp 00001000 fe:00 12 /a\n"
      "7f20-7f30 rw-p 00002000 fe:00 12 /a (deleted)\n"
      "7f30-7f40 rw-p 00000000 00:00 0\n"
      "7f40-7f50 r-xp 00000000 fe:00 13 /b\n";
  EXPECT_EQ(count_loaded_ranges("fe:00 12", maps), 2U);
  EXPECT_EQ(count_loaded_ranges("fe:00 13", maps), 1U);
  EXPECT_EQ(count_loaded_ranges("fe:01 12", maps), 0U);
  EXPECT_EQ(file_mapped_at(reinterpret_cast<const void*>(0x7f45), maps), "fe:00 13");
  EXPECT_EQ(file_mapped_at(reinterpret_cast<const void*>(0x7f50), maps), "");
}

}  // namespace
}  // namespace ephost::plugin::replaced_library_test
