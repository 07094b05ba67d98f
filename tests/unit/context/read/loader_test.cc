#include "host/context/read/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "host/base/hash.h"
#include "host/context/file_names.h"
#include "host/context/metadata.h"
#include "host/onnx_io/export/export.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/context/context_samples.h"
#include "tests/unit/context/read/refusal.h"

namespace ephost::context::loader_test {
namespace {

namespace fs = std::filesystem;
using test::IsOk;
using test::TempDirectory;
using ::testing::AllOf;
using testing::checksum_of;
using ::testing::ElementsAre;
using testing::embedded_node;
using testing::file_node;
using ::testing::HasSubstr;
using testing::model_of;
using testing::refusal;
using testing::secondary_node;
using testing::text_of;

// The refusal of a node that names this path below the folder.
std::string refusal_of_path(const TempDirectory& dir, const std::string& path) {
  return refusal(model_of({file_node("p", path)}), {.folder = dir.path()});
}

class CountingFileSystem : public PosixFileSystem {
 public:
  void* mmap(size_t size, int descriptor) const override {
    ++mappings;
    return PosixFileSystem::mmap(size, descriptor);
  }
  mutable int mappings = 0;
};

TEST(ContextLoader, AsksForEachPayloadOnceWhereAFunctionGivesThem) {
  const TempDirectory dir;
  dir.write("m_test.bin", "of the folder");
  int calls = 0;
  LoadOptions options{.folder = dir.path()};
  options.read_payload = [&](const std::string& name) -> Result<graph::Blob> {
    ++calls;
    EXPECT_EQ(name, "m_test.bin");
    return testing::blob_of("of the function");
  };
  const graph::Model model = model_of({file_node("p", "m_test.bin"), file_node("q", "m_test.bin")});
  const Result<LoadedContext> loaded = load_context(model, options);
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(calls, 1);
  ASSERT_EQ(loaded->payloads.size(), 1U);
  EXPECT_EQ(text_of(loaded->payloads[0].bytes), "of the function");
  const void* address = loaded->payloads[0].bytes.bytes.data();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % kPayloadAlignment, 0U);
  EXPECT_THAT(refusal(model_of({file_node("p", "../m_test.bin")}), options),
              HasSubstr("has a \"..\" component"));
  EXPECT_EQ(calls, 1);
}

TEST(ContextLoader, LoadsABinaryBesideTheModel) {
  const TempDirectory dir;
  dir.write("m_test.bin", "payload");
  const graph::Model model = model_of({file_node("p", "m_test.bin")});
  const Result<LoadedContext> loaded = load_context(model, {.folder = dir.path()});
  ASSERT_THAT(loaded, IsOk());
  ASSERT_EQ(loaded->payloads.size(), 1U);
  EXPECT_EQ(text_of(loaded->payloads[0].bytes), "payload");
  EXPECT_EQ(loaded->payloads[0].file_name, "m_test.bin");
  EXPECT_EQ(loaded->payloads[0].source, testing::kSource);
  ASSERT_EQ(loaded->partitions.size(), 1U);
  EXPECT_EQ(loaded->partitions[0].place.graph, &model.graph);
  EXPECT_EQ(loaded->partitions[0].place.node, 0U);
}

TEST(ContextLoader, AlignsEmbeddedPayloads) {
  // Neither is aligned: a short string, and a blob at an odd address.
  const graph::Blob block = testing::blob_of("x" + std::string(5000, 'b'));
  EpContextNode large = embedded_node("large", "");
  large.payload = {.bytes = block.bytes.subspan(1), .owner = block.owner};
  graph::Model model = model_of({std::move(large), embedded_node("small", "a")});
  model.graph.nodes[1].attributes[2].value = std::string("short");
  const Result<LoadedContext> loaded = load_context(model, {});
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(text_of(loaded->payloads[0].bytes), std::string(5000, 'b'));
  EXPECT_EQ(text_of(loaded->payloads[1].bytes), "short");
  for (const CachedPayload& payload : loaded->payloads) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(payload.bytes.bytes.data()) % kPayloadAlignment, 0U);
    EXPECT_NE(payload.bytes.owner, nullptr);
  }
}

