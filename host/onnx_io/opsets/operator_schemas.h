// Operator definitions of the linked onnx and of opset18_25.h: the definition that an opset
// selects, and whether a node conforms to it. Internal to the importer and to shape inference;
// forward-declares onnx's classes instead of including them.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace onnx {
class NodeProto;
class OpSchema;
}  // namespace onnx

namespace ephost::onnx_io {

// onnx appends the whole node as text to some messages; the first line describes the error.
[[nodiscard]] std::string first_line(std::string_view message);

enum class OpsetKnowledge {
  kKnown,   // every operator of this opset has a definition
  kNewer,   // a known domain, but an unknown version
  kForeign  // an unknown domain
};

[[nodiscard]] OpsetKnowledge opset_knowledge(const std::string& domain, int64_t version);

// The newest definition that is not newer than `version`, or null.
[[nodiscard]] const onnx::OpSchema* find_schema(const std::string& domain,
                                                const std::string& op_type, int64_t version);

// The version in which the definition was introduced.
[[nodiscard]] int32_t since_version(const onnx::OpSchema& schema);

// Operators that were never in an opset, but that old exporters wrote.
[[nodiscard]] bool is_experimental(const std::string& op_type);

// Returns INVALID_GRAPH with onnx's reason if the counts of inputs and outputs or the attributes
// differ from the definition, or if the operator is deprecated. Does not check subgraphs.
[[nodiscard]] Status verify_against(const onnx::OpSchema& schema, const onnx::NodeProto& node);

// onnx's checker for the nodes of one model. Not thread-safe.
class NodeChecker {
 public:
  NodeChecker(int64_t ir_version, const std::map<std::string, int64_t>& opset_imports);
  NodeChecker(const NodeChecker&) = delete;
  NodeChecker& operator=(const NodeChecker&) = delete;
  ~NodeChecker();

  // Checks a node without subgraphs whose operator has this definition. Returns INVALID_GRAPH with
  // the checker's reason.
  [[nodiscard]] Status check(const onnx::NodeProto& node, const onnx::OpSchema& schema);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ephost::onnx_io
