#include "host/onnx_io/import/tensor_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cstring>

#include "host/base/files/file.h"
#include "host/graph/sparse.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/onnx_io/model_protos.h"

namespace ephost::onnx_io::tensor_import_test {
namespace {

using graph::ElementType;
using graph::Shape;
using graph::Tensor;
using onnx::TensorProto;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Element>
std::vector<Element> elements(const Tensor& tensor) {
  std::vector<Element> result(tensor.data.bytes.size() / sizeof(Element));
  if (!result.empty()) {
    std::memcpy(result.data(), tensor.data.bytes.data(), tensor.data.bytes.size());
  }
  return result;
}

TensorProto proto_of(int32_t type, const std::vector<int64_t>& dims) {
  TensorProto proto;
  proto.set_data_type(type);
  for (const int64_t dim : dims) proto.add_dims(dim);
  return proto;
}

class TensorImportTest : public ::testing::Test {
 protected:
  TensorImportTest()
      : external_(folder_.path(), buffers_), importer_(skeleton_, nullptr, external_) {}

  Tensor import(const TensorProto& proto) {
    Result<Tensor> tensor = importer_.tensor(proto, "initializer \"w\"");
    EXPECT_THAT(tensor, IsOk());
    return tensor.ok() ? std::move(tensor).value() : Tensor{};
  }

  void expect_refusal(const TensorProto& proto, const std::string& message) {
    const Result<Tensor> tensor = importer_.tensor(proto, "initializer \"w\"");
    ASSERT_FALSE(tensor.ok()) << message;
    EXPECT_EQ(tensor.status().code(), StatusCode::kInvalidGraph);
    EXPECT_THAT(tensor.status().message(), HasSubstr("initializer \"w\": "));
    EXPECT_THAT(tensor.status().message(), HasSubstr(message));
  }

