// Output files of the writer: which outputs it refuses, and how it replaces existing ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "host/context/read/verify.h"
#include "host/context/write/writer.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/context/context_samples.h"
#include "tests/unit/context/write/writer_helpers.h"

namespace ephost::context::writer_output_test {
namespace {

namespace fs = std::filesystem;
using test::IsOk;
using test::TempDirectory;
using ::testing::AllOf;
using testing::content_of;
using testing::created;
using ::testing::ElementsAre;
using testing::files_in;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::load_file;
using testing::Loaded;
using testing::sample_model;
using testing::sample_partitions;
using testing::write_sample;
using testing::writer_of;

TEST(ContextWriter, TakesFilesBackIfAFunctionFails) {
  const TempDirectory dir;
  dir.write("m_test.bin", "old");
  WriteOptions options{.output_path = dir / "m_ctx.onnx",
                       .destination = Destination::kFunction,
                       .external_initializers_file_name = "weights",
                       .overwrite = true,
                       .force_overwrite = true};
  options.write_model = [&](std::span<const std::byte>) {
    EXPECT_EQ(content_of(dir / "m_test.bin"), "new");
    return Status(StatusCode::kEngineError, "no");
  };
  EXPECT_EQ(write_sample(options, "new").status().to_string(), "ENGINE_ERROR: no");
  EXPECT_THAT(files_in(dir.path()), ElementsAre("m_test.bin"));
  EXPECT_EQ(content_of(dir / "m_test.bin"), "old");
  options.write_payload = [](const std::string&, std::span<const std::byte>) {
    return Status(StatusCode::kNotFound, "neither");
  };
  EXPECT_EQ(write_sample(options, "new").status().to_string(), "NOT_FOUND: neither");
  EXPECT_THAT(files_in(dir.path()), ElementsAre("m_test.bin"));
}

TEST(ContextWriter, FilesNeedAnOutputPath) {
  for (const bool embed : {false, true}) {
    const Status file = created({.embed = embed});
    EXPECT_EQ(file.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(file.message(), HasSubstr("ep.context_file_path"));
  }
  EXPECT_EQ(created({.destination = Destination::kMemory}).code(), StatusCode::kInvalidArgument);
}

TEST(ContextWriter, RefusesAFolderAsOutput) {
  const TempDirectory dir;
  const Status status = created({.output_path = dir.path()});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("it is a directory"));
  EXPECT_EQ(created({.output_path = dir.path() / ""}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(created({.output_path = "/dev/null", .overwrite = true}).code(),
            StatusCode::kInvalidArgument);
}

TEST(ContextWriter, RefusesAnExistingOutputBeforeAnythingIsCompiled) {
  const TempDirectory dir;
  const fs::path output = dir.write("m_ctx.onnx", "precious");
  const Status status = created({.output_path = output});
  EXPECT_EQ(status.code(), StatusCode::kFail);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("m_ctx.onnx\" exists already"),
                                      HasSubstr("remove it, or choose another output path")));
  EXPECT_EQ(content_of(output), "precious");
  EXPECT_THAT(files_in(dir.path()), ElementsAre("m_ctx.onnx"));
}

TEST(ContextWriter, ReplacesOnlyAContextModelUnlessForced) {
  const TempDirectory dir;
  const fs::path output = dir.write("m_ctx.onnx", "precious");
  const Status status = created({.output_path = output, .overwrite = true});
  EXPECT_EQ(status.code(), StatusCode::kFail);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("is not a context model"), HasSubstr("--force")));
  EXPECT_EQ(content_of(output), "precious");
  EXPECT_THAT(created({.output_path = output, .force_overwrite = true}), IsOk());
  EXPECT_EQ(content_of(output), "precious");
  fs::remove(output);
  ASSERT_THAT(write_sample({.output_path = output}), IsOk());
  EXPECT_THAT(created({.output_path = output, .overwrite = true}), IsOk());
}

