// Several context models that share their binaries, and that appear together or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/context/write/writer.h"
#include "tests/support/crashing_file_system.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/context/context_samples.h"

namespace ephost::context::group_writer_test {
namespace {

using test::CrashingFileSystem;
using test::FaultyFileSystem;
using test::IsOk;
using test::TempDirectory;
using ::testing::AnyOf;
using testing::content_of;
using ::testing::ElementsAre;
using testing::files_in;
using ::testing::HasSubstr;
using testing::load_file;
using testing::Loaded;

ModelToWrite model_with(const std::string& partition_name) {
  ModelToWrite written{.model = testing::sample_model()};
  written.partitions = {
      testing::partition_of(written.model.graph, partition_name, {0, 1}, "x", "b")};
  return written;
}

Result<WrittenContext> finish(ContextWriter writer, ModelToWrite first) {
  return std::move(writer).finish(std::move(first.model), first.partitions, first.compatibility);
}

// Two models, a_ctx.onnx and b_ctx.onnx, with one partition each in one payload.
Result<WrittenContext> write_group(const TempDirectory& dir, const std::string& payload,
                                   const FileSystem& file_system = posix_file_system()) {
  const auto options = [&](const std::string& name) {
    return WriteOptions{.output_path = dir / name, .overwrite = true, .file_system = &file_system};
  };
  EPHOST_ASSIGN_OR_RETURN(ContextWriter writer, ContextWriter::create(options("a_ctx.onnx")));
  EPHOST_RETURN_IF_ERROR(writer.begin_payload("test").status());
  EPHOST_RETURN_IF_ERROR(writer.append(0, as_bytes(payload)));
  EPHOST_RETURN_IF_ERROR(writer.add_model(options("b_ctx.onnx"), model_with("of_b")));
  return finish(std::move(writer), model_with("of_a"));
}

// The payload of a model of the group, "none", or the failure to load it.
std::string generation(const TempDirectory& dir, const std::string& model) {
  if (!std::filesystem::exists(dir / (model + "_ctx.onnx"))) return "none";
  const Result<Loaded> loaded = load_file(dir / (model + "_ctx.onnx"));
  return loaded.ok() ? loaded->payload_of("of_" + model) : loaded.status().to_string();
}

TEST(GroupWriter, WritesOneBinaryForAllModels) {
  const TempDirectory dir;
  const Result<WrittenContext> written = write_group(dir, "shared");
  ASSERT_THAT(written, IsOk());
  EXPECT_THAT(files_in(dir.path()), ElementsAre("a_ctx.onnx", "a_test.bin", "b_ctx.onnx"));
  EXPECT_EQ(generation(dir, "a"), "shared");
  EXPECT_EQ(generation(dir, "b"), "shared");
  ASSERT_EQ(written->files.size(), 3U);
  EXPECT_EQ(written->files.front().path, dir / "a_test.bin");
  const Result<Loaded> second = load_file(dir / "b_ctx.onnx");
  EXPECT_TRUE(second->context.partitions[0].attributes.main_context);
}

TEST(GroupWriter, EachModelStatesOnlyThePayloadsItUses) {
  const TempDirectory dir;
  Result<ContextWriter> writer = ContextWriter::create({.output_path = dir / "a_ctx.onnx"});
  ASSERT_THAT(writer, IsOk());
  ASSERT_THAT(writer->begin_payload("one"), IsOk());
  ASSERT_THAT(writer->begin_payload("two"), IsOk());
  ModelToWrite second = model_with("of_b");
  second.partitions[0].payload = 1;
  ASSERT_THAT(writer->add_model({.output_path = dir / "b_ctx.onnx"}, std::move(second)), IsOk());
  ASSERT_THAT(finish(std::move(*writer), model_with("of_a")), IsOk());
  std::filesystem::remove(dir / "a_one.bin");
  EXPECT_EQ(generation(dir, "b"), "");
  EXPECT_THAT(generation(dir, "a"), HasSubstr("a_one.bin"));
}

TEST(GroupWriter, RefusesModelsThatDoNotFitTogether) {
  const TempDirectory dir;
  const TempDirectory elsewhere;
  const auto refusal = [&](WriteOptions options, bool embed = false) {
    Result<ContextWriter> writer =
        ContextWriter::create({.output_path = dir / "a_ctx.onnx", .embed = embed});
    return writer->add_model(std::move(options), model_with("of_b")).to_string();
  };
  EXPECT_THAT(refusal({.output_path = elsewhere / "b_ctx.onnx"}), HasSubstr("one folder"));
  EXPECT_THAT(refusal({.output_path = dir / "a_ctx.onnx"}), HasSubstr("two models"));
  EXPECT_THAT(refusal({.output_path = dir / "b_ctx.onnx"}, true), HasSubstr("embed mode 0"));
  EXPECT_THAT(refusal({.output_path = dir / "b_ctx.onnx", .embed = true}),
              HasSubstr("embed mode 0"));

  Result<ContextWriter> writer = ContextWriter::create({.output_path = dir / "a_ctx.onnx"});
  ASSERT_THAT(writer->begin_payload("test"), IsOk());
  ASSERT_THAT(writer->add_model({.output_path = dir / "b_ctx.onnx"}, model_with("same")), IsOk());
  const auto written = finish(std::move(*writer), model_with("same"));
  EXPECT_THAT(written.status().to_string(), HasSubstr("two partitions are named \"same\""));
  EXPECT_TRUE(files_in(dir.path()).empty());
}

TEST(GroupWriter, AnyFailureLeavesAllModelsOldOrAllNew) {
  for (const bool replaces : {false, true}) {
    for (int operation = 0;; ++operation) {
      const TempDirectory dir;
      if (replaces) {
        ASSERT_THAT(write_group(dir, "old", CrashingFileSystem()), IsOk());
      }
      FaultyFileSystem faulty;
      faulty.fail_at = operation;
      faulty.skips_syncs = true;
      const bool written = write_group(dir, "new one", faulty).ok();
      const std::string found = generation(dir, "a");
      ASSERT_THAT(found, AnyOf(replaces ? "old" : "none", "new one")) << "operation " << operation;
      ASSERT_EQ(generation(dir, "b"), found) << "operation " << operation;
      if (written) {
        ASSERT_EQ(found, "new one");
      }
      if (faulty.operations() <= operation) break;
    }
  }
}

TEST(GroupWriter, ACrashAtAnyPointLeavesEachModelOldOrNew) {
  for (const bool replaces : {false, true}) {
    for (int change = 0;; ++change) {
      const TempDirectory dir;
      if (replaces) {
        ASSERT_THAT(write_group(dir, "old", CrashingFileSystem()), IsOk());
      }
      CrashingFileSystem crashing;
      crashing.crash_at = change;
      static_cast<void>(write_group(dir, "new one", crashing));
      for (const char* model : {"a", "b"}) {
        ASSERT_THAT(generation(dir, model), AnyOf(replaces ? "old" : "none", "new one"))
            << "change " << change;
      }
      ASSERT_THAT(write_group(dir, "next", CrashingFileSystem()), IsOk());
      ASSERT_EQ(generation(dir, "b"), "next");
      ASSERT_THAT(files_in(dir.path()), ElementsAre("a_ctx.onnx", "a_test.bin", "b_ctx.onnx"));
      if (crashing.changes() <= change) break;
    }
  }
}

}  // namespace
}  // namespace ephost::context::group_writer_test
