// What providers see of quantised models, and what the host makes of the nodes that only the CPU
// provider takes.

#include "tests/integration/session/quantization_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::quantization_test {
namespace {

using graph::Shape;
using graph::testing::GraphBuilder;
using graph::testing::tensor_type;
using test::bytes;
using test::IsOk;
using test::kFormer;
using test::operators_of;
using test::scalar;
using test::scripted;
using test::scripted_environment;
using test::without;
using ::testing::ElementsAre;

class Quantization : public test::QuantizationSession {};

// But for what depends on constants only, and none of them takes.
TEST_F(Quantization, ReachesTheProvidersAsItIs) {
  save_product();
  const auto result = partition_model(scripted_environment(), model_, scripted());
  ASSERT_THAT(result, IsOk());
  std::vector<std::string> owners;
  for (const PartitionedNode& node : result->graphs[0].nodes) {
    owners.push_back(node.op + " " + node.provider);
  }
  EXPECT_THAT(
      owners,
      ElementsAre("QuantizeLinear CPUExecutionProvider", "DequantizeLinear CPUExecutionProvider",
                  "DequantizeLinear CPUExecutionProvider", "MatMul CPUExecutionProvider",
                  "QuantizeLinear CPUExecutionProvider", "DequantizeLinear CPUExecutionProvider",
                  "Relu ScriptedExecutionProvider", "Add ScriptedExecutionProvider"));
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

TEST_F(Quantization, OfConstantsIsFoldedWhereAPartitionReadsIt) {
  save_product();
  const SessionOptions options = scripted({{"claim", "fuse:Add"}});
  EXPECT_THAT(operators_at(session::Stage::kPlanned, options),
              ElementsAre("QuantizeLinear", "QLinearMatMul", "DequantizeLinear", "Relu", "Add"));
  SessionOptions limited = options;
  limited.add_config_entry("optimization.constant_folding_max_work", "1");
  EXPECT_THAT(operators_at(session::Stage::kPlanned, limited),
              ElementsAre("QuantizeLinear", "QLinearMatMul", "DequantizeLinear", "Relu",
                          "DequantizeLinear", "Add"));
  test::expect_close(run(options), run());
}

TEST_F(Quantization, OfConstantsIsFoldedWhereABodyReadsIt) {
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
  EXPECT_THAT(operators_at(session::Stage::kPlanned), ElementsAre("Cast", "If"));
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
  ASSERT_THAT(compiled, IsOk());
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
    options.set_progress_func([&](std::string_view provider, double, std::string_view) {
      if (provider != "ephost") ++compiled;
    });
    const std::vector<Value> outputs = run(options);
    EXPECT_EQ(compiled, 1) << disabled;  // Relu and Add, with a constant
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
    const auto prepared =
        prepare_inside(scripted_environment(), model_, options, session::Stage::kPlanned);
    ASSERT_THAT(prepared, IsOk());
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
  ASSERT_THAT(compiled, IsOk());
  const graph::Graph written = test::import_file(compilation.output_model_path).graph;
  EXPECT_THAT(operators_of(written), ElementsAre("Abs", "EPContext"));
  ASSERT_EQ(written.annotations.size(), 1u);
  EXPECT_NE(written.constant(written.annotations[0].parameters[0].second), nullptr);
}

}  // namespace
}  // namespace ephost::quantization_test
