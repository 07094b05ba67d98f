// Models with QuantizeLinear and DequantizeLinear: what providers see of them, and what the host
// makes of the nodes that only the CPU provider takes.
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "host/session/pipeline/pipeline.h"
#include "tests/integration/session/scripted_sample.h"

namespace ephost {
namespace {

using graph::Shape;
using graph::Tensor;
using graph::testing::GraphBuilder;
using graph::testing::int64_tensor;
using graph::testing::make_tensor;
using graph::testing::tensor_type;
using test::scripted;
using test::scripted_environment;
using ::testing::Contains;
using ::testing::ElementsAre;

Tensor scalar(float number) { return make_tensor<float>(ElementType::kFloat, {}, {number}); }
Tensor bytes(ElementType type, Shape shape, const std::vector<int>& numbers) {
  return make_tensor<char>(type, std::move(shape), {numbers.begin(), numbers.end()});
}

// The operators of a graph's nodes.
std::vector<std::string> operators_of(const graph::Graph& graph) {
  std::vector<std::string> names;
  for (const graph::Node& node : graph.nodes) names.push_back(node.op_type);
  return names;
}

SessionOptions without(const std::string& optimizer, SessionOptions options = {}) {
  options.add_config_entry("optimization.disable_specified_optimizers", optimizer);
  return options;
}
constexpr const char* kFormer = "QDQSelectorActionTransformer";

class Quantization : public ::testing::Test {
 protected:
  // Returns nothing if preparing the model failed.
  std::vector<std::string> operators_at(session::Stage stage, const SessionOptions& options = {}) {
    const auto prepared =
        session::prepare_model(scripted_environment(), {model_, {}}, options, stage);
    EXPECT_TRUE(prepared.ok()) << prepared.status().to_string();
    return prepared.ok() ? operators_of(prepared->model.graph) : std::vector<std::string>();
  }
  std::vector<Value> run(const SessionOptions& options = {}) {
    auto session = Session::create(scripted_environment(), model_, options);
    EXPECT_TRUE(session.ok()) << session.status().to_string();
    if (!session.ok()) return {};
    auto outputs = test::run(*session);
    EXPECT_TRUE(outputs.ok()) << outputs.status().to_string();
    return outputs.ok() ? std::move(outputs).value() : std::vector<Value>();
  }

  // y = Relu(DQ(Q(MatMul(DQ(Q(x)), DQ(w))))) + DQ(v)
  void save_product() {
    model_ = test::save(
        folder_,
        test::model_of(GraphBuilder()
                           .input("x", tensor_type(ElementType::kFloat, Shape{2, 3}))
                           .constant("s", scalar(0.0625F))
                           .constant("z", bytes(ElementType::kUint8, {}, {100}))
                           .constant("w", bytes(ElementType::kInt8, {3, 2}, {1, -2, 3, -4, 5, -6}))
                           .constant("v", bytes(ElementType::kInt8, {2}, {7, -8}))
                           .node("QuantizeLinear", {"x", "s", "z"}, {"qx"})
                           .node("DequantizeLinear", {"qx", "s", "z"}, {"fx"})
                           .node("DequantizeLinear", {"w", "s"}, {"fw"})
                           .node("MatMul", {"fx", "fw"}, {"fm"})
                           .node("QuantizeLinear", {"fm", "s", "z"}, {"qm"})
                           .node("DequantizeLinear", {"qm", "s", "z"}, {"m"})
                           .node("Relu", {"m"}, {"r"})
                           .node("DequantizeLinear", {"v", "s"}, {"fv"})
                           .node("Add", {"r", "fv"}, {"y"})
                           .output("y")
                           .build()));
  }

