#include "host/session/model/prepared_model.h"

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

bool accepts(const bridge::Provider& provider, std::string_view source) {
  const std::vector<std::string>& sources = provider.plugin().manifest.context_sources;
  // A node without a source goes to the first provider that supports contexts.
  if (source.empty()) return !sources.empty();
  return std::find(sources.begin(), sources.end(), source) != sources.end();
}

bridge::Provider* find_accepting(const PreparedModel& prepared, std::string_view source) {
  for (const auto& provider : prepared.providers) {
    if (accepts(*provider, source)) return provider.get();
  }
  return nullptr;
}

Status check_workers(const PreparedModel& prepared) {
  if (prepared.workers == nullptr) return Status::ok_status();
  const std::vector<LostProvider> lost = prepared.workers->lost();
  return lost.empty() ? Status::ok_status() : lost.front().reason;
}

}  // namespace ephost::session
