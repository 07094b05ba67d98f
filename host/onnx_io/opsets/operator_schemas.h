// What the linked onnx and opset18_25.h know about operators: the definition that an opset
// selects, and whether a node keeps to it. Internal to the importer and to shape inference; names
// onnx's classes without including them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "ephost/status.h"

namespace onnx {
class NodeProto;
class OpSchema;
}  // namespace onnx

namespace ephost::onnx_io {

enum class OpsetKnowledge {
  kKnown,   // every operator of this opset has a definition
  kNewer,   // a domain that is known, a version that isn't
  kForeign  // a domain that isn't known
};

[[nodiscard]] OpsetKnowledge opset_knowledge(const std::string& domain, int64_t version);

// The newest definition that is no newer than `version`, or null.
[[nodiscard]] const onnx::OpSchema* find_schema(const std::string& domain,
                                                const std::string& op_type, int64_t version);

// Version in which the definition appeared.
[[nodiscard]] int32_t since_version(const onnx::OpSchema& schema);

// Operators that were never in an opset, but that old exporters wrote.
[[nodiscard]] bool is_experimental(const std::string& op_type);

// INVALID_GRAPH with onnx's reason if the counts of inputs and outputs or the attributes differ
// from the definition, or if it is deprecated. Doesn't look into subgraphs.
[[nodiscard]] Status verify_against(const onnx::OpSchema& schema, const onnx::NodeProto& node);

// onnx's checker for the nodes of one model. One thread at a time.
class NodeChecker {
 public:
  NodeChecker(int64_t ir_version, const std::map<std::string, int64_t>& opset_imports);
  NodeChecker(const NodeChecker&) = delete;
  NodeChecker& operator=(const NodeChecker&) = delete;
  ~NodeChecker();

  // A node without subgraphs whose operator has this definition. INVALID_GRAPH with the checker's
  // reason.
  [[nodiscard]] Status check(const onnx::NodeProto& node, const onnx::OpSchema& schema);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ephost::onnx_io
