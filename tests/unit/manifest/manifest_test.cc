#include "host/manifest/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/manifest/sample.h"

namespace ephost::manifest::manifest_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kSample;
using testing::sample_with;

std::string error_of(std::string_view text) {
  const Result<Manifest> result = parse_manifest(text, "acme.yaml");
  if (result.ok()) return "accepted";
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  return result.status().message();
}

// The error after one change to the sample.
std::string error_with(std::string_view from, std::string_view to) {
  return error_of(sample_with(from, to));
}

TEST(Manifest, ReadsEveryKey) {
  const Result<Manifest> manifest = parse_manifest(kSample, "dir/acme.yaml");
  ASSERT_THAT(manifest, IsOk());
  EXPECT_EQ(manifest->file, "dir/acme.yaml");
  EXPECT_EQ(manifest->schema, 1);
  EXPECT_EQ(manifest->provider, "AcmeExecutionProvider");
  EXPECT_EQ(manifest->name, "acme");
  EXPECT_EQ(manifest->vendor, "Acme Corp.");
  EXPECT_EQ(manifest->version.to_string(), "2.1.0");
  EXPECT_EQ(manifest->abi.major, 1U);
  EXPECT_EQ(manifest->abi.minor_min, 0U);
  EXPECT_EQ(manifest->abi.minor_max, 2U);
  EXPECT_THAT(manifest->context_sources, ElementsAre("acme", "acme.v1"));
  EXPECT_TRUE(manifest->validates_contexts);
  EXPECT_TRUE(manifest->deterministic);
  EXPECT_THAT(manifest->requires_extensions, ElementsAre("ephost.progress/1"));
  ASSERT_EQ(manifest->devices.size(), 1U);
  EXPECT_EQ(manifest->devices[0].type, "npu");
  EXPECT_EQ(manifest->devices[0].vendor, "Acme Corp.");
  EXPECT_EQ(manifest->devices[0].id, "0x1e60");
  EXPECT_EQ(manifest->options.size(), 5U);
}

constexpr std::string_view kLayer = R"(schema: 1
kind: layer
name: counter
vendor: Acme Corp.
version: 2.1.0
abi: { major: 1, minor: [0, 0] }
library: { linux-x86_64: libcounter.so }
)";

std::string layer_with(std::string_view line) { return std::string(kLayer) + std::string(line); }

TEST(Manifest, IsOfAProviderUnlessItSaysOtherwise) {
  EXPECT_EQ(parse_manifest(kSample, "acme.yaml")->kind, Kind::kProvider);
  EXPECT_THAT(parse_manifest("kind: provider\n" + std::string(kSample), "acme.yaml"), IsOk());
  EXPECT_THAT(error_of("kind: device\n" + std::string(kSample)),
              HasSubstr("key \"kind\": the kind \"device\" is not known; write one of provider, "
                        "layer"));
}

TEST(Manifest, MayAskForIsolation) {
  EXPECT_EQ(parse_manifest(kSample, "acme.yaml")->isolation, Isolation::kNone);
  const auto asking = [](std::string_view word) {
    return "isolation: " + std::string(word) + "\n" + std::string(kSample);
  };
  EXPECT_EQ(parse_manifest(asking("none"), "acme.yaml")->isolation, Isolation::kNone);
  EXPECT_EQ(parse_manifest(asking("worker"), "acme.yaml")->isolation, Isolation::kWorker);
  EXPECT_EQ(parse_manifest(asking("sandbox"), "acme.yaml")->isolation, Isolation::kSandbox);
  EXPECT_THAT(error_of(asking("cell")),
              HasSubstr("acme.yaml:1:12: key \"isolation\": the isolation cannot be \"cell\"; "
                        "write one of none, worker, sandbox"));
}

