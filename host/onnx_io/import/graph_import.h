// Conversion of GraphProto to graph::Graph: names to ids, subgraphs with their captures,
// attributes, and the check of each node against its operator's definition. Internal to the
// importer; forward-declares the generated classes instead of including them.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "host/base/cancellation.h"
#include "host/graph/checks.h"
#include "host/graph/graph.h"
#include "host/onnx_io/import/import.h"
#include "host/onnx_io/import/notes.h"
#include "host/onnx_io/import/tensor_import.h"
#include "host/onnx_io/import/value_types.h"
#include "host/onnx_io/opsets/operator_schemas.h"
#include "host/onnx_io/overrides/initializers.h"

namespace onnx {
class AttributeProto;
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace ephost::onnx_io {

using FunctionName = std::tuple<std::string, std::string, std::string>;  // domain, name, overload
using FunctionNames = std::set<FunctionName>;

struct ImportedOpset {
  int64_t version = 0;
  OpsetKnowledge knowledge = OpsetKnowledge::kForeign;
};

// What the body of a function may refer to in the node that calls it.
struct FunctionCall {
  const graph::Graph& graph;
  const graph::Node& node;
  const onnx::NodeProto& proto;  // the node in the form that onnx checks (node_proto.h)
  // The values of attributes that the call omits.
  std::map<std::string, const onnx::AttributeProto*> defaults;
  // The values of `graph` that the body may read, by the names that the body uses.
  std::map<std::string, graph::ValueId> captures;
};

// The state that all levels of a model share.
struct ImportContext {
  TensorImporter& tensors;
  DimSymbols& symbols;
  Notes& notes;
  NodeChecker& checker;
  int64_t ir_version = 0;
  // The functions of the model; borrowed, so that the cost of importing one small body does not
  // depend on all functions.
  const FunctionNames& functions;
  std::map<std::string, ImportedOpset> opsets;  // by domain; "" is ai.onnx
  // Definitions that were looked up, by domain and operator type; null if there is none. The names
  // belong to the model's message.
  std::map<std::pair<std::string_view, std::string_view>, const onnx::OpSchema*> schemas;
  InitializerReplacement* replacement = nullptr;  // null: none are replaced
  const FunctionCall* call = nullptr;             // if the graph is the body of a function
  uint64_t max_dense_bytes = ImportOptions().max_dense_bytes;
  uint64_t dense_bytes = 0;  // of all sparse initializers so far
  Cancellation cancellation = {};
};

// The recursion limit for protobuf. Each graph level takes three messages; the rest is for what the
// innermost level contains.
inline constexpr int kRecursionLimit = 3 * static_cast<int>(graph::kMaxNesting) + 64;

// The IR version since which an initializer that is also a graph input is a default that callers
// may override; before, every initializer had to be listed as an input.
inline constexpr int64_t kOptionalInputsSince = 4;

// The graph is in SSA form, but neither connected nor sorted. Modifies `proto` where names have
// several spellings, and where it refers to attributes of a call. Returns INVALID_GRAPH with the
// place.
[[nodiscard]] Result<graph::Graph> import_graph(onnx::GraphProto& proto, ImportContext& context);

using SubgraphImporter =
    std::function<Result<std::unique_ptr<graph::Graph>>(onnx::GraphProto& proto)>;

// Sets the type in `proto` if it is missing. Returns INVALID_GRAPH if the attribute has no type and
// does not hold exactly one value, if the value does not have the stated type, or if it refers
// to an attribute of an enclosing function.
[[nodiscard]] Result<graph::AttributeValue> import_attribute(onnx::AttributeProto& proto,
                                                             ImportContext& context,
                                                             const SubgraphImporter& subgraph);

}  // namespace ephost::onnx_io