TEST(ContextLoader, AcceptsEmptyPayloadsForTheProviderToJudge) {
  const TempDirectory dir;
  dir.write("empty.bin", "");
  const graph::Model model = model_of({embedded_node("a", ""), file_node("b", "empty.bin")});
  const Result<LoadedContext> loaded = load_context(model, {.folder = dir.path()});
  ASSERT_THAT(loaded, IsOk());
  EXPECT_TRUE(loaded->payloads[0].bytes.bytes.empty());
  EXPECT_TRUE(loaded->payloads[1].bytes.bytes.empty());
}

TEST(ContextLoader, FindsPartitionsInNestedGraphs) {
  graph::Model model = model_of({secondary_node("outer", "inner")});
  graph::Graph body = model_of({embedded_node("inner", "payload")}).graph;
  graph::Node holder{.name = "if", .op_type = "If"};
  holder.attributes.push_back({"then_branch", std::make_unique<graph::Graph>(std::move(body))});
  model.graph.add_node(std::move(holder));
  const Result<LoadedContext> loaded = load_context(model, {});
  ASSERT_THAT(loaded, IsOk());
  ASSERT_EQ(loaded->partitions.size(), 2U);
  EXPECT_EQ(loaded->partitions[1].place.graph, model.graph.nodes[1].subgraph("then_branch"));
  EXPECT_EQ(loaded->partitions[0].payload, loaded->partitions[1].payload);
}

TEST(ContextLoader, LoadsTheSupersededBinaryThatTheModelStates) {
  const TempDirectory dir;
  dir.write("m.bin", "new one");
  graph::Model model = model_of({file_node("p", "m.bin")});
  write_metadata({.binaries = {{"m.bin", checksum_of("old one")}}}, model.metadata);
  EXPECT_THAT(refusal(model, {.folder = dir.path()}), HasSubstr("has the checksum"));

  const std::string superseded = superseded_name("m.bin", to_hex(checksum_of("old one").hash));
  dir.write(superseded, "damaged");
  EXPECT_THAT(refusal(model, {.folder = dir.path()}), HasSubstr("has the checksum"));
  dir.write(superseded, "old one");
  const Result<LoadedContext> replaced = load_context(model, {.folder = dir.path()});
  ASSERT_THAT(replaced, IsOk());
  EXPECT_EQ(text_of(replaced->payloads[0].bytes), "old one");
  fs::remove(dir / "m.bin");
  EXPECT_EQ(refusal(model, {.folder = dir.path()}), "accepted");
}

TEST(ContextLoader, FindsTheSupersededInitializersThatTheModelStates) {
  const TempDirectory dir;
  dir.write("weights", "new");
  graph::Model model = testing::sample_model();
  write_metadata({.initializers = {{"weights", checksum_of("old")}}}, model.metadata);
  const std::vector<std::byte> encoded = onnx_io::export_model(model)->model.to_bytes();
  LoadOptions options{.folder = dir.path()};
  EXPECT_TRUE(find_superseded_initializers(encoded, options).empty());
  dir.write(superseded_name("weights", to_hex(checksum_of("old").hash)), "old");
  // A caller that read the new ones gets an error.
  EXPECT_THAT(refusal(model, options), HasSubstr("checking the initializers"));
  options.files = find_superseded_initializers(encoded, options);
  ASSERT_TRUE(options.files.contains("weights"));
  EXPECT_EQ(text_of(options.files["weights"]), "old");
  EXPECT_EQ(refusal(model, options), "accepted");
}

TEST(ContextLoader, RefusesAbsolutePaths) {
  const TempDirectory dir;
  const fs::path file = dir.write("m.bin", "payload");
  EXPECT_THAT(refusal_of_path(dir, file.native()),
              AllOf(HasSubstr("EPContext node \"p\""), HasSubstr("it is absolute")));
}