  test::TempDirectory folder_;
  std::filesystem::path model_;
};

TEST_F(Quantization, ReachesTheProvidersAsItIs) {
  save_product();
  const auto result = partition_model(scripted_environment(), model_, scripted());
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  std::vector<std::string> owners;
  for (const PartitionedNode& node : result->graphs[0].nodes) {
    owners.push_back(node.op + " " + node.provider);
  }
  EXPECT_THAT(
      owners,
      ElementsAre("QuantizeLinear CPUExecutionProvider", "DequantizeLinear CPUExecutionProvider",
                  "DequantizeLinear CPUExecutionProvider", "MatMul CPUExecutionProvider",
                  "QuantizeLinear CPUExecutionProvider", "DequantizeLinear CPUExecutionProvider",
                  "Relu ScriptedExecutionProvider", "DequantizeLinear CPUExecutionProvider",
                  "Add ScriptedExecutionProvider"));
}

TEST_F(Quantization, IsFoldedLikeAnythingElseOnRequest) {
  save_product();
  SessionOptions options;
  options.add_config_entry("session.disable_quant_qdq", "1");
  EXPECT_THAT(operators_at(session::Stage::kPlanned, options),
              ElementsAre("QuantizeLinear", "DequantizeLinear", "MatMul", "QuantizeLinear",
                          "DequantizeLinear", "Relu", "Add"));
  test::expect_close(run(options), run(without(kFormer)));
}

TEST_F(Quantization, OfTheCpuProviderBecomesOperatorsOnIntegers) {
  save_product();
  EXPECT_THAT(operators_at(session::Stage::kPlanned),
              ElementsAre("QuantizeLinear", "QLinearMatMul", "DequantizeLinear", "Relu", "Add"));
  EXPECT_THAT(operators_at(session::Stage::kPlanned, without(kFormer)),
              ElementsAre("QuantizeLinear", "DequantizeLinear", "MatMul", "QuantizeLinear",
                          "DequantizeLinear", "Relu", "Add"));
  EXPECT_THAT(operators_at(session::Stage::kPlanned, without("ConstantFolding")),
              ElementsAre("QuantizeLinear", "QLinearMatMul", "DequantizeLinear", "Relu",
                          "DequantizeLinear", "Add"));
  test::expect_close(run(), run(without(kFormer)));
}

TEST_F(Quantization, StaysWhereAPartitionReadsIt) {
  save_product();
  const SessionOptions options = scripted({{"claim", "fuse:Add"}});
  EXPECT_THAT(operators_at(session::Stage::kPlanned, options),
              ElementsAre("QuantizeLinear", "QLinearMatMul", "DequantizeLinear", "Relu",
                          "DequantizeLinear", "Add"));
  test::expect_close(run(options), run());
}

TEST_F(Quantization, StaysWhereABodyReadsIt) {
  GraphBuilder main;
  main.input("x", tensor_type(ElementType::kFloat, Shape{1}))
      .constant("s", scalar(0.0625F))
      .constant("w", bytes(ElementType::kInt8, {1}, {5}))
      .node("Cast", {"x"}, {"c"})
      .attribute("to", int64_t{9})
      .node("DequantizeLinear", {"w", "s"}, {"f"});
  GraphBuilder branch;
  branch.capture("f", main.value("f")).node("Neg", {"f"}, {"n"}).output("n");
  GraphBuilder other;
  other.capture("f", main.value("f")).node("Abs", {"f"}, {"a"}).output("a");
  main.node("If", {"c"}, {"y"}).subgraph("then_branch", branch.build());
  main.subgraph("else_branch", other.build()).output("y");
  model_ = test::save(folder_, test::model_of(main.build()));
  EXPECT_THAT(operators_at(session::Stage::kPlanned), Contains("DequantizeLinear"));
  for (const SessionOptions& options : {SessionOptions(), scripted()}) {
    EXPECT_EQ(run(options)[0].elements<float>()[0], -0.3125F);
  }
}

TEST_F(Quantization, OfAPartitionStaysAsItIs) {
  save_product();
  const SessionOptions options = scripted({{"claim", "nodes:6+7+8"}, {"fail", "compile"}});
  test::expect_close(run(options), run());
}

TEST_F(Quantization, IsWrittenIntoContextModelsAsItWas) {
  save_product();
  ModelCompilationOptions compilation;
  compilation.input_model_path = model_;
  compilation.output_model_path = folder_ / "model_ctx.onnx";
  const SessionOptions options = scripted({{"claim", "fuse:Relu"}});
  const auto compiled = compile_model(scripted_environment(), options, compilation);
  ASSERT_TRUE(compiled.ok()) << compiled.status().to_string();
  const std::vector<Value> expected = run();
  SessionOptions cached = options;
  cached.add_config_entry("ep.context_enable", "1");
  cached.add_config_entry("ep.context_file_path", (folder_ / "other_ctx.onnx").string());
  test::expect_close(run(cached), expected);
  for (const char* name : {"model_ctx.onnx", "other_ctx.onnx"}) {
    model_ = folder_ / name;
    const graph::Model written = test::import_file(model_);
    EXPECT_THAT(
        operators_of(written.graph),
        ElementsAre("QuantizeLinear", "DequantizeLinear", "DequantizeLinear", "MatMul",
                    "QuantizeLinear", "DequantizeLinear", "EPContext", "DequantizeLinear", "Add"));
    EXPECT_EQ(written.graph.constant(written.graph.find_value("w"))->type, ElementType::kInt8);
    EXPECT_THAT(
        operators_at(session::Stage::kPlanned, options),
        ElementsAre("QuantizeLinear", "QLinearMatMul", "DequantizeLinear", "EPContext", "Add"));
    test::expect_close(run(options), expected);
  }
}

TEST_F(Quantization, OfACompiledModelIsRefinedWithoutCompilingAgain) {
  save_product();
  for (const char* disabled : {"", kFormer}) {
    int compiled = 0;
    SessionOptions options = without(disabled, scripted());
    options.set_progress_func([&](std::string_view, double, std::string_view) { ++compiled; });
    const std::vector<Value> outputs = run(options);
    EXPECT_EQ(compiled, 2) << disabled;
    test::expect_close(outputs, run());
  }
}

// Adds y = DQ(Q(MatMul(DQ(Q(x)), DQ(w)))), with the names of its values after `name`.
void add_product(GraphBuilder& builder, const std::string& name, const std::string& x,
                 const std::string& y) {
  const auto of = [&](const char* what) { return name + what; };
  builder.constant(of("s"), scalar(0.0625F))
      .constant(of("z"), bytes(ElementType::kUint8, {}, {100}))
      .constant(of("w"), bytes(ElementType::kInt8, {2, 2}, {1, -2, 3, -4}))
      .node("QuantizeLinear", {x, of("s"), of("z")}, {of("qx")})
      .node("DequantizeLinear", {of("qx"), of("s"), of("z")}, {of("fx")})
      .node("DequantizeLinear", {of("w"), of("s")}, {of("fw")})
      .node("MatMul", {of("fx"), of("fw")}, {of("fm")})
      .node("QuantizeLinear", {of("fm"), of("s"), of("z")}, {of("qm")})
      .node("DequantizeLinear", {of("qm"), of("s"), of("z")}, {y});
}

// Nodes before the If are removed, so that the place of its bodies changes.
TEST_F(Quantization, OfBodiesBecomesOperatorsOnIntegersToo) {
  GraphBuilder main;
  main.input("x", tensor_type(ElementType::kFloat, Shape{2, 2}))
      .input("k", tensor_type(ElementType::kFloat, Shape{1}));
  add_product(main, "main_", "x", "p");
  const graph::ValueId p = main.value("p");
  const auto body = [&](const std::string& name, bool is_nested) {
    GraphBuilder builder;
    builder.capture("p", p);
    add_product(builder, name, "p", name + "m");
    const graph::ValueId m = builder.value(name + "m");
    if (!is_nested)
      return builder.node("Relu", {name + "m"}, {name + "y"}).output(name + "y").build();
    GraphBuilder inner;
    inner.capture(name + "m", m);
    add_product(inner, "inner_", name + "m", "inner_m");
    GraphBuilder other;
    other.capture(name + "m", m).node("Neg", {name + "m"}, {"other_y"}).output("other_y");
    builder.capture("c", main.value("c"))
        .node("If", {"c"}, {name + "y"})
        .subgraph("then_branch", inner.output("inner_m").build())
        .subgraph("else_branch", other.build());
    return builder.output(name + "y").build();
  };
  main.node("Cast", {"k"}, {"c"}).attribute("to", int64_t{9});
  main.node("If", {"c"}, {"y"}).subgraph("then_branch", body("then_", true));
  main.subgraph("else_branch", body("else_", false)).output("y");
  model_ = test::save(folder_, test::model_of(main.build()));
  for (const SessionOptions& options : {SessionOptions(), scripted()}) {
    const auto prepared = session::prepare_model(scripted_environment(), {model_, {}}, options,
                                                 session::Stage::kPlanned);
    ASSERT_TRUE(prepared.ok()) << prepared.status().to_string();
    ASSERT_EQ(prepared->graphs().size(), 5u);
    const std::vector<std::string> formed = {"QuantizeLinear", "QLinearMatMul", "DequantizeLinear"};
    for (const session::PreparedGraph* graph : prepared->graphs()) {
      const graph::Graph& nodes = prepared->graph_of(*graph);
      if (nodes.nodes.size() == 1) continue;  // Neg
      std::vector<std::string> first = operators_of(nodes);
      first.resize(3);
      EXPECT_EQ(first, formed) << graph->path;
      for (const session::PreparedGraph& inside : graph->bodies) {
        EXPECT_EQ(nodes.nodes[inside.node()].op_type, "If");
      }
    }
    test::expect_close(run(options), run(without(kFormer)));
  }
}

TEST_F(Quantization, AnnotationsOfTheModelStayInContextModels) {
  graph::Graph graph = GraphBuilder()
                           .input("x", test::row_type(4))
                           .constant("scale", scalar(0.5F))
                           .node("Abs", {"x"}, {"a"})
                           .node("Relu", {"a"}, {"y"})
                           .output("y")
                           .build();
  graph.annotations = {{.value = graph.find_value("x"),
                        .parameters = {{"SCALE_TENSOR", graph.find_value("scale")}}}};
  ModelCompilationOptions compilation;
  compilation.input_model_path = test::save(folder_, test::model_of(std::move(graph)));
  compilation.output_model_path = folder_ / "model_ctx.onnx";
  const auto compiled = compile_model(scripted_environment(), scripted(), compilation);
  ASSERT_TRUE(compiled.ok()) << compiled.status().to_string();
  const graph::Graph written = test::import_file(compilation.output_model_path).graph;
  EXPECT_THAT(operators_of(written), ElementsAre("Abs", "EPContext"));
  ASSERT_EQ(written.annotations.size(), 1u);
  EXPECT_NE(written.constant(written.annotations[0].parameters[0].second), nullptr);
}

// ---- What a provider wants unchanged ------------------------------------------------------------

class GraphWishesSession : public Quantization {
 protected:
  // y = Relu(Identity(x) + Neg(Abs(w)))
  void save_chain() {
    model_ = test::save(folder_, test::model_of(GraphBuilder()
                                                    .input("x", test::row_type(4))
                                                    .constant("w", test::row(4, 0.5F))
                                                    .node("Abs", {"w"}, {"a"})
                                                    .node("Neg", {"a"}, {"n"})
                                                    .node("Identity", {"x"}, {"i"})
                                                    .node("Add", {"i", "n"}, {"s"})
                                                    .node("Relu", {"s"}, {"y"})
                                                    .output("y")
                                                    .build()));
  }
};

TEST_F(GraphWishesSession, KeepNodesForTheProviders) {
  save_chain();
  const auto stage = session::Stage::kPartitioned;
  EXPECT_THAT(operators_at(stage, scripted()), ElementsAre("Add", "Relu"));
  EXPECT_THAT(operators_at(stage, scripted({{"keep", "Neg"}})), ElementsAre("Neg", "Add", "Relu"));
  EXPECT_THAT(operators_at(stage, scripted({{"keep", "Add"}})),
              ElementsAre("Identity", "Add", "Relu"));
  EXPECT_THAT(operators_at(stage, scripted({{"keep", "com.example:Neg,Sub"}})),
              ElementsAre("Add", "Relu"));
  test::expect_close(run(scripted({{"keep", "Neg,Add,Identity,Abs"}})), run());
}

TEST_F(GraphWishesSession, EndWithTheClaims) {
  save_chain();
  const SessionOptions options = scripted({{"keep", "Neg"}, {"claim", "fuse:Relu"}});
  EXPECT_THAT(operators_at(session::Stage::kPartitioned, options),
              ElementsAre("Neg", "Add", "Relu"));
  EXPECT_THAT(operators_at(session::Stage::kPlanned, options), ElementsAre("Add", "Relu"));
  test::expect_close(run(options), run());
}

// ---- Results ------------------------------------------------------------------------------------

// A random group that becomes one operator.
class RandomGroup {
 public:
  explicit RandomGroup(uint32_t seed) : engine_(seed), is_exact_(draw(0, 1) == 0) {
    x_type_ = byte_type();
    y_type_ = byte_type();
    const int kind = draw(0, 2);
    if (kind == 0) {
      convolution();
    } else if (kind == 1) {
      product();
    } else {
      movement();
    }
  }