TEST(ContextWriter, ReplacesAPlainModelThatItWrote) {
  const TempDirectory dir;
  const WriteOptions options{.output_path = dir / "m_ctx.onnx", .overwrite = true};
  for (int i = 0; i < 2; ++i) {
    const auto written = writer_of(options, 0).finish(sample_model(), {}, {});
    ASSERT_THAT(written, IsOk());
  }
}

TEST(ContextWriter, ReplacesAContextModelWhoseFilesAreMissing) {
  const TempDirectory dir;
  const WriteOptions options{.output_path = dir / "m_ctx.onnx",
                             .external_initializers_file_name = "weights",
                             .overwrite = true};
  ASSERT_THAT(write_sample(options), IsOk());
  fs::remove(dir / "weights");
  fs::remove(dir / "m_test.bin");
  EXPECT_THAT(write_sample(options), IsOk());
}

TEST(ContextWriter, ReplacesWhatItWroteBeforeUnlessSomebodyChangedIt) {
  for (const char* changed : {"m_ctx.onnx", "m_test.bin", "weights"}) {
    SCOPED_TRACE(changed);
    const TempDirectory dir;
    WriteOptions options{.output_path = dir / "m_ctx.onnx",
                         .external_initializers_file_name = "weights"};
    const auto first = write_sample(options, "old");
    ASSERT_THAT(first, IsOk());
    EXPECT_THAT(write_sample(options, "new").status().message(), HasSubstr("exists already"));
    options.written_before = first->files;
    const auto second = write_sample(options, "new");
    ASSERT_THAT(second, IsOk());
    EXPECT_EQ(content_of(dir / "m_test.bin"), "new");
    options.written_before = second->files;
    dir.write(changed, "precious");
    const Status status = write_sample(options, "newer").status();
    EXPECT_EQ(status.code(), StatusCode::kFail);
    EXPECT_THAT(status.message(), HasSubstr("exists already"));
    EXPECT_EQ(content_of(dir / changed), "precious");
  }
}

TEST(ContextWriter, RefusesAnOutputCreatedSinceTheFirstCheck) {
  const TempDirectory dir;
  ContextWriter writer = writer_of({.output_path = dir / "m_ctx.onnx"});
  dir.write("m_ctx.onnx", "precious");
  graph::Model model = sample_model();
  const auto partitions = sample_partitions(model.graph);
  const auto written = std::move(writer).finish(std::move(model), partitions, {});
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.status().code(), StatusCode::kFail);
  EXPECT_THAT(files_in(dir.path()), ElementsAre("m_ctx.onnx"));
  EXPECT_EQ(content_of(dir / "m_ctx.onnx"), "precious");
}

TEST(ContextWriter, RefusesAMissingOrReadOnlyFolder) {
  const TempDirectory dir;
  EXPECT_EQ(created({.output_path = dir / "gone/m_ctx.onnx"}).code(), StatusCode::kNoSuchFile);
  if (::geteuid() == 0) return;  // root may write everywhere
  fs::permissions(dir.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(created({.output_path = dir / "m_ctx.onnx"}).code(), StatusCode::kFail);
  fs::permissions(dir.path(), fs::perms::owner_all);
}

TEST(ContextWriter, RefusesTheSourceModelAsOutput) {
  const TempDirectory dir;
  const fs::path source = dir.write("m.onnx", "the source");
  const Status status = created({.output_path = source, .source_path = source, .overwrite = true});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("would overwrite the model"));
  EXPECT_THAT(created({.output_path = dir / "m_ctx.onnx",
                       .external_initializers_file_name = "m.onnx",
                       .source_path = source,
                       .overwrite = true})
                  .message(),
              HasSubstr("would overwrite the model"));
}

