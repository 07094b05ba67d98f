#include "host/context/read/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/hash.h"
#include "host/context/metadata.h"
#include "tests/unit/context/context_samples.h"

namespace ephost::context::verify_test {
namespace {

using test::TempDirectory;
using ::testing::ElementsAre;
using testing::embedded_node;
using testing::file_node;
using ::testing::HasSubstr;
using testing::model_of;
using testing::secondary_node;

ContentChecksum checksum_of(std::string_view text) {
  return {.hash = content_checksum(as_bytes(text)), .size = text.size()};
}

TEST(VerifyContext, DescribesEachNode) {
  const TempDirectory dir;
  dir.write("m_test.bin", "payload");
  EpContextNode primary = file_node("p", "m_test.bin");
  primary.sdk_version = "sdk 1";
  primary.hardware_architecture = "avx2";
  graph::Model model = model_of({std::move(primary), secondary_node("s", "p")});
  write_metadata({.binaries = {{"m_test.bin", checksum_of("payload")}},
                  .compatibility = {{std::string(testing::kSource), "1 to 3"}}},
                 model.metadata);
  const VerifyReport report = verify_context_model(model, {.folder = dir.path()});
  EXPECT_TRUE(report.ok());
  ASSERT_EQ(report.nodes.size(), 2U);
  const VerifiedNode& node = report.nodes[0];
  EXPECT_EQ(node.description, "EPContext node \"p\"");
  EXPECT_EQ(node.partition_name, "p");
  EXPECT_EQ(node.source, testing::kSource);
  EXPECT_TRUE(node.main_context);
  EXPECT_FALSE(node.embedded);
  EXPECT_EQ(node.file, "m_test.bin");
  EXPECT_EQ(node.payload_bytes, 7U);
  EXPECT_EQ(node.checksum, ChecksumState::kOk);
  EXPECT_EQ(node.sdk_version, "sdk 1");
  EXPECT_EQ(node.hardware_architecture, "avx2");
  EXPECT_EQ(node.compatibility, "1 to 3");
  EXPECT_FALSE(report.nodes[1].main_context);
  EXPECT_EQ(report.nodes[1].primary, "p");
  EXPECT_EQ(report.nodes[1].file, "m_test.bin");
}

TEST(VerifyContext, ListsEachBinaryOfAProvider) {
  const TempDirectory dir;
  dir.write("m_test.bin", "one");
  dir.write("m_test_1.bin", "more");
  const VerifyReport report =
      verify_context_model(model_of({file_node("a", "m_test.bin"), file_node("b", "m_test_1.bin")}),
                           {.folder = dir.path()});
  EXPECT_TRUE(report.ok());
  ASSERT_EQ(report.nodes.size(), 2U);
  EXPECT_EQ(report.nodes[0].file, "m_test.bin");
  EXPECT_EQ(report.nodes[1].file, "m_test_1.bin");
  EXPECT_EQ(report.nodes[1].payload_bytes, 4U);
}

TEST(VerifyContext, ContinuesAfterEachProblem) {
  const TempDirectory dir;
  dir.write("wrong.bin", "payloae");
  dir.write("fine.bin", "fine");
  EpContextNode unreadable = file_node("negative", "fine.bin");
  unreadable.max_size = -1;
  graph::Model model = model_of({file_node("wrong", "wrong.bin"), file_node("gone", "gone.bin"),
                                 file_node("out", "../out.bin"), std::move(unreadable),
                                 secondary_node("lost", "nobody"), file_node("fine", "fine.bin"),
                                 secondary_node("follows", "gone"), embedded_node("e", "x")});
  write_metadata(
      {.binaries = {{"wrong.bin", checksum_of("payload")}}, .embedded = {{"e", checksum_of("y")}}},
      model.metadata);
  const VerifyReport report = verify_context_model(model, {.folder = dir.path()});
  std::vector<ChecksumState> states;
  for (const VerifiedNode& node : report.nodes) states.push_back(node.checksum);
  EXPECT_THAT(states, ElementsAre(ChecksumState::kMismatch, ChecksumState::kMissingFile,
                                  ChecksumState::kRefusedPath, ChecksumState::kUnknown,
                                  ChecksumState::kUnknown, ChecksumState::kNotStated,
                                  ChecksumState::kMissingFile, ChecksumState::kMismatch));
  EXPECT_THAT(report.problems,
              ElementsAre(HasSubstr("wrong.bin"), HasSubstr("gone.bin"), HasSubstr("../out.bin"),
                          HasSubstr("max_size"), HasSubstr("nobody"), HasSubstr("embedded")));
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.nodes[0].payload_bytes, 7U);
  EXPECT_FALSE(report.nodes[1].payload_bytes);
}

TEST(VerifyContext, ListsWhatHasNoChecksum) {
  const TempDirectory dir;
  dir.write("m.bin", "payload");
  graph::Model model = model_of({file_node("p", "m.bin")});
  VerifyReport report = verify_context_model(model, {.folder = dir.path()});
  EXPECT_TRUE(report.ok());
  EXPECT_THAT(report.unchecked, ElementsAre("file \"m.bin\""));
  EXPECT_FALSE(report.needs_checksums);
  model.producer_name = kProducerName;
  EXPECT_TRUE(verify_context_model(model, {.folder = dir.path()}).needs_checksums);
}

TEST(VerifyContext, ReportsMalformedMetadataAndInitializers) {
  const TempDirectory dir;
  graph::Model model = testing::sample_model();
  write_metadata({.initializers = {{"weights", checksum_of("x")}}}, model.metadata);
  EXPECT_THAT(verify_context_model(model, {.folder = dir.path()}).problems,
              ElementsAre(HasSubstr("weights")));
  model.metadata = {{"ephost.ep_context.version", "9"}};
  EXPECT_THAT(verify_context_model(model, {.folder = dir.path()}).problems,
              ElementsAre(HasSubstr("format version")));
}

TEST(VerifyContext, NamesTheGraphOfANestedNode) {
  graph::Model model = model_of({embedded_node("outer", "1")});
  graph::Graph body = model_of({embedded_node("inner", "2")}).graph;
  body.name = "body";
  graph::Node holder{.name = "if", .op_type = "If"};
  holder.attributes.push_back({"then_branch", std::make_unique<graph::Graph>(std::move(body))});
  model.graph.add_node(std::move(holder));
  const VerifyReport report = verify_context_model(model, {});
  ASSERT_EQ(report.nodes.size(), 2U);
  EXPECT_EQ(report.nodes[1].description, "EPContext node \"inner\" in body \"if/then_branch\"");
}

TEST(VerifyContext, NamesEveryState) {
  EXPECT_EQ(checksum_state_name(ChecksumState::kOk), "ok");
  EXPECT_EQ(checksum_state_name(ChecksumState::kMismatch), "mismatch");
  EXPECT_EQ(checksum_state_name(ChecksumState::kNotStated), "not stated");
  EXPECT_EQ(checksum_state_name(ChecksumState::kMissingFile), "missing file");
  EXPECT_EQ(checksum_state_name(ChecksumState::kRefusedPath), "refused path");
  EXPECT_EQ(checksum_state_name(ChecksumState::kUnknown), "unknown");
}

}  // namespace
}  // namespace ephost::context::verify_test
