#include "host/onnx_io/import/onnx_value_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::onnx_io::onnx_value_file_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Fields of TensorProto on the wire: dims 1, data_type 2, int32_data 5, name 8, raw_data 9.
constexpr std::string_view kInt32Type("\x10\x06", 2);
constexpr std::string_view kTwoElements("\x08\x02", 2);

TEST(ValueFile, ReadsWhatItWrote) {
  const test::TempDirectory folder;
  std::vector<std::byte> bytes(24, std::byte{3});
  const graph::Tensor tensor{
      .type = ElementType::kFloat, .shape = {2, 3}, .data = graph::make_blob(bytes)};
  ASSERT_THAT(write_value_file(folder / "x.pb", {"weights", graph::ValueKind::kTensor, tensor, {}}),
              IsOk());
  const auto read = read_value_file(folder / "x.pb");
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->name, "weights");
  EXPECT_EQ(read->tensor.type, ElementType::kFloat);
  EXPECT_THAT(read->tensor.shape, ElementsAre(2, 3));
  ASSERT_EQ(read->tensor.data.bytes.size(), bytes.size());
  EXPECT_EQ(std::memcmp(read->tensor.data.bytes.data(), bytes.data(), bytes.size()), 0);
}

TEST(ValueFile, KeepsPackedElementsAndPowersOfTwo) {
  const test::TempDirectory folder;
  for (const auto& [type, size] :
       {std::pair(ElementType::kInt2, size_t{2}), std::pair(ElementType::kUint2, size_t{2}),
        std::pair(ElementType::kFloat8E8M0, size_t{5})}) {
    const std::vector<std::byte> bytes(size, std::byte{0x39});
    const graph::Tensor tensor{.type = type, .shape = {5}, .data = graph::make_blob(bytes)};
    ASSERT_THAT(write_value_file(folder / "x.pb", {"", graph::ValueKind::kTensor, tensor, {}}),
                IsOk());
    const auto read = read_value_file(folder / "x.pb");
    ASSERT_THAT(read, IsOk());
    EXPECT_EQ(read->tensor.type, type);
    ASSERT_EQ(read->tensor.data.bytes.size(), size);
    EXPECT_EQ(std::memcmp(read->tensor.data.bytes.data(), bytes.data(), size), 0);
  }
}

TEST(ValueFile, KeepsStringsAndScalars) {
  const test::TempDirectory folder;
  graph::Tensor tensor{.type = ElementType::kString};
  tensor.strings = std::make_shared<const std::vector<std::string>>(1, "text");
  ASSERT_THAT(write_value_file(folder / "x.pb", {"", graph::ValueKind::kTensor, tensor, {}}),
              IsOk());
  const auto read = read_value_file(folder / "x.pb");
  ASSERT_THAT(read, IsOk());
  EXPECT_TRUE(read->tensor.shape.empty());
  EXPECT_THAT(*read->tensor.strings, ElementsAre("text"));
}

TEST(ValueFile, ReadsTypedData) {
  const test::TempDirectory folder;
  const auto file = folder.write("x.pb", std::string(kInt32Type) + std::string(kTwoElements) +
                                             std::string("\x2a\x02\x05\x07", 4));
  const auto read = read_value_file(file);
  ASSERT_THAT(read, IsOk());
  const auto* elements = reinterpret_cast<const int32_t*>(read->tensor.data.bytes.data());
  EXPECT_EQ(elements[0], 5);
  EXPECT_EQ(elements[1], 7);
}

TEST(ValueFile, NamesTheFileThatIsNotATensor) {
  const test::TempDirectory folder;
  const auto read = read_value_file(folder.write("x.pb", "garbage"));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidProtobuf);
  EXPECT_THAT(read.status().message(), HasSubstr("x.pb\" is not a TensorProto"));
  EXPECT_EQ(read_value_file(folder / "absent.pb").status().code(), StatusCode::kNoSuchFile);
}

TEST(ValueFile, RefusesDataThatDoesNotFillTheShape) {
  const test::TempDirectory folder;
  const auto file = folder.write("x.pb", std::string(kInt32Type) + std::string(kTwoElements) +
                                             std::string("\x4a\x04\x01\x02\x03\x04", 6));
  const auto read = read_value_file(file);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(read.status().message(), HasSubstr("x.pb\": its type and shape need 8 bytes"));
}

