#include "host/base/files/containment/hub_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/files/containment/contained_path.h"
#include "tests/support/temp_directory.h"

namespace ephost::hub_cache_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// hub/models--x/{blobs,snapshots/abc}, beside which lie other caches and files.
class HubCache : public ::testing::Test {
 protected:
  HubCache() {
    dir_.write("hub/models--x/blobs/1111", "model");
    dir_.write("hub/models--x/blobs/2222", "weights");
    dir_.write("hub/models--x/blobs/sub/3333", "more");
    dir_.write("hub/models--x/refs/main", "abc");
    dir_.write("hub/models--y/blobs/2222", "of another cache");
    dir_.write("outside/secret", "secret");
    dir_.write("outside/model.onnx", "model");
    dir_.write("outside/sub/near", "near");
    fs::create_directories(snapshot() / "onnx");
  }

  [[nodiscard]] fs::path snapshot() const { return dir_ / "hub/models--x/snapshots/abc"; }
  [[nodiscard]] fs::path blobs() const { return dir_ / "hub/models--x/blobs"; }
  void link(const std::string& name, const fs::path& target) const {
    fs::remove(snapshot() / name);
    fs::create_symlink(target, snapshot() / name);
  }

  // The folders of a model file as a session opens it.
  [[nodiscard]] static std::vector<fs::path> folders_of(const fs::path& model) {
    struct stat info {};
    EXPECT_EQ(::stat(model.c_str(), &info), 0);
    return linked_folders_of(model, FileVersion::of(info));
  }
  // What is read of `name` beside the model; "refused" where it is.
  [[nodiscard]] static std::string read(const fs::path& model, std::string_view name) {
    Result<InputFile> file = open_contained(model.parent_path(), name, StatusCode::kInvalidGraph,
                                            posix_file_system(), folders_of(model));
    if (!file.ok()) {
      return file.status().code() == StatusCode::kInvalidGraph ? "refused" : "missing";
    }
    std::array<std::byte, 64> buffer{};
    const Result<size_t> size = file->read(buffer);
    return {reinterpret_cast<const char*>(buffer.data()), size.ok() ? *size : 0};
  }

  const test::TempDirectory dir_;
};

TEST_F(HubCache, LinksLeadFromASnapshotToItsBlobs) {
  link("model.onnx", "../../blobs/1111");
  link("model.onnx_data", "../../blobs/2222");
  link("absolute", blobs() / "2222");
  link("deeper", "../../blobs/sub/3333");
  EXPECT_EQ(read(snapshot() / "model.onnx", "model.onnx_data"), "weights");
  EXPECT_EQ(read(snapshot() / "model.onnx", "absolute"), "weights");
  EXPECT_EQ(read(snapshot() / "model.onnx", "deeper"), "more");
  link("onnx/model.onnx", "../../../blobs/1111");
  link("onnx/model.onnx_data", "../../../blobs/2222");
  EXPECT_EQ(read(snapshot() / "onnx/model.onnx", "model.onnx_data"), "weights");
}

TEST_F(HubCache, TheModelItselfMayBeAFile) {
  dir_.write("hub/models--x/snapshots/abc/model.onnx", "model");
  link("model.onnx_data", "../../blobs/2222");
  EXPECT_EQ(read(snapshot() / "model.onnx", "model.onnx_data"), "weights");
}

TEST_F(HubCache, LinksLeadToTheFolderOfTheRealModel) {
  fs::create_directories(dir_ / "links");
  fs::create_symlink(dir_ / "outside/model.onnx", dir_ / "links/model.onnx");
  fs::create_symlink(dir_ / "outside/secret", dir_ / "links/data");
  fs::create_symlink(dir_ / "outside/sub/near", dir_ / "links/near");
  EXPECT_EQ(read(dir_ / "links/model.onnx", "data"), "secret");
  EXPECT_EQ(read(dir_ / "links/model.onnx", "near"), "near");
}

