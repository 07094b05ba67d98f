// The way from a model to something that runs, told in one function. Sessions go all of it,
// compile_model and the commands stop where they have what they need.
#pragma once

#include <ephost/environment.h>
#include <ephost/fallback.h>
#include <ephost/session.h>
#include <ephost/session_options.h>
#include <ephost/status.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/base/cancellation.h"
#include "host/base/files/operation_files.h"
#include "host/base/profiler.h"
#include "host/base/thread_pool.h"
#include "host/bridge/provider.h"
#include "host/context/read/loader.h"
#include "host/graph/graph.h"
#include "host/onnx_io/import/import.h"
#include "host/optimize/constant_folding.h"
#include "host/plan/copies.h"
#include "host/runtime/device_memory.h"
#include "host/session/model_source.h"
#include "host/session/pipeline/prepared_graph.h"

namespace ephost::session {

// Each stage contains those before it.
enum class Stage {
  kImported,     // model
  kOptimized,    // providers are created, constants folded, functions inlined
  kPartitioned,  // claims, partitioning; nodes may be left without owner; bodies are known
  kCompiled,     // execution order, compiled partitions and kernels
  kPlanned,      // allocation plan and memory pattern, proved in builds with assertions
};

// What a provider could not compile, or not load.
struct CompileFailure {
  uint32_t provider = 0;
  const graph::Graph* graph = nullptr;  // only while the model is being prepared
  std::vector<graph::NodeId> nodes;     // ascending
  std::string partition;                // its name; empty: the kernel of a single node
  Status reason;
};

// A call of a function that no provider took, and that gave way to the function's body.
struct InlinedCall {
  std::string path;  // of the graph that it was in (graph/body_path.h)
  std::string call;  // as messages speak of it
  std::string domain;
  uint64_t nodes = 0;  // that it became, subgraphs apart
};

// How many threads work on a session's runs (SessionOptions). The pool is the environment's.
struct ThreadUse {
  ThreadPool* pool = nullptr;
  uint32_t steps = 1;      // on steps of one run
  uint32_t loops = 1;      // on one loop of a step, in the pool
  uint32_t libraries = 1;  // of its own, that a library may use for a step: its share of `loops`
};

// What the stages made. Members are in the order of their dependence: what stands later is
// destroyed first.
struct PreparedModel {
  graph::Model model;
  OperationFiles files;            // that are read, and written later, as far as they are known yet
  context::LoadedContext context;  // of a context model; empty otherwise
  std::vector<std::shared_ptr<bridge::Provider>> providers;  // in priority order, CPU last
  // Where plans put values beside host memory: location n is entry n-1. Known once memory is
  // planned.
  std::vector<plan::Location> locations;
  std::vector<runtime::DeviceLocation> devices;  // the same
  std::vector<std::string> notes;                // of import, inference and folding
  optimize::FoldReport folding;
  uint64_t removed_identities = 0;
  std::vector<InlinedCall> inlined;  // in the order of inlining, calls in calls after those
  // What providers failed at before others got those nodes, in the order of the attempts.
  std::vector<CompileFailure> failures;
  // Providers that could not tell what they want of the model.
  std::set<std::string> without_capability;
  PreparedGraph main;
  std::vector<Phase> phases;
  std::shared_ptr<Profiler> profiler;  // null: nothing is recorded
  ThreadUse threads;
  size_t max_memory_patterns = 0;  // of each graph that runs with changing shapes
  Cancellation cancellation;       // only while the model is being prepared

  [[nodiscard]] bool is_context_model() const { return !context.partitions.empty(); }
  // The main graph and all bodies, each before those inside it.
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

class GroupSeat;

struct PipelineHooks {
  // Of a session that shares EP contexts; else null.
  GroupSeat* seat = nullptr;
  // Called as soon as the model is read. May be empty.
  std::function<Status(const PreparedModel&)> after_import;
  // Called when the model is read, its types not yet inferred, and the providers are there. A
  // context model that it names takes the model's place. May be empty.
  std::function<std::optional<ModelSource>(const PreparedModel&, const onnx_io::ImportReport&)>
      substitute;
  // Called between compiling and releasing what only compiled partitions need: the one moment at
  // which a context can be written. May be empty.
  std::function<Status(PreparedModel&)> after_compile;
};

// MODEL_LOAD_CANCELED once the application, or the time limit of the configuration, says so.
[[nodiscard]] Result<PreparedModel> prepare_model(const Environment& environment,
                                                  const ModelSource& source,
                                                  const SessionOptions& options, Stage until,
                                                  const PipelineHooks& hooks = {});

// `failures` for the application.
[[nodiscard]] std::vector<Fallback> fallbacks_of(const PreparedModel& prepared);

}  // namespace ephost::session
