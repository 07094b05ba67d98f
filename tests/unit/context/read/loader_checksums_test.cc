// What the loader of context models compares with the checksums that the model gives, and what it
// does where there are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/context/metadata.h"
#include "host/context/read/loader.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/context/context_samples.h"
#include "tests/unit/context/read/refusal.h"

namespace ephost::context::loader_checksums_test {
namespace {

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

class DamagedContent : public ::testing::TestWithParam<std::string> {};

TEST_P(DamagedContent, IsRefusedAsABinary) {
  const TempDirectory dir;
  dir.write("m.bin", GetParam());
  graph::Model model = model_of({file_node("p", "m.bin")});
  write_metadata({.binaries = {{"m.bin", checksum_of("the payload")}}}, model.metadata);
  EXPECT_THAT(refusal(model, {.folder = dir.path()}),
              AllOf(HasSubstr("EPContext node \"p\""), HasSubstr("m.bin"),
                    HasSubstr("but the model states")));
  EXPECT_EQ(refusal(model, {.folder = dir.path(), .verify_checksums = false}), "accepted");
}

TEST_P(DamagedContent, IsRefusedAsAnEmbeddedPayload) {
  graph::Model model = model_of({embedded_node("p", GetParam())});
  write_metadata({.embedded = {{"p", checksum_of("the payload")}}}, model.metadata);
  EXPECT_THAT(refusal(model, {}), HasSubstr("but the model states"));
  EXPECT_EQ(refusal(model, {.verify_checksums = false}), "accepted");
}

// A model with two payloads, of which the metadata name one.
graph::Model half_stated_model(const TempDirectory& dir) {
  dir.write("a.bin", "a");
  dir.write("b.bin", "b");
  graph::Model model = model_of({file_node("p", "a.bin"), file_node("q", "b.bin")});
  write_metadata({.binaries = {{"a.bin", checksum_of("a")}}}, model.metadata);
  return model;
}

TEST(ContextChecksums, RefusesAPayloadWithoutAChecksumInAModelOfThisHost) {
  const TempDirectory dir;
  EXPECT_THAT(refusal(half_stated_model(dir), {.folder = dir.path()}),
              AllOf(HasSubstr("no checksum of file \"b.bin\""), HasSubstr("ep.require_checksums")));
}

TEST(ContextChecksums, RefusesAModelOfThisHostWhoseMetadataAreGone) {
  const TempDirectory dir;
  graph::Model model = half_stated_model(dir);
  model.metadata.clear();
  model.producer_name = kProducerName;
  EXPECT_THAT(refusal(model, {.folder = dir.path()}), HasSubstr("\"a.bin\", file \"b.bin\""));
}

TEST(ContextChecksums, AcceptsAPayloadWithoutAChecksumIfAllowed) {
  const TempDirectory dir;
  const graph::Model model = half_stated_model(dir);
  const auto loaded = load_context(model, {.folder = dir.path(), .require_checksums = false});
  ASSERT_THAT(loaded, IsOk());
  EXPECT_THAT(loaded->unchecked, ElementsAre("file \"b.bin\""));
}

TEST(ContextChecksums, ListsWhatAModelOfAnotherHostStatesNoChecksumOf) {
  const TempDirectory dir;
  dir.write("a.bin", "a");
  const graph::Model model = model_of({file_node("p", "a.bin"), embedded_node("e", "x")});
  LoadOptions options{.folder = dir.path(), .unchecked_external_data = {"weights"}};
  const auto loaded = load_context(model, options);
  ASSERT_THAT(loaded, IsOk());
  EXPECT_THAT(loaded->unchecked,
              ElementsAre("file \"a.bin\"", "the payload of EPContext node \"e\"",
                          "external data \"weights\""));
  options.require_checksums = true;
  EXPECT_THAT(refusal(model, options), HasSubstr("no checksum of file \"a.bin\""));
}

TEST(ContextChecksums, TakesOneChecksumForAllSpellingsOfAFile) {
  const TempDirectory dir;
  dir.write("a.bin", "a");
  graph::Model model = model_of({file_node("p", "./a.bin"), file_node("q", "a.bin")});
  write_metadata({.binaries = {{"a.bin", checksum_of("a")}}}, model.metadata);
  EXPECT_EQ(refusal(model, {.folder = dir.path()}), "accepted");
}

INSTANTIATE_TEST_SUITE_P(ContextChecksums, DamagedContent,
                         ::testing::Values("the pay", "", "the pbyload", "the payload and more",
                                           std::string(11, '\0')));

TEST(ContextChecksums, RefusesInitializersOfAnotherGeneration) {
  const TempDirectory dir;
  dir.write("weights", "other");
  graph::Model model = testing::sample_model();
  write_metadata({.initializers = {{"weights", checksum_of("right")}}}, model.metadata);
  EXPECT_THAT(refusal(model, {.folder = dir.path()}), HasSubstr("checking the initializers"));
  dir.write("elsewhere/weights", "right");
  EXPECT_EQ(refusal(model, {.folder = dir.path(), .initializers_folder = dir / "elsewhere"}),
            "accepted");
}

TEST(ContextChecksums, RefusesMalformedMetadata) {
  graph::Model model = model_of({embedded_node("p", "payload")});
  model.metadata = {{"ephost.ep_context.embedded.p", "garbage"}};
  EXPECT_THAT(refusal(model, {}), HasSubstr("is not a checksum"));
}

TEST(ContextChecksums, AModelOfAnotherHostNeedsNoChecksums) {
  EXPECT_EQ(refusal(model_of({embedded_node("p", "payload")}), {}), "accepted");
}

}  // namespace
}  // namespace ephost::context::loader_checksums_test
