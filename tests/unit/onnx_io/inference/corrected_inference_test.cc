// Shapes that some version of onnx infers wrongly; the expected ones are numpy's, or those of the
// operators' definitions.
#include "host/onnx_io/inference/corrected_inference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/onnx_io/inference/infer.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::onnx_io::corrected_inference_test {
namespace {

using graph::ElementType;
using graph::Shape;
using graph::testing::GraphBuilder;
using graph::testing::int64_tensor;
using graph::testing::make_tensor;
using graph::testing::tensor_type;
using graph::testing::without_versions;

graph::Tensor number(int64_t value) {
  return make_tensor<int64_t>(ElementType::kInt64, {}, {value});
}

// The type of "y".
std::string inferred(GraphBuilder& builder, int64_t opset) {
  builder.output("y");
  graph::Model model = {
      .graph = without_versions(builder.build()), .ir_version = 8, .opset_imports = {{"", opset}}};
  const std::vector<std::string> notes = infer_shapes(model);
  EXPECT_THAT(notes, ::testing::IsEmpty());
  return graph::to_string(model.graph.values[model.graph.find_value("y")].type, model.symbols);
}

GraphBuilder& with_input(GraphBuilder& builder, Shape shape) {
  return builder.input("x", tensor_type(ElementType::kFloat, std::move(shape)));
}

TEST(CorrectedInference, CountsTheFramesOfAOneSidedTransform) {
  for (const Shape& shape : {Shape{1, 48, 1}, Shape{1, 48}}) {
    GraphBuilder builder;
    with_input(builder, shape).constant("step", number(4)).constant("length", number(16));
    builder.node("STFT", {"x", "step", "", "length"}, {"y"});
    EXPECT_EQ(inferred(builder, 17), "float[1,9,9,2]");
  }
  GraphBuilder builder;
  with_input(builder, {1, 48, 1}).constant("step", number(4)).constant("length", number(16));
  builder.node("STFT", {"x", "step", "", "length"}, {"y"}).attribute("onesided", int64_t{0});
  EXPECT_EQ(inferred(builder, 17), "float[1,9,16,2]");
}

TEST(CorrectedInference, UnfoldsAOneSidedInverseTransform) {
  for (const int64_t opset : {17, 20}) {
    GraphBuilder builder;
    with_input(builder, {1, 25, 2}).node("DFT", {"x"}, {"y"});
    builder.attribute("inverse", int64_t{1}).attribute("onesided", int64_t{1});
    EXPECT_EQ(inferred(builder, opset), "float[1,48,1]");
    GraphBuilder with_length;
    with_input(with_length, {1, 25, 2}).constant("n", number(49));
    with_length.node("DFT", {"x", "n"}, {"y"});
    with_length.attribute("inverse", int64_t{1}).attribute("onesided", int64_t{1});
    EXPECT_EQ(inferred(with_length, opset), "float[1,49,1]");
  }
  GraphBuilder last_by_default;
  with_input(last_by_default, {3, 4, 10, 1}).node("DFT", {"x"}, {"y"});
  last_by_default.attribute("onesided", int64_t{1});
  EXPECT_EQ(inferred(last_by_default, 20), "float[3,4,6,2]");
}

std::string sliced(const Shape& shape, int64_t start, int64_t end, int64_t step) {
  GraphBuilder builder;
  with_input(builder, shape)
      .constant("s", int64_tensor({start}))
      .constant("e", int64_tensor({end}));
  builder.constant("a", int64_tensor({0})).constant("t", int64_tensor({step}));
  builder.node("Slice", {"x", "s", "e", "a", "t"}, {"y"});
  return inferred(builder, 13);
}

TEST(CorrectedInference, SlicesAsPythonDoes) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(sliced({0, 3}, -1, kMin, -1), "float[0,3]");
  EXPECT_EQ(sliced({5, 3}, -1, kMin, -1), "float[5,3]");
  EXPECT_EQ(sliced({5, 3}, kMax, kMin, -2), "float[3,3]");
  EXPECT_EQ(sliced({5, 3}, 4, -5, -3), "float[2,3]");
  EXPECT_EQ(sliced({5, 3}, 1, kMax, kMax), "float[1,3]");
  EXPECT_EQ(sliced({5, 3}, 3, 2, 1), "float[0,3]");
  EXPECT_EQ(sliced({5, 3}, kMin, kMax, 2), "float[3,3]");
  EXPECT_EQ(sliced({5, 3}, kMin, kMax, kMin), "float[0,3]");
}