TEST(ContextLoader, RefusesParentFolderComponents) {
  const TempDirectory dir;
  dir.write("sub/m.bin", "payload");
  dir.write("m.bin", "payload");
  EXPECT_THAT(refusal_of_path(dir, "../" + dir.path().filename().native() + "/m.bin"),
              HasSubstr("\"..\" component"));
  EXPECT_THAT(refusal_of_path(dir, "sub/../m.bin"), HasSubstr("component"));
}

TEST(ContextLoader, RefusesLinksThatLeaveTheFolder) {
  const TempDirectory outside;
  const TempDirectory dir;
  fs::create_symlink(outside.write("m.bin", "payload"), dir / "m.bin");
  EXPECT_THAT(refusal_of_path(dir, "m.bin"), HasSubstr("symbolic link leads out"));
  dir.write("real.bin", "payload");
  fs::create_symlink("real.bin", dir / "inside.bin");
  EXPECT_EQ(refusal_of_path(dir, "inside.bin"), "accepted");
}

TEST(ContextLoader, RefusesDirectoriesDevicesAndEmptyNames) {
  const TempDirectory dir;
  fs::create_directory(dir / "folder");
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(refusal_of_path(dir, "folder"), HasSubstr("it is a directory"));
  EXPECT_THAT(refusal_of_path(dir, "pipe"), HasSubstr("not a regular file"));
  EXPECT_THAT(refusal_of_path(dir, ""), HasSubstr("it is empty"));
  EXPECT_THAT(refusal_of_path(dir, std::string("m.bin\0x", 7)), HasSubstr("NUL"));
}

TEST(ContextLoader, AcceptsDotsAndAnyScriptInNames) {
  const TempDirectory dir;
  for (const std::string name : {"a..b.bin", "sub/m.bin", "模型_甲.bin", "модель.bin", "m b.bin"}) {
    dir.write(name, "payload");
    EXPECT_EQ(refusal_of_path(dir, name), "accepted") << name;
  }
}

TEST(ContextLoader, AModelFromMemoryNeedsAFolderForItsBinaries) {
  EXPECT_THAT(refusal(model_of({file_node("p", "m.bin")}), {}), HasSubstr("ep.context_file_path"));
}

TEST(ContextLoader, SecondaryNodesFindTheirPrimaryInAnyOrder) {
  const graph::Model model = model_of({secondary_node("s2", "p2"), embedded_node("p1", "one"),
                                       secondary_node("s1", "p1"), embedded_node("p2", "two")});
  const Result<LoadedContext> loaded = load_context(model, {});
  ASSERT_THAT(loaded, IsOk());
  ASSERT_EQ(loaded->payloads.size(), 2U);
  EXPECT_EQ(text_of(loaded->payloads[loaded->partitions[0].payload].bytes), "two");
  EXPECT_EQ(text_of(loaded->payloads[loaded->partitions[2].payload].bytes), "one");
}

TEST(ContextLoader, RefusesASecondaryNodeWithoutAPrimary) {
  EXPECT_THAT(refusal(model_of({secondary_node("s", "p")}), {}),
              AllOf(HasSubstr("EPContext node \"s\""), HasSubstr("no primary node")));
  EXPECT_THAT(refusal(model_of({embedded_node("a", "1"), embedded_node("b", "2"),
                                secondary_node("s", "c")}),
                      {}),
              HasSubstr("no primary node has that name"));
  EXPECT_THAT(refusal(model_of({embedded_node("a", "1"), embedded_node("a", "2"),
                                secondary_node("s", "a")}),
                      {}),
              HasSubstr("several primary nodes of that name"));
}

TEST(ContextLoader, ASecondaryNodeNeedNotNameTheOnlyPrimary) {
  const TempDirectory dir;
  dir.write("m.bin", "payload");
  dir.write("n.bin", "payload");
  EXPECT_EQ(
      refusal(model_of({secondary_node("s", ""), file_node("p", "m.bin")}), {.folder = dir.path()}),
      "accepted");
  // There are several, but the file identifies one.
  EXPECT_EQ(refusal(model_of({secondary_node("s", "n.bin"), file_node("p", "m.bin"),
                              file_node("q", "n.bin")}),
                    {.folder = dir.path()}),
            "accepted");
}

