#include "host/session/pipeline/model/prepared_model.h"

namespace ephost::session {
namespace {

template <class Graph>
void append_with_bodies(Graph& graph, std::vector<Graph*>& out) {
  out.push_back(&graph);
  for (auto& body : graph.bodies) append_with_bodies<Graph>(body, out);
}

}  // namespace

std::vector<PreparedGraph*> PreparedModel::graphs() {
  std::vector<PreparedGraph*> all;
  append_with_bodies(main, all);
  return all;
}

std::vector<const PreparedGraph*> PreparedModel::graphs() const {
  std::vector<const PreparedGraph*> all;
  append_with_bodies(main, all);
  return all;
}

size_t PreparedModel::partition_count() const {
  size_t count = 0;
  for (const PreparedGraph* graph : graphs()) count += graph->partitioning.partitions.size();
  return count;
}

std::vector<Fallback> fallbacks_of(const PreparedModel& prepared) {
  std::vector<Fallback> fallbacks;
  for (const LostProvider& lost : prepared.lost) {
    fallbacks.push_back({.provider = lost.name, .reason = lost.reason});
  }
  for (const CompileFailure& failure : prepared.failures) {
    fallbacks.push_back({prepared.providers[failure.provider]->name(), failure.partition,
                         failure.nodes.size(), failure.reason});
  }
  return fallbacks;
}

}  // namespace ephost::session
