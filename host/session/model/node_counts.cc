#include "host/session/model/node_counts.h"

#include "host/runtime/control_flow/control_flow.h"
#include "host/session/environment/plugin_loader.h"

namespace ephost::session {

std::map<std::string, uint64_t> count_nodes(const PreparedModel& prepared) {
  std::map<std::string, uint64_t> counts;
  for (const PreparedGraph* one : prepared.graphs()) {
    const partition::Partitioning& partitioning = one->partitioning;
    const std::vector<graph::Node>& nodes = prepared.graph_of(*one).nodes;
    for (graph::NodeId id = 0; id < nodes.size(); ++id) {
      const std::string& owner = partitioning.providers.at(partitioning.owner.at(id));
      // What the host does besides are copies, which are not of the model.
      if (owner == kHostName && !runtime::is_control_flow(nodes[id])) continue;
      ++counts[owner];
    }
  }
  return counts;
}

std::vector<SessionProvider> describe_providers(const PreparedModel& prepared) {
  const std::map<std::string, uint64_t> counts = count_nodes(prepared);
  std::vector<SessionProvider> providers;
  for (const auto& provider : prepared.providers) {
    const auto count = counts.find(provider->name());
    const Result<std::filesystem::path> library = library_of(provider->plugin());
    providers.push_back({.name = provider->name(),
                         .library = library.ok() ? *library : std::filesystem::path(),
                         .node_count = count == counts.end() ? 0 : count->second});
  }
  for (const WishedNodes& wished : prepared.shape_wishes.nodes) {
    providers[wished.provider].wished_node_count += wished.nodes.size();
  }
  return providers;
}

}  // namespace ephost::session
