// A model as the pipeline prepares it, stage by stage. Every stage takes a PreparedModel and fills
// in its own members; sessions, the cache and the commands read them afterwards.
#pragma once

#include <ephost/status.h>
#include <ephost/types/fallback.h>
#include <ephost/types/model_metadata.h>
#include <ephost/types/session.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/cancellation.h"
#include "host/base/files/operation_files.h"
#include "host/base/profiler.h"
#include "host/base/threads/thread_pool.h"
#include "host/bridge/provider.h"
#include "host/context/ep_context_node.h"
#include "host/context/metadata.h"
#include "host/context/read/loader.h"
#include "host/graph/graph.h"
#include "host/onnx_io/opsets/plugin_operators.h"
#include "host/optimize/constant_folding.h"
#include "host/plan/copies.h"
#include "host/runtime/device_memory.h"
#include "host/runtime/shape_contradictions.h"
#include "host/session/groups/compiled_model.h"
#include "host/session/metrics/metrics.h"
#include "host/session/model/device_budgets.h"
#include "host/session/model/model_source.h"
#include "host/session/model/prepared_graph.h"
#include "host/session/model/shape_wishes.h"
#include "host/session/model/thread_use.h"
#include "host/session/plugins/provider_workers.h"

namespace ephost::session {

class SessionLayers;

// A group of nodes that a provider failed to compile or to load.
struct CompileFailure {
  uint32_t provider = 0;
  const graph::Graph* graph = nullptr;  // only while the model is being prepared
  std::vector<graph::NodeId> nodes;     // ascending
  std::string partition;                // its name; empty: the kernel of a single node
  Status reason;
};

// A function call that no provider claimed and that was replaced by the function's body.
struct InlinedCall {
  std::string path;  // of the graph that it was in (graph/body_path.h)
  std::string call;  // the node, as messages describe it
  std::string domain;
  uint64_t nodes = 0;  // number of nodes that replaced it, without those of subgraphs
};

// A partition that an older entry of the cache store has compiled.
struct ReusedContext {
  uint32_t provider = 0;
  context::EpContextNode attributes;  // without the payload
  uint32_t payload = 0;               // index into ReusedContexts::payloads
};

// The partitions that are restored instead of being compiled. Each payload comes with all its
// partitions.
struct ReusedContexts {
  std::vector<ReusedPayload> payloads;
  std::map<std::string, ReusedContext> partitions;  // by name

  // Null if the partition is to be compiled.
  [[nodiscard]] const ReusedContext* find(const std::string& partition) const {
    const auto found = partitions.find(partition);
    return found == partitions.end() ? nullptr : &found->second;
  }
};

// The results of all stages so far. Later members depend on earlier ones and are destroyed first.
struct PreparedModel {
  graph::Model model;
  // Values whose shapes were found to be wrong (onnx_io::ImportOptions::open_shapes).
  std::set<std::string> open_shapes;
  // Where runs note the values that do not come out as planned; a specialisation shares that of its
  // base.
  std::shared_ptr<runtime::ShapeContradictions> contradictions;
  // Those of the model that the caller asked for, even if a cache has put another one in its place.
  ModelMetadata metadata;
  // What was read, with all files open, if it can be read again with other extents: a model with
  // open extents that is not a context model. It stays what the caller asked for, too.
  std::optional<ModelSource> source;
  // Where the same was read from, whatever model it is.
  ReadSource read_source;
  // The same as `source` of any model, if the session may have to be made again (session.on_crash).
  std::optional<ModelSource> origin;
  // Context models for fixed extents that the model declares, by file name, and their folder;
  // nothing for a model from memory whose folder is not known.
  std::map<std::string, context::ContentChecksum> stored_specializations;
  std::optional<std::filesystem::path> stored_folder;
  OperationFiles files;            // files that this operation is known to read or write, so far
  context::LoadedContext context;  // the payloads of a context model; empty for other models
  std::vector<std::shared_ptr<bridge::Provider>> providers;  // in priority order, CPU last
  // The workers of the providers, if anything but a failure follows from their end; null otherwise.
  std::shared_ptr<ProviderWorkers> workers;
  // Providers that are left out because their workers ended.
  std::vector<LostProvider> lost;
  // What the plugins of these providers define; null if the model has no use for it. Also keeps the
  // plugins loaded.
  std::shared_ptr<const onnx_io::PluginOperators> operators;
  // The locations other than host memory: location n is entry n-1. Filled in by memory planning.
  std::vector<plan::Location> locations;
  std::vector<runtime::DeviceLocation> devices;  // the same locations, for the runtime
  std::vector<std::string> notes;                // remarks of import, inference and folding
  optimize::FoldReport folding;
  uint64_t removed_identities = 0;
  std::vector<InlinedCall> inlined;  // in the order of inlining, calls in calls after those
  // Failures after which the nodes went to other providers, in the order of the attempts.
  std::vector<CompileFailure> failures;
  // Names of the providers that failed to say which nodes they claim.
  std::set<std::string> without_capability;
  // Names of those that failed to state their wishes for fixed extents.
  std::set<std::string> without_wishes;
  // Only names of the current partitioning: none as soon as a provider has failed to compile
  // something.
  ReusedContexts reused;
  // The profiles that the providers were told, and their wishes for fixed extents.
  std::vector<bridge::ShapeProfile> shape_profiles;
  ShapeWishes shape_wishes;
  PreparedGraph main;
  std::vector<Phase> phases;
  std::shared_ptr<Profiler> profiler;  // null: nothing is recorded
  Metrics* metrics = nullptr;          // of the environment; null: nothing is counted
  std::shared_ptr<const SessionLayers> layers;
  ThreadUse threads;
  size_t max_memory_patterns = 0;                 // kept for each graph with open extents
  bool captures_streams = true;                   // where devices can
  std::map<std::string, uint64_t> native_queues;  // of the application, by provider
  std::shared_ptr<DeviceBudgets> budgets;         // of the session; null: without limit
  uint64_t max_dense_bytes = 0;                   // of the dense forms of a run's sparse inputs
  Cancellation cancellation;                      // valid only while the model is being prepared

  [[nodiscard]] bool is_context_model() const { return !context.partitions.empty(); }
  // The main graph and all bodies; a graph comes before the bodies inside it.
  [[nodiscard]] std::vector<PreparedGraph*> graphs();
  [[nodiscard]] std::vector<const PreparedGraph*> graphs() const;
  [[nodiscard]] graph::Graph& graph_of(const PreparedGraph& prepared) {
    return prepared.graph != nullptr ? *prepared.graph : model.graph;
  }
  [[nodiscard]] const graph::Graph& graph_of(const PreparedGraph& prepared) const {
    return prepared.graph != nullptr ? *prepared.graph : model.graph;
  }
  [[nodiscard]] size_t partition_count() const;
  // "host" or the name of a device's memory.
  [[nodiscard]] std::string location_name(uint32_t location) const {
    return location == plan::kHostLocation ? "host" : locations[location - 1].name;
  }
};

// Whether the provider's manifest accepts the source.
[[nodiscard]] bool accepts(const bridge::Provider& provider, std::string_view source);

// The first provider whose manifest accepts the source; null if there is none.
[[nodiscard]] bridge::Provider* find_accepting(const PreparedModel& prepared,
                                               std::string_view source);

// EP_FAIL if the worker of a provider has ended: what was compiled without it is not what was asked
// for. To be called before that is written.
[[nodiscard]] Status check_workers(const PreparedModel& prepared);

// The failures in the form that the public API reports.
[[nodiscard]] std::vector<Fallback> fallbacks_of(const PreparedModel& prepared);

}  // namespace ephost::session