TEST(Manifest, OfALayerHasANameAndNoProvider) {
  const Result<Manifest> manifest = parse_manifest(
      layer_with("sha256: { linux-x86_64: \"" + std::string(64, '1') + "\" }\n"), "counter.yaml");
  ASSERT_THAT(manifest, IsOk());
  EXPECT_EQ(manifest->kind, Kind::kLayer);
  EXPECT_EQ(manifest->name, "counter");
  EXPECT_EQ(manifest->subject(), "counter");
  EXPECT_EQ(manifest->provider, "");
  EXPECT_TRUE(manifest->library_for("linux-x86_64")->sha256);
}

TEST(Manifest, OfALayerRefusesWhatOnlyProvidersHave) {
  for (const std::string_view line :
       {"provider: AcmeExecutionProvider\n", "context_sources: [acme]\n",
        "validates_contexts: true\n", "deterministic: true\n", "devices: []\n", "requires: []\n",
        "options: []\n", "options_open: true\n", "isolation: worker\n"}) {
    const std::string key(line.substr(0, line.find(':')));
    EXPECT_THAT(error_of(layer_with(line)),
                HasSubstr("acme.yaml:8:1: key \"" + key + "\": only providers have this key"));
  }
}

TEST(Manifest, OfALayerRefusesTheNamesOfTheHostsOwn) {
  std::string text(kLayer);
  text.replace(text.find("counter"), 7, "validate");
  EXPECT_THAT(error_of(text), HasSubstr("the host has a layer \"validate\" of its own; choose "
                                        "another name"));
}

TEST(Manifest, FindsTheLibraryOfAPlatform) {
  const Result<Manifest> manifest = parse_manifest(kSample, "acme.yaml");
  ASSERT_THAT(manifest, IsOk());
  const LibraryEntry* library = manifest->library_for("linux-x86_64");
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(library->path, "lib/libacme.so");
  EXPECT_EQ(library->sha256->substr(0, 4), "9f86");
  EXPECT_EQ(manifest->library_for("windows-x86_64")->sha256, std::nullopt);
  EXPECT_EQ(manifest->library_for("macos-aarch64"), nullptr);
}

TEST(Manifest, NeedsOnlyTheRequiredKeys) {
  const Result<Manifest> manifest =
      parse_manifest(testing::small_manifest("A", "a", "1.0.0", "linux-x86_64: liba.so"), "a.yaml");
  ASSERT_THAT(manifest, IsOk());
  EXPECT_TRUE(manifest->devices.empty());
  EXPECT_TRUE(manifest->options.empty());
}

TEST(Manifest, RefusesAnUnknownKeyWithLineColumnAndTheNearestKey) {
  EXPECT_EQ(error_with("library:", "libary:"),
            "acme.yaml:7:1: unknown key \"libary\"; did you mean \"library\"?");
}

TEST(Manifest, RefusesAnUnknownKeyWithAllKeysWhenNoneIsNear) {
  EXPECT_THAT(
      error_with("vendor:", "licence: MIT\nvendor:"),
      HasSubstr("acme.yaml:4:1: unknown key \"licence\"; remove it; the keys here are schema, "
                "kind, provider, name"));
}

TEST(Manifest, RefusesAnUnknownKeyOfAnInnerMap) {
  EXPECT_THAT(error_with("minor: [0, 2]", "minors: [0, 2]"),
              HasSubstr("unknown key \"abi.minors\"; did you mean \"minor\"?"));
  EXPECT_THAT(error_with("    id:", "    ids:"), HasSubstr("unknown key \"devices[0].ids\""));
}

TEST(Manifest, RefusesADuplicateKey) {
  EXPECT_THAT(error_with("vendor: Acme Corp.", "name: acme2"),
              HasSubstr("acme.yaml:4:1: the key \"name\" is already given in line 3"));
}

