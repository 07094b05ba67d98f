// The stages of the preparation of a model, and what its caller has them do in between.
#pragma once

#include <ephost/status.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/onnx_io/import/import.h"
#include "host/session/model/model_source.h"
#include "host/session/model/prepared_model.h"
#include "host/session/plugins/provider_workers.h"

namespace ephost::session {

// Each stage includes those before it.
enum class Stage {
  kImported,     // the model is read
  kOptimized,    // providers exist, constants are folded, functions are inlined
  kPartitioned,  // nodes are assigned to providers; some may have no owner; bodies are known
  kCompiled,     // steps are ordered, partitions compiled, kernels created
  // The nodes of the CPU provider have their final form; allocation plan and memory pattern exist,
  // and builds with assertions check them.
  kPlanned,
};

class GroupSeat;

// Functions that the pipeline calls between its stages. Each may be empty.
struct PipelineHooks {
  // The seat of a session that shares EP contexts; null for any other.
  GroupSeat* seat = nullptr;
  // What providers are told that they are created for. Without `runs`, the prepared model is only
  // looked at or written, and no provider needs to open its device.
  bool runs = false;
  // Opens devices without `runs`: the memory of the model is planned, of which they know what there
  // is.
  bool opens_devices = false;
  bool writes_context = false;
  // The id of a device to compile for that need not be present; empty: the session's devices.
  std::string target;
  // The model of the session that is specialised, whose threads, profiler and profiles of shapes
  // are used, and which has warned of everything that the options state; null for any other model.
  const PreparedModel* base = nullptr;
  // Ends the preparation, as a cancellation does; nothing: only the configured time limit does.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  // The model takes the place of `base`, rather than being a specialisation of it.
  bool replaces_base = false;
  // Where the workers of providers are noted, in place of those of an earlier attempt; null:
  // nothing but failures follows from their end.
  std::shared_ptr<ProviderWorkers> workers = {};
  // Providers that are left out; a specialisation leaves out those that `base` has lost.
  std::vector<LostProvider> lost = {};
  // Values whose shapes are not believed (PreparedModel::open_shapes), besides those of a base that
  // is specialised.
  std::set<std::string> open_shapes = {};
  // Called as soon as the model is read.
  std::function<Status(const PreparedModel&)> after_import;
  // Called once the providers exist, before types are inferred. If it returns a context model, the
  // pipeline continues with that one.
  std::function<std::optional<ModelSource>(const PreparedModel&, const onnx_io::ImportReport&)>
      substitute;
  // Called once the model is partitioned for the first time: may fill in PreparedModel::reused.
  std::function<void(PreparedModel&)> before_compile;
  // Called after compilation, before constants that only compiled partitions need are released. An
  // EP context can be written only here.
  std::function<Status(PreparedModel&)> after_compile;
};

}  // namespace ephost::session
