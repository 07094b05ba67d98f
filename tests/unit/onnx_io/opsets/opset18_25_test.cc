// Opsets after the last one of the linked onnx: which version of an operator a model selects,
// whether its nodes are checked, and what is inferred.
#include "host/onnx_io/opsets/opset18_25.h"

#include <set>

#include "host/onnx_io/inference/infer.h"
#include "host/onnx_io/opsets/opset18_25_operators.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/onnx_io/import/import_helpers.h"

namespace ephost::onnx_io::opset18_25_test {
namespace {

using graph::ElementType;
using graph::kUnknownDim;
using graph::Model;
using graph::Shape;
using graph::testing::float_tensor;
using graph::testing::GraphBuilder;
using graph::testing::int64_tensor;
using graph::testing::tensor_type;
using graph::testing::without_versions;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

int since(const std::string& op_type, int opset, const std::string& domain = "") {
  const onnx::OpSchema* schema = all_operators().GetSchema(op_type, opset, domain);
  return schema == nullptr ? 0 : schema->SinceVersion();
}

std::string type_of(const Model& model, std::string_view value) {
  return graph::to_string(model.graph.values[model.graph.find_value(value)].type, model.symbols);
}

// The type that is inferred for value "y".
std::string inferred(GraphBuilder& builder, int64_t opset = 25) {
  Model model{
      .graph = without_versions(builder.build()), .ir_version = 8, .opset_imports = {{"", opset}}};
  EXPECT_THAT(infer_shapes(model), IsEmpty());
  return type_of(model, "y");
}

const graph::ValueType kImage = tensor_type(ElementType::kFloat, Shape{2, 3, 8, 9});

TEST(NewerOpsets, SelectTheVersionThatTheOpsetHas) {
  EXPECT_EQ(since("Pad", 17), 13);
  EXPECT_EQ(since("Pad", 18), 18);
  EXPECT_EQ(since("Pad", 20), 19);
  EXPECT_EQ(since("Pad", 25), 25);
  EXPECT_EQ(since("Add", 25), 14) << "Add has not changed";
  EXPECT_EQ(since("ReduceMax", 19), 18);
  EXPECT_EQ(since("ReduceMax", 24), 20);
  EXPECT_EQ(since("ReduceSum", 25), 13);
  EXPECT_EQ(since("Gelu", 19), 0) << "Gelu came with 20";
  EXPECT_EQ(since("Gelu", 25), 20);
  EXPECT_EQ(since("Attention", 23), 23);
  EXPECT_EQ(since("Attention", 25), 24);
  EXPECT_EQ(since("LabelEncoder", 3, "ai.onnx.ml"), 2);
  EXPECT_EQ(since("LabelEncoder", 5, "ai.onnx.ml"), 4);
}

// ONNX Runtime writes it whatever the opset is.
TEST(OnnxRuntimeOperators, AreKnownInEveryOpset) {
  EXPECT_EQ(since("SimplifiedLayerNormalization", 7), 1);
  EXPECT_EQ(since("SimplifiedLayerNormalization", 25), 1);
  EXPECT_EQ(since("SimplifiedLayerNormalization", 5, "ai.onnx.ml"), 0);
  GraphBuilder builder;
  builder.input("x", kImage)
      .constant("s", float_tensor(std::vector<float>(9, 1)))
      .node("SimplifiedLayerNormalization", {"x", "s"}, {"z", "y"})
      .output("z")
      .output("y");
  EXPECT_EQ(inferred(builder, 17), "float[2,3,8,1]");
}

TEST(NewerOpsets, DefineEveryRevisionOnceAndInOrder) {
  for (const auto& [domain, revisions] : {std::pair("", onnx_revisions_after_17()),
                                          std::pair("ai.onnx.ml", ml_revisions_after_3())}) {
    int last = 0;
    std::set<std::pair<int, std::string_view>> seen;
    for (const Revision& revision : revisions) {
      EXPECT_GE(revision.since, last);
      last = revision.since;
      EXPECT_TRUE(seen.emplace(revision.since, revision.op_type).second) << revision.op_type;
      EXPECT_EQ(since(std::string(revision.op_type), revision.since, domain), revision.since);
    }
    EXPECT_EQ(newest_opset(domain), last);
  }
}

TEST(NewerOpsets, LeaveToTheLinkedOnnxWhatItDefines) {
  const auto& known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  for (const auto& [domain, revisions] : {std::pair("", onnx_revisions_after_17()),
                                          std::pair("ai.onnx.ml", ml_revisions_after_3())}) {
    const int newest_of_onnx = known.at(domain).second;
    for (const Revision& revision : revisions) {
      const std::string op_type(revision.op_type);
      const onnx::OpSchema* used = all_operators().GetSchema(op_type, revision.since, domain);
      ASSERT_NE(used, nullptr) << op_type;
      EXPECT_EQ(is_host_definition(*used), revision.since > newest_of_onnx) << op_type;
      if (revision.since > newest_of_onnx) continue;
      const auto* own = onnx::OpSchemaRegistry::Schema(op_type, revision.since, domain);
      ASSERT_NE(own, nullptr) << op_type;
      EXPECT_EQ(own->SinceVersion(), revision.since) << op_type;
      EXPECT_STREQ(used->doc(), own->doc()) << op_type;
    }
  }
}

TEST(NewerOpsets, ImportWithTheRightVersionsAndWithoutNotes) {
  onnx::ModelProto proto = testing::empty_model(20, 9);
  onnx::GraphProto& graph = *proto.mutable_graph();
  testing::add_input(graph, "x", {2, 3});
  testing::add_node(graph, "Relu", {"x"}, {"r"});
  testing::add_node(graph, "Gelu", {"r"}, {"g"});
  testing::add_node(graph, "Identity", {"g"}, {"y"});
  testing::add_output(graph, "y", {2, 3});
  ImportReport report;
  const Model model = testing::import(proto, &report);
  EXPECT_THAT(report.notes, IsEmpty());
  ASSERT_EQ(model.graph.nodes.size(), 3U);
  EXPECT_EQ(model.graph.nodes[0].since_version, 14);
  EXPECT_EQ(model.graph.nodes[1].since_version, 20);
  EXPECT_EQ(model.graph.nodes[2].since_version, 19);
  EXPECT_EQ(type_of(model, "g"), "float[2,3]");
}

TEST(NewerOpsets, RefuseNodesThatDoNotConformToTheDefinition) {
  const auto with_node = [](int64_t opset, std::string_view op_type) {
    onnx::ModelProto proto = testing::empty_model(opset, 10);
    testing::add_input(*proto.mutable_graph(), "x", {2, 3});
    testing::add_node(*proto.mutable_graph(), op_type, {"x"}, {"y"});
    testing::add_output(*proto.mutable_graph(), "y", {2, 3});
    return proto;
  };
  testing::expect_refusal(with_node(19, "Gelu"), "has no operator \"Gelu\"");
  testing::expect_refusal(with_node(25, "BitwiseAnd"), "input");
  onnx::ModelProto strange = with_node(25, "Gelu");
  testing::set_int(*strange.mutable_graph()->mutable_node(0), "strange", 1);
  testing::expect_refusal(strange, "strange");
  onnx::ModelProto axes = with_node(18, "ReduceMax");
  testing::set_ints(*axes.mutable_graph()->mutable_node(0), "axes", {0});
  testing::expect_refusal(axes, "axes");
}

TEST(NewerOpsets, TakeConstantsOfTypesThatCameLater) {
  onnx::ModelProto proto = testing::empty_model(23, 11);
  onnx::GraphProto& graph = *proto.mutable_graph();
  onnx::NodeProto& node = testing::add_node(graph, "Constant", {}, {"c"});
  onnx::TensorProto& tensor =
      *testing::add_attribute(node, "value", onnx::AttributeProto::TENSOR).mutable_t();
  tensor.set_data_type(static_cast<int32_t>(ElementType::kFloat8E4M3FN));
  tensor.add_dims(2);
  tensor.add_int32_data(56);
  tensor.add_int32_data(64);
  onnx::NodeProto& cast = testing::add_node(graph, "Cast", {"c"}, {"y"});
  testing::set_int(cast, "to", 1);
  testing::set_int(cast, "saturate", 1);
  testing::add_output(graph, "y", {2});
  ImportReport report;
  const Model model = testing::import(proto, &report);
  EXPECT_THAT(report.notes, IsEmpty());
  EXPECT_EQ(type_of(model, "c"), "float8e4m3fn[2]");
  EXPECT_EQ(type_of(model, "y"), "float[2]");
}

TEST(NewerOpsets, InferReductionsWithAxesAsInput) {
  GraphBuilder builder;
  builder.input("x", kImage)
      .constant("axes", int64_tensor({-1, 1}))
      .node("ReduceMean", {"x", "axes"}, {"y"})
      .output("y");
  EXPECT_EQ(inferred(builder), "float[2,1,8,1]");
}

TEST(NewerOpsets, InferSplitIntoANumberOfParts) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kInt64, Shape{7, 2}))
      .node("Split", {"x"}, {"a", "b", "y"})
      .attribute("num_outputs", int64_t{3})
      .output("y");
  EXPECT_EQ(inferred(builder), "int64[1,2]");
}

