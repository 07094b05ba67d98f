// The parser accepts the shipped manifests and the examples of manifests/SCHEMA.md.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "host/base/files/file.h"
#include "host/manifest/manifest.h"
#include "host/manifest/selection.h"
#include "tests/support/status_matchers.h"

namespace ephost::manifest::schema_test {
namespace {

using test::IsOk;

const std::filesystem::path kDirectory = EPHOST_MANIFEST_DIRECTORY;

// The blocks of a Markdown text that are marked as YAML.
std::vector<std::string> yaml_blocks(const std::string& text) {
  constexpr std::string_view kOpen = "```yaml\n";
  std::vector<std::string> blocks;
  size_t position = 0;
  while ((position = text.find(kOpen, position)) != std::string::npos) {
    const size_t begin = position + kOpen.size();
    position = text.find("```\n", begin);
    blocks.push_back(text.substr(begin, position - begin));
  }
  return blocks;
}

TEST(Schema, ExamplesAreAccepted) {
  const std::vector<std::string> blocks = yaml_blocks(read_file(kDirectory / "SCHEMA.md").value());
  ASSERT_EQ(blocks.size(), 6U);  // the last three: tests/unit/trust/schema_test.cc
  const Result<Manifest> manifest = parse_manifest(blocks[0], "SCHEMA.md");
  EXPECT_THAT(manifest, IsOk());
  const Result<Manifest> layer = parse_manifest(blocks[1], "SCHEMA.md");
  EXPECT_THAT(layer, IsOk());
  const Result<Selection> selection = parse_selection(blocks[2], "SCHEMA.md");
  EXPECT_THAT(selection, IsOk());
}

TEST(Schema, ShippedManifestsAreAccepted) {
  for (const std::string name : {"cpu", "dnnl", "image"}) {
    const Result<Manifest> manifest = load_manifest(kDirectory / (name + ".yaml"));
    ASSERT_THAT(manifest, IsOk());
    EXPECT_EQ(manifest->name, name);
    EXPECT_EQ(manifest->library_for("linux-x86_64")->path, "libephost_" + name + ".so");
  }
}

TEST(Schema, ShippedSelectionIsAccepted) {
  const Result<Selection> selection = load_selection(kDirectory / "selection.example.yaml");
  ASSERT_THAT(selection, IsOk());
  EXPECT_EQ(selection->providers.size(), 2U);
}

}  // namespace
}  // namespace ephost::manifest::schema_test
