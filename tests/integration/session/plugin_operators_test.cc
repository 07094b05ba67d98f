// Models with operators that plugins define (ephost.operators/1, tests/fixtures/operators).
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "host/session/tools/inspect_plugin.h"
#include "host/session/tools/partition_model.h"
#include "tests/integration/session/scripted_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::plugin_operators_test {
namespace {

using graph::testing::GraphBuilder;
using test::IsOk;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Environment vendor_environment() {
  EnvironmentOptions options;
  options.plugin_directories = {test::fixture_directory("vendor"), test::fixture_directory("rival"),
                                EPHOST_PLUGINS};
  options.search_default_directories = false;
  return *Environment::create(options);
}

SessionOptions with(const std::vector<std::string>& providers) {
  SessionOptions options;
  for (const std::string& provider : providers) options.append_execution_provider(provider);
  return options;
}

class PluginOperatorsSession : public ::testing::Test {
 protected:
  // y = Abs(Scale(Relu(x))), where only x has a type; `change` alters the Scale node.
  std::filesystem::path save(const std::function<void(graph::Node&)>& change = {}) {
    graph::Model model = test::model_of(GraphBuilder()
                                            .input("x", test::row_type(3))
                                            .node("Relu", {"x"}, {"r"})
                                            .node("Scale", {"r"}, {"s"})
                                            .node("Abs", {"s"}, {"y"})
                                            .output("y")
                                            .build());
    graph::Node& scale = model.graph.nodes[1];
    scale.domain = "com.vendor";
    if (change) change(scale);
    model.opset_imports["com.vendor"] = 2;
    return test::save(folder_, model);
  }

  Result<session::PreparedModel> prepare(const std::filesystem::path& model,
                                         const SessionOptions& options) {
    return prepare_inside(environment_, model, options, session::Stage::kPartitioned);
  }

  std::vector<float> run(const std::filesystem::path& model, const SessionOptions& options) {
    auto session = Session::create(environment_, model, options);
    EXPECT_THAT(session, IsOk());
    if (!session.ok()) return {};
    const std::vector<float> x = {1, -2, 3};
    const auto outputs = session->run(std::vector<NamedValue>{{"x", *Value::of<float>({3}, x)}});
    EXPECT_THAT(outputs, IsOk());
    if (!outputs.ok()) return {};
    const auto elements = outputs->front().elements<float>();
    return {elements.begin(), elements.end()};
  }

