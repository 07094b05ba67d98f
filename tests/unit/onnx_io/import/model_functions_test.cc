#include "host/onnx_io/import/model_functions.h"

#include <algorithm>

#include "host/graph/subgraphs.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"
#include "tests/unit/onnx_io/import/import_helpers.h"

namespace ephost::onnx_io::model_functions_test {
namespace {

using graph::FunctionBody;
using graph::kNoValue;
using graph::Model;
using graph::Node;
using graph::NodeId;
using graph::testing::value_names;
using test::IsOk;
using testing::add_attribute;
using testing::add_input;
using testing::add_node;
using testing::add_opset;
using testing::add_output;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::import;
using Names = std::initializer_list<std::string_view>;
using Type = onnx::AttributeProto;

constexpr std::string_view kDomain = "example.local";

// A graph of which every node may be a call: it has one input, x.
onnx::ModelProto model_with_functions() {
  onnx::ModelProto model = testing::empty_model();
  add_opset(model, kDomain, 1);
  add_input(*model.mutable_graph(), "x", {2, 3});
  return model;
}

onnx::FunctionProto& add_function(onnx::ModelProto& model, std::string_view name, Names inputs,
                                  Names outputs, int64_t opset = 17) {
  onnx::FunctionProto& function = *model.add_functions();
  function.set_name(std::string(name));
  function.set_domain(std::string(kDomain));
  for (const std::string_view input : inputs) function.add_input(std::string(input));
  for (const std::string_view output : outputs) function.add_output(std::string(output));
  onnx::OperatorSetIdProto& import = *function.add_opset_import();
  import.set_domain("");
  import.set_version(opset);
  function.add_opset_import()->set_domain(std::string(kDomain));
  function.mutable_opset_import(1)->set_version(1);
  return function;
}

// The nodes of a graph or of a function.
template <class Proto>
onnx::NodeProto& add_op(Proto& to, std::string_view op_type, Names inputs, Names outputs) {
  onnx::NodeProto& node = *to.add_node();
  node.set_op_type(std::string(op_type));
  for (const std::string_view input : inputs) node.add_input(std::string(input));
  for (const std::string_view output : outputs) node.add_output(std::string(output));
  return node;
}
template <class Proto>
onnx::NodeProto& add_call(Proto& to, std::string_view function, Names inputs, Names outputs) {
  onnx::NodeProto& node = add_op(to, function, inputs, outputs);
  node.set_domain(std::string(kDomain));
  return node;
}

void refer(onnx::NodeProto& node, std::string_view attribute, std::string_view to, auto type) {
  add_attribute(node, attribute, type).set_ref_attr_name(std::string(to));
}

FunctionLibrary library_of(const Model& model) {
  auto library = FunctionLibrary::create(model);
  EXPECT_THAT(library, IsOk());
  return std::move(library).value();
}

Result<FunctionBody> body_in(const onnx::ModelProto& proto, NodeId call = 0) {
  const Model model = import(proto);
  return library_of(model).body_of(model, model.graph, call);
}

FunctionBody body_of(const onnx::ModelProto& proto, NodeId call = 0) {
  Result<FunctionBody> body = body_in(proto, call);
  EXPECT_THAT(body, IsOk());
  return body.ok() ? std::move(body).value() : FunctionBody();
}

void expect_no_body(const onnx::ModelProto& proto, const std::string& message) {
  const Result<FunctionBody> body = body_in(proto);
  EXPECT_EQ(body.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(body.status().message(), HasSubstr(message));
}

std::vector<std::string> operators(const FunctionBody& body) {
  std::vector<std::string> names;
  for (const Node& node : body.graph.nodes) names.push_back(node.op_type);
  return names;
}

// The library.

TEST(FunctionLibrary, RefusesBytesThatAreNotAFunction) {
  Model model;
  model.functions = {{"d", "f", "", "\xff\xff"}};
  const auto library = FunctionLibrary::create(model);
  EXPECT_EQ(library.status().code(), StatusCode::kInvalidProtobuf);
  EXPECT_EQ(library.status().message(), "function \"f\" of domain \"d\" does not parse");
}

TEST(FunctionLibrary, RefusesFunctionsThatCallThemselves) {
  onnx::ModelProto proto = model_with_functions();
  add_call(add_function(proto, "Ping", {"x"}, {"y"}), "Pong", {"x"}, {"y"});
  onnx::FunctionProto& pong = add_function(proto, "Pong", {"x"}, {"y"});
  // Calls in bodies count as well.
  onnx::NodeProto& branch = add_op(pong, "If", {"x"}, {"y"});
  add_call(testing::add_body(branch, "then_branch"), "Ping", {"x"}, {"z"});
  const auto library = FunctionLibrary::create(import(proto));
  EXPECT_EQ(library.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(library.status().message(), HasSubstr("cannot be recursive"));
}

TEST(FunctionLibrary, KnowsCallsByDomainNameAndOverload) {
  onnx::ModelProto proto = model_with_functions();
  add_op(add_function(proto, "F", {"x"}, {"y"}), "Neg", {"x"}, {"y"});
  add_call(*proto.mutable_graph(), "F", {"x"}, {"a"});
  const Model model = import(proto);
  const FunctionLibrary library = library_of(model);
  EXPECT_TRUE(library.has_local_functions());
  const Node& call = model.graph.nodes[0];
  EXPECT_TRUE(library.is_local(call));
  EXPECT_TRUE(library.may_have_body(call));
  EXPECT_FALSE(library.overrides_operator(call));
  EXPECT_FALSE(library.is_local({.op_type = "F", .domain = call.domain, .overload = "other"}));
  EXPECT_FALSE(library.is_local({.op_type = "F", .since_version = 1}));
  EXPECT_FALSE(library.may_have_body({.op_type = "F", .since_version = 1}));
  EXPECT_FALSE(library_of(import(testing::small_model())).has_local_functions());
}

TEST(FunctionLibrary, KnowsWhichOperatorsHaveABody) {
  const Model model = import(testing::small_model());
  const FunctionLibrary library = library_of(model);
  EXPECT_TRUE(library.may_have_body({.op_type = "HardSwish", .since_version = 14}));
  EXPECT_TRUE(library.may_have_body({.op_type = "SoftmaxCrossEntropyLoss", .since_version = 13}));
  EXPECT_FALSE(library.may_have_body({.op_type = "Sigmoid", .since_version = 13}));
}

TEST(FunctionLibrary, KnowsAFunctionUnderTheNameOfAnOperator) {
  onnx::ModelProto proto = model_with_functions();
  onnx::FunctionProto& function = add_function(proto, "Relu", {"x"}, {"y"});
  function.set_domain("");
  add_op(function, "Neg", {"x"}, {"y"});
  add_op(*proto.mutable_graph(), "Relu", {"x"}, {"a"});
  const Model model = import(proto);
  const FunctionLibrary library = library_of(model);
  EXPECT_TRUE(library.overrides_operator({.op_type = "Relu", .since_version = 14}));
  EXPECT_THAT(operators(*library.body_of(model, model.graph, 0)), ElementsAre("Neg"));
}

TEST(FunctionLibrary, CountsNodesOfFunctionsInFunctions) {
  onnx::ModelProto proto = model_with_functions();
  onnx::FunctionProto& first = add_function(proto, "F0", {"x"}, {"y"});
  add_op(first, "Neg", {"x"}, {"a"});
  add_op(first, "Neg", {"a"}, {"b"});
  add_op(first, "Neg", {"b"}, {"y"});
  for (int i = 1; i < 80; ++i) {
    onnx::FunctionProto& function = add_function(proto, "F" + std::to_string(i), {"x"}, {"y"});
    const std::string inner = "F" + std::to_string(i - 1);
    add_call(function, inner, {"x"}, {"a"});
    add_call(function, inner, {"a"}, {"y"});
  }
  const FunctionLibrary library = library_of(import(proto));
  const auto size = [&](const std::string& name) {
    return library.expanded_size({.op_type = name, .domain = std::string(kDomain)});
  };
  EXPECT_EQ(size("F0"), 3U);
  EXPECT_EQ(size("F2"), 12U);
  EXPECT_EQ(size("F79"), UINT64_MAX);
  EXPECT_EQ(size("G"), 0U);
}

// Bodies of calls.

// y = Selu(x), whose attributes are the function's `a` and `b`.
onnx::ModelProto model_with_attributes() {
  onnx::ModelProto proto = model_with_functions();
  onnx::FunctionProto& function = add_function(proto, "F", {"x"}, {"y"});
  onnx::NodeProto& node = add_op(function, "Selu", {"x"}, {"y"});
  refer(node, "alpha", "a", Type::FLOAT);
  refer(node, "gamma", "b", Type::FLOAT);
  function.add_attribute("a");
  add_call(*proto.mutable_graph(), "F", {"x"}, {"a"}).set_name("call");
  return proto;
}

TEST(FunctionBody, HasTheAttributesOfTheCall) {
  onnx::ModelProto proto = model_with_attributes();
  onnx::NodeProto& call = *proto.mutable_graph()->mutable_node(0);
  add_attribute(call, "a", Type::FLOAT).set_f(0.5F);
  add_attribute(call, "b", Type::FLOAT).set_f(3);
  const FunctionBody body = body_of(proto);
  ASSERT_EQ(body.graph.nodes.size(), 1U);
  const Node& node = body.graph.nodes[0];
  EXPECT_EQ(std::get<float>(*node.attribute("alpha")), 0.5F);
  EXPECT_EQ(std::get<float>(*node.attribute("gamma")), 3);
  EXPECT_EQ(body.opset_imports.at(""), 17);
}

TEST(FunctionBody, HasNoAttributeThatTheCallOmits) {
  const FunctionBody body = body_of(model_with_attributes());
  ASSERT_EQ(body.graph.nodes.size(), 1U);
  EXPECT_TRUE(body.graph.nodes[0].attributes.empty());
}

TEST(FunctionBody, RefusesAnAttributeOfAnotherType) {
  onnx::ModelProto proto = model_with_attributes();
  add_attribute(*proto.mutable_graph()->mutable_node(0), "a", Type::INT).set_i(1);
  expect_no_body(proto, "inlining F node \"call\": ");
  expect_no_body(proto, "the call gives with a different type");
}

// y = Clip(x, low, high), n = Neg(x)
onnx::ModelProto model_with_slots(Names inputs, Names outputs) {
  onnx::ModelProto proto = model_with_functions();
  onnx::FunctionProto& function = add_function(proto, "F", {"x", "low", "high"}, {"y", "n"});
  add_op(function, "Clip", {"x", "low", "high"}, {"y"});
  add_op(function, "Neg", {"x"}, {"n"});
  add_input(*proto.mutable_graph(), "one", {});
  add_call(*proto.mutable_graph(), "F", inputs, outputs);
  return proto;
}

TEST(FunctionBody, LeavesOutInputsThatTheCallLeavesOut) {
  const FunctionBody body = body_of(model_with_slots({"x", "", "one"}, {"a", "b"}));
  EXPECT_THAT(value_names(body.graph, body.graph.inputs), ElementsAre("x", "high"));
  ASSERT_EQ(body.graph.nodes.size(), 2U);
  EXPECT_THAT(value_names(body.graph, body.graph.nodes[0].inputs), ElementsAre("x", "", "high"));
  // Also at the end.
  EXPECT_THAT(value_names(body_of(model_with_slots({"x"}, {"a", "b"})).graph, {0}),
              ElementsAre("x"));
}

TEST(FunctionBody, HasTheOutputsThatTheCallWants) {
  const FunctionBody body = body_of(model_with_slots({"x"}, {"", "b"}));
  EXPECT_THAT(value_names(body.graph, body.graph.outputs), ElementsAre("n"));
}

TEST(FunctionBody, RefusesMoreSlotsThanTheFunctionHas) {
  expect_no_body(model_with_slots({"x", "", "", "one"}, {"a"}),
                 "is given 4 inputs, but the function has 3");
  expect_no_body(model_with_slots({"x"}, {"a", "b", "c"}),
                 "3 outputs are requested, but the function has 2");
}

TEST(FunctionBody, GivesEachOutputAProducerOfItsOwn) {
  onnx::ModelProto proto = model_with_functions();
  onnx::FunctionProto& function = add_function(proto, "F", {"x"}, {"x", "y", "y"});
  add_op(function, "Neg", {"x"}, {"y"});
  add_call(*proto.mutable_graph(), "F", {"x"}, {"a", "b", "c"});
  const FunctionBody body = body_of(proto);
  std::vector<std::string> found = operators(body);
  std::ranges::sort(found);
  EXPECT_THAT(found, ElementsAre("Identity", "Identity", "Neg"));
  ASSERT_EQ(body.graph.outputs.size(), 3U);
  for (const graph::ValueId id : body.graph.outputs) {
    EXPECT_EQ(std::ranges::count(body.graph.outputs, id), 1);
    EXPECT_NE(body.graph.values[id].producer, graph::kNoNode);
  }
}

TEST(FunctionBody, RefusesAnOutputThatIsALeftOutInput) {
  onnx::ModelProto proto = model_with_functions();
  add_function(proto, "F", {"x", "z"}, {"z"});
  add_call(*proto.mutable_graph(), "F", {"x"}, {"a"});
  expect_no_body(proto, "its output \"z\" is an input that the call omits");
}

TEST(FunctionBody, IsSortedAndChecked) {
  onnx::ModelProto proto = model_with_functions();
  onnx::FunctionProto& function = add_function(proto, "F", {"x"}, {"y"});
  add_op(function, "Neg", {"t"}, {"y"});
  add_op(function, "Relu", {"x"}, {"t"});
  add_call(*proto.mutable_graph(), "F", {"x"}, {"a"});
  EXPECT_THAT(operators(body_of(proto)), ElementsAre("Relu", "Neg"));
  proto.mutable_functions(0)->mutable_node(1)->add_input("x");
  expect_no_body(proto, "inlining F node #0: ");
  proto.mutable_functions(0)->mutable_node(1)->set_op_type("NoSuchOperator");
  expect_no_body(proto, "has no operator \"NoSuchOperator\"");
  proto.mutable_functions(0)->mutable_opset_import(0)->set_version(0);
  expect_no_body(proto, "imports opset version 0");
}

// Before opset 13, Softmax normalized over all axes from the stated one on. Neg only gained types.
TEST(FunctionBody, MarksNodesThatMeanSomethingElseInTheModelsOpset) {
  for (const auto& [op, version, differs] :
       {std::tuple("Softmax", 11, true), std::tuple("Neg", 6, false)}) {
    onnx::ModelProto proto = model_with_functions();
    onnx::FunctionProto& function = add_function(proto, "F", {"x"}, {"y"}, 12);
    add_op(function, op, {"x"}, {"y"});
    add_call(*proto.mutable_graph(), "F", {"x"}, {"a"});
    const FunctionBody body = body_of(proto);
    ASSERT_EQ(body.graph.nodes.size(), 1U);
    EXPECT_EQ(body.graph.nodes[0].since_version, version);
    EXPECT_EQ(body.graph.nodes[0].is_of_other_opset, differs) << op;
  }
}

TEST(FunctionBody, ForgetsTheNamesOfItsDimensions) {
  onnx::ModelProto proto = model_with_functions();
  onnx::FunctionProto& function = add_function(proto, "F", {"x", "c"}, {"y"});
  onnx::NodeProto& branch = add_op(function, "If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::GraphProto& body = testing::add_body(branch, name);
    add_op(body, "Neg", {"x"}, {"r"});
    onnx::ValueInfoProto& output = *body.add_output();
    output.set_name("r");
    auto& tensor = *output.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(onnx::TensorProto::FLOAT);
    tensor.mutable_shape()->add_dim()->set_dim_param("rows");
  }
  add_input(*proto.mutable_graph(), "c", {}, onnx::TensorProto::BOOL);
  add_call(*proto.mutable_graph(), "F", {"x", "c"}, {"a"});
  const FunctionBody body = body_of(proto);
  ASSERT_EQ(body.graph.nodes.size(), 1U);
  const graph::Graph& branch_graph = *body.graph.nodes[0].subgraph("then_branch");
  const auto& shape = branch_graph.values[branch_graph.outputs[0]].type.shape;
  EXPECT_FALSE(shape && std::ranges::any_of(*shape, graph::is_symbolic_dim));
}

// Operators that ONNX defines by others.

TEST(FunctionBody, OfAnOperatorIsWhatOnnxDefines) {
  onnx::ModelProto proto = model_with_functions();
  add_op(*proto.mutable_graph(), "HardSwish", {"x"}, {"a"});
  const FunctionBody body = body_of(proto);
  EXPECT_THAT(operators(body), ElementsAre("HardSigmoid", "Mul"));
}

TEST(FunctionBody, OfAnOperatorMayDependOnTypes) {
  onnx::ModelProto proto = model_with_functions();
  add_input(*proto.mutable_graph(), "labels", {2}, onnx::TensorProto::INT64);
  add_op(*proto.mutable_graph(), "SoftmaxCrossEntropyLoss", {"x", "labels"}, {"a"});
  const std::vector<std::string> found = operators(body_of(proto));
  EXPECT_THAT(found, ::testing::Contains("NegativeLogLikelihoodLoss"));
}

TEST(FunctionBody, IsNotFoundForOtherOperators) {
  onnx::ModelProto proto = model_with_functions();
  add_op(*proto.mutable_graph(), "Sigmoid", {"x"}, {"a"}).set_name("act");
  const Result<FunctionBody> body = body_in(proto);
  EXPECT_EQ(body.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(body.status().message(), "Sigmoid node \"act\" has no function body");
}

TEST(FunctionBody, OfASequenceMapReadsWhatItsBodyReads) {
  onnx::ModelProto proto = model_with_functions();
  onnx::GraphProto& graph = *proto.mutable_graph();
  add_op(graph, "SequenceConstruct", {"x"}, {"s"});
  onnx::NodeProto& map = add_op(graph, "SequenceMap", {"s"}, {"a"});
  onnx::GraphProto& each = testing::add_body(map, "body");
  add_input(each, "e", {2, 3});
  add_op(each, "Add", {"e", "x"}, {"f"});
  add_output(each, "f", {2, 3});
  const FunctionBody body = body_of(proto, 1);
  const Model model = import(proto);
  const graph::ValueId x = model.graph.find_value("x");
  EXPECT_TRUE(std::ranges::any_of(body.graph.values,
                                  [&](const graph::Value& value) { return value.outer == x; }));
}

}  // namespace
}  // namespace ephost::onnx_io::model_functions_test
