#include "host/onnx_io/import/value_types.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "tests/support/status_matchers.h"

namespace ephost::onnx_io::value_types_test {
namespace {

using graph::ElementType;
using graph::kUnknownDim;
using graph::Shape;
using graph::symbolic_dim;
using graph::ValueKind;
using graph::ValueType;
using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

onnx::TypeProto proto_of(const std::string& text) {
  onnx::TypeProto proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return proto;
}

class ValueTypesTest : public ::testing::Test {
 protected:
  std::string import(const std::string& text) {
    const auto type = import_type(proto_of(text), symbols_);
    return type.ok() ? graph::to_string(*type, names_) : type.status().message();
  }

  std::vector<std::string> names_;
  DimSymbols symbols_{names_};
};

TEST_F(ValueTypesTest, ReadsTensorsWithEveryKindOfDimension) {
  EXPECT_EQ(import("tensor_type { elem_type: 1 shape { dim { dim_value: 3 } dim { dim_param: 'n' } "
                   "dim {} dim { dim_param: '' } dim { dim_value: -1 } dim { dim_param: 'n' } } }"),
            "float[3,n,?,?,?,n]");
  EXPECT_THAT(names_, ElementsAre("n"));
  EXPECT_EQ(import("tensor_type { elem_type: 7 }"), "int64");
  EXPECT_EQ(import("tensor_type { elem_type: 7 shape {} }"), "int64[]");
  EXPECT_EQ(import("tensor_type { shape { dim { dim_value: 1 } } }"), "undefined[1]");
}

TEST_F(ValueTypesTest, ReadsOtherKinds) {
  EXPECT_EQ(import(""), "?");
  EXPECT_EQ(import("sparse_tensor_type { elem_type: 1 }"), "sparse(float)");
  EXPECT_EQ(import("sequence_type { elem_type { tensor_type { elem_type: 8 } } }"), "seq(string)");
  EXPECT_EQ(import("optional_type { elem_type { tensor_type { elem_type: 9 } } }"),
            "optional(bool)");
  EXPECT_EQ(import("map_type { key_type: 7 value_type { tensor_type { elem_type: 1 } } }"),
            "map(int64,float)");
}

TEST_F(ValueTypesTest, RefusesTypesThatCannotBe) {
  EXPECT_THAT(import("tensor_type { elem_type: 77 }"), HasSubstr("element type is 77"));
  EXPECT_THAT(import("tensor_type { elem_type: 1 shape { dim { dim_value: -2 } } }"),
              HasSubstr("has the dimension -2"));
  EXPECT_THAT(import("map_type { value_type { tensor_type { elem_type: 1 } } }"),
              HasSubstr("element type is 0"));
  std::string nested = "tensor_type { elem_type: 1 }";
  for (int i = 0; i < 20; ++i) nested = "sequence_type { elem_type { " + nested + " } }";
  EXPECT_THAT(import(nested), HasSubstr("nested too deeply"));
}

TEST_F(ValueTypesTest, WritesWhatItReads) {
  for (const char* text :
       {"",
        "tensor_type { elem_type: 1 shape { dim { dim_value: 3 } dim { dim_param: \"n\" } dim { "
        "} } }",
        "sparse_tensor_type { elem_type: 11 }",
        "sequence_type { elem_type { tensor_type { elem_type: 8 } } }",
        "optional_type { elem_type { sequence_type { elem_type { tensor_type { elem_type: 8 } } } "
        "} "
        "}",
        "map_type { key_type: 7 value_type { tensor_type { elem_type: 1 shape { } } } }"}) {
    const onnx::TypeProto proto = proto_of(text);
    const auto type = import_type(proto, symbols_);
    ASSERT_THAT(type, IsOk());
    onnx::TypeProto written;
    export_type(*type, names_, written);
    EXPECT_EQ(written.DebugString(), proto.DebugString());
  }
}

ValueType tensor(std::optional<Shape> shape, ElementType element = ElementType::kFloat) {
  return {.kind = ValueKind::kTensor, .element = element, .shape = std::move(shape)};
}

std::string merged(const ValueType& known, const ValueType& found, bool conflicts = false) {
  bool conflict = false;
  const ValueType result = merge_types(known, found, conflict);
  EXPECT_EQ(conflict, conflicts);
  return graph::to_string(result, std::vector<std::string>{"a", "b"});
}

TEST(MergeTypes, CompletesWhatIsOpen) {
  EXPECT_EQ(merged({}, tensor(Shape{1})), "float[1]");
  EXPECT_EQ(merged(tensor(Shape{1}), {}), "float[1]");
  EXPECT_EQ(merged(tensor(std::nullopt), tensor(Shape{2})), "float[2]");
  EXPECT_EQ(merged(tensor(Shape{2}), tensor(std::nullopt)), "float[2]");
  EXPECT_EQ(merged(tensor(Shape{1}, ElementType::kUndefined), tensor(std::nullopt)), "float[1]");
  EXPECT_EQ(merged(tensor(Shape{kUnknownDim, symbolic_dim(0), 4}),
                   tensor(Shape{symbolic_dim(1), 3, kUnknownDim})),
            "float[b,3,4]");
}

TEST(MergeTypes, KeepsAnExtentThatIsKnown) {
  EXPECT_EQ(merged(tensor(Shape{2}), tensor(Shape{symbolic_dim(0)})), "float[2]");
  EXPECT_EQ(merged(tensor(Shape{symbolic_dim(0)}), tensor(Shape{symbolic_dim(1)})), "float[a]");
  EXPECT_EQ(merged(tensor(Shape{symbolic_dim(0)}), tensor(Shape{kUnknownDim})), "float[a]");
}

TEST(MergeTypes, SaysWhereTheySayDifferentThings) {
  EXPECT_EQ(merged(tensor(Shape{2}), tensor(Shape{3}), true), "float[3]");
  EXPECT_EQ(merged(tensor(Shape{2}), tensor(Shape{2, 1}), true), "float[2,1]");
  EXPECT_EQ(merged(tensor(Shape{2}), tensor(Shape{2}, ElementType::kInt64), true), "int64[2]");
  EXPECT_EQ(merged(tensor(Shape{2}), {.kind = ValueKind::kSequence}, true), "seq(?)");
}

TEST(MergeTypes, LooksIntoContainers) {
  const auto sequence_of = [](ValueType inner) {
    return ValueType{.kind = ValueKind::kSequence,
                     .nested = std::make_shared<const ValueType>(std::move(inner))};
  };
  EXPECT_EQ(merged(sequence_of(tensor(std::nullopt)), sequence_of(tensor(Shape{2}))),
            "seq(float[2])");
  EXPECT_EQ(merged({.kind = ValueKind::kSequence}, sequence_of(tensor(Shape{2}))), "seq(float[2])");
}

}  // namespace
}  // namespace ephost::onnx_io::value_types_test
