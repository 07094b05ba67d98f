#include "host/bridge/extensions/operator_definitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/status_matchers.h"
#include "tests/unit/bridge/extensions/defining_plugin.h"

namespace ephost::bridge::operator_definitions_test {
namespace {

using test::IsOk;
using testing::DefiningPlugin;
using testing::float_parameter;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::plain_definition;

constexpr int64_t kOnes[] = {1, 1};
constexpr float kHalf = 0.5F;

// The refusal of a plugin that defines nothing but this.
std::string refusal(eph_operator_def definition) {
  DefiningPlugin plugin{.records = {definition}};
  const Status status = plugin.read().status();
  EXPECT_EQ(status.code(), StatusCode::kEpFail);
  EXPECT_THAT(status.message(), HasSubstr("AcmeExecutionProvider"));
  EXPECT_THAT(status.message(), HasSubstr("report this to the plugin's vendor"));
  return status.message();
}

std::string refusal_of_parameters(const std::vector<eph_parameter>& inputs) {
  eph_operator_def definition = plain_definition();
  definition.inputs = inputs.data();
  definition.input_count = inputs.size();
  return refusal(definition);
}

std::string refusal_of_attributes(const std::vector<eph_attribute_def>& attributes) {
  eph_operator_def definition = plain_definition();
  definition.attributes = attributes.data();
  definition.attribute_count = attributes.size();
  return refusal(definition);
}

std::string refusal_of_default(int32_t kind, const eph_attribute& value) {
  return refusal_of_attributes({{EPH_STRING("a"), {}, kind, 0, &value}});
}

TEST(OperatorDefinitions, AreCopied) {
  const std::vector<eph_parameter> inputs = {
      {EPH_STRING("X"), EPH_STRING("whole"), EPH_STRING("T"), 2, 0, 0},
      float_parameter(EPH_PARAMETER_VARIADIC | EPH_PARAMETER_HETEROGENEOUS |
                      EPH_PARAMETER_OPTIONAL)};
  const eph_attribute half = {{}, &kHalf, 1, EPH_ATTRIBUTE_FLOAT, 0};
  const eph_string texts[] = {EPH_STRING("a"), EPH_STRING("")};
  const eph_attribute list = {{}, texts, 2, EPH_ATTRIBUTE_STRINGS, 0};
  const std::vector<eph_attribute_def> attributes = {
      {EPH_STRING("f"), EPH_STRING("factor"), EPH_ATTRIBUTE_FLOAT, 0, &half},
      {EPH_STRING("s"), {}, EPH_ATTRIBUTE_STRINGS, 0, &list},
      {EPH_STRING("g"), {}, EPH_ATTRIBUTE_GRAPH, 1, nullptr}};
  eph_operator_def definition = plain_definition();
  definition.description = EPH_STRING("cuts");
  definition.since_version = 3;
  definition.is_deprecated = 1;
  definition.inputs = inputs.data();
  definition.input_count = inputs.size();
  definition.outputs = inputs.data();
  definition.output_count = 1;
  definition.attributes = attributes.data();
  definition.attribute_count = attributes.size();
  DefiningPlugin plugin{.records = {definition, plain_definition()}};
  const auto read = plugin.read();
  ASSERT_THAT(read, IsOk());
  ASSERT_EQ(read->size(), 2U);
  const onnx_io::OperatorDefinition& one = read->front();
  EXPECT_EQ(one.plugin, "AcmeExecutionProvider");
  EXPECT_EQ(one.op_type, "Crop");
  EXPECT_EQ(one.domain, "com.acme");
  EXPECT_EQ(one.description, "cuts");
  EXPECT_EQ(one.since_version, 3);
  EXPECT_TRUE(one.is_deprecated);
  EXPECT_EQ(one.inputs[0].type_name, "T");
  EXPECT_EQ(one.inputs[0].description, "whole");
  EXPECT_TRUE(one.inputs[1].is_variadic && one.inputs[1].is_heterogeneous &&
              one.inputs[1].is_optional);
  EXPECT_EQ(one.outputs.size(), 1U);
  EXPECT_EQ(one.attributes[0].default_value, onnx_io::DefaultValue(0.5F));
  EXPECT_EQ(one.attributes[0].description, "factor");
  EXPECT_EQ(one.attributes[1].default_value,
            onnx_io::DefaultValue(std::vector<std::string>{"a", ""}));
  EXPECT_TRUE(one.attributes[2].is_required);
  EXPECT_EQ(one.infer, nullptr);
}

TEST(OperatorDefinitions, AreNoneWithoutTheExtension) {
  DefiningPlugin plugin{.is_offered = false};
  const auto read = plugin.read();
  ASSERT_THAT(read, IsOk());
  EXPECT_THAT(*read, IsEmpty());
  const auto loaded = std::make_shared<plugin::LoadedPlugin>();
  EXPECT_THAT(*read_operators(loaded), IsEmpty());
}

TEST(OperatorDefinitions, PassTheFailureOfThePluginOn) {
  DefiningPlugin plugin{.code = EPH_ENGINE_ERROR};
  const Status status = plugin.read().status();
  EXPECT_EQ(status.code(), StatusCode::kEngineError);
  EXPECT_THAT(status.message(), HasSubstr("listing the operators that it defines"));
}

TEST(OperatorDefinitions, RefuseStridesThatCannotBe) {
  for (const uint64_t stride : {uint64_t{0}, uint64_t{12}, UINT64_MAX - 7}) {
    DefiningPlugin plugin{.records = {plain_definition()}, .stride = stride};
    EXPECT_THAT(plugin.read().status().message(), HasSubstr("has a stride of")) << stride;
  }
  DefiningPlugin plugin{.records = {plain_definition(), plain_definition()},
                        .stride = sizeof(eph_operator_def) - 8};
  EXPECT_THAT(plugin.read().status().message(),
              HasSubstr("the next one of its array begins after"));
}

TEST(OperatorDefinitions, RefuseDomainsOfOnnxAndOfTheHost) {
  for (const std::string domain : {"ai.onnx", "ai.onnx.ml", "ai.onnx.training", "ephost.opset"}) {
    eph_operator_def definition = plain_definition();
    definition.domain = {domain.data(), domain.size()};
    EXPECT_THAT(refusal(definition), HasSubstr("is in a domain of ONNX or of the host"));
  }
  eph_operator_def definition = plain_definition();
  definition.domain = EPH_STRING("com.microsoft");
  definition.op_type = EPH_STRING("EPContext");
  EXPECT_THAT(refusal(definition), HasSubstr("whose meaning the host defines"));
}

TEST(OperatorDefinitions, RefuseTextThatIsNone) {
  eph_operator_def definition = plain_definition();
  definition.domain = {};
  EXPECT_THAT(refusal(definition), HasSubstr("has an empty domain"));
  definition = plain_definition();
  definition.op_type = EPH_STRING("\xff\xfe");
  EXPECT_THAT(refusal(definition), HasSubstr("has a name that is not valid text"));
  definition.op_type = {nullptr, 4};
  EXPECT_THAT(refusal(definition), HasSubstr("has a name that is not valid text"));
  const std::string long_name(1025, 'x');
  definition.op_type = {long_name.data(), long_name.size()};
  EXPECT_THAT(refusal(definition), HasSubstr("over 1024 bytes"));
  definition = plain_definition();
  definition.description = {nullptr, 1};
  EXPECT_THAT(refusal(definition), HasSubstr("has a description that is not valid text"));
}

TEST(OperatorDefinitions, RefuseVersionsBelowOne) {
  eph_operator_def definition = plain_definition();
  definition.since_version = 0;
  EXPECT_THAT(refusal(definition), HasSubstr("has version 0, and versions begin at 1"));
}

TEST(OperatorDefinitions, RefuseTwoOfOneVersion) {
  DefiningPlugin plugin{.records = {plain_definition(), plain_definition()}};
  EXPECT_THAT(plugin.read().status().message(),
              HasSubstr("defines version 1 of operator \"Crop\" of domain \"com.acme\" twice"));
}

TEST(OperatorDefinitions, RefuseParametersThatMakeNoSense) {
  EXPECT_THAT(refusal_of_parameters({float_parameter(EPH_PARAMETER_VARIADIC), float_parameter()}),
              HasSubstr("has a variadic parameter \"X\" that is not the last one"));
  eph_parameter parameter = float_parameter();
  parameter.element_types = 0;
  EXPECT_THAT(refusal_of_parameters({parameter}), HasSubstr("allows no element type"));
  parameter = float_parameter();
  parameter.type_name = EPH_STRING("T");
  eph_parameter other = parameter;
  other.element_types = 6;
  EXPECT_THAT(refusal_of_parameters({parameter, other}),
              HasSubstr("has parameters of type \"T\" that allow different element types"));
  parameter.name = {};
  EXPECT_THAT(refusal_of_parameters({parameter}), HasSubstr("has an empty name of a parameter"));
}

TEST(OperatorDefinitions, RefuseAttributesThatMakeNoSense) {
  const eph_attribute_def plain = {EPH_STRING("a"), {}, EPH_ATTRIBUTE_INT, 0, nullptr};
  EXPECT_THAT(refusal_of_attributes({plain, plain}), HasSubstr("has two attributes \"a\""));
  for (const int32_t kind : {0, 99, -1}) {
    eph_attribute_def unknown = plain;
    unknown.kind = kind;
    EXPECT_THAT(refusal_of_attributes({unknown}), HasSubstr("of unknown kind"));
  }
  const eph_attribute value = {{}, kOnes, 1, EPH_ATTRIBUTE_INT, 0};
  EXPECT_THAT(refusal_of_attributes({{EPH_STRING("a"), {}, EPH_ATTRIBUTE_INT, 1, &value}}),
              HasSubstr("is required and has a default"));
}

TEST(OperatorDefinitions, RefuseDefaultsThatDoNotFit) {
  const std::string wrong_kind =
      refusal_of_default(EPH_ATTRIBUTE_FLOAT, {{}, kOnes, 1, EPH_ATTRIBUTE_INT, 0});
  EXPECT_THAT(wrong_kind, HasSubstr("has a default of kind INT for its attribute \"a\", which is "
                                    "FLOAT"));
  EXPECT_THAT(refusal_of_default(EPH_ATTRIBUTE_TENSOR, {{}, kOnes, 1, EPH_ATTRIBUTE_TENSOR, 0}),
              HasSubstr("only numbers, texts and lists of them"));
  EXPECT_THAT(refusal_of_default(EPH_ATTRIBUTE_INT, {{}, kOnes, 2, EPH_ATTRIBUTE_INT, 0}),
              HasSubstr("has a default with 2 values"));
  EXPECT_THAT(refusal_of_default(EPH_ATTRIBUTE_INT, {{}, nullptr, 1, EPH_ATTRIBUTE_INT, 0}),
              HasSubstr("has 1 entries at a null pointer"));
  EXPECT_THAT(
      refusal_of_default(EPH_ATTRIBUTE_INTS, {{}, kOnes, uint64_t{1} << 60, EPH_ATTRIBUTE_INTS, 0}),
      HasSubstr("at most 1024 are allowed"));
  const eph_string text = {nullptr, 3};
  EXPECT_THAT(refusal_of_default(EPH_ATTRIBUTE_STRING, {{}, &text, 1, EPH_ATTRIBUTE_STRING, 0}),
              HasSubstr("has a default that is not valid text"));
}

}  // namespace
}  // namespace ephost::bridge::operator_definitions_test