TEST(CorrectedInference, SlicesByAttributesAndByUnknownBounds) {
  GraphBuilder by_attributes;
  with_input(by_attributes, {5, 3}).node("Slice", {"x"}, {"y"});
  by_attributes.attribute("starts", std::vector<int64_t>{1, -2});
  by_attributes.attribute("ends", std::vector<int64_t>{-1, 9});
  EXPECT_EQ(inferred(by_attributes, 9), "float[3,2]");
  GraphBuilder open;
  with_input(open, {5, 3}).input("s", tensor_type(ElementType::kInt64, Shape{1}));
  open.constant("e", int64_tensor({2})).node("Slice", {"x", "s", "e"}, {"y"});
  EXPECT_EQ(inferred(open, 13), "float[?,3]");
}

TEST(CorrectedInference, IgnoresPadsBesideAnAutomaticPadding) {
  const auto convolved = [](const char* mode) {
    GraphBuilder builder;
    with_input(builder, {1, 1, 7}).input("w", tensor_type(ElementType::kFloat, Shape{2, 1, 3}));
    builder.node("Conv", {"x", "w"}, {"y"}).attribute("pads", std::vector<int64_t>{8, 4});
    builder.attribute("auto_pad", std::string(mode)).attribute("strides", std::vector<int64_t>{2});
    return inferred(builder, 11);
  };
  EXPECT_EQ(convolved("SAME_UPPER"), "float[1,2,4]");
  EXPECT_EQ(convolved("VALID"), "float[1,2,3]");
  EXPECT_EQ(convolved("NOTSET"), "float[1,2,9]");
}

TEST(CorrectedInference, FollowsTheDefinitionOfTransposedConvolution) {
  using List = std::vector<int64_t>;
  using Given = std::pair<std::string, std::variant<List, std::string>>;
  const auto convolved = [](const std::vector<Given>& given, int64_t opset = 11) {
    GraphBuilder builder;
    with_input(builder, {1, 4, 5}).input("w", tensor_type(ElementType::kFloat, Shape{4, 3, 3}));
    builder.node("ConvTranspose", {"x", "w"}, {"y"}).attribute("group", int64_t{2});
    builder.attribute("strides", List{2});
    for (const auto& [name, value] : given) {
      std::visit([&, &to = name](const auto& held) { builder.attribute(to, held); }, value);
    }
    return inferred(builder, opset);
  };
  // (5 - 1) * 2 + 3, then less or more.
  EXPECT_EQ(convolved({}), "float[1,6,11]");
  EXPECT_EQ(convolved({{"pads", List{1, 2}}, {"output_padding", List{1}}}), "float[1,6,9]");
  EXPECT_EQ(convolved({{"dilations", List{3}}}), "float[1,6,15]");
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER"}) {
    EXPECT_EQ(convolved({{"auto_pad", std::string(mode)}, {"pads", List{3, 3}}}), "float[1,6,10]");
  }
  EXPECT_EQ(convolved({{"auto_pad", std::string("VALID")}, {"pads", List{3, 3}}}), "float[1,6,11]");
  EXPECT_EQ(convolved({{"output_shape", List{12}}, {"pads", List{3, 3}}}), "float[1,6,12]");
  EXPECT_EQ(convolved({{"output_shape", List{1, 6, 12}}}, 1), "float[1,6,12]");
}