TEST(ValueFile, RefusesAFileWithoutElementType) {
  const test::TempDirectory folder;
  const auto read = read_value_file(folder.write("x.pb", ""));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidGraph);
}

ValueData floats(std::vector<float> numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(float));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  ValueData value;
  value.tensor = {.type = ElementType::kFloat,
                  .shape = {static_cast<int64_t>(numbers.size())},
                  .data = graph::make_blob(std::move(bytes))};
  return value;
}

ValueData keys(std::vector<std::string> names) {
  ValueData value;
  value.tensor = {.type = ElementType::kString, .shape = {static_cast<int64_t>(names.size())}};
  value.tensor.strings = std::make_shared<const std::vector<std::string>>(std::move(names));
  return value;
}

float first_number(const ValueData& value) {
  float number = 0;
  std::memcpy(&number, value.tensor.data.bytes.data(), sizeof(number));
  return number;
}

TEST(ValueFile, KeepsASequenceOfMapsInAnOptional) {
  const test::TempDirectory folder;
  const ValueData values{.kind = graph::ValueKind::kSequence,
                         .parts = {floats({1.5F}), floats({2, 3})}};
  const ValueData map{.kind = graph::ValueKind::kMap, .parts = {keys({"a", "b"}), values}};
  const ValueData sequence{.name = "s", .kind = graph::ValueKind::kSequence, .parts = {map, map}};
  ASSERT_THAT(write_value_file(folder / "x.pb", sequence, true), IsOk());
  const auto read = read_value_file(folder / "x.pb", graph::ValueKind::kOptional);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->kind, graph::ValueKind::kSequence);
  ASSERT_EQ(read->parts.size(), 2U);
  const ValueData& second = read->parts[1];
  ASSERT_EQ(second.kind, graph::ValueKind::kMap);
  EXPECT_THAT(*second.parts[0].tensor.strings, ElementsAre("a", "b"));
  ASSERT_EQ(second.parts[1].parts.size(), 2U);
  EXPECT_EQ(first_number(second.parts[1].parts[1]), 2);
}

TEST(ValueFile, KeepsIntegerKeysWithTheirSign) {
  const test::TempDirectory folder;
  ValueData numbers;
  numbers.tensor = {.type = ElementType::kInt8,
                    .shape = {2},
                    .data = graph::make_blob({std::byte{0xff}, std::byte{7}})};
  const ValueData values{.kind = graph::ValueKind::kSequence, .parts = {floats({1}), floats({2})}};
  const ValueData map{.kind = graph::ValueKind::kMap, .parts = {numbers, values}};
  ASSERT_THAT(write_value_file(folder / "x.pb", map), IsOk());
  const auto read = read_value_file(folder / "x.pb", graph::ValueKind::kMap);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->parts[0].tensor.type, ElementType::kInt8);
  EXPECT_THAT(read->parts[0].tensor.data.bytes, ElementsAre(std::byte{0xff}, std::byte{7}));
}

TEST(ValueFile, KeepsAnOptionalWithoutContent) {
  const test::TempDirectory folder;
  ASSERT_THAT(write_value_file(folder / "x.pb", {.kind = graph::ValueKind::kUnknown}, true),
              IsOk());
  const auto read = read_value_file(folder / "x.pb", graph::ValueKind::kOptional);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->kind, graph::ValueKind::kUnknown);
}

TEST(ValueFile, RefusesAMapWithMoreKeysThanValues) {
  const test::TempDirectory folder;
  const ValueData values{.kind = graph::ValueKind::kSequence, .parts = {floats({1})}};
  const ValueData map{.kind = graph::ValueKind::kMap, .parts = {keys({"a", "b"}), values}};
  ASSERT_THAT(write_value_file(folder / "x.pb", map), IsOk());
  const auto read = read_value_file(folder / "x.pb", graph::ValueKind::kMap);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.status().message(), HasSubstr("has 2 keys and 1 values"));
}

}  // namespace
}  // namespace ephost::onnx_io::onnx_value_file_test