  // Whether scales are powers of two, so that float is exact, ties included.
  [[nodiscard]] bool is_exact() const { return is_exact_; }
  [[nodiscard]] const std::string& formed() const { return formed_; }
  [[nodiscard]] graph::Model model() { return test::model_of(builder_.output("y").build()); }

 private:
  int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  ElementType byte_type() { return draw(0, 1) == 0 ? ElementType::kInt8 : ElementType::kUint8; }
  float scale(float around) {
    const float exact = std::exp2(std::round(std::log2(around)));
    return is_exact_ ? exact : around * static_cast<float>(draw(800, 1200)) / 1000;
  }
  std::vector<int> bytes_of(ElementType type, size_t count) {
    const int low = type == ElementType::kInt8 ? -128 : 0;
    std::vector<int> numbers(count);
    for (int& number : numbers) number = draw(low, low + 255);
    return numbers;
  }

  // Adds the constants `name`_scale and `name`_zero.
  float parameters(const std::string& name, float around, ElementType type) {
    const float number = scale(around);
    builder_.constant(name + "_scale", scalar(number));
    const int middle = type == ElementType::kInt8 ? 0 : 128;
    builder_.constant(name + "_zero", bytes(type, {}, {middle + draw(-20, 20)}));
    return number;
  }
  // x in float, rounded to integers.
  void start(Shape shape) {
    builder_.input("x", tensor_type(ElementType::kFloat, std::move(shape)));
    x_scale_ = parameters("x", 1.0F / 128, x_type_);
    builder_.node("QuantizeLinear", {"x", "x_scale", "x_zero"}, {"qx"})
        .node("DequantizeLinear", {"qx", "x_scale", "x_zero"}, {"fx"});
  }
  // Constant weights and, with scales for each of several channels or without, their scales.
  std::vector<float> weights(const Shape& shape, size_t channels, int64_t axis) {
    const ElementType type = byte_type();
    const size_t count = draw(0, 1) == 0 ? 1 : channels;
    std::vector<float> scales(count);
    for (float& number : scales) number = scale(1.0F / 64);
    builder_.constant("w", bytes(type, shape, bytes_of(type, *graph::element_count(shape))));
    const Shape of_scales = count == 1 ? Shape{} : Shape{static_cast<int64_t>(count)};
    builder_.constant("w_scale", make_tensor<float>(ElementType::kFloat, of_scales, scales));
    const bool has_zero = draw(0, 1) == 0 || type == ElementType::kUint8;
    if (!has_zero) {
      builder_.node("DequantizeLinear", {"w", "w_scale"}, {"fw"});
    } else {
      builder_.constant("w_zero", bytes(type, of_scales, bytes_of(type, count)));
      builder_.node("DequantizeLinear", {"w", "w_scale", "w_zero"}, {"fw"});
    }
    builder_.attribute("axis", axis);
    return scales;
  }
  void finish(double terms) {
    parameters("y", static_cast<float>(std::sqrt(terms)) / 64, y_type_);
    builder_.node("QuantizeLinear", {"fy", "y_scale", "y_zero"}, {"y"});
  }

