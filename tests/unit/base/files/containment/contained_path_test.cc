#include "host/base/files/containment/contained_path.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::contained_path_test {
namespace {

namespace fs = std::filesystem;
using test::IsOk;
using test::TempDirectory;
using ::testing::HasSubstr;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Kernels before 5.6 do not know the call; seccomp filters may reject it.
class WithoutOpenat2 : public PosixFileSystem {
 public:
  explicit WithoutOpenat2(int error) : error_(error) {}
  int openat2(int, const char*, const struct open_how*) const override {
    errno = error_;
    return -1;
  }

 private:
  int error_;
};

const WithoutOpenat2 kOldKernel(ENOSYS);
const WithoutOpenat2 kFiltered(EPERM);

// A model's folder whose entries "file" and "folder" are swapped with links that lead out of it.
class Exchanged {
 public:
  Exchanged() {
    dir_.write("outside/file", "outside");
    dir_.write("model/file", "inside");
    dir_.write("model/folder/file", "inside");
    fs::create_symlink("../outside/file", dir_ / "model/file.other");
    fs::create_directory_symlink("../outside", dir_ / "model/folder.other");
  }

  void exchange() const {
    for (const std::string name : {"model/file", "model/folder"}) {
      const fs::path path = dir_ / name;
      const fs::path other = dir_ / (name + ".other");
      ::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
    }
  }

  void expect_inside(std::string_view name, const FileSystem& file_system) const {
    Result<InputFile> file =
        open_contained(dir_ / "model", name, StatusCode::kInvalidGraph, file_system);
    if (!file.ok()) return;
    std::array<std::byte, 16> buffer{};
    const Result<size_t> size = file->read(buffer);
    ASSERT_THAT(size, IsOk());
    EXPECT_EQ(text_of(std::span(buffer).first(*size)), "inside");
  }

 private:
  TempDirectory dir_;
};

// Swaps them between the check of a path and the opening of the file.
class ExchangingFileSystem : public PosixFileSystem {
 public:
  ExchangingFileSystem(const Exchanged& sample, bool has_openat2)
      : sample_(sample), has_openat2_(has_openat2) {}
  int openat2(int folder, const char* path, const struct open_how* how) const override {
    if (has_openat2_) sample_.exchange();
    errno = ENOSYS;
    return has_openat2_ ? PosixFileSystem::openat2(folder, path, how) : -1;
  }
  int openat(int folder, const char* path, int flags) const override {
    sample_.exchange();
    return PosixFileSystem::openat(folder, path, flags);
  }

 private:
  const Exchanged& sample_;
  bool has_openat2_;
};

TEST(ContainedPathOnExchange, IsNotLeftWhereALinkTakesThePlaceOfWhatWasChecked) {
  for (const bool has_openat2 : {true, false}) {
    const Exchanged sample;
    const ExchangingFileSystem file_system(sample, has_openat2);
    for (int i = 0; i < 3; ++i) {
      sample.expect_inside("file", file_system);
      sample.expect_inside("folder/file", file_system);
    }
  }
}

class ContainedPath : public ::testing::TestWithParam<const FileSystem*> {
 protected:
  static Result<fs::path> open(const fs::path& base, std::string_view path) {
    EPHOST_ASSIGN_OR_RETURN(const InputFile file,
                            open_contained(base, path, StatusCode::kInvalidGraph, *GetParam()));
    return file.path();
  }

