// The state behind Session and IoBinding. Members are destroyed in reverse order.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/base/log.h"
#include "host/base/threads/task_threads.h"
#include "host/session/facade/session.h"
#include "host/session/metrics/metrics.h"
#include "host/session/running/recovery.h"
#include "host/session/running/session_model.h"
#include "host/session/runs/bound_outputs.h"

namespace ephost {

struct Session::State {
  State(Environment kept, Log own);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  // Waits for all runs that run_async has started, but for one whose callback destroys the session.
  ~State();

  Environment environment;
  Log log;
  CacheUse cache_use;
  ModelMetadata metadata;
  std::vector<Phase> phases;   // of the creation
  session::GaugeShare gauges;  // its constants, and that it exists
  uint64_t max_dense_bytes = 0;
  std::vector<ValueDescription> inputs;
  std::vector<ValueDescription> outputs;
  std::vector<ValueDescription> overridable_initializers;    // copies of those in `inputs`
  std::unordered_map<std::string_view, size_t> input_index;  // keys are names in `inputs`
  std::unordered_map<std::string_view, size_t> output_index;
  // What runs. Once there is a `recovery`, that has it; see `model`.
  std::shared_ptr<session::SessionModel> created;
  // Null unless something else than a failure follows from the end of a provider's worker.
  std::unique_ptr<session::Recovery> recovery;

  // Runs that run_async has started. Empty only while the session is being destroyed.
  std::optional<TaskGroup> async_runs;

  Result<std::filesystem::path> end_profiling();

  // As Session::set_ep_dynamic_options.
  Status change_options(const OptionList& options);

  // The position of an input or output of the model. INVALID_ARGUMENT if there is none.
  [[nodiscard]] Result<size_t> input_slot(std::string_view name) const;
  [[nodiscard]] Result<size_t> output_slot(std::string_view name) const;

  [[nodiscard]] std::shared_ptr<session::SessionModel> model() const {
    return recovery != nullptr ? recovery->model() : created;
  }
  // The base of the model, as long as nothing takes its place.
  [[nodiscard]] const session::PreparedModel& prepared() const { return model()->base->prepared; }

  // Counts into the metrics of the environment, if it has any, from now on.
  void count();

  // Runs the model, specialised or not.
  Status run(std::span<const Value* const> run_inputs, std::span<Value> run_outputs,
             const RunOptions& options);
  // The same with inputs and outputs by name; returns all outputs if none is named.
  Result<std::vector<Value>> run(std::span<const NamedValue> named,
                                 std::span<const std::string> output_names,
                                 const RunOptions& options);

 private:
  Status run_model(std::span<const Value* const> run_inputs, std::span<Value> run_outputs,
                   const RunOptions& options);
};

struct IoBinding::State {
  const Session::State* session = nullptr;
  std::vector<Value> inputs;  // by graph input; empty ones are not bound
  std::vector<const Value*> input_slots;
  session::BoundOutputs outputs{0};  // by graph output
};

}  // namespace ephost
