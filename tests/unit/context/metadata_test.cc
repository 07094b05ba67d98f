#include "host/context/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/files/file.h"
#include "tests/support/status_matchers.h"

namespace ephost::context::metadata_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const ContentChecksum kChecksum{.hash = {0x0123456789abcdef, 0xfedcba9876543210}, .size = 42};
constexpr std::string_view kChecksumText = "xxh3:0123456789abcdeffedcba9876543210:42";

std::string refusal(MetadataList metadata) {
  const Result<ContextMetadata> read = read_metadata(metadata);
  if (read.ok()) return "accepted";
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidGraph);
  return read.status().message();
}

TEST(ContextMetadata, ChecksumsAreTextAndBack) {
  EXPECT_EQ(to_string(kChecksum), kChecksumText);
  EXPECT_EQ(parse_content_checksum(kChecksumText), kChecksum);
}

TEST(ContextMetadata, RefusesTextThatIsNotAChecksum) {
  for (const std::string_view text :
       {"", "xxh3:", "0123456789abcdeffedcba9876543210:42", "xxh3:0123456789abcdeffedcba9876543210",
        "xxh3:0123456789abcdeffedcba9876543210:", "xxh3:0123456789abcdeffedcba987654321g:4",
        "xxh3:0123456789abcdeffedcba9876543210:-1", "xxh3:0123456789abcdeffedcba9876543210:4 ",
        "xxh3:0123456789abcdeffedcba9876543210:99999999999999999999"}) {
    EXPECT_FALSE(parse_content_checksum(text)) << text;
  }
}

TEST(ContextMetadata, ReadsWhatItWrites) {
  const ContextMetadata stated{.binaries = {{"a.bin", kChecksum}, {"имя.bin", kChecksum}},
                               .embedded = {{"p.1", kChecksum}},
                               .initializers = {{"weights", kChecksum}},
                               .compatibility = {{"EP", "1=2;3"}},
                               .payload_compatibility = {{"p.1", "for npu 0"}}};
  MetadataList metadata;
  write_metadata(stated, metadata);
  const Result<ContextMetadata> read = read_metadata(metadata);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->binaries, stated.binaries);
  EXPECT_EQ(read->embedded, stated.embedded);
  EXPECT_EQ(read->initializers, stated.initializers);
  EXPECT_EQ(read->compatibility, stated.compatibility);
  EXPECT_EQ(read->payload_compatibility, stated.payload_compatibility);
}

TEST(ContextMetadata, KeepsTheEntriesOfOthersAndReplacesItsOwn) {
  MetadataList metadata{{"author", "me"},
                        {"ephost.ep_context.binary.old", std::string(kChecksumText)},
                        {"license", "free"}};
  write_metadata({.binaries = {{"new", kChecksum}}}, metadata);
  EXPECT_THAT(metadata,
              ElementsAre(Pair("author", "me"), Pair("license", "free"),
                          Pair("ephost.ep_context.version", "1"),
                          Pair("ephost.ep_context.binary.new", std::string(kChecksumText))));
}

TEST(ContextMetadata, AnEmptyStatementRemovesAllEntries) {
  MetadataList metadata{{"ephost.ep_context.version", "1"}};
  write_metadata({}, metadata);
  EXPECT_TRUE(metadata.empty());
}

TEST(ContextMetadata, RefusesMalformedEntries) {
  EXPECT_THAT(refusal({{"ephost.ep_context.binary.a", "12"}}), HasSubstr("is not a checksum"));
  EXPECT_THAT(refusal({{"ephost.ep_context.unknown", "12"}}), HasSubstr("unknown kind"));
  EXPECT_THAT(refusal({{"ephost.ep_context.version", "2"}}), HasSubstr("format version \"2\""));
}

TEST(ContextMetadata, RepeatedEntriesOfMergedModelsMustAgree) {
  const std::string key = "ephost.ep_context.compatibility.EP";
  EXPECT_EQ(refusal({{key, "a"}, {key, "a"}}), "accepted");
  EXPECT_THAT(refusal({{key, "a"}, {key, "b"}}), HasSubstr("stated twice with different values"));
}

}  // namespace
}  // namespace ephost::context::metadata_test
