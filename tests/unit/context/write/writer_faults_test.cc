// Whichever file operation fails, and wherever the process stops, the output is the old one or the
// new one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <ostream>

#include "host/context/write/writer.h"
#include "tests/support/crashing_file_system.h"
#include "tests/support/faulty_file_system.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/context/context_samples.h"

namespace ephost::context::writer_faults_test {
namespace {

namespace fs = std::filesystem;
using test::CrashingFileSystem;
using test::FaultyFileSystem;
using test::IsOk;
using test::TempDirectory;
using ::testing::AnyOf;
using testing::content_of;
using ::testing::ElementsAreArray;
using testing::files_in;
using ::testing::HasSubstr;
using ::testing::IsSubsetOf;
using testing::load_file;
using testing::Loaded;

struct WriteVariant {
  bool embed = false;
  bool external_initializers = false;
  bool replaces = false;  // an existing output
  int error = EIO;
};

std::string name_of(const WriteVariant& variant) {
  return std::string(variant.embed ? "Embedded" : "Files") +
         (variant.external_initializers ? "WithInitializers" : "") +
         (variant.replaces ? "Replacing" : "New") + (variant.error == ENOSPC ? "OnAFullDisk" : "");
}

void PrintTo(const WriteVariant& variant, std::ostream* out) { *out << name_of(variant); }

// Writes two payloads and initializers whose content depends on the generation.
Result<WrittenContext> write_generation(const TempDirectory& dir, const WriteVariant& variant,
                                        const std::string& name, const FileSystem& file_system) {
  EPHOST_ASSIGN_OR_RETURN(ContextWriter writer,
                          ContextWriter::create({.output_path = dir / "m_ctx.onnx",
                                                 .embed = variant.embed,
                                                 .external_initializers_file_name =
                                                     variant.external_initializers ? "weights" : "",
                                                 .overwrite = true,
                                                 .file_system = &file_system}));
  for (const std::string_view ep : {"one", "two"}) {
    EPHOST_ASSIGN_OR_RETURN(const uint32_t payload, writer.begin_payload(ep));
    EPHOST_RETURN_IF_ERROR(writer.append(payload, as_bytes(name)));
  }
  graph::Model model = testing::sample_model();
  model.graph.initializers[1] = testing::four(static_cast<float>(name.size()));
  auto partitions = testing::sample_partitions(model.graph);
  partitions[1].payload = 1;
  return std::move(writer).finish(std::move(model), partitions, {});
}

// The generation of the output, "none", or the failure to load it.
std::string generation(const TempDirectory& dir) {
  if (!fs::exists(dir / "m_ctx.onnx")) return "none";
  const Result<Loaded> loaded = load_file(dir / "m_ctx.onnx");
  if (!loaded.ok()) return loaded.status().to_string();
  const std::string name = loaded->payload_of("first");
  const graph::Graph& graph = loaded->model->graph;
  float weight = 0;
  std::memcpy(&weight, graph.constant(graph.find_value("w2"))->data.bytes.data(), sizeof(weight));
  const bool same =
      loaded->payload_of("second") == name && weight == static_cast<float>(name.size());
  return same ? name : "a mixture";
}

class WriterFaults : public ::testing::TestWithParam<WriteVariant> {
 protected:
  // The files of a complete output.
  std::vector<std::string> complete_files() {
    const TempDirectory dir;
    EXPECT_THAT(write_generation(dir, GetParam(), "new one", CrashingFileSystem()), IsOk());
    return files_in(dir.path());
  }

  // Prepares the folder as it is before the failing generation.
  void prepare(const TempDirectory& dir) {
    if (!GetParam().replaces) return;
    ASSERT_THAT(write_generation(dir, GetParam(), "old", CrashingFileSystem()), IsOk());
  }

  std::string old_generation() const { return GetParam().replaces ? "old" : "none"; }
};

TEST_P(WriterFaults, AnyFailureLeavesTheOldOrTheNewState) {
  const std::vector<std::string> complete = complete_files();
  for (int operation = 0;; ++operation) {
    const TempDirectory dir;
    prepare(dir);
    FaultyFileSystem faulty;
    faulty.fail_at = operation;
    faulty.error = GetParam().error;
    faulty.skips_syncs = true;
    const Result<WrittenContext> written = write_generation(dir, GetParam(), "new one", faulty);
    const std::string found = generation(dir);
    ASSERT_THAT(found, AnyOf(old_generation(), "new one")) << "operation " << operation;
    ASSERT_THAT(files_in(dir.path()), IsSubsetOf(complete)) << "operation " << operation;
    if (!written.ok()) {
      // The message names a file, and no file is half written.
      ASSERT_THAT(written.status().message(), HasSubstr(dir.path().native()));
      if (found == "none") {
        ASSERT_TRUE(files_in(dir.path()).empty()) << "operation " << operation;
      }
    } else {
      ASSERT_EQ(found, "new one");
    }
    if (faulty.operations() <= operation) break;
  }
}

TEST_P(WriterFaults, ACrashAtAnyPointLeavesTheOldOrTheNewState) {
  const std::vector<std::string> complete = complete_files();
  for (int change = 0;; ++change) {
    const TempDirectory dir;
    prepare(dir);
    CrashingFileSystem crashing;
    crashing.crash_at = change;
    static_cast<void>(write_generation(dir, GetParam(), "new one", crashing));
    ASSERT_THAT(generation(dir), AnyOf(old_generation(), "new one")) << "change " << change;

    // The next generation succeeds, and removes superseded and unfinished files.
    const auto next = write_generation(dir, GetParam(), "next", CrashingFileSystem());
    const bool refused = !next.ok() && GetParam().external_initializers;
    if (refused) {
      // A file of initializers that no model claims could belong to anybody.
      ASSERT_THAT(next.status().message(), HasSubstr("not known to belong to the context model"));
      ASSERT_EQ(generation(dir), "none");
    } else {
      ASSERT_THAT(next, IsOk());
      ASSERT_EQ(generation(dir), "next") << "change " << change;
      ASSERT_THAT(files_in(dir.path()), ElementsAreArray(complete)) << "change " << change;
    }
    if (crashing.changes() <= change) break;
  }
}

TEST_P(WriterFaults, WorksWithShortWrites) {
  const TempDirectory dir;
  prepare(dir);
  FaultyFileSystem faulty;
  faulty.most_bytes_per_call = 3;
  ASSERT_THAT(write_generation(dir, GetParam(), "new one", faulty), IsOk());
  EXPECT_EQ(generation(dir), "new one");
}

INSTANTIATE_TEST_SUITE_P(
    ContextWriter, WriterFaults,
    ::testing::Values(WriteVariant{}, WriteVariant{.replaces = true}, WriteVariant{.embed = true},
                      WriteVariant{.embed = true, .replaces = true},
                      WriteVariant{.external_initializers = true},
                      WriteVariant{.external_initializers = true, .replaces = true},
                      WriteVariant{
                          .external_initializers = true, .replaces = true, .error = ENOSPC}),
    [](const auto& variant) { return name_of(variant.param); });

}  // namespace
}  // namespace ephost::context::writer_faults_test