TEST(Manifest, NamesEachRequiredKeyThatIsMissing) {
  for (const std::string_view line :
       {"provider: AcmeExecutionProvider\n", "name: acme\n", "vendor: Acme Corp.\n",
        "version: 2.1.0\n", "abi: { major: 1, minor: [0, 2] }\n"}) {
    const std::string key(line.substr(0, line.find(':')));
    EXPECT_THAT(error_with(line, ""),
                HasSubstr("the key \"" + key + "\" is missing; add a line like \"" + key + ": "));
  }
  EXPECT_THAT(
      error_with("library:\n  linux-x86_64: lib/libacme.so\n  windows-x86_64: acme.dll\n", ""),
      HasSubstr("the key \"library\" is missing"));
}

TEST(Manifest, RefusesADocumentWithoutSchema) {
  EXPECT_THAT(error_with("schema: 1\n", ""),
              HasSubstr("the key \"schema\" is missing, so this is not a plugin manifest"));
}

TEST(Manifest, RefusesANewerSchemaBeforeItsUnknownKeys) {
  EXPECT_THAT(error_with("schema: 1", "future: x\nschema: 2"),
              HasSubstr("manifest schema 2 is not supported; this host reads schema 1: update the "
                        "host"));
  EXPECT_THAT(error_with("schema: 1", "schema: 0"), HasSubstr("write \"schema: 1\""));
}

TEST(Manifest, RefusesADocumentThatIsNotAMap) {
  EXPECT_THAT(error_of("- schema\n"), HasSubstr("expected a map (key: value), found a list"));
  EXPECT_THAT(error_of("hello\n"), HasSubstr("found \"hello\""));
}

TEST(Manifest, RefusesValuesOfTheWrongType) {
  EXPECT_EQ(error_with("schema: 1", "schema: \"1\""),
            "acme.yaml:1:9: key \"schema\": expected a whole number without quotes, found the text "
            "\"1\"");
  EXPECT_THAT(error_with("Acme Corp.", "3000"),
              HasSubstr("key \"vendor\": expected text, found the number 3000; put it in quotes"));
  EXPECT_THAT(error_with("Acme Corp.", "true"), HasSubstr("found the truth value true"));
  EXPECT_THAT(error_with("Acme Corp.", "[a]"), HasSubstr("expected text, found a list"));
  EXPECT_THAT(error_with("Acme Corp.", "{a: b}"), HasSubstr("expected text, found a map"));
  EXPECT_THAT(error_with("Acme Corp.", ""), HasSubstr("expected text, found nothing"));
  EXPECT_THAT(
      error_with("major: 1", "major: one"),
      HasSubstr("key \"abi.major\": expected a whole number of at most 64 bits, found \"one\""));
  EXPECT_THAT(error_with("[acme, acme.v1]", "acme"), HasSubstr("expected a list, found \"acme\""));
  EXPECT_THAT(error_with("[acme, acme.v1]", "[acme, 7]"), HasSubstr("key \"context_sources[1]\""));
}

TEST(Manifest, RefusesEmptyTextAndControlCharacters) {
  EXPECT_THAT(error_with("Acme Corp.", "\"\""), HasSubstr("the text is empty; fill it in"));
  EXPECT_THAT(error_with("Acme Corp.", "\"a\\x1b[2J\""),
              HasSubstr("the text contains a control character; remove it"));
}

TEST(Manifest, RefusesNamesWithOtherCharacters) {
  EXPECT_THAT(
      error_with("name: acme", "name: Acme"),
      HasSubstr("the name \"Acme\" is not allowed; use only lower-case letters a-z, digits and "
                "_"));
  EXPECT_THAT(error_with("name: acme", "name: ../acme"), HasSubstr("is not allowed"));
  EXPECT_THAT(error_with("AcmeExecutionProvider", "Acme Provider"), HasSubstr("is not allowed"));
  EXPECT_THAT(error_with("name: acme", "name: " + std::string(65, 'a')),
              HasSubstr("is too long; use at most 64 characters"));
}