  void convolution() {
    formed_ = "QLinearConv";
    const int64_t groups = draw(1, 2);
    const int64_t inputs = groups * draw(1, 3);
    const int64_t outputs = groups * draw(1, 3);
    const int64_t kernel = draw(1, 3);
    start({draw(1, 2), inputs, draw(3, 7), draw(3, 7)});
    const Shape shape = {outputs, inputs / groups, kernel, kernel};
    const std::vector<float> scales = weights(shape, static_cast<size_t>(outputs), 0);
    if (draw(0, 1) == 0) {
      builder_.node("Conv", {"fx", "fw"}, {"fy"});
    } else {
      add_bias(scales, static_cast<size_t>(outputs));
      builder_.node("Conv", {"fx", "fw", "fb"}, {"fy"});
    }
    const int64_t pad = draw(0, static_cast<int>(kernel) - 1);
    builder_.attribute("group", groups)
        .attribute("pads", std::vector<int64_t>{pad, 0, 0, pad})
        .attribute("strides", std::vector<int64_t>{draw(1, 2), draw(1, 2)});
    finish(static_cast<double>(kernel * kernel * inputs / groups));
  }
  void add_bias(const std::vector<float>& scales, size_t outputs) {
    std::vector<float> of_bias;
    std::vector<int32_t> numbers;
    for (size_t i = 0; i < outputs; ++i) {
      of_bias.push_back(x_scale_ * scales[scales.size() == 1 ? 0 : i]);
      numbers.push_back(draw(-5000, 5000));
    }
    const Shape shape = {static_cast<int64_t>(outputs)};
    builder_.constant("b", make_tensor<int32_t>(ElementType::kInt32, shape, numbers))
        .constant("b_scale", make_tensor<float>(ElementType::kFloat, shape, of_bias))
        .node("DequantizeLinear", {"b", "b_scale"}, {"fb"})
        .attribute("axis", int64_t{0});
  }
  void product() {
    formed_ = "QLinearMatMul";
    const int64_t inner = draw(1, 40);
    const int64_t columns = draw(1, 9);
    start(draw(0, 1) == 0 ? Shape{draw(1, 5), inner} : Shape{2, draw(1, 5), inner});
    weights({inner, columns}, static_cast<size_t>(columns), draw(0, 1) == 0 ? 1 : -1);
    builder_.node("MatMul", {"fx", "fw"}, {"fy"});
    finish(static_cast<double>(inner));
  }
  void movement() {
    start({2, 3, 4, 6});
    switch (draw(0, 2)) {
      case 0:
        formed_ = "Transpose";
        builder_.node("Transpose", {"fx"}, {"fy"})
            .attribute("perm", std::vector<int64_t>{0, 2, 3, 1});
        break;
      case 1:
        formed_ = "Reshape";
        builder_.constant("shape", int64_tensor({4, -1})).node("Reshape", {"fx", "shape"}, {"fy"});
        break;
      default:
        formed_ = "MaxPool";
        builder_.node("MaxPool", {"fx"}, {"fy"})
            .attribute("kernel_shape", std::vector<int64_t>{2, 3})
            .attribute("pads", std::vector<int64_t>{1, 1, 0, 1});
    }
    builder_.node("QuantizeLinear", {"fy", "x_scale", "x_zero"}, {"y"});
    is_exact_ = true;
  }

