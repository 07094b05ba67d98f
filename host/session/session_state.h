// The state behind Session and IoBinding. Members are destroyed in reverse order: frames before the
// program that they run, the program before the model and the providers.
#pragma once

#include <ephost/session.h>
#include <ephost/status.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/context/store/cache_store.h"
#include "host/runtime/frame/frame.h"
#include "host/runtime/program.h"
#include "host/session/pipeline/prepared_model.h"
#include "host/session/runs/provider_profiles.h"
#include "host/session/runs/session_runs.h"

namespace ephost {

struct Session::State {
  explicit State(Environment kept) : environment(std::move(kept)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  Environment environment;
  CacheUse cache_use;
  // Keeps the store's entries that the session was made of.
  std::vector<context::FoundEntry> cache_entries;
  session::PreparedModel prepared;  // its plans and computations have moved into `program`
  std::vector<Fallback> fallbacks;
  std::vector<ValueDescription> inputs;
  std::vector<ValueDescription> outputs;
  std::unordered_map<std::string_view, size_t> input_index;  // keys are names in `inputs`
  std::unordered_map<std::string_view, size_t> output_index;
  session::SessionRuns runs;
  session::ProviderProfiles profiles;
  std::unique_ptr<runtime::Program> program;

  // Idle frames.
  std::mutex frames_mutex;
  std::vector<std::unique_ptr<runtime::Frame>> frames;

  Result<std::filesystem::path> end_profiling();

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