TEST(ContextLoader, ASecondaryNodeNeverGetsAnotherSourcesPayload) {
  EpContextNode other = embedded_node("p", "theirs");
  other.source = "OtherExecutionProvider";
  EXPECT_THAT(refusal(model_of({std::move(other), secondary_node("s", "p")}), {}),
              HasSubstr("no primary node has that source"));
}

TEST(ContextLoader, SourcesThatStateOneFileGetSeparatePayloads) {
  const TempDirectory dir;
  dir.write("m.bin", "payload");
  EpContextNode other = file_node("q", "m.bin");
  other.source = "OtherExecutionProvider";
  const graph::Model model = model_of({file_node("p", "m.bin"), std::move(other)});
  const Result<LoadedContext> loaded = load_context(model, {.folder = dir.path()});
  ASSERT_THAT(loaded, IsOk());
  ASSERT_EQ(loaded->payloads.size(), 2U);
  EXPECT_EQ(loaded->payloads[1].source, "OtherExecutionProvider");
}

TEST(ContextLoader, RefusesAMissingBinaryByName) {
  const TempDirectory dir;
  EXPECT_THAT(refusal_of_path(dir, "gone.bin"),
              AllOf(HasSubstr("gone.bin"), HasSubstr("No such file")));
  EXPECT_THAT(refusal(model_of({file_node("p", "m.bin")}), {.folder = dir / "gone"}),
              HasSubstr("gone"));
}

TEST(ContextLoader, RefusesAnUnreadableBinary) {
  const TempDirectory dir;
  dir.write("m.bin", "payload");
  test::FaultyFileSystem faulty;
  faulty.fail_at = 4;  // open and close the folder, open the file, fstat, mmap
  EXPECT_THAT(
      refusal(model_of({file_node("p", "m.bin")}), {.folder = dir.path(), .file_system = &faulty}),
      AllOf(HasSubstr("cannot map"), HasSubstr("m.bin")));
}

TEST(ContextLoader, ReturnsTheCompatibilityStrings) {
  graph::Model model = model_of({embedded_node("p", "payload")});
  write_metadata({.embedded = {{"p", checksum_of("payload")}}, .compatibility = {{"EP", "sdk 3"}}},
                 model.metadata);
  const Result<LoadedContext> loaded = load_context(model, {});
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(loaded->compatibility.at("EP"), "sdk 3");
  EXPECT_EQ(loaded->compatibility_of({.source = "EP"}), "sdk 3");
  EXPECT_EQ(loaded->compatibility_of({.source = "EP", .compatibility = "own"}), "own");
  EXPECT_EQ(loaded->compatibility_of({.source = "another"}), "");
}

TEST(ContextLoader, ReturnsTheCompatibilityStringOfEachPayload) {
  graph::Model model = model_of({embedded_node("p", "one"), embedded_node("q", "two")});
  write_metadata({.embedded = {{"p", checksum_of("one")}, {"q", checksum_of("two")}},
                  .payload_compatibility = {{"q", "for npu 1"}}},
                 model.metadata);
  const Result<LoadedContext> loaded = load_context(model, {});
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(loaded->payloads.at(0).compatibility, "");
  EXPECT_EQ(loaded->payloads.at(1).compatibility, "for npu 1");
}

TEST(ContextLoader, RefusesTwoCompatibilityStringsOfOnePayload) {
  const TempDirectory dir;
  dir.write("m.bin", "payload");
  for (const std::string second : {"for npu 0", "for npu 1"}) {
    graph::Model model = model_of({file_node("a", "m.bin"), file_node("b", "m.bin")});
    write_metadata({.binaries = {{"m.bin", checksum_of("payload")}},
                    .payload_compatibility = {{"a", "for npu 0"}, {"b", second}}},
                   model.metadata);
    const Result<LoadedContext> loaded = load_context(model, {.folder = dir.path()});
    EXPECT_EQ(loaded.ok(), second == "for npu 0");
    if (loaded.ok()) continue;
    EXPECT_EQ(loaded.status().code(), StatusCode::kInvalidGraph);
    EXPECT_NE(loaded.status().message().find("another node of the payload states \"for npu 0\""),
              std::string::npos);
  }
}

