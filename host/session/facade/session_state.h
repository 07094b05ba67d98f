// The state of a session: its model, and what an application may ask of it. Members are destroyed
// in reverse order.
#pragma once

#include <ephost/status.h>
#include <ephost/types/cache_use.h>
#include <ephost/types/memory_info.h>
#include <ephost/types/model_metadata.h>
#include <ephost/types/session.h>
#include <ephost/types/specialization.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/base/log.h"
#include "host/base/threads/task_threads.h"
#include "host/runtime/values/value.h"
#include "host/session/environment/environment_state.h"
#include "host/session/metrics/metrics.h"
#include "host/session/running/recovery.h"
#include "host/session/running/session_model.h"

namespace ephost::session {

// The contracts of its functions are those of `Session` in <ephost/session.h>.
struct SessionState {
  SessionState(EnvironmentState& kept, Log own);
  SessionState(const SessionState&) = delete;
  SessionState& operator=(const SessionState&) = delete;
  // Waits for all runs that do not wait, but for one whose callback destroys the session.
  ~SessionState();

  const std::shared_ptr<EnvironmentState> environment;
  Log log;
  CacheUse cache_use;
  ModelMetadata metadata;
  std::vector<Phase> phases;  // of the creation
  GaugeShare gauges;          // its constants, and that it exists
  uint64_t max_dense_bytes = 0;
  std::vector<ValueDescription> inputs;
  std::vector<ValueDescription> outputs;
  std::vector<ValueDescription> overridable_initializers;    // copies of those in `inputs`
  std::unordered_map<std::string_view, size_t> input_index;  // keys are names in `inputs`
  std::unordered_map<std::string_view, size_t> output_index;
  // What runs. Once there is a `recovery`, that has it; see `model`.
  std::shared_ptr<SessionModel> created;
  // Null unless something else than a failure follows from the end of a provider's worker.
  std::unique_ptr<Recovery> recovery;

  // Runs that start_run has started. Empty only while the session is being destroyed.
  std::optional<TaskGroup> async_runs;

  // The position of an input or output of the model. INVALID_ARGUMENT if there is none.
  [[nodiscard]] Result<size_t> input_slot(std::string_view name) const;
  [[nodiscard]] Result<size_t> output_slot(std::string_view name) const;

  [[nodiscard]] std::shared_ptr<SessionModel> model() const {
    return recovery != nullptr ? recovery->model() : created;
  }
  // As long as nothing takes the place of the model.
  [[nodiscard]] const PreparedModel& prepared() const { return model()->base->prepared; }

  // Counts into the metrics of the environment, if it has any, from now on.
  void count();

  // Runs the model, specialised or not.
  [[nodiscard]] Status run(std::span<const runtime::Value* const> run_inputs,
                           std::span<runtime::Value> run_outputs, const RunOptions& options);

  [[nodiscard]] Status change_options(const OptionList& options);
  void shrink();
  [[nodiscard]] Result<std::filesystem::path> end_profiling();
  [[nodiscard]] Status check_output_file(const std::filesystem::path& file, std::string role) const;
  [[nodiscard]] std::vector<Specialization> specializations() const;
  [[nodiscard]] uint64_t host_node_count() const;
  [[nodiscard]] std::vector<PlannedMemory> planned_memory() const;
  // By input and output of the model.
  [[nodiscard]] std::vector<MemoryInfo> input_memory() const;
  [[nodiscard]] std::vector<MemoryInfo> output_memory() const;

 private:
  [[nodiscard]] Status run_model(std::span<const runtime::Value* const> run_inputs,
                                 std::span<runtime::Value> run_outputs, const RunOptions& options);
};

}  // namespace ephost::session
