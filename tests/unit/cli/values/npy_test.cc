#include "host/cli/values/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/support/status_matchers.h"

namespace ephost::cli::npy_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file of version 1 as NumPy would lay it out, but for the padding.
std::string npy(std::string_view header, std::string_view data, char major = 1) {
  std::string file("\x93NUMPY", 6);
  file +=
      {major, '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  if (major > 1) file += {'\0', '\0'};
  return file + std::string(header) + std::string(data);
}

std::string refusal(const std::string& file) {
  const auto value = decode_npy(file, "x.npy");
  EXPECT_FALSE(value.ok());
  EXPECT_EQ(value.status().code(), StatusCode::kInvalidArgument);
  return value.status().message();
}

TEST(Npy, ReadsWhatItWrote) {
  const std::array<float, 6> numbers = {1, 2, 3, 4, 5, -6.5};
  const auto value = Value::of<float>({2, 3}, numbers);
  ASSERT_THAT(value, IsOk());
  const auto file = encode_npy(*value);
  ASSERT_THAT(file, IsOk());
  const auto read = decode_npy(*file, "x.npy");
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->element_type(), ElementType::kFloat);
  EXPECT_THAT(read->shape(), ElementsAre(2, 3));
  EXPECT_THAT(read->elements<float>(), ElementsAre(1, 2, 3, 4, 5, -6.5));
}

TEST(Npy, AlignsTheDataTo64Bytes) {
  const auto value = Value::allocate(ElementType::kInt8, {5});
  ASSERT_THAT(value, IsOk());
  const auto file = encode_npy(*value);
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(file->size() % 64, 5);
}

TEST(Npy, KeepsScalarsAndEmptyTensors) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, {0, 3}, {1}}) {
    const auto value = Value::allocate(ElementType::kInt64, shape);
    ASSERT_THAT(value, IsOk());
    const auto file = encode_npy(*value);
    ASSERT_THAT(file, IsOk());
    const auto read = decode_npy(*file, "x.npy");
    ASSERT_THAT(read, IsOk());
    EXPECT_THAT(read->shape(), ::testing::ElementsAreArray(shape));
  }
}

TEST(Npy, ReadsVersion2AndOtherOrdersOfKeys) {
  const auto read = decode_npy(
      npy("{\"shape\": (2,), 'fortran_order': False, 'descr': '|u1'}", "\x01\x02", 2), "x.npy");
  ASSERT_THAT(read, IsOk());
  EXPECT_THAT(read->elements<uint8_t>(), ElementsAre(1, 2));
}

TEST(Npy, RefusesWhatIsNoNpyFile) {
  for (const std::string& file :
       {std::string(), std::string("PK\x03\x04 a zip file"), std::string("\x93NUMPY\x01", 7),
        npy("{'descr': '<f4'", ""), npy("{'descr': '<f4', 'shape': (1,)}", ""),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", ""),
        npy("{'descr': '<f4', 'fortran_order': maybe, 'shape': (1,), }", ""),
        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "")}) {
    EXPECT_THAT(refusal(file), HasSubstr("not a .npy file"));
  }
}

TEST(Npy, RefusesAHeaderThatIsLongerThanTheFile) {
  std::string file = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", "");
  file[8] = '\x7f';
  EXPECT_THAT(refusal(file), HasSubstr("not a .npy file"));
}

TEST(Npy, RefusesElementTypesThatNoTensorHas) {
  for (const std::string descr : {"|O", "<U5", ">f4", "<f4x", ""}) {
    const std::string header =
        "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (1,), }";
    EXPECT_THAT(refusal(npy(header, "abcd")), HasSubstr("not that of a tensor"));
  }
}

TEST(Npy, RefusesColumnMajorOrder) {
  EXPECT_THAT(refusal(npy("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 2), }", "abcd")),
              HasSubstr("ascontiguousarray"));
}

TEST(Npy, RefusesDataOfAnotherSize) {
  const std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
  EXPECT_THAT(refusal(npy(header, "1234567")), HasSubstr("announces 8 bytes of data, it has 7"));
}

TEST(Npy, RefusesAShapeThatOverflows) {
  const std::string header =
      "{'descr': '<i4', 'fortran_order': False, 'shape': (4294967296, 4294967296,), }";
  EXPECT_THAT(refusal(npy(header, "")), HasSubstr("more than 2^64"));
}

TEST(Npy, RefusesToWriteStrings) {
  const auto value = Value::of_strings({1}, {"text"});
  ASSERT_THAT(value, IsOk());
  const auto file = encode_npy(*value);
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.status().message(), HasSubstr("NumPy has no tensors of string[1]"));
}

}  // namespace
}  // namespace ephost::cli::npy_test
