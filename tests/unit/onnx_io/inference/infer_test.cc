#include "host/onnx_io/inference/infer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "host/graph/connect.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::onnx_io::infer_test {
namespace {

using graph::ElementType;
using graph::kUnknownDim;
using graph::Model;
using graph::Shape;
using graph::symbolic_dim;
using graph::testing::float_tensor;
using graph::testing::GraphBuilder;
using graph::testing::int64_tensor;
using graph::testing::tensor_type;
using graph::testing::without_versions;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Model model_of(GraphBuilder& builder, int64_t opset = 17) {
  return {
      .graph = without_versions(builder.build()), .ir_version = 8, .opset_imports = {{"", opset}}};
}

std::string type_of(const Model& model, std::string_view value) {
  return graph::to_string(model.graph.values[model.graph.find_value(value)].type, model.symbols);
}

TEST(Infer, FollowsTypesThroughNodes) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, Shape{2, 3}))
      .input("m", tensor_type(ElementType::kFloat, Shape{3, 5}))
      .node("MatMul", {"x", "m"}, {"p"})
      .node("Shape", {"p"}, {"s"})
      .output("s");
  Model model = model_of(builder);
  EXPECT_THAT(infer_shapes(model), IsEmpty());
  EXPECT_EQ(type_of(model, "p"), "float[2,5]");
  EXPECT_EQ(type_of(model, "s"), "int64[2]");
}

TEST(Infer, UsesConstantsThatFoldingMade) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, Shape{2, 3, 4}))
      .input("target", tensor_type(ElementType::kInt64, Shape{2}))
      .node("Reshape", {"x", "target"}, {"y"})
      .output("y");
  Model model = model_of(builder);
  infer_shapes(model);
  // Newer versions of onnx conclude the rank from the length of the shape.
  EXPECT_THAT(type_of(model, "y"), AnyOf("float", "float[?,?]"));
  const graph::ValueId target = model.graph.find_value("target");
  model.graph.inputs.pop_back();
  model.graph.values[target].initializer = 0;
  model.graph.initializers.push_back(int64_tensor({2, -1}));
  connect(model.graph);
  EXPECT_THAT(infer_shapes(model), IsEmpty());
  EXPECT_EQ(type_of(model, "y"), "float[2,12]");
}

TEST(Infer, FollowsShapesThatAreComputed) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, Shape{symbolic_dim(0), 3, 4}))
      .constant("zero", int64_tensor({0}))
      .constant("one", int64_tensor({1}))
      .constant("rest", int64_tensor({12}))
      .node("Shape", {"x"}, {"s"})
      .node("Slice", {"s", "zero", "one"}, {"batch"})
      .node("Concat", {"batch", "rest"}, {"target"})
      .attribute("axis", int64_t{0})
      .node("Reshape", {"x", "target"}, {"y"})
      .output("y");
  Model model = model_of(builder);
  model.symbols = {"n"};
  EXPECT_THAT(infer_shapes(model), IsEmpty());
  EXPECT_EQ(type_of(model, "y"), "float[n,12]");
}

TEST(Infer, KeepsWhatIsKnownMorePrecisely) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, Shape{symbolic_dim(0), 3}))
      .node("Relu", {"x"}, {"y"})
      .output("y");
  Model model = model_of(builder);
  model.symbols = {"n"};
  model.graph.values[model.graph.find_value("y")].type =
      tensor_type(ElementType::kFloat, Shape{4, kUnknownDim});
  EXPECT_THAT(infer_shapes(model), IsEmpty());
  EXPECT_EQ(type_of(model, "y"), "float[4,3]");
}

TEST(Infer, NotesDeclarationsThatItContradicts) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, Shape{3}))
      .node("Relu", {"x"}, {"y"})
      .output("y");
  Model model = model_of(builder);
  model.graph.values[model.graph.find_value("y")].type = tensor_type(ElementType::kFloat, Shape{4});
  EXPECT_THAT(
      infer_shapes(model),
      ElementsAre("Relu node \"y\": value \"y\" was declared as float[4], but is inferred as "
                  "float[3]"));
  EXPECT_EQ(type_of(model, "y"), "float[3]");
}

TEST(Infer, NotesNodesThatItCannotInferAndContinues) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, Shape{2, 3}))
      .input("m", tensor_type(ElementType::kFloat, Shape{4, 5}))
      .node("MatMul", {"x", "m"}, {"bad"})
      .node("Relu", {"x"}, {"good"})
      .output("bad")
      .output("good");
  Model model = model_of(builder);
  EXPECT_THAT(infer_shapes(model), ElementsAre(HasSubstr("MatMul node \"bad\": ")));
  EXPECT_EQ(type_of(model, "good"), "float[2,3]");
}

TEST(Infer, NotesEachNodeOfAnOperatorUnderItsOwnName) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, Shape{2, 3}))
      .input("m", tensor_type(ElementType::kFloat, Shape{4, 5}))
      .node("MatMul", {"x", "m"}, {"first"})
      .node("MatMul", {"m", "x"}, {"second"})
      .output("first")
      .output("second");
  Model model = model_of(builder);
  EXPECT_THAT(infer_shapes(model), ElementsAre(HasSubstr("MatMul node \"first\": "),
                                               HasSubstr("MatMul node \"second\": ")));
}