TEST_F(HubCache, NothingElseIsReached) {
  link("model.onnx", "../../blobs/1111");
  dir_.write("hub/models--x/blobs-of-others/4444", "similar name");
  fs::create_symlink(dir_ / "outside/secret", blobs() / "chained");
  fs::create_directory_symlink(dir_ / "outside", blobs() / "folder");
  for (const char* target :
       {"../../../../outside/secret", "../../../models--y/blobs/2222", "../../refs/main",
        "../../blobs-of-others/4444", "../../blobs/chained", "../../blobs/folder/secret",
        "../../blobs", "../../blobs/missing", "/etc/hostname", "/proc/self/environ"}) {
    link("data", target);
    EXPECT_EQ(read(snapshot() / "model.onnx", "data"), "refused") << target;
  }
  for (const char* name : {"../../blobs/2222", "onnx/../../../blobs/2222", ""}) {
    EXPECT_EQ(read(snapshot() / "model.onnx", name), "refused") << name;
  }
  EXPECT_EQ(read(snapshot() / "model.onnx", (blobs() / "2222").native()), "refused");
}

TEST_F(HubCache, TheDataOfAFolderBesideTheRealModelIsRefused) {
  dir_.write("real/model/1111", "model");
  dir_.write("real/data/2222", "weights");
  fs::create_directories(dir_ / "real/snapshots/version");
  fs::create_symlink("../../model/1111", dir_ / "real/snapshots/version/model.onnx");
  fs::create_symlink("../../data/2222", dir_ / "real/snapshots/version/data.bin");
  EXPECT_EQ(read(dir_ / "real/snapshots/version/model.onnx", "data.bin"), "refused");
}

TEST_F(HubCache, BlobsHaveToBeAFolderOfTheCacheItself) {
  dir_.write("hub/models--x/snapshots/abc/model.onnx", "model");
  link("data", dir_ / "outside/secret");
  fs::rename(blobs(), dir_ / "hub/models--x/other");
  fs::create_directory_symlink(dir_ / "outside", blobs());
  EXPECT_THAT(hub_folders_of(snapshot()), IsEmpty());
  EXPECT_EQ(read(snapshot() / "model.onnx", "data"), "refused");
  EXPECT_THAT(hub_folders_of(dir_ / "hub/models--x/snapshots"), IsEmpty());
}

TEST_F(HubCache, BlobsOfAnotherOwnerAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_THAT(hub_folders_of(snapshot()), ElementsAre(blobs()));
  ASSERT_EQ(::chown(blobs().c_str(), 12345, 12345), 0);
  EXPECT_THAT(hub_folders_of(snapshot()), IsEmpty());
}

TEST_F(HubCache, AModelThatWasReplacedLendsNoFolder) {
  fs::create_directories(dir_ / "links");
  const fs::path model = dir_ / "links/model.onnx";
  fs::create_symlink(blobs() / "1111", model);
  struct stat info {};
  ASSERT_EQ(::stat(model.c_str(), &info), 0);
  fs::remove(model);
  fs::create_symlink(dir_ / "outside/model.onnx", model);
  EXPECT_THAT(linked_folders_of(model, FileVersion::of(info)), IsEmpty());
}

// Puts a link to outside in the place of the blobs, once their path was checked.
class ReplacingFileSystem : public PosixFileSystem {
 public:
  explicit ReplacingFileSystem(fs::path blobs, fs::path outside)
      : blobs_(std::move(blobs)), outside_(std::move(outside)) {}
  int openat2(int folder, const char* path, const struct open_how* how) const override {
    if (!fs::is_symlink(blobs_)) {
      fs::rename(blobs_, blobs_.native() + ".old");
      fs::create_directory_symlink(outside_, blobs_);
    }
    return PosixFileSystem::openat2(folder, path, how);
  }

 private:
  fs::path blobs_;
  fs::path outside_;
};

TEST_F(HubCache, BlobsThatAreReplacedMeanwhileAreNotFollowed) {
  link("data", "../../blobs/2222");
  dir_.write("outside/2222", "secret");
  const ReplacingFileSystem file_system(blobs(), dir_ / "outside");
  const auto file = open_contained(snapshot(), "data", StatusCode::kInvalidGraph, file_system,
                                   hub_folders_of(snapshot()));
  EXPECT_FALSE(file.ok()) << file->path();
}

}  // namespace
}  // namespace ephost::hub_cache_test
