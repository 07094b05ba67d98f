// The model-local functions of a model, parsed, with the sizes of their expansions. Internal to the
// importer of functions; the only header of this folder that includes the generated classes.
#pragma once

#include <ephost/status.h>
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/graph/graph.h"
#include "host/onnx_io/import/graph_import.h"

namespace ephost::onnx_io {

struct LocalFunction {
  onnx::FunctionProto proto;
  std::vector<onnx::AttributeProto> defaults;  // of its attributes
  uint64_t expanded_size = 0;                  // nodes after inlining all functions; saturates
  uint64_t stated_bytes = 0;                   // size in the model
};

using FunctionTable = std::map<FunctionName, LocalFunction>;

// "" for ai.onnx, which has two names.
[[nodiscard]] std::string domain_of(const std::string& domain);

// The function that the node calls, if there is one of that name.
[[nodiscard]] FunctionName callee_of(const graph::Node& node);

// Returns INVALID_PROTOBUF for a function that does not parse, and INVALID_GRAPH if functions call
// each other recursively.
[[nodiscard]] Result<FunctionTable> parse_functions(const graph::Model& model);

}  // namespace ephost::onnx_io
