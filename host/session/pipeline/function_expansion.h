// Inlines function calls that no provider claims, of the model's functions and of operators that
// ONNX defines by a body. Providers are asked about the call first, and about its body after.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "host/onnx_io/import/model_functions.h"
#include "host/optimize/function_inlining.h"
#include "host/session/config/session_config.h"
#include "host/session/model/prepared_model.h"
#include "host/session/pipeline/compilation.h"

namespace ephost::session {

// For one model; all calls must be about the same one. INVALID_GRAPH if the model grows beyond the
// limit, CANCELLED or DEADLINE_EXCEEDED once its preparation is cancelled.
class FunctionInlining {
 public:
  // Nesting of functions.
  static constexpr uint32_t kMaxDepth = 64;

  // `max_growth`: total number of nodes and values that may be added. Other content counts as the
  // number of nodes that take the same memory.
  explicit FunctionInlining(uint64_t max_growth = SessionConfig().max_inlined_nodes)
      : max_growth_(max_growth) {}

  // Whether there may be a call that no provider has a kernel for. If not, the providers need not
  // be asked before partitioning.
  [[nodiscard]] Result<bool> may_inline(const PreparedModel& prepared);

  // Call after partition_model. Inlines the calls that no provider claimed, or that have the name
  // of another operator: those of the model's functions first, those of operators when no other is
  // left, since their types are known only then. Returns whether there were any; then
  // partition_model must be called again. Failures, cached partitions and `made` stay valid for the
  // nodes that remain. A failure of a provider at a call also holds for its body.
  [[nodiscard]] Result<bool> inline_unclaimed(PreparedModel& prepared, MadeComputations& made);

 private:
  struct Calls {
    graph::Graph* graph;
    const std::string* path;
    std::vector<graph::NodeId> nodes;
  };

  Status open(const PreparedModel& prepared);
  [[nodiscard]] std::vector<Calls> find_unclaimed(PreparedModel& prepared) const;
  Result<uint64_t> inline_in(PreparedModel& prepared, const Calls& calls, MadeComputations& made);
  Status count_growth(const graph::Graph& graph, graph::NodeId call,
                      const graph::FunctionBody& body);
  [[nodiscard]] Status too_large(const std::string& call) const;
  void drop_unused_functions(graph::Model& model) const;

  std::optional<onnx_io::FunctionLibrary> library_;
  std::optional<optimize::UniqueNames> names_;
  uint64_t max_growth_;
  uint32_t depth_ = 0;
  uint64_t growth_ = 0;
  // Domain, name and overload of the inlined functions.
  std::set<std::tuple<std::string, std::string, std::string>> inlined_;
};

}  // namespace ephost::session