TEST(ContextWriter, RefusesABinaryThatTheOperationReads) {
  const TempDirectory dir;
  const fs::path data = dir.write("weights", "precious");
  fs::create_hard_link(data, dir / "m_test.bin");
  OperationFiles read;
  ASSERT_THAT(read.add_input(data, "the external data"), IsOk());
  for (const bool is_known_early : {true, false}) {
    WriteOptions options{.output_path = dir / "m_ctx.onnx", .force_overwrite = true};
    if (is_known_early) options.files = read;
    Result<ContextWriter> writer = ContextWriter::create(std::move(options));
    ASSERT_THAT(writer, IsOk());
    ASSERT_THAT(writer->add_files(read), IsOk());
    const Result<uint32_t> payload = writer->begin_payload("test");
    ASSERT_FALSE(payload.ok());
    EXPECT_EQ(payload.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(payload.status().message(), HasSubstr("would overwrite the external data"));
  }
  EXPECT_THAT(files_in(dir.path()), ElementsAre("m_test.bin", "weights"));
}

TEST(ContextWriter, RefusesAnOutputThatTurnsOutToBeRead) {
  const TempDirectory dir;
  ContextWriter writer =
      writer_of({.output_path = dir / "m_ctx.onnx", .external_initializers_file_name = "w"}, 0);
  OperationFiles read;
  ASSERT_THAT(read.add_input(dir.write("w", "precious"), "the external data"), IsOk());
  EXPECT_THAT(writer.add_files(read).message(), HasSubstr("would overwrite the external data"));
}

TEST(ContextWriter, RefusesNamesThatCannotBeStated) {
  const TempDirectory dir;
  EXPECT_THAT(created({.output_path = dir / "m\xff_ctx.onnx"}).message(), HasSubstr("not UTF-8"));
  for (const std::string name : {"sub/w", "/w", "..", ".", "w\xff"}) {
    const Status status =
        created({.output_path = dir / "m_ctx.onnx", .external_initializers_file_name = name});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << name;
  }
  EXPECT_THAT(
      created({.output_path = dir / "m_ctx.onnx", .external_initializers_file_name = "m_ctx.onnx"})
          .message(),
      HasSubstr("are the same file"));
  Result<ContextWriter> writer = ContextWriter::create({.output_path = dir / "m_ctx.onnx"});
  ASSERT_THAT(writer, IsOk());
  for (const std::string_view name : {"", "a/b", "\xff"}) {
    const Result<uint32_t> payload = writer->begin_payload(name);
    ASSERT_FALSE(payload.ok());
    EXPECT_THAT(payload.status().message(), HasSubstr("cannot be part of a file name"));
  }
}

TEST(ContextWriter, KeepsAnInitializersFileThatMayBelongToAnotherModel) {
  const TempDirectory dir;
  dir.write("weights", "of the source model");
  const WriteOptions options{.output_path = dir / "m_ctx.onnx",
                             .external_initializers_file_name = "weights",
                             .overwrite = true};
  const Result<WrittenContext> refused = write_sample(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kFail);
  EXPECT_THAT(refused.status().message(), HasSubstr("not known to belong to the context model"));
  EXPECT_THAT(files_in(dir.path()), ElementsAre("weights"));
  EXPECT_EQ(content_of(dir / "weights"), "of the source model");
}

TEST(ContextWriter, ReplacesTheInitializersFileOfTheReplacedModel) {
  const TempDirectory dir;
  const WriteOptions options{.output_path = dir / "m_ctx.onnx",
                             .external_initializers_file_name = "weights",
                             .overwrite = true};
  ASSERT_THAT(write_sample(options), IsOk());
  const std::string old = content_of(dir / "weights");
  ContextWriter writer = writer_of(options);
  graph::Model model = sample_model();
  model.graph.initializers[1] = testing::four(9);
  const auto partitions = sample_partitions(model.graph);
  const auto written = std::move(writer).finish(std::move(model), partitions, {});
  ASSERT_THAT(written, IsOk());
  EXPECT_NE(content_of(dir / "weights"), old);
  EXPECT_THAT(load_file(dir / "m_ctx.onnx"), IsOk());
  EXPECT_THAT(files_in(dir.path()), ElementsAre("m_ctx.onnx", "m_test.bin", "weights"));
}

TEST(ContextWriter, RefusesMoreThanAModelCanHoldBeforeWriting) {
  const TempDirectory dir;
  Result<ContextWriter> writer = ContextWriter::create(
      {.output_path = dir / "m_ctx.onnx", .embed = true, .max_model_bytes = 1000});
  ASSERT_THAT(writer, IsOk());
  ASSERT_THAT(writer->begin_payload("test"), IsOk());
  EXPECT_THAT(writer->append(0, as_bytes(std::string(900, 'p'))), IsOk());
  const Status status = writer->append(0, as_bytes(std::string(101, 'p')));
  EXPECT_EQ(status.code(), StatusCode::kFail);
  EXPECT_THAT(status.message(), HasSubstr("ep.context_embed_mode 0"));
  EXPECT_THAT(files_in(dir.path()), IsEmpty());
}

TEST(ContextWriter, CountsTheModelItselfTowardsItsLimit) {
  const TempDirectory dir;
  const Result<WrittenContext> written =
      write_sample({.output_path = dir / "m_ctx.onnx", .max_model_bytes = 300});
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.status().code(), StatusCode::kFail);
  EXPECT_THAT(written.status().message(), HasSubstr("at most 300"));
  EXPECT_THAT(files_in(dir.path()), IsEmpty());
}

