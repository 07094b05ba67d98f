#include "host/graph/graph_digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/graph/extract.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::graph::graph_digest_test {
namespace {

using test::IsOk;
using testing::float_tensor;
using testing::GraphBuilder;
using testing::int64_tensor;
using ::testing::MatchesRegex;
using testing::tensor_type;

Tensor text_tensor(std::vector<std::string> elements) {
  return {.type = ElementType::kString,
          .shape = {static_cast<int64_t>(elements.size())},
          .strings = std::make_shared<const std::vector<std::string>>(std::move(elements))};
}

Blob blob_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return make_blob({bytes.begin(), bytes.end()});
}

Graph sample_body() {
  return GraphBuilder()
      .capture("outside", 0)
      .constant("two", float_tensor({2}))
      .node("Mul", {"outside", "two"}, {"product"})
      .output("product")
      .build();
}

// A model with something of everything that a provider can see.
Model sample() {
  Model model;
  model.ir_version = 8;
  model.opset_imports = {{"", 13}, {"example", 1}};
  model.symbols = {"batch", "width"};
  model.functions = {{.domain = "example", .name = "F", .overload = "", .serialized = "proto"}};
  model.graph =
      GraphBuilder()
          .input("x", tensor_type(ElementType::kFloat, Shape{symbolic_dim(0), 4, kUnknownDim}))
          .constant("w", float_tensor({1, 2, 3, 4}))
          .constant("scale", float_tensor({0.5F}))
          .constant("names", text_tensor({"one", "two"}))
          .node("Add", {"x", "w"}, {"a"})
          .node("Custom", {"a", "", "names"}, {"b"})
          .attribute("integer", int64_t{1})
          .attribute("real", 1.5F)
          .attribute("text", std::string("text"))
          .attribute("large", blob_of("large"))
          .attribute("tensor", float_tensor({7}))
          .attribute(
              "sparse",
              SparseTensor{.values = float_tensor({1}), .indices = int64_tensor({3}), .shape = {5}})
          .attribute("type", tensor_type(ElementType::kFloat, Shape{symbolic_dim(1)}))
          .attribute("integers", std::vector<int64_t>{1, 2})
          .attribute("reals", std::vector<float>{1, 2})
          .attribute("texts", std::vector<std::string>{"a", "bc"})
          .node("If", {"b"}, {"y"})
          .subgraph("then_branch", sample_body())
          .output("y")
          .build();
  Graph& graph = model.graph;
  graph.name = "partition";
  graph.values[graph.find_value("a")].type.nested =
      std::make_shared<const ValueType>(tensor_type(ElementType::kInt64));
  graph.annotations = {{.value = graph.find_value("a"),
                        .parameters = {{"SCALE_TENSOR", graph.find_value("scale")}}}};
  return model;
}

std::string digest_of(const Model& model, std::string_view maker = "maker") {
  Result<std::string> digest = GraphDigester(model).digest(model.graph, maker);
  EXPECT_THAT(digest, IsOk());
  return digest.ok() ? *digest : "";
}

using Change = std::function<void(Model&)>;

AttributeValue& attribute(Model& model, const std::string& name) {
  for (Attribute& attribute : model.graph.nodes[1].attributes) {
    if (attribute.name == name) return attribute.value;
  }
  throw std::out_of_range(name);
}

Value& value(Model& model, const std::string& name) {
  return model.graph.values[model.graph.find_value(name)];
}

Graph& body(Model& model) {
  return *std::get<std::unique_ptr<Graph>>(model.graph.nodes[2].attributes[0].value);
}

struct NamedChange {
  const char* name;
  Change change;
};