TEST(CorrectedInference, TakesAnEmptyPermutationForNone) {
  GraphBuilder builder;
  with_input(builder, {2, 3, 4}).node("Transpose", {"x"}, {"y"});
  builder.attribute("perm", std::vector<int64_t>());
  EXPECT_EQ(inferred(builder, 13), "float[4,3,2]");
}

TEST(CorrectedInference, DropsNoAxisThatMayBeLongerThanOne) {
  for (const int64_t opset : {10, 11, 13, 21}) {
    SCOPED_TRACE(opset);
    GraphBuilder open;
    with_input(open, {1, -1, 3}).node("Squeeze", {"x"}, {"y"});
    EXPECT_EQ(inferred(open, opset), "float");
    GraphBuilder fixed;
    with_input(fixed, {1, 2, 1}).node("Squeeze", {"x"}, {"y"});
    EXPECT_EQ(inferred(fixed, opset), "float[2]");
  }
  GraphBuilder named;
  with_input(named, {-1, 1, 3}).node("Squeeze", {"x"}, {"y"});
  named.attribute("axes", std::vector<int64_t>{0, 1});
  EXPECT_EQ(inferred(named, 10), "float[3]");
}

TEST(CorrectedInference, CountsNegativeAxesFromTheEndInOldVersionsToo) {
  GraphBuilder builder;
  with_input(builder, {2, 3}).node("Unsqueeze", {"x"}, {"y"});
  builder.attribute("axes", std::vector<int64_t>{-1, 0});
  EXPECT_EQ(inferred(builder, 7), "float[1,2,3,1]");
}

TEST(CorrectedInference, ResizesTheRegionOnly) {
  for (const int64_t opset : {11, 13, 18, 19}) {
    GraphBuilder builder;
    with_input(builder, {1, 1, 10, 10});
    builder.constant(
        "roi", make_tensor<float>(ElementType::kFloat, {8}, {0, 0, 0.25F, 0.5F, 1, 1, 0.75F, 1}));
    builder.constant("scales", make_tensor<float>(ElementType::kFloat, {4}, {1, 1, 2, 2}));
    builder.node("Resize", {"x", "roi", "scales"}, {"y"});
    builder.attribute("coordinate_transformation_mode", std::string("tf_crop_and_resize"));
    EXPECT_EQ(inferred(builder, opset), "float[1,1,10,10]");
  }
}

TEST(CorrectedInference, BroadcastsInOldVersionsToo) {
  GraphBuilder builder;
  with_input(builder, {1, 3}).input("z", tensor_type(ElementType::kFloat, Shape{2, 1}));
  builder.node("Mean", {"x", "z"}, {"y"});
  EXPECT_EQ(inferred(builder, 7), "float[2,3]");
}

TEST(CorrectedInference, SplitsIntoParts) {
  GraphBuilder builder;
  with_input(builder, {2, 3}).node("SplitToSequence", {"x"}, {"y"});
  builder.attribute("axis", int64_t{-1}).attribute("keepdims", int64_t{0});
  EXPECT_EQ(inferred(builder, 11), "seq(float[2])");
}

TEST(CorrectedInference, BelievesNothingAboutOpenShapes) {
  GraphBuilder builder;
  with_input(builder, {2, 3}).node("Relu", {"x"}, {"h"}).node("Shape", {"h"}, {"y"}).output("y");
  graph::Model model = {
      .graph = without_versions(builder.build()), .ir_version = 8, .opset_imports = {{"", 17}}};
  infer_shapes(model, {}, {"h"});
  const auto type_of = [&](std::string_view name) {
    return graph::to_string(model.graph.values[model.graph.find_value(name)].type, {});
  };
  EXPECT_EQ(type_of("h"), "float");
  EXPECT_EQ(type_of("y"), "int64[?]");
}

}  // namespace
}  // namespace ephost::onnx_io::corrected_inference_test