TEST(Infer, DoesNotMistakeAFunctionOfTheModelForAnOperatorOfTheSameName) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, Shape{2}))
      .node("Relu", {"x"}, {"y"})
      .node("Relu", {"x"}, {"z"})
      .node("Neg", {"x"}, {"n"})
      .output("y")
      .output("z")
      .output("n");
  Model model = model_of(builder);
  model.functions.push_back({.domain = "", .name = "Relu", .serialized = ""});
  EXPECT_THAT(infer_shapes(model), IsEmpty());
  EXPECT_EQ(type_of(model, "y"), "?");
  EXPECT_EQ(type_of(model, "z"), "?");
  EXPECT_EQ(type_of(model, "n"), "float[2]");
}

TEST(Infer, LeavesWhatItDoesNotKnow) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, Shape{2}))
      .node("Any", {"x"}, {"y"})
      .output("y");
  Model model = model_of(builder);
  model.graph.nodes[0].domain = "com.example";
  EXPECT_THAT(infer_shapes(model), IsEmpty());
  EXPECT_EQ(type_of(model, "y"), "?");
  model.opset_imports["com.example"] = 1;
  EXPECT_THAT(infer_shapes(model), IsEmpty());
}

TEST(Infer, InfersOperatorsThatAreDefinedByAFunction) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, Shape{2, 1}))
      .input("z", tensor_type(ElementType::kFloat, Shape{3}))
      .node("GreaterOrEqual", {"x", "z"}, {"y"})
      .output("y");
  Model model = model_of(builder);
  EXPECT_THAT(infer_shapes(model), IsEmpty());
  EXPECT_EQ(type_of(model, "y"), "bool[2,3]");
}

// Operators of an opset newer than the newest known one must not be inferred by the old rule.
TEST(Infer, InNewerOpsetsTrustsOnlyNodesThatConformToTheOldDefinition) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, Shape{2, 3}))
      .constant("axes", int64_tensor({1}))
      .node("ReduceMax", {"x", "axes", "axes"}, {"reduced"})
      .node("Relu", {"x"}, {"y"})
      .output("reduced")
      .output("y");
  Model model = model_of(builder, 99);
  EXPECT_THAT(infer_shapes(model), IsEmpty());
  EXPECT_EQ(type_of(model, "reduced"), "?");
  EXPECT_EQ(type_of(model, "y"), "float[2,3]");
}

TEST(Infer, InfersBodiesOfNodesItDoesNotKnow) {
  GraphBuilder outer;
  outer.input("x", tensor_type(ElementType::kFloat, Shape{2}));
  graph::Graph body =
      GraphBuilder().capture("x", outer.value("x")).node("Neg", {"x"}, {"n"}).output("n").build();
  outer.node("Any", {}, {"y"}).subgraph("body", std::move(body)).output("y");
  Model model = model_of(outer);
  model.graph.nodes[0].domain = "com.example";
  infer_shapes(model);
  const graph::Graph& inferred = *model.graph.nodes[0].subgraph("body");
  EXPECT_EQ(graph::to_string(inferred.values[inferred.find_value("n")].type, {}), "float[2]");
}

// The graph in between reads neither value itself.
TEST(Infer, FollowsValuesThatABodyCapturesForItsOwnBodies) {
  GraphBuilder outer;
  outer.input("x", tensor_type(ElementType::kFloat, Shape{2})).node("Neg", {"x"}, {"h"});
  GraphBuilder middle;
  middle.capture("h", outer.value("h"));
  GraphBuilder inner;
  inner.capture("h", middle.value("h")).node("Neg", {"h"}, {"n"}).output("n");
  middle.node("Any", {}, {"m"}).subgraph("body", inner.build()).output("m");
  outer.node("Any", {}, {"y"}).subgraph("body", middle.build()).output("y");
  Model model = model_of(outer);
  EXPECT_THAT(infer_shapes(model), IsEmpty());
  const graph::Graph& between = *model.graph.nodes[1].subgraph("body");
  const graph::Graph& innermost = *between.nodes[0].subgraph("body");
  for (const graph::Value& value : innermost.values) {
    EXPECT_EQ(graph::to_string(value.type, {}), "float[2]") << value.name;
  }
}

TEST(Infer, DoesNotGrowListsWithoutBound) {
  GraphBuilder builder;
  builder.constant("v0", int64_tensor({1, 2}));
  for (int i = 0; i < 60; ++i) {
    const std::string in = "v" + std::to_string(i);
    const std::string out = "v" + std::to_string(i + 1);
    builder.node("Concat", {in, in}, {out}).attribute("axis", int64_t{0});
  }
  builder.output("v60");
  Model model = model_of(builder);
  infer_shapes(model);
  EXPECT_EQ(type_of(model, "v20"), "int64[2097152]");
}

TEST(Infer, LeavesTypesAsTheyAreOnceItIsCancelled) {
  GraphBuilder builder;
  builder.input("x", tensor_type(ElementType::kFloat, Shape{2, 3}))
      .node("Shape", {"x"}, {"s"})
      .output("s");
  Model model = model_of(builder);
  const std::atomic<bool> cancelled = true;
  EXPECT_THAT(infer_shapes(model, Cancellation(&cancelled)), IsEmpty());
  EXPECT_EQ(model.graph.values[model.graph.find_value("s")].type.kind, graph::ValueKind::kUnknown);
}

}  // namespace
}  // namespace ephost::onnx_io::infer_test