  static void expect_refused(const fs::path& base, std::string_view path, std::string_view reason) {
    const Result<fs::path> result = open(base, path);
    ASSERT_FALSE(result.ok()) << path << " resolved to " << *result;
    EXPECT_EQ(result.status().code(), StatusCode::kInvalidGraph);
    EXPECT_THAT(result.status().message(), HasSubstr(reason));
    EXPECT_THAT(result.status().message(), HasSubstr("name a file inside that folder"));
  }
};

INSTANTIATE_TEST_SUITE_P(Kernels, ContainedPath,
                         ::testing::Values(&posix_file_system(), &kOldKernel, &kFiltered));

TEST_P(ContainedPath, ResolvesAFileInTheFolder) {
  TempDirectory dir;
  const fs::path file = dir.write("sub/weights.bin", "x");
  const Result<fs::path> result = open(dir.path(), "sub/./weights.bin");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(*result, file);
}

TEST_P(ContainedPath, AcceptsDotsInsideAName) {
  TempDirectory dir;
  dir.write("a..b.bin", "x");
  dir.write("...", "x");
  EXPECT_THAT(open(dir.path(), "a..b.bin"), IsOk());
  EXPECT_THAT(open(dir.path(), "..."), IsOk());
}

TEST_P(ContainedPath, AcceptsNamesOfAnyScript) {
  TempDirectory dir;
  const fs::path file = dir.write("модель_模型.bin", "x");
  const Result<fs::path> result = open(dir.path(), "модель_模型.bin");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(*result, file);
}

TEST_P(ContainedPath, ReportsAMissingFileAsSuch) {
  TempDirectory dir;
  dir.write("file", "x");
  for (const std::string name : {"new.bin", "folder/new.bin", "file/new.bin"}) {
    EXPECT_EQ(open(dir.path(), name).status().code(), StatusCode::kNoSuchFile) << name;
  }
}

TEST_P(ContainedPath, TakesAnEmptyFolderAsTheCurrentOne) {
  EXPECT_EQ(open("", "new.bin").status().code(), StatusCode::kNoSuchFile);
}

TEST_P(ContainedPath, OpensTheFileItself) {
  TempDirectory dir;
  dir.write("a/b/c/weights.bin", "content");
  Result<InputFile> file =
      open_contained(dir.path(), "a/b/c/weights.bin", StatusCode::kInvalidGraph, *GetParam());
  ASSERT_THAT(file, IsOk());
  const Result<MappedFile> mapped = MappedFile::map(*file);
  ASSERT_THAT(mapped, IsOk());
  EXPECT_EQ(text_of(mapped->bytes()), "content");
}

TEST_P(ContainedPath, FollowsAnAbsoluteLinkInsideTheFolder) {
  TempDirectory dir;
  const fs::path file = dir.write("blobs/1", "x");
  fs::create_symlink(file, dir / "weights.bin");
  EXPECT_EQ(open(dir.path(), "weights.bin").value(), file);
}

// A file and a folder of the model's folder are swapped with links that lead out of it, all the
// time. Every file that is opened lies inside.
TEST_P(ContainedPath, NeverLeavesTheFolderWhileLinksTakeThePlaceOfFiles) {
  const Exchanged sample;
  std::atomic<bool> done = false;
  std::thread attacker([&] {
    while (!done) sample.exchange();
  });
  for (int i = 0; i < 4000; ++i)
    sample.expect_inside(i % 2 == 0 ? "file" : "folder/file", *GetParam());
  done = true;
  attacker.join();
}

TEST_P(ContainedPath, FollowsALinkInsideTheFolder) {
  TempDirectory dir;
  const fs::path file = dir.write("lib.so.1", "x");
  fs::create_symlink("lib.so.1", dir / "lib.so");
  const Result<fs::path> result = open(dir.path(), "lib.so");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(*result, file);
}

TEST_P(ContainedPath, FollowsALinkAboveTheFolder) {
  TempDirectory dir;
  const fs::path file = dir.write("real/x.bin", "x");
  fs::create_directory_symlink("real", dir / "alias");
  const Result<fs::path> result = open(dir / "alias", "x.bin");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(*result, file);
}

TEST_P(ContainedPath, RefusesAnEmptyPath) {
  TempDirectory dir;
  expect_refused(dir.path(), "", "it is empty");
}

TEST_P(ContainedPath, RefusesAnAbsolutePath) {
  TempDirectory dir;
  dir.write("x.bin", "x");
  expect_refused(dir.path(), (dir / "x.bin").native(), "it is absolute");
}

TEST_P(ContainedPath, RefusesAParentComponentEvenWhenItStaysInside) {
  TempDirectory dir;
  dir.write("x.bin", "x");
  expect_refused(dir.path(), "../x.bin", "\"..\" component");
  expect_refused(dir.path(), "sub/../x.bin", "\"..\" component");
  expect_refused(dir.path(), "sub/..", "\"..\" component");
}

TEST_P(ContainedPath, RefusesANulByte) {
  TempDirectory dir;
  expect_refused(dir.path(), std::string_view("x.bin\0/../y", 11), "NUL byte");
}

TEST_P(ContainedPath, RefusesALinkThatLeavesTheFolder) {
  TempDirectory dir;
  dir.write("secret", "x");
  fs::create_directory(dir / "model");
  fs::create_symlink("../secret", dir / "model/x.bin");
  fs::create_directory_symlink("..", dir / "model/up");
  expect_refused(dir / "model", "x.bin", "leads out of the folder");
  expect_refused(dir / "model", "up/secret", "leads out of the folder");
}

TEST_P(ContainedPath, RefusesAFolderWhoseNameMerelyBeginsLikeTheBase) {
  TempDirectory dir;
  dir.write("model-other/x.bin", "x");
  fs::create_directory(dir / "model");
  fs::create_symlink("../model-other/x.bin", dir / "model/x.bin");
  expect_refused(dir / "model", "x.bin", "leads out of the folder");
}

TEST_P(ContainedPath, RefusesALinkToAMissingFile) {
  TempDirectory dir;
  fs::create_directory(dir / "model");
  fs::create_symlink(dir / "later", dir / "model/x.bin");
  expect_refused(dir / "model", "x.bin", "symbolic link to a missing file");
}

TEST_P(ContainedPath, RefusesALinkToItself) {
  TempDirectory dir;
  fs::create_symlink("x.bin", dir / "x.bin");
  EXPECT_FALSE(open(dir.path(), "x.bin").ok());
}

TEST_P(ContainedPath, RefusesADirectory) {
  TempDirectory dir;
  fs::create_directory(dir / "sub");
  expect_refused(dir.path(), "sub", "it is a directory");
  expect_refused(dir.path(), ".", "it is a directory");
}

TEST_P(ContainedPath, RefusesAPipe) {
  TempDirectory dir;
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  expect_refused(dir.path(), "pipe", "not a regular file");
}

TEST_P(ContainedPath, ReportsAMissingFolderAsSuch) {
  TempDirectory dir;
  const Result<fs::path> result = open(dir / "none", "x.bin");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::kNoSuchFile);
}

TEST_P(ContainedPath, RefusesANameThatIsTooLong) {
  TempDirectory dir;
  EXPECT_FALSE(open(dir.path(), std::string(5000, 'x')).ok());
}

}  // namespace
}  // namespace ephost::contained_path_test