  test::TempDirectory folder_;
  Environment environment_ = vendor_environment();
};

TEST_F(PluginOperatorsSession, KnowsTypesVersionsAndDefaults) {
  const auto prepared = prepare(save(), with({"vendor"}));
  ASSERT_THAT(prepared, IsOk());
  const graph::Graph& graph = prepared->model.graph;
  EXPECT_EQ(graph.nodes[1].since_version, 1);
  EXPECT_EQ(std::get<float>(*graph.nodes[1].attribute("factor")), 2);
  for (const char* value : {"s", "y"}) {
    EXPECT_EQ(graph::to_string(graph.values[graph.find_value(value)].type, {}), "float[3]");
  }
}

TEST_F(PluginOperatorsSession, RunsThem) {
  EXPECT_EQ(run(save(), with({"vendor"})), (std::vector<float>{2, 0, 6}));
}

TEST_F(PluginOperatorsSession, RunsThemFromTheCacheToo) {
  SessionOptions options = with({"vendor"});
  options.add_config_entry("ep.cache_dir", (folder_ / "cache").native());
  const auto model = save();
  EXPECT_EQ(run(model, options), (std::vector<float>{2, 0, 6}));
  EXPECT_EQ(run(model, options), (std::vector<float>{2, 0, 6}));
}

TEST_F(PluginOperatorsSession, RefusesANodeThatDoesNotConform) {
  const auto model = save([](graph::Node& node) {
    node.attributes.push_back({"factor", int64_t{2}});
  });
  const Status status = Session::create(environment_, model, with({"vendor"})).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(status.message(),
              HasSubstr("Scale node \"s\": operator \"Scale\" of domain \"com.vendor\", which "
                        "VendorExecutionProvider defines: its attribute \"factor\" is INT"));
}

TEST_F(PluginOperatorsSession, ChecksNothingWithoutThePlugin) {
  const auto model = save([](graph::Node& node) {
    node.attributes.push_back({"factor", int64_t{2}});
  });
  const auto prepared = prepare(model, {});
  ASSERT_THAT(prepared, IsOk());
  EXPECT_EQ(prepared->model.graph.nodes[1].since_version, 2);
}

TEST_F(PluginOperatorsSession, AsksNoPluginAboutModelsOfOnnxAlone) {
  const auto model = test::save(folder_, test::scripted_model());
  const auto prepared = prepare(model, with({"vendor"}));
  ASSERT_THAT(prepared, IsOk());
  EXPECT_EQ(prepared->operators, nullptr);
}

TEST_F(PluginOperatorsSession, TakesTheFirstDefinitionWithAWarning) {
  const std::string both =
      "define operator \"Scale\" of domain \"com.vendor\", version 1, "
      "differently";
  {
    test::LogCapture log;
    EXPECT_EQ(run(save(), with({"vendor", "rival"})), (std::vector<float>{2, 0, 6}));
    EXPECT_THAT(log.text(),
                HasSubstr("VendorExecutionProvider and RivalExecutionProvider " + both));
    EXPECT_THAT(log.text(), Not(HasSubstr("\"Window\"")));
  }
  test::LogCapture log;
  EXPECT_EQ(run(save(), with({"rival", "vendor"})), (std::vector<float>{3, 0, 9}));
  EXPECT_THAT(log.text(), HasSubstr("RivalExecutionProvider and VendorExecutionProvider " + both));
}

TEST_F(PluginOperatorsSession, AsksThePluginForShapes) {
  const auto window = [&](std::vector<int64_t> size) {
    graph::Model model = test::model_of(GraphBuilder()
                                            .input("x", test::row_type(3))
                                            .constant("size", graph::testing::int64_tensor(size))
                                            .node("Window", {"x", "size"}, {"y"})
                                            .attribute("mode", std::string("hard"))
                                            .output("y")
                                            .build());
    model.graph.nodes[0].domain = "com.vendor";
    model.opset_imports["com.vendor"] = 1;
    return test::save(folder_, model, std::to_string(size.size()) + ".onnx");
  };
  const auto prepared = prepare(window({4, 5}), with({"vendor"}));
  ASSERT_THAT(prepared, IsOk());
  const graph::Graph& graph = prepared->model.graph;
  EXPECT_EQ(graph::to_string(graph.values[graph.find_value("y")].type, {}), "float[4,5]");
  std::vector<int64_t> many(2000, 1);  // more than goes to a worker unasked
  const auto large = window(many);
  many.back() = 0;
  SessionOptions giving = with({"vendor"});
  giving.add_initializer("size", *Value::of<int64_t>({2000}, many));
  for (const Status& status :
       {prepare(window({4, 0}), with({"vendor"})).status(), prepare(large, giving).status()}) {
    EXPECT_EQ(status.code(), StatusCode::kInvalidGraph);
    EXPECT_THAT(status.message(), AllOf(HasSubstr("Window node \"y\""),
                                        HasSubstr("a window of size 0 does not exist")));
  }
}

TEST_F(PluginOperatorsSession, ReportsWhoDefinesWhat) {
  const auto report = partition_model(environment_, save(), with({"vendor"}));
  ASSERT_THAT(report, IsOk());
  ASSERT_EQ(report->plugin_operators.size(), 1U);
  const PluginOperator& used = report->plugin_operators[0];
  EXPECT_EQ(used.op_type, "Scale");
  EXPECT_EQ(used.domain, "com.vendor");
  EXPECT_EQ(used.since_version, 1);
  EXPECT_EQ(used.provider, "VendorExecutionProvider");
  EXPECT_EQ(used.nodes, 1U);
}

TEST_F(PluginOperatorsSession, AreDescribedWithTheirPlugin) {
  const auto plugin = inspect_plugin(environment_, "vendor");
  ASSERT_THAT(plugin, IsOk());
  ASSERT_THAT(plugin->operators_status, IsOk());
  ASSERT_EQ(plugin->operators.size(), 6U);
  const OperatorDescription& scale = plugin->operators[0];
  EXPECT_EQ(scale.op_type, "Scale");
  EXPECT_EQ(scale.description, "Y = X * factor");
  EXPECT_TRUE(scale.infers_types);
  EXPECT_EQ(scale.inputs[0].type_name, "T");
  EXPECT_EQ(scale.inputs[0].element_types,
            (std::vector{ElementType::kFloat, ElementType::kDouble}));
  EXPECT_EQ(scale.outputs[0].description, "has the shape of X");
  EXPECT_EQ(scale.attributes[0].type, "FLOAT");
  EXPECT_EQ(scale.attributes[0].default_value, "2");
  EXPECT_TRUE(plugin->operators[1].inputs[1].is_optional);
  EXPECT_TRUE(plugin->operators[2].attributes[0].is_required);
  EXPECT_TRUE(plugin->operators[3].inputs[0].is_variadic);
  EXPECT_TRUE(plugin->operators[5].is_deprecated);
  EXPECT_THAT(inspect_plugin(environment_, "dnnl")->operators, IsEmpty());
}

}  // namespace
}  // namespace ephost::plugin_operators_test
