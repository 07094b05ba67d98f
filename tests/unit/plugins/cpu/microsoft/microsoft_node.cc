#include "tests/unit/plugins/cpu/microsoft/microsoft_node.h"

#include <algorithm>
#include <stdexcept>

#include "tests/support/status_matchers.h"

namespace ephost::test {
namespace {

constexpr std::string_view kDomain = "com.microsoft";

// One call of `infer` for the node of a graph.
class FakeInference : public eph_inference {
 public:
  explicit FakeInference(const SingleNodeGraph& graph) : eph_inference{&kApi}, graph_(graph) {
    outputs.resize(graph.output_count());
  }

  struct Output {
    bool is_set = false;
    int32_t type = EPH_ELEMENT_UNDEFINED;
    std::optional<Shape> shape;
  };
  std::vector<Output> outputs;

 private:
  static const FakeInference& self(const eph_inference* handle) {
    return *static_cast<const FakeInference*>(handle);
  }
  static int32_t get_node(const eph_inference* handle, eph_node_info* out,
                          eph_error* error) noexcept {
    const eph_graph& graph = self(handle).graph_;
    return graph.api->get_node(&graph, 0, out, error);
  }
  static int32_t get_input(const eph_inference* handle, uint32_t input, eph_value_info* out,
                           eph_error* error) noexcept {
    const eph_graph& graph = self(handle).graph_;
    eph_node_info node = {};
    node.struct_size = sizeof(node);
    graph.api->get_node(&graph, 0, &node, error);
    if (input >= node.input_count || node.inputs[input] == EPH_NONE) {
      error->api->set_message(error, EPH_STRING("the node omits this input"));
      return EPH_NOT_FOUND;
    }
    return graph.api->get_value(&graph, node.inputs[input], out, error);
  }
  static int32_t set_output(eph_inference* handle, uint32_t output, int32_t type,
                            const int64_t* shape, const eph_string*, int32_t rank,
                            eph_error*) noexcept {
    auto& stated = static_cast<FakeInference*>(handle)->outputs;
    if (output >= stated.size()) return EPH_OK;
    stated[output] = {true, type, std::nullopt};
    if (rank >= 0) stated[output].shape.emplace(shape, shape + rank);
    return EPH_OK;
  }
  static constexpr eph_inference_api kApi = {sizeof(eph_inference_api), &get_node, &get_input,
                                             &set_output};

  const SingleNodeGraph& graph_;
};

NodeAttribute value_of(const eph_attribute& attribute) {
  switch (attribute.kind) {
    case EPH_ATTRIBUTE_INT:
      return *static_cast<const int64_t*>(attribute.values);
    case EPH_ATTRIBUTE_FLOAT:
      return *static_cast<const float*>(attribute.values);
    case EPH_ATTRIBUTE_STRING:
      return std::string(eph::view(*static_cast<const eph_string*>(attribute.values)));
    default:
      throw std::runtime_error("a default of another kind");
  }
}

struct Way {
  Stated stated;
  bool has_constants;  // all inputs but the first
};

std::unique_ptr<SingleNodeGraph> make_graph(const std::string& op_type, const Arguments& inputs,
                                            const Attributes& attributes, std::size_t outputs,
                                            Way way) {
  auto graph = std::make_unique<SingleNodeGraph>(op_type, 1);
  graph->domain(std::string(kDomain)).state(way.stated);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) {
      graph->skip_input();
    } else if (way.has_constants && i > 0) {
      graph->constant(*inputs[i]);
    } else {
      graph->input(*inputs[i]);
    }
  }
  for (std::size_t i = 0; i < outputs; ++i) graph->output();
  for (const auto& [name, value] : attributes) graph->attribute(name, value);
  const eph_operator_def* definition = find_definition(op_type);
  if (definition == nullptr) throw std::runtime_error(op_type + " has no definition");
  for (uint64_t i = 0; i < definition->attribute_count; ++i) {
    const eph_attribute_def& one = definition->attributes[i];
    const std::string name(eph::view(one.name));
    const bool is_given = std::any_of(attributes.begin(), attributes.end(),
                                      [&](const auto& given) { return given.first == name; });
    if (one.default_value != nullptr && !is_given) {
      graph->attribute(name, value_of(*one.default_value));
    }
  }
  return graph;
}

