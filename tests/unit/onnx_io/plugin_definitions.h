// Models of operators that a plugin defines, and the definitions.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/graph/connect.h"
#include "host/onnx_io/opsets/plugin_operators.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::onnx_io::testing {

inline constexpr uint64_t kFloatBit = 1U << 1;
inline constexpr uint64_t kInt64Bit = 1U << 7;
inline constexpr uint64_t kDoubleBit = 1U << 11;

// Crop(X: T, border?: int64, rest?...: T) -> (Y: T, count?: int64) with attributes: factor, which
// has a default, and mode, which is required. T is float or double.
inline OperatorDefinition crop(int32_t since = 1) {
  OperatorDefinition made;
  made.plugin = "AcmeExecutionProvider";
  made.op_type = "Crop";
  made.domain = "com.acme";
  made.since_version = since;
  made.inputs = {{.name = "X", .type_name = "T", .element_types = kFloatBit | kDoubleBit},
                 {.name = "border", .element_types = kInt64Bit, .is_optional = true},
                 {.name = "rest",
                  .type_name = "T",
                  .element_types = kFloatBit | kDoubleBit,
                  .is_optional = true,
                  .is_variadic = true}};
  made.outputs = {{.name = "Y", .type_name = "T", .element_types = kFloatBit | kDoubleBit},
                  {.name = "count", .element_types = kInt64Bit, .is_optional = true}};
  made.attributes = {{.name = "factor", .kind = 1, .default_value = 2.0F},
                     {.name = "mode", .kind = 3, .is_required = true}};
  return made;
}

inline PluginOperators operators_of(std::vector<OperatorDefinition> definitions) {
  PluginOperators operators;
  (void)operators.add(std::move(definitions));
  return operators;
}

// Makes all Crop nodes those of com.acme, version `version` of which the model imports.
inline graph::Model acme_model(graph::Graph graph, int32_t version = 1) {
  graph::Model model;
  for (graph::Node& node : graph.nodes) {
    if (node.op_type != "Crop" && node.op_type != "Grow") continue;
    node.domain = "com.acme";
    node.since_version = version;
  }
  model.graph = std::move(graph);
  model.ir_version = 8;
  model.opset_imports = {{"", 17}, {"com.acme", version}};
  return model;
}

}  // namespace ephost::onnx_io::testing
