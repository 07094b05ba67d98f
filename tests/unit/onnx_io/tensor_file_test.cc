#include "host/onnx_io/tensor_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/temp_directory.h"

namespace ephost::onnx_io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Fields of TensorProto on the wire: dims 1, data_type 2, int32_data 5, name 8, raw_data 9.
constexpr std::string_view kInt32Type("\x10\x06", 2);
constexpr std::string_view kTwoElements("\x08\x02", 2);

TEST(TensorFile, ReadsWhatItWrote) {
  const test::TempDirectory folder;
  std::vector<std::byte> bytes(24, std::byte{3});
  const graph::Tensor tensor{
      .type = ElementType::kFloat, .shape = {2, 3}, .data = graph::make_blob(bytes)};
  ASSERT_TRUE(write_tensor_file(folder / "x.pb", {"weights", tensor}).ok());
  const auto read = read_tensor_file(folder / "x.pb");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->name, "weights");
  EXPECT_EQ(read->tensor.type, ElementType::kFloat);
  EXPECT_THAT(read->tensor.shape, ElementsAre(2, 3));
  ASSERT_EQ(read->tensor.data.bytes.size(), bytes.size());
  EXPECT_EQ(std::memcmp(read->tensor.data.bytes.data(), bytes.data(), bytes.size()), 0);
}

TEST(TensorFile, KeepsStringsAndScalars) {
  const test::TempDirectory folder;
  graph::Tensor tensor{.type = ElementType::kString};
  tensor.strings = std::make_shared<const std::vector<std::string>>(1, "text");
  ASSERT_TRUE(write_tensor_file(folder / "x.pb", {"", tensor}).ok());
  const auto read = read_tensor_file(folder / "x.pb");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(read->tensor.shape.empty());
  EXPECT_THAT(*read->tensor.strings, ElementsAre("text"));
}

TEST(TensorFile, ReadsTypedData) {
  const test::TempDirectory folder;
  const auto file = folder.write("x.pb", std::string(kInt32Type) + std::string(kTwoElements) +
                                             std::string("\x2a\x02\x05\x07", 4));
  const auto read = read_tensor_file(file);
  ASSERT_TRUE(read.ok()) << read.status().message();
  const auto* elements = reinterpret_cast<const int32_t*>(read->tensor.data.bytes.data());
  EXPECT_EQ(elements[0], 5);
  EXPECT_EQ(elements[1], 7);
}

TEST(TensorFile, NamesTheFileThatIsNoTensor) {
  const test::TempDirectory folder;
  const auto read = read_tensor_file(folder.write("x.pb", "garbage"));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidProtobuf);
  EXPECT_THAT(read.status().message(), HasSubstr("x.pb\" is no TensorProto"));
  EXPECT_EQ(read_tensor_file(folder / "absent.pb").status().code(), StatusCode::kNoSuchFile);
}

TEST(TensorFile, RefusesDataThatDoesNotFillTheShape) {
  const test::TempDirectory folder;
  const auto file = folder.write("x.pb", std::string(kInt32Type) + std::string(kTwoElements) +
                                             std::string("\x4a\x04\x01\x02\x03\x04", 6));
  const auto read = read_tensor_file(file);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(read.status().message(), HasSubstr("x.pb\": its type and shape need 8 bytes"));
}

TEST(TensorFile, RefusesAFileWithoutElementType) {
  const test::TempDirectory folder;
  const auto read = read_tensor_file(folder.write("x.pb", ""));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidGraph);
}

}  // namespace
}  // namespace ephost::onnx_io