TEST(Manifest, RefusesABadVersion) {
  EXPECT_EQ(
      error_with("version: 2.1.0", "version: 2.1"),
      "acme.yaml:5:10: key \"version\": \"2.1\" is not a version: it has fewer than three numbers; "
      "write it as major.minor.patch, e.g. 1.4.0 or 2.0.0-rc.1");
}

TEST(Manifest, RefusesABadAbiRange) {
  EXPECT_THAT(error_with("[0, 2]", "[2, 0]"),
              HasSubstr("key \"abi.minor\": the range of minor versions is empty; write [lowest, "
                        "highest]"));
  EXPECT_THAT(error_with("[0, 2]", "[0]"), HasSubstr("has two ends; write [lowest, highest]"));
  EXPECT_THAT(error_with("[0, 2]", "[-1, 2]"),
              HasSubstr("expected a whole number from 0 to 4294967295, found the number -1"));
  EXPECT_THAT(error_with("major: 1", "major: 0"), HasSubstr("there is no ABI 0"));
  EXPECT_THAT(error_with("major: 1, ", ""), HasSubstr("key \"abi\": the key \"major\" is missing"));
}

TEST(Manifest, RefusesALibraryPathThatCouldLeaveTheDirectory) {
  EXPECT_THAT(
      error_with("lib/libacme.so", "/usr/lib/libacme.so"),
      HasSubstr("key \"library.linux-x86_64\": the path \"/usr/lib/libacme.so\" is absolute; "
                "give it relative"));
  EXPECT_THAT(error_with("lib/libacme.so", "../libacme.so"), HasSubstr("has a \"..\" component"));
  EXPECT_THAT(error_with("lib/libacme.so", "lib/../../libacme.so"), HasSubstr("\"..\" component"));
  EXPECT_THAT(error_with("acme.dll", "'bin\\acme.dll'"), HasSubstr("separate folders with '/'"));
  EXPECT_THAT(error_with("acme.dll", "C:/acme.dll"), HasSubstr("contains '\\' or ':'"));
  EXPECT_THAT(error_with("acme.dll", "$LIB/acme.dll"), HasSubstr("contains '$'"));
  EXPECT_THAT(error_with("acme.dll", "${ORIGIN}/acme.dll"), HasSubstr("contains '$'"));
  EXPECT_THAT(error_with("lib/libacme.so", "lib/"), HasSubstr("does not name a file"));
  EXPECT_THAT(error_with("lib/libacme.so", "."), HasSubstr("does not name a file"));
}

TEST(Manifest, AcceptsDotsInsideALibraryName) {
  EXPECT_EQ(error_with("lib/libacme.so", "lib/lib..acme.so"), "accepted");
}

TEST(Manifest, RefusesAnUnknownPlatformAtItsKey) {
  EXPECT_THAT(error_with("linux-x86_64: lib/libacme.so", "linux-amd64: lib/libacme.so"),
              ::testing::AllOf(::testing::StartsWith("acme.yaml:8:3: key \"library.linux-amd64\""),
                               HasSubstr("is not a platform; write system-architecture")));
}

TEST(Manifest, RefusesAnEmptyLibraryMap) {
  EXPECT_THAT(error_of(testing::small_manifest("A", "a", "1.0.0", "")),
              HasSubstr("key \"library\": no library is named; add a line like"));
}

TEST(Manifest, RefusesABadChecksum) {
  EXPECT_THAT(
      error_with("9f86d08", "9f86"),
      HasSubstr(
          "is not a SHA-256 checksum; write the 64 hexadecimal digits that sha256sum prints"));
  EXPECT_THAT(error_with("9f86", "xf86"), HasSubstr("is not a SHA-256 checksum"));
}

TEST(Manifest, ReadsAChecksumInUpperCaseAndOneOfDigitsOnly) {
  EXPECT_EQ(error_with("9f86", "9F86"), "accepted");
  const std::string digits = sample_with(
      "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", std::string(64, '1'));
  EXPECT_EQ(error_of(digits), "accepted");
}