TEST(ContextLoader, MapsABinaryOnceForAllItsNodes) {
  const TempDirectory dir;
  dir.write("m.bin", "payload");
  const CountingFileSystem counting;
  const graph::Model model =
      model_of({file_node("a", "m.bin"), file_node("b", "./m.bin"), secondary_node("c", "a")});
  const Result<LoadedContext> loaded =
      load_context(model, {.folder = dir.path(), .file_system = &counting});
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(counting.mappings, 1);
  EXPECT_EQ(loaded->payloads.size(), 1U);
  for (const CachedPartition& partition : loaded->partitions) EXPECT_EQ(partition.payload, 0U);
}

TEST(ContextLoader, APayloadOutlivesTheLoad) {
  const TempDirectory dir;
  dir.write("m.bin", "payload");
  CachedPayload payload;
  {
    const graph::Model model = model_of({file_node("p", "m.bin")});
    Result<LoadedContext> loaded = load_context(model, {.folder = dir.path()});
    ASSERT_THAT(loaded, IsOk());
    payload = loaded->payloads[0];
  }
  fs::remove(dir / "m.bin");
  EXPECT_EQ(text_of(payload.bytes), "payload");
}

TEST(ContextLoader, LoadsNodesMergedFromSeveralModels) {
  const TempDirectory dir;
  dir.write("m_test.bin", "first model");
  dir.write("n_test.bin", "second model");
  graph::Model model = model_of({file_node("m.0", "m_test.bin"), secondary_node("m.1", "m.0"),
                                 file_node("n.0", "n_test.bin"), secondary_node("n.1", "n.0")});
  write_metadata({.binaries = {{"m_test.bin", checksum_of("first model")},
                               {"n_test.bin", checksum_of("second model")}}},
                 model.metadata);
  const Result<LoadedContext> loaded = load_context(model, {.folder = dir.path()});
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(loaded->partitions[1].payload, loaded->partitions[0].payload);
  EXPECT_EQ(loaded->partitions[3].payload, loaded->partitions[2].payload);
  EXPECT_EQ(text_of(loaded->payloads[loaded->partitions[3].payload].bytes), "second model");
}

TEST(ContextLoader, ComparesLargeFilesInTheBackgroundForValidatingProviders) {
  const TempDirectory dir;
  const std::string payload(size_t{5} << 20, 'p');
  ASSERT_THAT(testing::write_sample({.output_path = dir / "m_ctx.onnx"}, payload), IsOk());
  const Result<graph::Model> model = onnx_io::import_model(dir / "m_ctx.onnx");
  ASSERT_THAT(model, IsOk());
  LoadOptions options{.folder = dir.path(), .validating_sources = {std::string(testing::kSource)}};
  Result<LoadedContext> right = load_context(*model, options);
  ASSERT_THAT(right, IsOk());
  EXPECT_EQ(right->pending_checksums.size(), 1U);
  EXPECT_THAT(right->finish_checksums(), IsOk());
  EXPECT_THAT(right->finish_checksums(), IsOk());

  std::string damaged = payload;
  damaged[damaged.size() / 2] = 'd';
  dir.write("m_test.bin", damaged);
  Result<LoadedContext> wrong = load_context(*model, options);
  ASSERT_THAT(wrong, IsOk());
  const Status status = wrong->finish_checksums();
  EXPECT_EQ(status.code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(status.message(), HasSubstr("m_test.bin"));
  // A wrong size is found at once, and so is everything for providers that do not validate.
  dir.write("m_test.bin", payload + "x");
  EXPECT_FALSE(load_context(*model, options).ok());
  dir.write("m_test.bin", damaged);
  options.validating_sources = {"somebody else"};
  EXPECT_FALSE(load_context(*model, options).ok());
}

}  // namespace
}  // namespace ephost::context::loader_test