int32_t infer(const std::string& op_type, FakeInference& inference, FakeError& error) {
  const eph_operator_def* definition = find_definition(op_type);
  return definition->infer(definition, &inference, &error);
}

// What inference says against what came out.
void check_inferred(const SingleNodeGraph& graph, const std::string& op_type, Way way,
                    const Outcome& outcome) {
  FakeInference inference(graph);
  FakeError error;
  ASSERT_EQ(infer(op_type, inference, error), EPH_OK) << error.message;
  for (std::size_t i = 0; i < outcome.outputs.size(); ++i) {
    const FakeInference::Output& said = inference.outputs[i];
    const Tensor& is = outcome.outputs[i];
    if (way.stated == Stated::kTypesAndShapes && said.is_set) {
      EXPECT_TRUE(said.shape.has_value()) << "no shape for output " << i;
    }
    if (said.type != EPH_ELEMENT_UNDEFINED) {
      EXPECT_EQ(said.type, is.type);
    }
    if (!said.shape) continue;
    ASSERT_EQ(said.shape->size(), is.shape.size()) << "output " << i;
    for (std::size_t d = 0; d < is.shape.size(); ++d) {
      if ((*said.shape)[d] >= 0) {
        EXPECT_EQ((*said.shape)[d], is.shape[d]) << "output " << i;
      }
      if (way.stated == Stated::kTypesAndShapes && way.has_constants) {
        EXPECT_GE((*said.shape)[d], 0) << "output " << i << " dimension " << d;
      }
    }
  }
}

}  // namespace

Outcome run_microsoft(const std::string& op_type, const Arguments& inputs,
                      const Attributes& attributes, std::size_t outputs) {
  std::optional<Outcome> first;
  for (const Way way :
       {Way{Stated::kTypesAndShapes, true}, Way{Stated::kTypesAndShapes, false},
        Way{Stated::kTypes, true}, Way{Stated::kTypes, false}, Way{Stated::kNothing, false}}) {
    const auto graph = make_graph(op_type, inputs, attributes, outputs, way);
    const Outcome outcome = cpu_session().run(*graph);
    if (outcome.ok()) check_inferred(*graph, op_type, way, outcome);
    if (!first) {
      first = outcome;
      continue;
    }
    EXPECT_EQ(first->code, outcome.code) << first->message << " / " << outcome.message;
    if (!first->ok() || !outcome.ok()) continue;
    for (std::size_t i = 0; i < first->outputs.size(); ++i) {
      EXPECT_EQ(difference(outcome.outputs[i], first->outputs[i]), "") << "output " << i;
    }
  }
  return *first;
}

Tensor run_microsoft_one(const std::string& op_type, const Arguments& inputs,
                         const Attributes& attributes) {
  Outcome outcome = run_microsoft(op_type, inputs, attributes);
  EXPECT_THAT(outcome, IsOk());
  return outcome.ok() ? outcome.outputs[0] : Tensor();
}

Inferred infer_microsoft(const std::string& op_type, const Arguments& inputs,
                         const Attributes& attributes) {
  const auto graph = make_graph(op_type, inputs, attributes, 1, {Stated::kTypesAndShapes, false});
  FakeInference inference(*graph);
  FakeError error;
  const int32_t code = infer(op_type, inference, error);
  return {code, error.message, inference.outputs[0].type, inference.outputs[0].shape};
}

Outcome run_unchecked(const std::string& op_type, const Arguments& inputs,
                      const Attributes& attributes) {
  return cpu_session().run(*make_graph(op_type, inputs, attributes, 1, {Stated::kNothing, false}));
}

}  // namespace ephost::test