TEST(Manifest, RefusesAChecksumWithoutALibrary) {
  EXPECT_THAT(
      error_with("linux-x86_64: 9f86", "macos-aarch64: 9f86"),
      HasSubstr("key \"sha256.macos-aarch64\": \"library\" has no entry \"macos-aarch64\"; remove "
                "the checksum or add the library"));
}

std::string with_files(std::string_view files) {
  return testing::small_manifest("A", "a", "1.0.0", "linux-x86_64: liba.so") +
         "files: " + std::string(files) + "\n";
}

TEST(Manifest, ReadsChecksumsOfFiles) {
  const auto manifest = parse_manifest(with_files("{ lib/libb.so: " + std::string(64, 'A') +
                                                  ", data.bin: " + std::string(64, '1') + " }"),
                                       "a.yaml");
  ASSERT_THAT(manifest, IsOk());
  EXPECT_THAT(manifest->files,
              ::testing::ElementsAre(::testing::Pair("data.bin", std::string(64, '1')),
                                     ::testing::Pair("lib/libb.so", std::string(64, 'a'))));
}

TEST(Manifest, RefusesFilesThatItCannotMean) {
  const std::string digest(64, '1');
  EXPECT_THAT(error_of(with_files("{ data.bin: 12 }")), HasSubstr("is not a SHA-256 checksum"));
  EXPECT_THAT(error_of(with_files("{ ../data.bin: " + digest + " }")),
              HasSubstr("has a \"..\" component"));
  EXPECT_THAT(error_of(with_files("{ /data.bin: " + digest + " }")), HasSubstr("is absolute"));
  EXPECT_THAT(error_of(with_files("{ 'a\\b': " + digest + " }")), HasSubstr("contains '\\'"));
  EXPECT_THAT(error_of(with_files("[data.bin]")), HasSubstr("key \"files\""));
}

TEST(Manifest, RefusesAnUnknownDeviceType) {
  EXPECT_THAT(
      error_with("type: npu", "type: tpu"),
      HasSubstr("key \"devices[0].type\": the device type \"tpu\" is not known; write one of cpu, "
                "gpu, npu, other"));
}

TEST(Manifest, RefusesABadExtension) {
  for (const std::string_view id :
       {"progress", "progress/", "/1", "progress/one", "a b/1", "a/1/2"}) {
    EXPECT_THAT(error_with("[ephost.progress/1]", "[\"" + std::string(id) + "\"]"),
                HasSubstr("is not an extension id; write name/revision"))
        << id;
  }
}

TEST(Manifest, RefusesAnEntryThatIsListedTwice) {
  EXPECT_THAT(
      error_with("[acme, acme.v1]", "[acme, acme]"),
      HasSubstr("key \"context_sources[1]\": \"acme\" is listed twice; remove one of the two"));
}

TEST(Manifest, RefusesAnOptionThatIsDeclaredTwice) {
  EXPECT_THAT(error_with("name: mode", "name: cores"),
              HasSubstr("key \"options[1]\": the option \"cores\" is declared twice"));
}

TEST(Manifest, LoadsFromAFile) {
  ephost::test::TempDirectory dir;
  const Result<Manifest> manifest = load_manifest(dir.write("acme.yaml", kSample));
  ASSERT_THAT(manifest, IsOk());
  EXPECT_EQ(manifest->file, dir / "acme.yaml");
}

TEST(Manifest, NamesTheFileThatIsMissing) {
  ephost::test::TempDirectory dir;
  const Result<Manifest> manifest = load_manifest(dir / "none.yaml");
  ASSERT_FALSE(manifest.ok());
  EXPECT_EQ(manifest.status().code(), StatusCode::kNoSuchFile);
  EXPECT_THAT(manifest.status().message(), HasSubstr("none.yaml"));
}

}  // namespace
}  // namespace ephost::manifest::manifest_test