TEST(NewerOpsets, InferPadOfChosenAxes) {
  GraphBuilder builder;
  builder.input("x", kImage)
      .constant("pads", int64_tensor({1, -2, 3, 4}))
      .constant("axes", int64_tensor({3, -3}))
      .node("Pad", {"x", "pads", "", "axes"}, {"y"})
      .output("y");
  EXPECT_EQ(inferred(builder), "float[2,5,8,13]");
}

TEST(NewerOpsets, InferCenterCropPad) {
  GraphBuilder builder;
  builder.input("x", kImage)
      .constant("shape", int64_tensor({4, 20}))
      .node("CenterCropPad", {"x", "shape"}, {"y"})
      .attribute("axes", std::vector<int64_t>{2, -1})
      .output("y");
  EXPECT_EQ(inferred(builder), "float[2,3,4,20]");
}

TEST(NewerOpsets, InferResizeByScalesSizesAndPolicy) {
  GraphBuilder scales;
  scales.input("x", kImage)
      .constant("scales", float_tensor({0.5F, 2.5F}))
      .node("Resize", {"x", "", "scales"}, {"y"})
      .attribute("axes", std::vector<int64_t>{2, 3})
      .output("y");
  EXPECT_EQ(inferred(scales), "float[2,3,4,22]");

  GraphBuilder sizes;
  sizes.input("x", kImage)
      .constant("sizes", int64_tensor({16, 27}))
      .node("Resize", {"x", "", "", "sizes"}, {"y"})
      .attribute("axes", std::vector<int64_t>{2, 3})
      .attribute("keep_aspect_ratio_policy", std::string("not_larger"))
      .output("y");
  EXPECT_EQ(inferred(sizes, 18), "float[2,3,16,18]");
}

