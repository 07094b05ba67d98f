// onnx's inference functions must survive all input that passes the checks before them: every known
// version of every operator is called with odd types, shapes, constants and attributes. If this
// test crashes, it cannot name the operator; run it with EPHOST_TRACE_OPERATORS=1 to see the last
// one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/defs/schema.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>
#include <tuple>

#include "host/graph/connect.h"
#include "host/onnx_io/inference/infer.h"
#include "host/onnx_io/opsets/opset18_25.h"
#include "host/onnx_io/opsets/opset18_25_operators.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::onnx_io::inference_guards_test {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Model;
using graph::Node;
using graph::Shape;
using graph::Tensor;
using graph::ValueKind;
using graph::ValueType;
using graph::testing::GraphBuilder;
using graph::testing::int64_tensor;
using graph::testing::make_tensor;
using graph::testing::tensor_type;
using graph::testing::without_versions;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<onnx::OpSchema> all_schemas() {
  std::vector<onnx::OpSchema> schemas = onnx::OpSchemaRegistry::get_all_schemas_with_history();
  for (const auto& [domain, revisions] : {std::pair("", onnx_revisions_after_17()),
                                          std::pair("ai.onnx.ml", ml_revisions_after_3())}) {
    for (const Revision& revision : revisions) {
      schemas.push_back(
          *all_operators().GetSchema(std::string(revision.op_type), revision.since, domain));
    }
  }
  std::erase_if(schemas, [](const onnx::OpSchema& schema) { return schema.Deprecated(); });
  const auto key = [](const onnx::OpSchema& schema) {
    return std::tuple(schema.domain(), schema.Name(), schema.SinceVersion());
  };
  std::sort(schemas.begin(), schemas.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return schemas;
}

class OddNodes {
 public:
  OddNodes(const std::vector<onnx::OpSchema>& schemas, uint32_t seed)
      : schemas_(schemas), random_(seed) {}

  Model model_of(const onnx::OpSchema& schema) {
    Model model{.ir_version = 8,
                .opset_imports = {{"", newest_opset("")},
                                  {"ai.onnx.ml", newest_opset("ai.onnx.ml")},
                                  {"ai.onnx.training", 1},
                                  {"ai.onnx.preview.training", 1}},
                .symbols = {"n", "m"}};
    model.opset_imports[schema.domain()] = schema.SinceVersion();
    add_node(model.graph, schema, 0);
    connect(model.graph);
    return model;
  }

 private:
  uint64_t pick(uint64_t count) { return random_() % count; }

  int64_t odd_number() {
    constexpr int64_t kOdd[] = {-1,        -2,         -7,
                                7,         64,         1000,
                                INT64_MAX, INT64_MIN,  INT64_MIN + 1,
                                1LL << 31, -1LL << 31, 1LL << 32,
                                1LL << 33, 1LL << 62,  -(1LL << 62)};
    return pick(3) != 0 ? static_cast<int64_t>(pick(6)) : kOdd[pick(std::size(kOdd))];
  }

  Shape shape() {
    Shape result(pick(6));
    for (int64_t& dim : result) {
      constexpr int64_t kOdd[] = {
          graph::kUnknownDim, graph::symbolic_dim(0), graph::symbolic_dim(1), 1LL << 31, 1LL << 62,
          INT64_MAX};
      dim = pick(2) != 0 ? static_cast<int64_t>(pick(6)) : kOdd[pick(std::size(kOdd))];
    }
    return result;
  }

  ValueType type_of(const onnx::TypeProto& proto) {
    ValueType type;
    const auto nested = [&](const onnx::TypeProto& inner) {
      return std::make_shared<const ValueType>(type_of(inner));
    };
    if (proto.has_tensor_type() || proto.has_sparse_tensor_type()) {
      type.kind = proto.has_tensor_type() ? ValueKind::kTensor : ValueKind::kSparseTensor;
      type.element = static_cast<ElementType>(proto.has_tensor_type()
                                                  ? proto.tensor_type().elem_type()
                                                  : proto.sparse_tensor_type().elem_type());
      if (pick(8) != 0) type.shape = shape();
    } else if (proto.has_sequence_type()) {
      type = {.kind = ValueKind::kSequence, .nested = nested(proto.sequence_type().elem_type())};
    } else if (proto.has_optional_type()) {
      type = {.kind = ValueKind::kOptional, .nested = nested(proto.optional_type().elem_type())};
    } else if (proto.has_map_type()) {
      type = {.kind = ValueKind::kMap,
              .element = static_cast<ElementType>(proto.map_type().key_type()),
              .nested = nested(proto.map_type().value_type())};
    }
    return type;
  }

  Tensor tensor(ElementType type) {
    Shape dims(pick(3) != 0 ? 1 : pick(3));
    uint64_t count = 1;
    for (int64_t& dim : dims) {
      dim = static_cast<int64_t>(pick(7));
      count *= static_cast<uint64_t>(dim);
    }
    if (type == ElementType::kString) {
      return {.type = type,
              .shape = dims,
              .strings = std::make_shared<const std::vector<std::string>>(count)};
    }
    if (type == ElementType::kInt64 || type == ElementType::kInt32) {
      std::vector<int64_t> numbers(count);
      for (int64_t& number : numbers) number = odd_number();
      if (type == ElementType::kInt64) return make_tensor(type, dims, numbers);
      return make_tensor(type, dims, std::vector<int32_t>(numbers.begin(), numbers.end()));
    }
    std::vector<uint8_t> bytes(*graph::byte_size(type, dims));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(pick(256));
    return make_tensor(type, dims, bytes);
  }

  std::string text() {
    constexpr const char* kTexts[] = {"",           "SAME_UPPER", "VALID",   "NOTSET",  "ij,jk->ik",
                                      "...ij->...", "i,i->",      "->",      ",,",      "constant",
                                      "linear",     "sizes",      "forward", "nearest", "DCR"};
    return kTexts[pick(std::size(kTexts))];
  }

  template <class Element, class Make>
  std::vector<Element> list(Make make) {
    std::vector<Element> elements(pick(7));
    for (Element& element : elements) element = make();
    return elements;
  }

  std::optional<graph::AttributeValue> attribute(onnx::AttributeProto::AttributeType type,
                                                 int depth) {
    switch (type) {
      case onnx::AttributeProto::INT:
        return odd_number();
      case onnx::AttributeProto::FLOAT:
        return static_cast<float>(pick(3));
      case onnx::AttributeProto::STRING:
        return text();
      case onnx::AttributeProto::INTS:
        return list<int64_t>([&] { return odd_number(); });
      case onnx::AttributeProto::FLOATS:
        return list<float>([&] { return static_cast<float>(pick(4)); });
      case onnx::AttributeProto::STRINGS:
        return list<std::string>([&] { return text(); });
      case onnx::AttributeProto::TENSOR:
        return tensor(static_cast<ElementType>(1 + pick(16)));
      case onnx::AttributeProto::GRAPH:
        return std::make_unique<Graph>(body(depth + 1));
      case onnx::AttributeProto::TYPE_PROTO:
        return tensor_type(ElementType::kFloat);
      default:
        return std::nullopt;
    }
  }

  graph::ValueId add_value(Graph& graph) {
    return graph.add_value({.name = "v" + std::to_string(graph.values.size())});
  }

  graph::ValueId add_input(Graph& graph, const onnx::OpSchema::FormalParameter& parameter) {
    const graph::ValueId id = add_value(graph);
    std::vector<std::string> types;
    for (const onnx::DataType type : parameter.GetTypes()) types.push_back(*type);
    std::sort(types.begin(), types.end());
    if (types.empty() || pick(20) == 0) return id;  // of unknown type
    const bool has_float = std::count(types.begin(), types.end(), "tensor(float)") > 0;
    std::string chosen = has_float && pick(2) != 0 ? "tensor(float)" : types[pick(types.size())];
    if (pick(8) == 0) {  // a type that the definition does not list
      std::vector<std::string> any = onnx::OpSchema::all_tensor_types();
      any.emplace_back("tensor(bfloat16)");
      chosen = any[pick(any.size())];
    }
    using Utils = onnx::Utils::DataTypeUtils;
    graph.values[id].type = type_of(Utils::ToTypeProto(Utils::ToType(chosen)));
    if (graph.values[id].type.kind == ValueKind::kTensor && pick(2) != 0) {
      Tensor constant = tensor(graph.values[id].type.element);
      graph.values[id].type.shape = constant.shape;
      graph.values[id].initializer = static_cast<uint32_t>(graph.initializers.size());
      graph.initializers.push_back(std::move(constant));
    }
    return id;
  }

  void add_node(Graph& graph, const onnx::OpSchema& schema, int depth) {
    Node node{.name = "odd",
              .op_type = schema.Name(),
              .domain = schema.domain(),
              .since_version = schema.SinceVersion()};
    const auto arity = [&](int lowest, int highest) {
      return lowest +
             static_cast<int>(pick(static_cast<uint64_t>(std::min(highest - lowest, 4)) + 1));
    };
    const int inputs = arity(schema.min_input(), schema.max_input());
    for (int i = 0; i < inputs; ++i) {
      const auto last = schema.inputs().size() - 1;
      const auto& parameter = schema.inputs()[std::min(static_cast<size_t>(i), last)];
      const bool left_out = parameter.GetOption() == onnx::OpSchema::Optional && pick(4) == 0;
      node.inputs.push_back(left_out ? graph::kNoValue : add_input(graph, parameter));
    }
    const int outputs = arity(schema.min_output(), schema.max_output());
    for (int i = 0; i < outputs; ++i) node.outputs.push_back(add_value(graph));
    for (const auto& [name, formal] : schema.attributes()) {
      if (!formal.required && pick(3) == 0) continue;
      if (auto value = attribute(formal.type, depth)) {
        node.attributes.push_back({name, std::move(*value)});
      }
    }
    graph.add_node(std::move(node));
  }

  Graph body(int depth) {
    Graph graph{.name = "body"};
    for (uint64_t i = pick(5); i > 0; --i) {
      const graph::ValueId id = add_value(graph);
      if (pick(3) != 0) {
        const ElementType element = pick(2) != 0 ? ElementType::kFloat : ElementType::kInt64;
        graph.values[id].type = {.kind = ValueKind::kTensor, .element = element, .shape = shape()};
      }
      graph.inputs.push_back(id);
    }
    if (depth < 3) add_node(graph, schemas_[pick(schemas_.size())], depth);
    for (uint64_t i = pick(4); i > 0 && !graph.values.empty(); --i) {
      graph.outputs.push_back(static_cast<graph::ValueId>(pick(graph.values.size())));
    }
    return graph;
  }

  const std::vector<onnx::OpSchema>& schemas_;
  std::mt19937_64 random_;
};

TEST(InferenceGuards, EveryOperatorSurvivesOddArguments) {
  const std::vector<onnx::OpSchema> schemas = all_schemas();
  const bool trace = std::getenv("EPHOST_TRACE_OPERATORS") != nullptr;
  uint32_t seed = 0;
  for (const onnx::OpSchema& schema : schemas) {
    if (trace) std::cerr << schema.Name() << '-' << schema.SinceVersion() << std::endl;
    OddNodes nodes(schemas, ++seed);
    for (int round = 0; round < 200; ++round) {
      Model model = nodes.model_of(schema);
      infer_shapes(model);
    }
  }
}

// The notes of inferring one node of operator `op` in opset 17.
std::vector<std::string> notes(GraphBuilder& builder) {
  Model model{.graph = without_versions(builder.output("y").build()),
              .ir_version = 8,
              .opset_imports = {{"", 17}}};
  return infer_shapes(model);
}

TEST(InferenceGuards, SayWhatIsWrong) {
  const ValueType image = tensor_type(ElementType::kFloat, Shape{1, 3, 8, 8});
  GraphBuilder type;
  type.input("x", tensor_type(ElementType::kString)).node("Relu", {"x"}, {"y"});
  EXPECT_THAT(notes(type), ElementsAre(HasSubstr("input 0 (X) must not be tensor(string)")));

  GraphBuilder rank;
  rank.input("a", image).input("b", image).node("Gemm", {"a", "b"}, {"y"});
  EXPECT_THAT(notes(rank), ElementsAre(HasSubstr("input 0 must not have rank 4")));

  GraphBuilder stride;
  stride.input("x", image)
      .node("MaxPool", {"x"}, {"y"})
      .attribute("kernel_shape", std::vector<int64_t>{2, 2})
      .attribute("strides", std::vector<int64_t>{0, 1});
  EXPECT_THAT(notes(stride), ElementsAre(HasSubstr("attribute strides must not be 0")));

  GraphBuilder count;
  count.input("x", image)
      .node("MaxPool", {"x"}, {"y"})
      .attribute("kernel_shape", std::vector<int64_t>{2, 2, 2});
  EXPECT_THAT(notes(count),
              ElementsAre(HasSubstr("kernel_shape has 3 values, which does not fit rank 4")));

  GraphBuilder filter;
  filter.input("x", image)
      .input("w", tensor_type(ElementType::kFloat, Shape{4, 3, 3}))
      .node("Conv", {"x", "w"}, {"y"});
  EXPECT_THAT(notes(filter), ElementsAre(HasSubstr("must be of the same rank")));

  GraphBuilder flat;
  flat.input("x", tensor_type(ElementType::kFloat, Shape{4}))
      .node("MaxPool", {"x"}, {"y"})
      .attribute("kernel_shape", std::vector<int64_t>{2});
  EXPECT_THAT(notes(flat), ElementsAre(HasSubstr("input 0 must not have rank 1")));

  GraphBuilder block;
  block.input("x", image).node("DepthToSpace", {"x"}, {"y"}).attribute("blocksize", int64_t{0});
  EXPECT_THAT(notes(block), ElementsAre(HasSubstr("attribute blocksize must not be 0")));

  GraphBuilder split;
  split.input("x", image)
      .constant("parts", int64_tensor({0}))
      .node("SplitToSequence", {"x", "parts"}, {"y"});
  EXPECT_THAT(notes(split), ElementsAre(HasSubstr("a part must not have length 0")));

  GraphBuilder expand;
  expand.input("x", image)
      .input("s", tensor_type(ElementType::kInt64, Shape{1 << 30}))
      .node("Expand", {"x", "s"}, {"y"});
  EXPECT_THAT(notes(expand), ElementsAre(HasSubstr("the shape in input 1 has 1073741824")));

  GraphBuilder unpool;
  unpool.input("x", image)
      .input("i", tensor_type(ElementType::kInt64))
      .node("MaxUnpool", {"x", "i"}, {"y"})
      .attribute("kernel_shape", std::vector<int64_t>{2, 2});
  EXPECT_THAT(notes(unpool), ElementsAre(HasSubstr("the rank of input 1 is not known")));
}

}  // namespace
}  // namespace ephost::onnx_io::inference_guards_test
