#include "host/session/contexts/context_rewrite.h"

#include <map>
#include <utility>

#include "host/graph/clone.h"

namespace ephost::session {
namespace {

using context::CachedPartition;

// Primary nodes come first, so that the first node of a payload becomes its primary node again.
std::vector<const CachedPartition*> in_order(const PreparedModel& prepared) {
  std::vector<const CachedPartition*> ordered;
  for (const bool main_context : {true, false}) {
    for (const CachedPartition& cached : prepared.context.partitions) {
      if (cached.attributes.main_context == main_context) ordered.push_back(&cached);
    }
  }
  return ordered;
}

context::WrittenPartition to_written(const PreparedModel& prepared, const CachedPartition& cached,
                                     uint32_t payload) {
  const graph::Node& node = cached.place.graph->nodes[cached.place.node];
  const context::EpContextNode& attributes = cached.attributes;
  context::WrittenPartition written{.nodes = {cached.place.node},
                                    .inputs = node.inputs,
                                    .outputs = node.outputs,
                                    .name = attributes.partition_name,
                                    .payload = payload,
                                    .source = attributes.source,
                                    .sdk_version = attributes.sdk_version,
                                    .hardware_architecture = attributes.hardware_architecture,
                                    .notes = attributes.notes,
                                    .max_size = attributes.max_size,
                                    .constants = node.kept_constants};
  for (const PreparedGraph* graph : prepared.graphs()) {
    if (&prepared.graph_of(*graph) == cached.place.graph) written.graph = graph->place;
  }
  return written;
}

}  // namespace

std::vector<CompiledPartition> cached_partitions(const PreparedModel& prepared) {
  std::vector<CompiledPartition> partitions;
  for (const CachedPartition* cached : in_order(prepared)) {
    partitions.push_back({cached->attributes.partition_name,
                          find_accepting(prepared, cached->attributes.source)->name(), 0});
  }
  return partitions;
}

Result<context::WrittenContext> rewrite_context(context::ContextWriter writer,
                                                const PreparedModel& prepared) {
  std::map<uint32_t, uint32_t> payloads;  // their indices in the output
  std::vector<context::WrittenPartition> partitions;
  for (const CachedPartition* cached : in_order(prepared)) {
    if (!payloads.contains(cached->payload)) {
      const bridge::Provider* owner = find_accepting(prepared, cached->attributes.source);
      const context::CachedPayload& payload = prepared.context.payloads[cached->payload];
      EPHOST_ASSIGN_OR_RETURN(const uint32_t number,
                              writer.begin_payload(owner->short_name(), payload.compatibility));
      EPHOST_RETURN_IF_ERROR(writer.append(number, payload.bytes.bytes));
      payloads.emplace(cached->payload, number);
    }
    partitions.push_back(to_written(prepared, *cached, payloads.at(cached->payload)));
  }
  return std::move(writer).finish(graph::clone(prepared.model), partitions,
                                  prepared.context.compatibility);
}

}  // namespace ephost::session