TEST(NewerOpsets, InferPoolingWithDilations) {
  GraphBuilder builder;
  builder.input("x", kImage)
      .node("AveragePool", {"x"}, {"y"})
      .attribute("kernel_shape", std::vector<int64_t>{2, 2})
      .attribute("dilations", std::vector<int64_t>{3, 1})
      .output("y");
  EXPECT_EQ(inferred(builder, 19), "float[2,3,5,8]");
}

// Pooling of 2 planes of 6 by 7: a third window of height 3 would begin in row 8 and be partly
// filled, one of width 2 in column 6 or, moved by padding, behind the last one.
std::string pooled(const char* op_type, int64_t opset, int64_t ceil_mode,
                   const std::vector<int64_t>& pads, const std::vector<int64_t>& strides) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, Shape{1, 2, 6, 7}))
      .node(op_type, {"x"}, {"y"})
      .attribute("kernel_shape", std::vector<int64_t>{3, 2})
      .attribute("strides", strides)
      .attribute("pads", pads)
      .attribute("ceil_mode", ceil_mode)
      .output("y");
  return inferred(builder, opset);
}

TEST(Opsets, InferPoolingWithoutWindowsThatBeginInThePaddingAtTheEnd) {
  for (const auto& [op_type, opset] :
       std::vector<std::pair<const char*, int64_t>>{{"MaxPool", 10},
                                                    {"MaxPool", 12},
                                                    {"MaxPool", 22},
                                                    {"AveragePool", 10},
                                                    {"AveragePool", 11},
                                                    {"AveragePool", 19},
                                                    {"AveragePool", 22},
                                                    {"LpPool", 18},
                                                    {"LpPool", 22}}) {
    SCOPED_TRACE(op_type + std::to_string(opset));
    EXPECT_EQ(pooled(op_type, opset, 0, {1, 1, 2, 1}, {4, 3}), "float[1,2,2,3]");
    EXPECT_EQ(pooled(op_type, opset, 1, {1, 1, 2, 1}, {4, 3}), "float[1,2,2,3]");
    EXPECT_EQ(pooled(op_type, opset, 1, {0, 0, 0, 0}, {2, 2}), "float[1,2,3,4]");
    EXPECT_EQ(pooled(op_type, opset, 1, {0, 1, 2, 1}, {5, 4}), "float[1,2,2,2]");
    EXPECT_EQ(pooled(op_type, opset, 1, {0, 1, 1, 1}, {6, 4}), "float[1,2,1,2]");
  }
}