// All that a provider can see of a model, one part changed by each.
const NamedChange kSeen[] = {
    {"nothing", [](Model&) {}},
    {"IR version", [](Model& model) { model.ir_version = 9; }},
    {"opset", [](Model& model) { model.opset_imports[""] = 14; }},
    {"opset of another domain", [](Model& model) { model.opset_imports["other"] = 1; }},
    {"metadata of the model",
     [](Model& model) {
       model.metadata = {{"key", "value"}};
     }},
    {"metadata of a node",
     [](Model& model) {
       model.graph.nodes[0].metadata = {{"key", "1"}};
     }},
    {"kept constants", [](Model& model) { model.graph.nodes[0].kept_constants = {1}; }},
    {"function", [](Model& model) { model.functions[0].serialized = "other"; }},
    {"name of a function", [](Model& model) { model.functions[0].name = "G"; }},
    {"no function", [](Model& model) { model.functions.clear(); }},
    {"name", [](Model& model) { model.graph.name = "partition_2"; }},
    {"documentation", [](Model& model) { model.graph.doc = "doc"; }},
    {"node name", [](Model& model) { model.graph.nodes[0].name = "other"; }},
    {"operator", [](Model& model) { model.graph.nodes[0].op_type = "Sub"; }},
    {"domain", [](Model& model) { model.graph.nodes[0].domain = "example"; }},
    {"overload", [](Model& model) { model.graph.nodes[0].overload = "v2"; }},
    {"version", [](Model& model) { model.graph.nodes[0].since_version = 7; }},
    {"other opset", [](Model& model) { model.graph.nodes[0].is_of_other_opset = true; }},
    {"order of inputs",
     [](Model& model) {
       std::swap(model.graph.nodes[0].inputs[0], model.graph.nodes[0].inputs[1]);
     }},
    {"omitted input", [](Model& model) { model.graph.nodes[1].inputs.pop_back(); }},
    {"order of nodes", [](Model& model) { std::swap(model.graph.nodes[0], model.graph.nodes[1]); }},
    {"attribute name",
     [](Model& model) { model.graph.nodes[1].attributes[0].name = "whole number"; }},
    {"integer", [](Model& model) { attribute(model, "integer") = int64_t{2}; }},
    {"real", [](Model& model) { attribute(model, "real") = -1.5F; }},
    {"kind of attribute", [](Model& model) { attribute(model, "real") = int64_t{0x3fc00000}; }},
    {"text", [](Model& model) { attribute(model, "text") = std::string("texts"); }},
    {"large text", [](Model& model) { attribute(model, "large") = blob_of("larger"); }},
    {"tensor", [](Model& model) { attribute(model, "tensor") = float_tensor({8}); }},
    {"sparse values",
     [](Model& model) {
       std::get<SparseTensor>(attribute(model, "sparse")).values = float_tensor({2});
     }},
    {"sparse indices",
     [](Model& model) {
       std::get<SparseTensor>(attribute(model, "sparse")).indices = int64_tensor({4});
     }},
    {"sparse shape",
     [](Model& model) { std::get<SparseTensor>(attribute(model, "sparse")).shape = {6}; }},
    {"type", [](Model& model) { attribute(model, "type") = tensor_type(ElementType::kInt8); }},
    {"integers",
     [](Model& model) {
       attribute(model, "integers") = std::vector<int64_t>{1, 3};
     }},
    {"fewer integers",
     [](Model& model) { attribute(model, "integers") = std::vector<int64_t>{1}; }},
    {"reals",
     [](Model& model) {
       attribute(model, "reals") = std::vector<float>{1, 3};
     }},
    {"division of texts",
     [](Model& model) {
       attribute(model, "texts") = std::vector<std::string>{"ab", "c"};
     }},
    {"value name", [](Model& model) { value(model, "a").name = "c"; }},
    {"element type", [](Model& model) { value(model, "x").type.element = ElementType::kInt8; }},
    {"kind", [](Model& model) { value(model, "x").type.kind = ValueKind::kSparseTensor; }},
    {"extent", [](Model& model) { (*value(model, "x").type.shape)[1] = 5; }},
    {"unknown extent", [](Model& model) { (*value(model, "x").type.shape)[1] = kUnknownDim; }},
    {"symbol", [](Model& model) { (*value(model, "x").type.shape)[0] = symbolic_dim(1); }},
    {"symbol name", [](Model& model) { model.symbols[0] = "count"; }},
    {"symbol name of an attribute", [](Model& model) { model.symbols[1] = "count"; }},
    {"rank", [](Model& model) { value(model, "x").type.shape->push_back(1); }},
    {"unknown rank", [](Model& model) { value(model, "x").type.shape.reset(); }},
    {"nested type",
     [](Model& model) {
       value(model, "a").type.nested =
           std::make_shared<const ValueType>(tensor_type(ElementType::kInt8));
     }},
    {"inputs", [](Model& model) { model.graph.inputs.push_back(2); }},
    {"outputs", [](Model& model) { model.graph.outputs.push_back(2); }},
    {"constant",
     [](Model& model) {
       model.graph.initializers[0] = float_tensor({1, 2, 3, 5});
     }},
    {"shape of a constant",
     [](Model& model) {
       model.graph.initializers[0].shape = {2, 2};
     }},
    {"type of a constant",
     [](Model& model) { model.graph.initializers[0].type = ElementType::kInt32; }},
    {"text constant",
     [](Model& model) {
       model.graph.initializers[2] = text_tensor({"onet", "wo"});
     }},
    {"which constant",
     [](Model& model) {
       std::swap(value(model, "w").initializer, value(model, "scale").initializer);
     }},
    {"annotation",
     [](Model& model) { model.graph.annotations[0].parameters[0].first = "ZERO_POINT_TENSOR"; }},
    {"no annotation", [](Model& model) { model.graph.annotations.clear(); }},
    {"node in a body", [](Model& model) { body(model).nodes[0].op_type = "Sub"; }},
    {"constant in a body", [](Model& model) { body(model).initializers[0] = float_tensor({3}); }},
    {"captured value", [](Model& model) { body(model).values[0].outer = 1; }},
    {"value that a node captures",
     [](Model& model) { model.graph.nodes[2].implicit_inputs.push_back(2); }},
};

