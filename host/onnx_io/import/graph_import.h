// GraphProto to graph::Graph: names to ids, subgraphs with what they capture, attributes, and the
// check of each node against its operator's definition. Internal to the importer; names the
// generated classes without including them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "ephost/status.h"
#include "host/base/cancellation.h"
#include "host/graph/checks.h"
#include "host/graph/graph.h"
#include "host/onnx_io/import/import.h"
#include "host/onnx_io/import/notes.h"
#include "host/onnx_io/import/tensor_import.h"
#include "host/onnx_io/import/value_types.h"
#include "host/onnx_io/opsets/operator_schemas.h"

namespace onnx {
class AttributeProto;
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace ephost::onnx_io {

// Domain, name and overload of functions.
using FunctionNames = std::set<std::tuple<std::string, std::string, std::string>>;

struct ImportedOpset {
  int64_t version = 0;
  OpsetKnowledge knowledge = OpsetKnowledge::kForeign;
};

// What the body of a function may refer to of the node that calls it.
struct FunctionCall {
  const graph::Graph& graph;
  const graph::Node& node;
  const onnx::NodeProto& proto;  // the node as onnx checks it (node_proto.h)
  // What an attribute is if the call leaves it out.
  std::map<std::string, const onnx::AttributeProto*> defaults;
  // Values of `graph` that the body may read, by the names that it knows them under.
  std::map<std::string, graph::ValueId> captures;
};

// What all levels of a model share.
struct ImportContext {
  TensorImporter& tensors;
  DimSymbols& symbols;
  Notes& notes;
  NodeChecker& checker;
  int64_t ir_version = 0;
  // Those of the model; borrowed, so that the import of one small body does not cost what all
  // functions cost.
  const FunctionNames& functions;
  std::map<std::string, ImportedOpset> opsets;  // by domain; "" is ai.onnx
  // Definitions that were looked up, null where there is none, by domain and type of operator. The
  // names are those of the model's message.
  std::map<std::pair<std::string_view, std::string_view>, const onnx::OpSchema*> schemas;
  const FunctionCall* call = nullptr;  // where the graph is the body of a function
  uint64_t max_dense_bytes = ImportOptions().max_dense_bytes;
  uint64_t dense_bytes = 0;  // of the sparse initializers so far
  Cancellation cancellation = {};
};

// For protobuf. Each graph level takes three messages; the rest is for what hangs off the innermost
// one.
inline constexpr int kRecursionLimit = 3 * static_cast<int>(graph::kMaxNesting) + 64;

// IR version since which an initializer that is also a graph input is a default that callers may
// override; before, every initializer had to be listed as an input.
inline constexpr int64_t kOptionalInputsSince = 4;

// The graph is in SSA form but neither connected nor sorted. `proto` is changed where names have
// several spellings, and where it refers to attributes of a call. INVALID_GRAPH with the place.
[[nodiscard]] Result<graph::Graph> import_graph(onnx::GraphProto& proto, ImportContext& context);

using SubgraphImporter =
    std::function<Result<std::unique_ptr<graph::Graph>>(onnx::GraphProto& proto)>;

// Sets the type in `proto` where it is missing. INVALID_GRAPH if the attribute states no type and
// holds not exactly one value, if the value is of another type than stated, or if it refers to an
// attribute of an enclosing function.
[[nodiscard]] Result<graph::AttributeValue> import_attribute(onnx::AttributeProto& proto,
                                                             ImportContext& context,
                                                             const SubgraphImporter& subgraph);

}  // namespace ephost::onnx_io