TEST(ContextWriter, ReplacesTheWholeOutput) {
  const TempDirectory dir;
  const WriteOptions options{.output_path = dir / "m_ctx.onnx", .overwrite = true};
  for (const std::string_view payload : {"one", "two", "two", "three"}) {
    ASSERT_THAT(write_sample(options, payload), IsOk());
    const Result<Loaded> loaded = load_file(dir / "m_ctx.onnx");
    ASSERT_THAT(loaded, IsOk());
    EXPECT_EQ(loaded->payload_of("first"), payload);
    EXPECT_THAT(files_in(dir.path()), ElementsAre("m_ctx.onnx", "m_test.bin"));
  }
}

TEST(ContextWriter, ConcurrentWritersOfOneOutputDoNotMix) {
  const TempDirectory dir;
  const WriteOptions options{
      .output_path = dir / "m_ctx.onnx", .external_initializers_file_name = "", .overwrite = true};
  constexpr int kRounds = 20;
  const auto write = [&](const std::string& payload) {
    for (int i = 0; i < kRounds; ++i) {
      const Result<WrittenContext> written = write_sample(options, payload);
      EXPECT_THAT(written, IsOk());
    }
  };
  std::thread other(write, "of one");
  write("and another");
  other.join();
  const Result<Loaded> loaded = load_file(dir / "m_ctx.onnx");
  ASSERT_THAT(loaded, IsOk());
  EXPECT_THAT(loaded->payload_of("first"), ::testing::AnyOf("of one", "and another"));
  EXPECT_THAT(files_in(dir.path()), ElementsAre("m_ctx.onnx", "m_test.bin"));
}

TEST(ContextWriter, OutputsOfOtherNamesKeepTheirBinaries) {
  const TempDirectory dir;
  ASSERT_THAT(write_sample({.output_path = dir / "fast_ctx.onnx"}, "fast"), IsOk());
  ASSERT_THAT(write_sample({.output_path = dir / "small_ctx.onnx"}, "small"), IsOk());
  EXPECT_EQ(content_of(dir / "fast_test.bin"), "fast");
  EXPECT_EQ(content_of(dir / "small_test.bin"), "small");
  const Result<WrittenContext> refused =
      write_sample({.output_path = dir / "fast.onnx"}, "another");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kFail);
  EXPECT_THAT(refused.status().message(),
              AllOf(HasSubstr("belongs to the context model"), HasSubstr("fast_ctx.onnx")));
  EXPECT_EQ(content_of(dir / "fast_test.bin"), "fast");
}

