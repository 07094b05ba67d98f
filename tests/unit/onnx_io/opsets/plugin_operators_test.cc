#include "host/onnx_io/opsets/plugin_operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace ephost::onnx_io::plugin_operators_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

OperatorDefinition definition(std::string plugin, int32_t since, std::string op_type = "Crop") {
  OperatorDefinition made;
  made.plugin = std::move(plugin);
  made.op_type = std::move(op_type);
  made.domain = "com.acme";
  made.since_version = since;
  made.inputs = {{.name = "X", .type_name = "T", .element_types = 2}};
  made.outputs = {{.name = "Y", .type_name = "T", .element_types = 2}};
  made.attributes = {{.name = "factor", .kind = 1, .default_value = 2.0F}};
  return made;
}

TEST(PluginOperators, AreSelectedByTheVersionOfTheirDomain) {
  PluginOperators operators;
  EXPECT_TRUE(operators.empty());
  EXPECT_THAT(operators.add({definition("A", 3), definition("A", 7)}), IsEmpty());
  const auto since = [&](int64_t version) {
    const OperatorDefinition* found = operators.find("com.acme", "Crop", version);
    return found == nullptr ? 0 : found->since_version;
  };
  EXPECT_EQ(since(2), 0);
  EXPECT_EQ(since(3), 3);
  EXPECT_EQ(since(6), 3);
  EXPECT_EQ(since(1000), 7);
  EXPECT_EQ(operators.find_oldest("com.acme", "Crop")->since_version, 3);
  EXPECT_EQ(operators.find("com.acme", "Grow", 7), nullptr);
  EXPECT_EQ(operators.find_oldest("com.acme", "Grow"), nullptr);
  EXPECT_TRUE(operators.has_domain("com.acme"));
  EXPECT_FALSE(operators.has_domain("com.acm"));
  EXPECT_FALSE(operators.has_domain("com.acmes"));
}

TEST(PluginOperators, AreThoseOfTheFirstPlugin) {
  PluginOperators operators;
  EXPECT_THAT(operators.add({definition("A", 1)}), IsEmpty());
  OperatorDefinition other = definition("B", 1);
  other.description = "the same in other words";
  EXPECT_THAT(operators.add({other, definition("B", 2)}), IsEmpty());
  EXPECT_EQ(operators.find("com.acme", "Crop", 1)->plugin, "A");
  EXPECT_EQ(operators.find("com.acme", "Crop", 2)->plugin, "B");
}

TEST(PluginOperators, WarnWhereTwoPluginsDiffer) {
  const std::vector<std::function<void(OperatorDefinition&)>> changes = {
      [](auto& one) { one.is_deprecated = true; },
      [](auto& one) { one.inputs[0].name = "x"; },
      [](auto& one) { one.inputs[0].type_name = "U"; },
      [](auto& one) { one.inputs[0].element_types = 6; },
      [](auto& one) { one.inputs[0].is_optional = true; },
      [](auto& one) { one.inputs[0].is_variadic = true; },
      [](auto& one) { one.inputs.pop_back(); },
      [](auto& one) { one.outputs[0].is_heterogeneous = true; },
      [](auto& one) { one.attributes[0].kind = 2; },
      [](auto& one) { one.attributes[0].is_required = true; },
      [](auto& one) { one.attributes[0].default_value = 3.0F; },
      [](auto& one) { one.attributes[0].default_value.reset(); },
      [](auto& one) { one.attributes.clear(); },
      [](auto& one) { one.infer = [](const auto&, const auto&, auto&) { return Status(); }; }};
  for (size_t i = 0; i < changes.size(); ++i) {
    PluginOperators operators;
    EXPECT_THAT(operators.add({definition("A", 1)}), IsEmpty());
    OperatorDefinition other = definition("B", 1);
    changes[i](other);
    EXPECT_THAT(operators.add({other}),
                ElementsAre("A and B define operator \"Crop\" of domain \"com.acme\", version 1, "
                            "differently; the definition of A is used, which comes first in the "
                            "order of providers"))
        << i;
    EXPECT_EQ(operators.find("com.acme", "Crop", 1)->plugin, "A");
  }
}

TEST(PluginOperators, HaveParametersForEachValue) {
  std::vector<FormalParameter> parameters = {{.name = "a"}, {.name = "b"}};
  EXPECT_EQ(parameter_at(parameters, 1)->name, "b");
  EXPECT_EQ(parameter_at(parameters, 2), nullptr);
  parameters.back().is_variadic = true;
  EXPECT_EQ(parameter_at(parameters, 9)->name, "b");
  EXPECT_EQ(parameter_at({}, 0), nullptr);
}

TEST(PluginOperators, AreNotOfDomainsOfOnnxAndOfTheHost) {
  for (const char* domain : {"", "ai.onnx", "ai.onnx.ml", "ai.onnx.training", "ephost.opset"}) {
    EXPECT_FALSE(is_plugin_domain(domain)) << domain;
  }
  EXPECT_TRUE(is_plugin_domain("com.acme"));
  EXPECT_TRUE(is_plugin_domain("com.microsoft"));
}

TEST(PluginOperators, AreOfNoUseToModelsOfOnnxAlone) {
  graph::Model model;
  model.opset_imports = {{"", 17}, {"ai.onnx.ml", 3}};
  EXPECT_FALSE(may_use_plugin_operators(model));
  model.functions.emplace_back();
  EXPECT_TRUE(may_use_plugin_operators(model));
  model.functions.clear();
  model.opset_imports["com.acme"] = 1;
  EXPECT_TRUE(may_use_plugin_operators(model));
}

TEST(AttributeKinds, HaveTheNumbersAndNamesOfOnnx) {
  EXPECT_EQ(attribute_kind(int64_t{1}), 2);
  EXPECT_EQ(attribute_kind(1.0F), 1);
  EXPECT_EQ(attribute_kind(std::string()), 3);
  EXPECT_EQ(attribute_kind(graph::Blob()), 3);
  EXPECT_EQ(attribute_kind(graph::Tensor()), 4);
  EXPECT_EQ(attribute_kind(std::unique_ptr<graph::Graph>()), 5);
  EXPECT_EQ(attribute_kind(std::vector<float>()), 6);
  EXPECT_EQ(attribute_kind(std::vector<int64_t>()), 7);
  EXPECT_EQ(attribute_kind(std::vector<std::string>()), 8);
  EXPECT_EQ(attribute_kind(std::vector<graph::Tensor>()), 9);
  EXPECT_EQ(attribute_kind(std::vector<std::unique_ptr<graph::Graph>>()), 10);
  EXPECT_EQ(attribute_kind(graph::SparseTensor()), 11);
  EXPECT_EQ(attribute_kind(std::vector<graph::SparseTensor>()), 12);
  EXPECT_EQ(attribute_kind(graph::ValueType()), 13);
  EXPECT_EQ(attribute_kind(std::vector<graph::ValueType>()), 14);
  EXPECT_EQ(attribute_kind_name(7), "INTS");
  EXPECT_EQ(attribute_kind_name(14), "TYPE_PROTOS");
  EXPECT_EQ(attribute_kind_name(0), "kind 0");
  EXPECT_EQ(attribute_kind_name(15), "kind 15");
}

}  // namespace
}  // namespace ephost::onnx_io::plugin_operators_test