TEST(GraphDigest, ChangesWithEverythingThatAProviderSees) {
  std::map<std::string, std::string> names;  // by digest
  for (const auto& [name, change] : kSeen) {
    Model model = sample();
    change(model);
    const auto [other, is_new] = names.emplace(digest_of(model), name);
    EXPECT_TRUE(is_new) << name << " is like " << other->second;
  }
  EXPECT_TRUE(names.emplace(digest_of(sample(), "another maker"), "maker").second);
}

TEST(GraphDigest, DoesNotChangeWithWhatNobodySees) {
  const std::map<std::string, Change> changes = {
      {"the same again", [](Model&) {}},
      {"producer", [](Model& model) { model.producer_name = "other"; }},
      {"who says what a type is",
       [](Model& model) {
         value(model, "a").declared = std::make_shared<const ValueType>(value(model, "a").type);
       }},
      {"documentation of the model", [](Model& model) { model.doc = "other"; }},
      {"place of external data",
       [](Model& model) {
         model.graph.initializers[0].external = std::make_shared<const ExternalLocation>(
             ExternalLocation{.location = "w.bin", .path = "/models/w.bin"});
       }},
      {"number of a symbol",
       [](Model& model) {
         model.symbols = {"other", "batch", "width"};
         (*value(model, "x").type.shape)[0] = symbolic_dim(1);
         attribute(model, "type") = tensor_type(ElementType::kFloat, Shape{symbolic_dim(2)});
       }},
  };
  const std::string digest = digest_of(sample());
  EXPECT_THAT(digest, MatchesRegex("[0-9a-f]{64}"));
  for (const auto& [name, change] : changes) {
    Model model = sample();
    change(model);
    EXPECT_EQ(digest_of(model), digest) << name;
  }
}

TEST(GraphDigest, GoesByThePartitionAndNotByWhatIsAroundIt) {
  const auto part_of = [](std::string_view before) {
    Model model;
    model.graph = GraphBuilder()
                      .input("x")
                      .node(before, {"x"}, {"a"})
                      .constant("w", float_tensor({1, 2}))
                      .node("Mul", {"a", "w"}, {"b"})
                      .node("Neg", {"b"}, {"y"})
                      .output("y")
                      .build();
    model.graph = extract_subgraph(model.graph, std::vector<NodeId>{1, 2}, "part").graph;
    return digest_of(model);
  };
  EXPECT_EQ(part_of("Relu"), part_of("Sigmoid"));
}

TEST(GraphDigest, KnowsSharedDataByItsPlace) {
  const Model model = sample();
  GraphDigester digester(model);
  const Result<std::string> first = digester.digest(model.graph, "maker");
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(*digester.digest(model.graph, "maker"), *first);
  EXPECT_EQ(*first, digest_of(sample()));
}

TEST(GraphDigest, CanBeCancelled) {
  std::atomic<bool> is_cancelled = true;
  Model model;
  model.graph = GraphBuilder().constant("w", float_tensor(std::vector<float>(5 << 20, 1))).build();
  GraphDigester digester(model, Cancellation(&is_cancelled));
  EXPECT_EQ(digester.digest(model.graph, "").status().code(), StatusCode::kCancelled);
  // What was computed by halves is not used.
  is_cancelled = false;
  EXPECT_EQ(*digester.digest(model.graph, "maker"), digest_of(model));
}

}  // namespace
}  // namespace ephost::graph::graph_digest_test