TEST(Opsets, InferPoolingWithAutomaticPadding) {
  const auto with_mode = [](const char* mode, int64_t ceil_mode) {
    GraphBuilder builder;
    builder.input("x", tensor_type(ElementType::kFloat, Shape{1, 2, 6, kUnknownDim}))
        .node("MaxPool", {"x"}, {"y", "indices"})
        .attribute("kernel_shape", std::vector<int64_t>{3, 2})
        .attribute("strides", std::vector<int64_t>{2, 2})
        .attribute("auto_pad", std::string(mode))
        .attribute("ceil_mode", ceil_mode)
        .output("indices");
    Model model{
        .graph = without_versions(builder.build()), .ir_version = 8, .opset_imports = {{"", 12}}};
    EXPECT_THAT(infer_shapes(model), IsEmpty());
    return type_of(model, "indices");
  };
  EXPECT_EQ(with_mode("SAME_UPPER", 0), "int64[1,2,3,?]");
  EXPECT_EQ(with_mode("SAME_LOWER", 1), "int64[1,2,3,?]");
  EXPECT_EQ(with_mode("VALID", 0), "int64[1,2,2,?]");
  EXPECT_EQ(with_mode("VALID", 1), "int64[1,2,3,?]");
}

TEST(NewerOpsets, InferAttentionWithAPast) {
  GraphBuilder builder;
  builder.input("q", tensor_type(ElementType::kFloat, Shape{2, 5, 32}))
      .input("k", tensor_type(ElementType::kFloat, Shape{2, 6, 16}))
      .input("v", tensor_type(ElementType::kFloat, Shape{2, 6, 20}))
      .input("pk", tensor_type(ElementType::kFloat, Shape{2, 2, 7, 8}))
      .input("pv", tensor_type(ElementType::kFloat, Shape{2, 2, 7, 10}))
      .node("Attention", {"q", "k", "v", "", "pk", "pv"}, {"y", "present", "value", "scores"})
      .attribute("q_num_heads", int64_t{4})
      .attribute("kv_num_heads", int64_t{2})
      .output("y");
  Model model{
      .graph = without_versions(builder.build()), .ir_version = 8, .opset_imports = {{"", 24}}};
  EXPECT_THAT(infer_shapes(model), IsEmpty());
  EXPECT_EQ(type_of(model, "y"), "float[2,5,40]");
  EXPECT_EQ(type_of(model, "present"), "float[2,2,13,8]");
  EXPECT_EQ(type_of(model, "value"), "float[2,2,13,10]");
  EXPECT_EQ(type_of(model, "scores"), "float[2,4,5,13]");
}

TEST(NewerOpsets, InferQuantizationTypes) {
  GraphBuilder builder;
  builder.input("x", kImage)
      .input("scale", tensor_type(ElementType::kFloat, Shape{}))
      .node("QuantizeLinear", {"x", "scale"}, {"y"})
      .attribute("output_dtype", static_cast<int64_t>(ElementType::kInt4))
      .output("y");
  EXPECT_EQ(inferred(builder), "int4[2,3,8,9]");

  GraphBuilder zero_point;
  zero_point.input("x", kImage)
      .input("scale", tensor_type(ElementType::kFloat8E8M0, Shape{}))
      .input("zero", tensor_type(ElementType::kInt2, Shape{}))
      .node("QuantizeLinear", {"x", "scale", "zero"}, {"y"})
      .output("y");
  EXPECT_EQ(inferred(zero_point, 25), "int2[2,3,8,9]");

  GraphBuilder back;
  back.input("x", tensor_type(ElementType::kUint2, Shape{5}))
      .input("scale", tensor_type(ElementType::kFloat8E8M0, Shape{}))
      .node("DequantizeLinear", {"x", "scale"}, {"y"})
      .attribute("output_dtype", static_cast<int64_t>(ElementType::kFloat16))
      .output("y");
  EXPECT_EQ(inferred(back, 25), "float16[5]");
}

TEST(NewerOpsets, InferCastsToTypesThatCameLater) {
  for (const ElementType type :
       {ElementType::kFloat8E5M2, ElementType::kInt4, ElementType::kFloat8E8M0, ElementType::kUint2,
        ElementType::kInt2}) {
    GraphBuilder builder;
    builder.input("x", kImage)
        .node("Cast", {"x"}, {"c"})
        .attribute("to", static_cast<int64_t>(type))
        .attribute("round_mode", std::string("down"))
        .node("Transpose", {"c"}, {"y"})
        .output("y");
    EXPECT_EQ(inferred(builder, 25), std::string(graph::element_type_name(type)) + "[9,8,3,2]");
  }
}

