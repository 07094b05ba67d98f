#include "host/manifest/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "host/manifest/search.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/manifest/sample.h"

namespace ephost::manifest::installation_test {
namespace {

namespace fs = std::filesystem;
using ephost::test::TempDirectory;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::small_manifest;

const std::string kManifests = EPHOST_DATADIR "/ephost/plugins/";
const std::string kLibraries = EPHOST_LIBDIR "/ephost/plugins/";

// A manifest that names `library`.
std::string manifest_of(const std::string& library) {
  return small_manifest("A", "a", "1.0.0", std::string(host_platform()) + ": " + library);
}

SearchResult search(const fs::path& directory) {
  return find_plugins(
      {.directories = {directory}, .use_environment = false, .use_data_directories = false});
}

constexpr std::string_view kMaps =
    "10000-20000 r-xp 00000000 08:01 17      /opt/a b/bin/program\n"
    "20000-30000 rw-p 00000000 00:00 0\n"
    "30000-40000 r-xp 00000000 08:01 18      /opt/lib/libephost.so.0.1.0\n"
    "40000-50000 r-xp 00000000 00:00 0       [vdso]\n";

std::optional<fs::path> mapped_at(uintptr_t address) {
  return mapped_file(kMaps, reinterpret_cast<const void*>(address));
}

TEST(MappedFile, IsTheOneWhoseRangeHasTheAddress) {
  EXPECT_EQ(mapped_at(0x10000), "/opt/a b/bin/program");
  EXPECT_EQ(mapped_at(0x1ffff), "/opt/a b/bin/program");
  EXPECT_EQ(mapped_at(0x30000), "/opt/lib/libephost.so.0.1.0");
}

TEST(MappedFile, IsNothingForMemoryWithoutAFile) {
  EXPECT_EQ(mapped_at(0x20000), std::nullopt);
  EXPECT_EQ(mapped_at(0x40000), std::nullopt);
  EXPECT_EQ(mapped_at(0x50000), std::nullopt);
  EXPECT_EQ(mapped_at(0xffff), std::nullopt);
}

TEST(MappedFile, SurvivesLinesThatAreNoMappings) {
  for (const char* text : {"", "\n", "-", "1-", "1-2", "x-2 /a", "ffffffffffffffffff-2 /a\n\n"}) {
    EXPECT_EQ(mapped_file(text, reinterpret_cast<const void*>(1)), std::nullopt) << text;
  }
}

TEST(InstallDirectories, AreFoundFromASharedLibrary) {
  EXPECT_THAT(
      install_directories_of("/p/" EPHOST_LIBDIR "/libephost.so.0", CodeFile::kSharedLibrary),
      ElementsAre("/p/" EPHOST_DATADIR "/ephost/plugins", "/p/" EPHOST_LIBDIR "/ephost/plugins"));
}

TEST(InstallDirectories, AreFoundFromAProgram) {
  EXPECT_THAT(install_directories_of("/p/bin/ephost", CodeFile::kProgram),
              ElementsAre("/p/" EPHOST_DATADIR "/ephost/plugins", "/p/lib/ephost/plugins"));
}

TEST(InstallDirectories, OfThisTestAreThoseOfItsProgram) {
  const fs::path program = fs::canonical("/proc/self/exe");
  EXPECT_EQ(install_directories(), install_directories_of(program, CodeFile::kProgram));
}

TEST(LibraryDirectory, BelongsToTheManifestsOfAnInstallationAndToTheirSubfolders) {
  const fs::path libraries = "/p/" EPHOST_LIBDIR "/ephost/plugins";
  EXPECT_EQ(library_directory_for("/p/" EPHOST_DATADIR "/ephost/plugins"), libraries);
  EXPECT_EQ(library_directory_for("/p/" EPHOST_DATADIR "/ephost/plugins/"), libraries);
  EXPECT_EQ(library_directory_for("/p/x/../" EPHOST_DATADIR "/ephost/plugins/acme"), libraries);
}

TEST(LibraryDirectory, DoesNotExistForOtherFolders) {
  for (const char* folder :
       {"/", "", "/p", "/ephost/plugins", "/p/ephost/plugins", "/p/" EPHOST_DATADIR "/ephost",
        "/p/" EPHOST_DATADIR "/ephost/plugins/acme/deeper",
        "/p/x" EPHOST_DATADIR "/ephost/plugins"}) {
    EXPECT_EQ(library_directory_for(folder), std::nullopt) << folder;
  }
}

TEST(InstalledSearch, FindsTheLibraryInTheFolderForLibraries) {
  TempDirectory dir;
  dir.write(kManifests + "a.yaml", manifest_of("liba.so"));
  const fs::path library = dir.write(kLibraries + "liba.so", "a");
  EXPECT_EQ(search(dir / kManifests).found.at(0).library, library);
}

TEST(InstalledSearch, FindsTheLibraryOfAManifestInASubfolder) {
  TempDirectory dir;
  dir.write(kManifests + "acme/a.yaml", manifest_of("acme/liba.so"));
  const fs::path library = dir.write(kLibraries + "acme/liba.so", "a");
  EXPECT_EQ(search(dir / kManifests).found.at(0).library, library);
}

TEST(InstalledSearch, PrefersTheLibraryBelowTheManifest) {
  TempDirectory dir;
  dir.write(kManifests + "a.yaml", manifest_of("liba.so"));
  dir.write(kLibraries + "liba.so", "a");
  const fs::path own = dir.write(kManifests + "liba.so", "a");
  EXPECT_EQ(search(dir / kManifests).found.at(0).library, own);
}

TEST(InstalledSearch, SurvivesAMoveOfTheWholeInstallation) {
  TempDirectory dir;
  dir.write("old/" + kManifests + "a.yaml", manifest_of("liba.so"));
  dir.write("old/" + kLibraries + "liba.so", "a");
  fs::rename(dir / "old", dir / "new");
  EXPECT_EQ(search(dir / ("new/" + kManifests)).found.at(0).library,
            dir / ("new/" + kLibraries + "liba.so"));
}

TEST(InstalledSearch, RefusesALibraryThatLeavesTheFolderForLibraries) {
  TempDirectory dir;
  dir.write(kManifests + "a.yaml", manifest_of("liba.so"));
  dir.write(kLibraries + "other.so", "a");
  fs::create_symlink(dir.write("outside.so", "a"), dir / (kLibraries + "liba.so"));
  const SearchResult result = search(dir / kManifests);
  ASSERT_EQ(result.skipped.size(), 1U);
  EXPECT_EQ(result.skipped[0].reason.code(), StatusCode::kInvalidArgument);
}

TEST(InstalledSearch, DoesNotReplaceALibraryThatItRefuses) {
  TempDirectory dir;
  dir.write(kManifests + "a.yaml", manifest_of("liba.so"));
  dir.write(kLibraries + "liba.so", "a");
  fs::create_symlink(dir.write("outside.so", "a"), dir / (kManifests + "liba.so"));
  EXPECT_THAT(search(dir / kManifests).found, IsEmpty());
}

TEST(InstalledSearch, SaysBothPlacesOfAMissingLibrary) {
  TempDirectory dir;
  dir.write(kManifests + "a.yaml", manifest_of("liba.so"));
  const std::string reason = search(dir / kManifests).skipped.at(0).reason.to_string();
  EXPECT_THAT(reason, HasSubstr(dir / (kManifests + "liba.so")));
  EXPECT_THAT(reason, HasSubstr("or \"" + (dir / (kLibraries + "liba.so")).native()));
}

TEST(InstalledSearch, IsNotForFoldersThatOnlyLookAlike) {
  TempDirectory dir;
  dir.write("ephost/plugins/a.yaml", manifest_of("liba.so"));
  dir.write(kLibraries + "liba.so", "a");
  EXPECT_THAT(search(dir / "ephost/plugins").found, IsEmpty());
}

}  // namespace
}  // namespace ephost::manifest::installation_test
