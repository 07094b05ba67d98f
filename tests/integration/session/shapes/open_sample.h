// A model with open extents, for tests of specialisations with the scripted provider:
//
//   x[batch,seq] --Neg--> a --Add(x0)--> b --Relu--> c --Abs--> y
//
// The scripted provider has no Abs. With its option `fixed`, it claims nodes only if extents are
// fixed, and wishes for that.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/session/scripted_sample.h"

namespace ephost::test {

// A shape of symbol 0, "batch", and symbol 1, "seq".
inline graph::ValueType open_type() {
  return graph::testing::tensor_type(ElementType::kFloat,
                                     graph::Shape{graph::symbolic_dim(0), graph::symbolic_dim(1)});
}

inline graph::Model open_model() {
  graph::Model model = model_of(graph::testing::GraphBuilder()
                                    .input("x", open_type())
                                    .node("Neg", {"x"}, {"a"})
                                    .node("Add", {"a", "a"}, {"b"})
                                    .node("Relu", {"b"}, {"c"})
                                    .node("Abs", {"c"}, {"y"})
                                    .output("y")
                                    .build());
  model.symbols = {"batch", "seq"};
  model.graph.values[model.graph.find_value("y")].type = open_type();
  return model;
}

inline Value floats_of(std::vector<int64_t> shape) {
  Value value = *Value::allocate(ElementType::kFloat, std::move(shape));
  float next = -3;
  for (float& element : value.mutable_elements<float>()) element = next += 0.25F;
  return value;
}

// What open_model() gives for floats_of(shape).
inline std::vector<float> open_result(std::vector<int64_t> shape) {
  const Value x = floats_of(std::move(shape));
  std::vector<float> result;
  for (const float element : x.elements<float>()) result.push_back(std::max(-2 * element, 0.0F));
  return result;
}

// Provider options that make it wish for extents, and entries of the session.
inline SessionOptions fixed(const std::string& symbols, OptionList entries = {},
                            OptionList provider = {}) {
  provider.emplace_back("fixed", symbols);
  SessionOptions options = scripted(std::move(provider));
  for (auto& [key, value] : entries) {
    options.add_config_entry("session.shapes." + key, std::move(value));
  }
  return options;
}

}  // namespace ephost::test
