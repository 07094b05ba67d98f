#include "host/onnx_io/import/model_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "tests/support/status_matchers.h"

namespace ephost::onnx_io::model_metadata_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Result<std::vector<std::pair<std::string, std::string>>> read(const std::string& bytes) {
  return read_model_metadata(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

onnx::ModelProto model_with_metadata() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.mutable_graph()->set_name("not looked at");
  for (const char* key : {"b", "a"}) {
    onnx::StringStringEntryProto& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(std::string("value of ") + key);
  }
  model.add_metadata_props()->set_key("without value");
  return model;
}

TEST(ModelMetadata, ReadsTheEntriesInFileOrder) {
  const auto entries = read(model_with_metadata().SerializeAsString());
  ASSERT_THAT(entries, IsOk());
  EXPECT_THAT(*entries, ElementsAre(Pair("b", "value of b"), Pair("a", "value of a"),
                                    Pair("without value", "")));
  EXPECT_THAT(*read(""), IsEmpty());
}

TEST(ModelMetadata, RefusesBytesThatAreNotASequenceOfFields) {
  std::string bytes = model_with_metadata().SerializeAsString();
  bytes.pop_back();
  EXPECT_EQ(read(bytes).status().code(), StatusCode::kInvalidProtobuf);
  EXPECT_EQ(read("\x72\x02\x0a\x05").status().code(), StatusCode::kInvalidProtobuf);
}

}  // namespace
}  // namespace ephost::onnx_io::model_metadata_test