TEST(ContextWriter, KeepsABinaryThatNoModelClaimsUnlessForced) {
  const TempDirectory dir;
  dir.write("m_test.bin", "precious");
  dir.write("m.onnx", "no model");
  WriteOptions options{.output_path = dir / "m_ctx.onnx", .overwrite = true};
  const Result<WrittenContext> refused = write_sample(options, "new");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kFail);
  EXPECT_THAT(refused.status().message(), AllOf(HasSubstr("m_test.bin"), HasSubstr("--force")));
  EXPECT_EQ(content_of(dir / "m_test.bin"), "precious");
  EXPECT_THAT(files_in(dir.path()), ElementsAre("m.onnx", "m_test.bin"));
  options.force_overwrite = true;
  ASSERT_THAT(write_sample(options, "new"), IsOk());
  EXPECT_EQ(content_of(dir / "m_test.bin"), "new");
}

TEST(ContextWriter, TakesABinaryThatIsThereAlreadyWithTheSameContent) {
  const TempDirectory dir;
  dir.write("m_test.bin", "same");
  EXPECT_THAT(write_sample({.output_path = dir / "m_ctx.onnx"}, "same"), IsOk());
}

TEST(ContextWriter, ReplacesTheBinaryOfAWriterThatDiedBeforePublishingItsModel) {
  const TempDirectory dir;
  ASSERT_THAT(write_sample({.output_path = dir / "m_ctx.onnx"}, "old"), IsOk());
  // The model keeps its temporary name.
  fs::rename(dir / "m_ctx.onnx", dir / ".ephost-123-4.tmp");
  ASSERT_THAT(write_sample({.output_path = dir / "m_ctx.onnx"}, "new"), IsOk());
  EXPECT_EQ(content_of(dir / "m_test.bin"), "new");
  EXPECT_THAT(files_in(dir.path()), ElementsAre("m_ctx.onnx", "m_test.bin"));
}

TEST(ContextWriter, ReplacesASymbolicLinkInsteadOfFollowingIt) {
  const TempDirectory dir;
  dir.write("elsewhere", "payload");
  fs::create_symlink("elsewhere", dir / "m_test.bin");
  ASSERT_THAT(write_sample({.output_path = dir / "m_ctx.onnx"}, "payload"), IsOk());
  EXPECT_FALSE(fs::is_symlink(dir / "m_test.bin"));
  EXPECT_EQ(content_of(dir / "elsewhere"), "payload");
}

// A file system that flips a bit of what is written to it.
class LossyFileSystem : public PosixFileSystem {
 public:
  ssize_t write(int descriptor, const void* data, size_t size) const override {
    std::string bytes(static_cast<const char*>(data), size);
    bytes[size / 2] ^= 1;
    return PosixFileSystem::write(descriptor, bytes.data(), size);
  }
};

TEST(ContextWriter, PublishesNothingThatDoesNotLoadBack) {
  const TempDirectory dir;
  ASSERT_THAT(write_sample({.output_path = dir / "m_ctx.onnx"}, "old"), IsOk());
  const LossyFileSystem lossy;
  const Result<WrittenContext> written = write_sample(
      {.output_path = dir / "m_ctx.onnx", .overwrite = true, .file_system = &lossy}, "new");
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.status().message(), HasSubstr("loading the context model for a check"));
  const Result<Loaded> loaded = load_file(dir / "m_ctx.onnx");
  ASSERT_THAT(loaded, IsOk());
  EXPECT_EQ(loaded->payload_of("first"), "old");
}

TEST(ContextWriter, AnAbandonedWriterLeavesNoFile) {
  const TempDirectory dir;
  { const ContextWriter writer = writer_of({.output_path = dir / "m_ctx.onnx"}, 3); }
  EXPECT_THAT(files_in(dir.path()), IsEmpty());
}

}  // namespace
}  // namespace ephost::context::writer_output_test
