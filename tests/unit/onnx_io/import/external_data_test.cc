#include "host/onnx_io/import/external_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/files/file.h"
#include "tests/support/temp_directory.h"

namespace ephost::onnx_io::external_data_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ExternalDataTest : public ::testing::Test {
 protected:
  ExternalDataTest() : data_(folder_.path() / "model", buffers_) {
    folder_.write("model/weights.bin", "0123456789");
  }

  std::string find(const ExternalReference& reference, uint64_t needed) {
    const auto blob = data_.find(reference, needed);
    if (!blob.ok()) return blob.status().to_string();
    std::string text;
    for (const std::byte byte : blob->bytes) text += static_cast<char>(byte);
    return text;
  }

  test::TempDirectory folder_;
  std::map<std::string, graph::Blob> buffers_;
  ExternalData data_;
};

TEST_F(ExternalDataTest, TakesTheStatedRange) {
  EXPECT_EQ(find({"weights.bin", 2, 4}, 4), "2345");
  EXPECT_EQ(find({"weights.bin", 0, 10}, 10), "0123456789");
  EXPECT_EQ(find({"weights.bin", 10, 0}, 0), "");
}

TEST_F(ExternalDataTest, SaysWhereItFoundTheData) {
  EXPECT_EQ(find({"weights.bin", 2, 4}, 4), "2345");
  const auto location = data_.locate({"weights.bin", 2, 4}, 4);
  ASSERT_TRUE(location);
  EXPECT_EQ(location->location, "weights.bin");
  EXPECT_EQ(location->path, folder_ / "model/weights.bin");
  EXPECT_EQ(location->offset, 2U);
  EXPECT_EQ(location->size, 4U);
  buffers_["given"] = graph::make_blob(std::vector<std::byte>(4));
  EXPECT_EQ(find({"given", 0, 4}, 4).size(), 4U);
  EXPECT_FALSE(data_.locate({"given", 0, 4}, 4));
}

TEST_F(ExternalDataTest, TakesWhatTheTensorNeedsWhereNoLengthIsStated) {
  EXPECT_EQ(find({"weights.bin", 7, std::nullopt}, 3), "789");
  EXPECT_EQ(find({"weights.bin", 0, std::nullopt}, 3), "012");
}

TEST_F(ExternalDataTest, MapsEachFileOnce) {
  const auto first = data_.find({"weights.bin", 0, 1}, 1);
  const auto second = data_.find({"weights.bin", 5, 1}, 1);
  EXPECT_EQ(first->bytes.data() + 5, second->bytes.data());
  EXPECT_EQ(first->owner, second->owner);
}

TEST_F(ExternalDataTest, TheMappingOutlivesTheFinder) {
  Result<graph::Blob> blob = Status(StatusCode::kFail, "");
  {
    ExternalData data(folder_.path() / "model", buffers_);
    blob = data.find({"weights.bin", 1, 1}, 1);
  }
  EXPECT_EQ(blob->bytes[0], std::byte{'1'});
}

TEST_F(ExternalDataTest, PrefersBuffersOfTheCaller) {
  const std::string content = "buffer";
  buffers_["weights.bin"] = {.bytes = as_bytes(content)};
  EXPECT_EQ(find({"weights.bin", 1, 3}, 3), "uff");
}

TEST_F(ExternalDataTest, RefusesRangesOutsideTheFile) {
  EXPECT_THAT(find({"weights.bin", 8, 3}, 3),
              HasSubstr("INVALID_GRAPH: external data of 3 bytes at offset 8 exceeds "
                        "\"weights.bin\", which has 10 bytes"));
  EXPECT_THAT(find({"weights.bin", 11, 0}, 0), HasSubstr("exceeds"));
  EXPECT_THAT(find({"weights.bin", ~uint64_t{0}, 2}, 2), HasSubstr("exceeds"));
  EXPECT_THAT(find({"weights.bin", 0, std::nullopt}, ~uint64_t{0}), HasSubstr("exceeds"));
}

TEST_F(ExternalDataTest, RefusesALengthThatDoesNotFitTheTensor) {
  EXPECT_THAT(find({"weights.bin", 0, 5}, 4),
              HasSubstr("has length 5, but its type and shape need 4"));
}

constexpr const char* kSha1 = "87acec17cd9dcd20a716cc2cf67417b71c8a7016";  // of "0123456789"

TEST_F(ExternalDataTest, AcceptsAFileWithTheStatedChecksum) {
  EXPECT_EQ(find({"weights.bin", 2, 4, kSha1}, 4), "2345");
  EXPECT_EQ(find({"weights.bin", 2, 4, "87ACEC17CD9DCD20A716CC2CF67417B71C8A7016"}, 4), "2345");
}

TEST_F(ExternalDataTest, RefusesAFileWithAnotherChecksum) {
  folder_.write("model/weights.bin", "0123456780");
  EXPECT_THAT(find({"weights.bin", 2, 4, kSha1}, 4),
              AllOf(HasSubstr("\"weights.bin\" has the SHA-1 "), HasSubstr(kSha1),
                    HasSubstr("INVALID_GRAPH")));
}

TEST_F(ExternalDataTest, RefusesABufferWithAnotherChecksum) {
  buffers_["weights.bin"] = graph::make_blob(std::vector<std::byte>(4));
  EXPECT_THAT(find({"weights.bin", 0, 4, kSha1}, 4), HasSubstr("but the model states"));
}

TEST_F(ExternalDataTest, RefusesAChecksumThatIsNotASha1) {
  for (const std::string text : {"0", "87acec17cd9dcd20a716cc2cf67417b71c8a701", "sha1:87acec17",
                                 "87acec17cd9dcd20a716cc2cf67417b71c8a701g"}) {
    EXPECT_THAT(find({"weights.bin", 2, 4, text}, 4), HasSubstr("is not a SHA-1")) << text;
  }
}

TEST_F(ExternalDataTest, TellsWhichFilesHadNoChecksum) {
  folder_.write("model/other.bin", "x");
  find({"weights.bin", 2, 4}, 4);
  find({"weights.bin", 6, 4, kSha1}, 4);
  find({"other.bin", 0, 1}, 1);
  EXPECT_THAT(data_.unchecked(), ElementsAre("other.bin"));
}

TEST_F(ExternalDataTest, RefusesAMissingFile) {
  EXPECT_THAT(find({"none.bin", 0, 1}, 1), HasSubstr("NO_SUCHFILE"));
}

TEST_F(ExternalDataTest, RefusesPathsThatLeaveTheFolder) {
  folder_.write("secret.bin", "0123456789");
  EXPECT_THAT(find({"../secret.bin", 0, 1}, 1), HasSubstr("INVALID_GRAPH"));
  EXPECT_THAT(find({(folder_ / "secret.bin").string(), 0, 1}, 1), HasSubstr("INVALID_GRAPH"));
  std::filesystem::create_symlink(folder_ / "secret.bin", folder_ / "model/link.bin");
  EXPECT_THAT(find({"link.bin", 0, 1}, 1), HasSubstr("INVALID_GRAPH"));
  EXPECT_THAT(find({"", 0, 1}, 1), HasSubstr("INVALID_GRAPH"));
}

TEST_F(ExternalDataTest, AModelFromMemoryNeedsAFolder) {
  ExternalData data(std::nullopt, buffers_);
  const auto blob = data.find({"weights.bin", 0, 1}, 1);
  ASSERT_FALSE(blob.ok());
  EXPECT_EQ(blob.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(blob.status().message(), HasSubstr("the model comes from memory"));
}

}  // namespace
}  // namespace ephost::onnx_io::external_data_test