  test::TempDirectory folder_;
  std::map<std::string, graph::Blob> buffers_;
  Skeleton skeleton_;
  ExternalData external_;
  TensorImporter importer_;
};

TEST_F(TensorImportTest, ReadsRawData) {
  TensorProto proto = proto_of(TensorProto::INT32, {2});
  const int32_t raw[] = {7, -7};
  proto.set_raw_data(raw, sizeof(raw));
  const Tensor tensor = import(proto);
  EXPECT_EQ(tensor.type, ElementType::kInt32);
  EXPECT_EQ(tensor.shape, Shape{2});
  EXPECT_THAT(elements<int32_t>(tensor), ElementsAre(7, -7));
}

TEST_F(TensorImportTest, ReadsEveryTypedField) {
  TensorProto floats = proto_of(TensorProto::FLOAT, {2});
  floats.add_float_data(1.5f);
  floats.add_float_data(-2);
  EXPECT_THAT(elements<float>(import(floats)), ElementsAre(1.5f, -2));

  TensorProto complex = proto_of(TensorProto::COMPLEX64, {1});
  complex.add_float_data(1);
  complex.add_float_data(2);
  EXPECT_THAT(elements<float>(import(complex)), ElementsAre(1, 2));

  TensorProto doubles = proto_of(TensorProto::DOUBLE, {1});
  doubles.add_double_data(0.25);
  EXPECT_THAT(elements<double>(import(doubles)), ElementsAre(0.25));

  TensorProto longs = proto_of(TensorProto::INT64, {1});
  longs.add_int64_data(INT64_MIN);
  EXPECT_THAT(elements<int64_t>(import(longs)), ElementsAre(INT64_MIN));

  TensorProto unsigned_ints = proto_of(TensorProto::UINT32, {1});
  unsigned_ints.add_uint64_data(4000000000u);
  EXPECT_THAT(elements<uint32_t>(import(unsigned_ints)), ElementsAre(4000000000u));

  TensorProto unsigned_longs = proto_of(TensorProto::UINT64, {1});
  unsigned_longs.add_uint64_data(~uint64_t{0});
  EXPECT_THAT(elements<uint64_t>(import(unsigned_longs)), ElementsAre(~uint64_t{0}));
}

TEST_F(TensorImportTest, NarrowsWhatInt32DataHolds) {
  const auto narrow = [&](int32_t type, std::vector<int32_t> values) {
    TensorProto proto = proto_of(type, {static_cast<int64_t>(values.size())});
    for (const int32_t value : values) proto.add_int32_data(value);
    return import(proto);
  };
  EXPECT_THAT(elements<int32_t>(narrow(TensorProto::INT32, {-5})), ElementsAre(-5));
  EXPECT_THAT(elements<int16_t>(narrow(TensorProto::INT16, {-5})), ElementsAre(-5));
  EXPECT_THAT(elements<uint16_t>(narrow(TensorProto::UINT16, {65535})), ElementsAre(65535));
  EXPECT_THAT(elements<int8_t>(narrow(TensorProto::INT8, {-5, 127})), ElementsAre(-5, 127));
  EXPECT_THAT(elements<uint8_t>(narrow(TensorProto::UINT8, {255})), ElementsAre(255));
  EXPECT_THAT(elements<uint8_t>(narrow(TensorProto::BOOL, {0, 1})), ElementsAre(0, 1));
  EXPECT_THAT(elements<uint16_t>(narrow(TensorProto::FLOAT16, {0x3c00})), ElementsAre(0x3c00));
  EXPECT_THAT(elements<uint16_t>(narrow(TensorProto::BFLOAT16, {0x3f80})), ElementsAre(0x3f80));
  EXPECT_THAT(elements<uint8_t>(narrow(17, {0x38})), ElementsAre(0x38)) << "float8e4m3fn";
  EXPECT_THAT(elements<uint8_t>(narrow(24, {0x7f, 0xff})), ElementsAre(0x7f, 0xff)) << "float8e8m0";
}

TEST_F(TensorImportTest, ReadsPackedFourBitElements) {
  TensorProto proto = proto_of(21, {3});  // uint4
  proto.add_int32_data(0x21);
  proto.add_int32_data(0x03);
  EXPECT_THAT(elements<uint8_t>(import(proto)), ElementsAre(0x21, 0x03));
}

TEST_F(TensorImportTest, ReadsPackedTwoBitElements) {
  TensorProto typed = proto_of(26, {5});  // int2
  typed.add_int32_data(0xe4);
  typed.add_int32_data(0x03);
  EXPECT_THAT(elements<uint8_t>(import(typed)), ElementsAre(0xe4, 0x03));
  TensorProto raw = proto_of(25, {2, 3});  // uint2
  raw.set_raw_data("\x1b\x0e");
  EXPECT_THAT(elements<uint8_t>(import(raw)), ElementsAre(0x1b, 0x0e));
}

TEST_F(TensorImportTest, RefusesTwoBitElementsOfAnotherLength) {
  TensorProto proto = proto_of(25, {5});
  proto.set_raw_data("\x1b");
  expect_refusal(proto, "need 2 bytes, but it has 1");
}

TEST_F(TensorImportTest, MakesBoolsZeroOrOne) {
  TensorProto proto = proto_of(TensorProto::BOOL, {4});
  proto.set_raw_data(std::string("\0\1\2\xff", 4));
  EXPECT_THAT(elements<uint8_t>(import(proto)), ElementsAre(0, 1, 1, 1));
}

TEST_F(TensorImportTest, ReadsStrings) {
  TensorProto proto = proto_of(TensorProto::STRING, {2});
  proto.add_string_data("a");
  proto.add_string_data("");
  const Tensor tensor = import(proto);
  EXPECT_EQ(tensor.type, ElementType::kString);
  ASSERT_TRUE(tensor.strings);
  EXPECT_THAT(*tensor.strings, ElementsAre("a", ""));
}

TEST_F(TensorImportTest, ReadsTensorsWithoutElements) {
  EXPECT_EQ(import(proto_of(TensorProto::FLOAT, {0, 5})).data.bytes.size(), 0u);
  EXPECT_EQ(import(proto_of(TensorProto::STRING, {0})).strings->size(), 0u);
}

TEST_F(TensorImportTest, BorrowsLiftedPayloads) {
  alignas(8) const int64_t payload[] = {1, 2, 3};
  const auto owner = std::make_shared<const int>(0);
  skeleton_.payloads.push_back(std::as_bytes(std::span(payload)));
  TensorImporter importer(skeleton_, owner, external_);
  TensorProto proto = proto_of(TensorProto::INT64, {3});
  proto.set_raw_data(std::string(24, '\0'));  // a record: marker and index are all zero here
  const auto tensor = importer.tensor(proto, "w");
  ASSERT_THAT(tensor, IsOk());
  const void* data = tensor->data.bytes.data();
  EXPECT_EQ(data, payload);
  EXPECT_EQ(tensor->data.owner, owner);
}

TEST_F(TensorImportTest, MovesPayloadsThatAreNotAligned) {
  alignas(8) const char bytes[25] = "\0AAAABBBBCCCCDDDDEEEEFFF";
  skeleton_.payloads.push_back(std::as_bytes(std::span(bytes).subspan(1, 24)));
  TensorProto proto = proto_of(TensorProto::FLOAT, {6});
  proto.set_raw_data(std::string(24, '\0'));
  const Tensor tensor = import(proto);
  const void* data = tensor.data.bytes.data();
  EXPECT_NE(data, bytes + 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 4, 0u);
  EXPECT_EQ(std::memcmp(data, bytes + 1, 24), 0);

  TensorProto narrow = proto_of(TensorProto::INT8, {24});
  narrow.set_raw_data(std::string(24, '\0'));
  const void* kept = import(narrow).data.bytes.data();
  EXPECT_EQ(kept, bytes + 1) << "bytes are always aligned";
}

TEST_F(TensorImportTest, ReadsExternalData) {
  const float content[] = {1, 2, 3};
  const void* raw = content;
  folder_.write("w.bin", std::string_view(static_cast<const char*>(raw), sizeof(content)));
  TensorProto proto = proto_of(TensorProto::FLOAT, {2});
  proto.set_data_location(TensorProto::EXTERNAL);
  const auto add = [&](const char* key, const char* value) {
    auto& entry = *proto.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  add("location", "w.bin");
  add("offset", "4");
  add("length", "8");
  add("checksum", "d0951239f8a84d20d0b5ef1003165ee3b2c34eb5");
  add("basepath", "ignored");
  EXPECT_THAT(elements<float>(import(proto)), ElementsAre(2, 3));
}

TEST_F(TensorImportTest, RefusesBadExternalReferences) {
  TensorProto proto = proto_of(TensorProto::FLOAT, {1});
  proto.set_data_location(TensorProto::EXTERNAL);
  expect_refusal(proto, "its external data has no location");
  auto& location = *proto.add_external_data();
  location.set_key("location");
  location.set_value("w.bin");
  auto& number = *proto.add_external_data();
  for (const char* key : {"offset", "length"}) {
    number.set_key(key);
    for (const char* value : {"", "-1", "1x", "0x10", "99999999999999999999", " 1"}) {
      number.set_value(value);
      expect_refusal(proto, std::string("the ") + key + " of its external data is");
    }
  }
  number.Clear();
  proto.set_raw_data("abcd");
  expect_refusal(proto, "data inside the model and external data");
}

TEST_F(TensorImportTest, RefusesSizesThatDoNotFitTheShape) {
  TensorProto raw = proto_of(TensorProto::FLOAT, {2});
  raw.set_raw_data("abc");
  expect_refusal(raw, "its type and shape need 8 bytes, but it has 3");
  TensorProto typed = proto_of(TensorProto::FLOAT, {2});
  typed.add_float_data(1);
  expect_refusal(typed, "its type and shape need 8 bytes, but it has 4");
  expect_refusal(proto_of(TensorProto::FLOAT, {2}),
                 "its type and shape need 8 bytes, but it has 0");
  TensorProto strings = proto_of(TensorProto::STRING, {2});
  strings.add_string_data("a");
  expect_refusal(strings, "its shape needs 2 strings, but it has 1");
  expect_refusal(proto_of(TensorProto::STRING, {INT64_MAX, 2}), "its shape needs too many strings");
}

TEST_F(TensorImportTest, RefusesTypedDataInTheWrongField) {
  TensorProto proto = proto_of(TensorProto::FLOAT, {1});
  proto.add_int64_data(1);
  expect_refusal(proto, "but it has 0");
}

TEST_F(TensorImportTest, RefusesShapesAndTypesThatCannotBe) {
  expect_refusal(proto_of(TensorProto::FLOAT, {-1}), "the negative dimension -1");
  expect_refusal(proto_of(TensorProto::FLOAT, {INT64_MAX, INT64_MAX}), "too many elements");
  expect_refusal(proto_of(TensorProto::DOUBLE, {INT64_MAX}), "too many elements");
  expect_refusal(proto_of(TensorProto::UNDEFINED, {1}), "its element type is 0");
  expect_refusal(proto_of(99, {1}), "its element type is 99");
  expect_refusal(proto_of(-1, {1}), "its element type is -1");
}

TEST_F(TensorImportTest, RefusesContradictoryStorage) {
  TensorProto both = proto_of(TensorProto::FLOAT, {1});
  both.set_raw_data("abcd");
  both.add_float_data(1);
  expect_refusal(both, "both raw data and typed data");
  TensorProto raw_strings = proto_of(TensorProto::STRING, {1});
  raw_strings.set_raw_data("a");
  expect_refusal(raw_strings, "strings cannot be raw or external");
  TensorProto segment = proto_of(TensorProto::FLOAT, {1});
  segment.mutable_segment()->set_begin(0);
  expect_refusal(segment, "segments are not supported");
}

onnx::SparseTensorProto sparse_proto(const std::vector<float>& values,
                                     const std::vector<int64_t>& indices,
                                     const std::vector<int64_t>& index_dims,
                                     const std::vector<int64_t>& dims) {
  onnx::SparseTensorProto proto;
  *proto.mutable_values() = proto_of(TensorProto::FLOAT, {static_cast<int64_t>(values.size())});
  for (const float value : values) proto.mutable_values()->add_float_data(value);
  *proto.mutable_indices() = proto_of(TensorProto::INT64, index_dims);
  for (const int64_t index : indices) proto.mutable_indices()->add_int64_data(index);
  for (const int64_t dim : dims) proto.add_dims(dim);
  return proto;
}

TEST_F(TensorImportTest, MakesSparseTensorsDense) {
  for (const auto& proto : {sparse_proto({5, 6}, {1, 5}, {2}, {2, 3}),
                            sparse_proto({5, 6}, {0, 1, 1, 2}, {2, 2}, {2, 3})}) {
    const auto sparse = importer_.sparse_tensor(proto, "s");
    ASSERT_THAT(sparse, IsOk());
    const auto dense = densify(*sparse, "s");
    ASSERT_THAT(dense, IsOk());
    EXPECT_EQ(dense->shape, (Shape{2, 3}));
    EXPECT_THAT(elements<float>(*dense), ElementsAre(0, 5, 0, 0, 0, 6));
  }
}

TEST_F(TensorImportTest, RefusesInvalidSparseTensors) {
  const auto refusal = [&](const onnx::SparseTensorProto& proto) {
    const auto sparse = importer_.sparse_tensor(proto, "s");
    if (!sparse.ok()) return sparse.status().message();
    return densify(*sparse, "s").status().message();
  };
  EXPECT_THAT(refusal(sparse_proto({5}, {6}, {1}, {2, 3})), HasSubstr("index #0 is out of range"));
  EXPECT_THAT(refusal(sparse_proto({5}, {-1}, {1}, {2, 3})), HasSubstr("index #0 is out of range"));
  EXPECT_THAT(refusal(sparse_proto({5}, {0, 3}, {1, 2}, {2, 3})), HasSubstr("out of range"));
  EXPECT_THAT(refusal(sparse_proto({5}, {0, 0}, {2}, {2, 3})), HasSubstr("do not match"));
  EXPECT_THAT(refusal(sparse_proto({5}, {0, 0, 0}, {1, 3}, {2, 3})), HasSubstr("do not match"));
  EXPECT_THAT(refusal(sparse_proto({}, {}, {0}, {-2})), HasSubstr("shape is invalid"));
  EXPECT_THAT(refusal(sparse_proto({}, {}, {0}, {int64_t{1} << 40})),
              HasSubstr("more than 1 GiB is refused"));
}

}  // namespace
}  // namespace ephost::onnx_io::tensor_import_test