  std::mt19937 engine_;
  bool is_exact_;
  ElementType x_type_ = ElementType::kUndefined;
  ElementType y_type_ = ElementType::kUndefined;
  std::string formed_;
  float x_scale_ = 0;
  GraphBuilder builder_;
};

std::vector<int> integers_of(const Value& value) {
  if (value.element_type() == ElementType::kUint8) {
    const auto elements = value.elements<uint8_t>();
    return {elements.begin(), elements.end()};
  }
  const auto elements = value.elements<int8_t>();
  return {elements.begin(), elements.end()};
}

TEST_F(Quantization, GivesTheResultsOfFloatWhateverIsFormed) {
  size_t rounded = 0;
  size_t elements = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomGroup group(seed);
    model_ = test::save(folder_, group.model());
    ASSERT_THAT(operators_at(session::Stage::kPlanned),
                ElementsAre("QuantizeLinear", group.formed()));
    ASSERT_THAT(operators_at(session::Stage::kPlanned, without(kFormer)),
                Contains("DequantizeLinear"));
    const std::vector<Value> formed = run();
    const std::vector<Value> plain = run(without(kFormer));
    ASSERT_EQ(formed[0].shape(), plain[0].shape());
    ASSERT_EQ(formed[0].element_type(), plain[0].element_type());
    const std::vector<int> actual = integers_of(formed[0]);
    const std::vector<int> expected = integers_of(plain[0]);
    for (size_t i = 0; i < actual.size(); ++i) {
      ASSERT_LE(std::abs(actual[i] - expected[i]), group.is_exact() ? 0 : 1) << "element " << i;
      if (actual[i] != expected[i]) ++rounded;
    }
    elements += actual.size();
  }
  EXPECT_LT(rounded * 1000, elements);
}

}  // namespace
}  // namespace ephost
