// Functions in the pipeline: what no provider takes as it is, and that has a body, gives way to its
// body. Providers are asked before, with the call, and after, with what it stands for.
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
#include "host/session/pipeline/compilation.h"
#include "host/session/pipeline/prepared_model.h"
#include "host/session/session_config.h"

namespace ephost::session {

// Of one model on its way through the pipeline; models may not be exchanged in between. A model
// that is made to grow without bound ends with INVALID_GRAPH. MODEL_LOAD_CANCELED once that is
// requested of the model's preparation.
class FunctionInlining {
 public:
  // Functions in functions.
  static constexpr uint32_t kMaxDepth = 64;

  // `max_growth`: nodes and values that may be added in all; other content of bodies counts as so
  // many of them as would take the same memory.
  explicit FunctionInlining(uint64_t max_growth = SessionConfig().max_inlined_nodes)
      : max_growth_(max_growth) {}

  // Whether there may be a call that no provider has a kernel for: only then it is worth asking
  // them beforehand.
  [[nodiscard]] Result<bool> may_inline(const PreparedModel& prepared);

  // After partition_model: inlines the calls that nobody took, or that have the name of another
  // operator, of the model's functions first and of
  // operators when there are no more of those, as their types are known only then. Whether there
  // were any; partition_model must follow then. What was found out about nodes (failures, cached
  // partitions, `made`) is kept for those that stay; what a provider failed at holds for the body
  // of a call as well.
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
  // Domain, name and overload of those that were inlined.
  std::set<std::tuple<std::string, std::string, std::string>> inlined_;
};

}  // namespace ephost::session