TEST(NewerOpsets, InferTheOthers) {
  GraphBuilder columns;
  columns.input("x", tensor_type(ElementType::kFloat, Shape{2, 12, 9}))
      .constant("image", int64_tensor({4, 5}))
      .constant("block", int64_tensor({2, 3}))
      .node("Col2Im", {"x", "image", "block"}, {"y"})
      .output("y");
  EXPECT_EQ(inferred(columns), "float[2,2,4,5]");

  GraphBuilder grid;
  grid.input("theta", tensor_type(ElementType::kFloat, Shape{2, 2, 3}))
      .constant("size", int64_tensor({2, 3, 8, 9}))
      .node("AffineGrid", {"theta", "size"}, {"y"})
      .output("y");
  EXPECT_EQ(inferred(grid), "float[2,8,9,2]");

  GraphBuilder sample;
  sample.input("x", tensor_type(ElementType::kFloat, Shape{2, 3, 4, 5, 6}))
      .input("grid", tensor_type(ElementType::kFloat, Shape{2, 7, 8, 9, 3}))
      .node("GridSample", {"x", "grid"}, {"y"})
      .output("y");
  EXPECT_EQ(inferred(sample), "float[2,3,7,8,9]");

  GraphBuilder dft;
  dft.input("x", tensor_type(ElementType::kFloat, Shape{2, 10, 1}))
      .node("DFT", {"x"}, {"y"})
      .attribute("onesided", int64_t{1})
      .output("y");
  EXPECT_EQ(inferred(dft), "float[2,6,2]");

  GraphBuilder text;
  text.input("x", tensor_type(ElementType::kString, Shape{2, 3}))
      .node("StringSplit", {"x"}, {"y", "count"})
      .output("y");
  EXPECT_EQ(inferred(text), "string[2,3,?]");

  GraphBuilder match;
  match.input("x", tensor_type(ElementType::kString, Shape{2, 3}))
      .node("RegexFullMatch", {"x"}, {"y"})
      .attribute("pattern", std::string("a"))
      .output("y");
  EXPECT_EQ(inferred(match), "bool[2,3]");

  GraphBuilder bits;
  bits.input("a", tensor_type(ElementType::kInt32, Shape{2, 1}))
      .input("b", tensor_type(ElementType::kInt32, Shape{3}))
      .node("BitwiseAnd", {"a", "b"}, {"y"})
      .output("y");
  EXPECT_EQ(inferred(bits), "int32[2,3]");

  GraphBuilder element;
  element.input("x", kImage).node("OptionalHasElement", {"x"}, {"y"}).output("y");
  EXPECT_EQ(inferred(element), "bool[]");
}

TEST(Opsets, InferOneHotEncoderWithTheDimensionsOfItsInput) {
  onnx::ModelProto proto = testing::empty_model(17, 8);
  onnx::OperatorSetIdProto& ml = *proto.add_opset_import();
  ml.set_domain("ai.onnx.ml");
  ml.set_version(1);
  onnx::GraphProto& graph = *proto.mutable_graph();
  testing::add_input(graph, "x", {2, 3});
  onnx::NodeProto& node = testing::add_node(graph, "OneHotEncoder", {"x"}, {"y"});
  node.set_domain("ai.onnx.ml");
  testing::set_ints(node, "cats_int64s", {1, 2, 3, 4});
  testing::add_output(graph, "y", {2, 3, 4});
  ImportReport report;
  Model model = testing::import(proto, &report);
  model.graph.values[model.graph.find_value("y")].type = {};
  EXPECT_THAT(infer_shapes(model), IsEmpty());
  EXPECT_EQ(type_of(model, "y"), "float[2,3,4]");
}

TEST(NewerOpsets, SayWhatCannotBeInferred) {
  GraphBuilder builder;
  builder.input("x", kImage)
      .constant("pads", int64_tensor({1, 2, 3}))
      .node("Pad", {"x", "pads"}, {"y"})
      .output("y");
  Model model{
      .graph = without_versions(builder.build()), .ir_version = 8, .opset_imports = {{"", 21}}};
  EXPECT_THAT(infer_shapes(model), ElementsAre(HasSubstr("3 values")));
}

}  // namespace
}  // namespace ephost::onnx_io::opset18_25_test
