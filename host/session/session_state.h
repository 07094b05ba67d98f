// The state behind Session and IoBinding. Members are destroyed in reverse order: frames before the
// program that they run, the program before the model and the providers.
#pragma once

#include <ephost/status.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/base/log.h"
#include "host/base/task_threads.h"
#include "host/context/store/cache_store.h"
#include "host/runtime/frame/frame.h"
#include "host/runtime/program.h"
#include "host/session/pipeline/prepared_model.h"
#include "host/session/runs/provider_profiles.h"
#include "host/session/runs/session_runs.h"
#include "host/session/session.h"

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
  // Keeps the store's entries that the session was made of.
  std::vector<context::FoundEntry> cache_entries;
  session::PreparedModel prepared;  // its plans and computations have moved into `program`
  std::vector<Fallback> fallbacks;
  std::vector<ValueDescription> inputs;
  std::vector<ValueDescription> outputs;
  std::vector<ValueDescription> overridable_initializers;    // copies of those in `inputs`
  std::unordered_map<std::string_view, size_t> input_index;  // keys are names in `inputs`
  std::unordered_map<std::string_view, size_t> output_index;
  session::SessionRuns runs;
  session::ProviderProfiles profiles;
  std::unique_ptr<runtime::Program> program;

  // Idle frames.
  std::mutex frames_mutex;
  std::vector<std::unique_ptr<runtime::Frame>> frames;

  // Runs that run_async has started. Empty only while the session is being destroyed.
  std::optional<TaskGroup> async_runs;

  Result<std::filesystem::path> end_profiling();

  // The position of an input or output of the model. INVALID_ARGUMENT if there is none.
  [[nodiscard]] Result<size_t> input_slot(std::string_view name) const;
  [[nodiscard]] Result<size_t> output_slot(std::string_view name) const;

  // Runs on an idle frame, or on a new one.
  Status run(std::span<const Value* const> run_inputs, std::span<Value> run_outputs,
             const RunOptions& options);
  // The same with inputs and outputs by name; returns all outputs if none is named.
  Result<std::vector<Value>> run(std::span<const NamedValue> named,
                                 std::span<const std::string> output_names,
                                 const RunOptions& options);
};

struct IoBinding::State {
  const Session::State* session = nullptr;
  std::vector<Value> inputs;  // by graph input; empty ones are not bound
  std::vector<const Value*> input_slots;
  std::vector<Value> outputs;                  // by graph output
  std::vector<const std::byte*> bound_memory;  // of outputs that the caller bound; else null
};

}  // namespace ephost
