// A prepared model that runs: plans, computations, and the frames that runs use. A session has one
// for its model, and one more for each specialisation.
#pragma once

#include <ephost/status.h>

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/bridge/extensions/kept_blocks.h"
#include "host/context/store/cache_store.h"
#include "host/runtime/frame/frame.h"
#include "host/runtime/program.h"
#include "host/session/config/session_config.h"
#include "host/session/environment/environment.h"
#include "host/session/metrics/metrics.h"
#include "host/session/model/prepared_model.h"
#include "host/session/pipeline/hooks.h"
#include "host/session/runs/provider_profiles.h"
#include "host/session/runs/session_runs.h"

namespace ephost::session {

// Members are destroyed in reverse order: frames before the program that they run, the program
// before the model and the providers.
struct Executable {
  // Takes the model through the whole pipeline, up to a first frame. `cache` has been added to the
  // hooks.
  [[nodiscard]] static Result<std::unique_ptr<Executable>> create(EnvironmentState& environment,
                                                                  const ModelSource& source,
                                                                  const SessionSettings& settings,
                                                                  const PipelineHooks& hooks);
  Executable() = default;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  // Not during runs. Hands what the providers have recorded to the profile.
  ~Executable();

  // Runs on an idle frame, or on a new one. Inputs and outputs are dense and in the model's order.
  // INVALID_ARGUMENT for shapes outside of the session's profiles if its providers have compiled
  // the model for these alone. May be called by several threads at once.
  [[nodiscard]] Status run(std::span<const runtime::Value* const> inputs,
                           std::span<runtime::Value> outputs, const RunOptions& options);

  // Releases the idle frames and the traced patterns; running runs keep theirs until they end.
  // May be called by several threads at once.
  void shrink();

  // Keeps the cache store's entries that it was made of.
  std::vector<context::FoundEntry> cache_entries;
  PreparedModel prepared;  // its plans and computations have moved into `program`
  SessionRuns runs;
  ProviderProfiles profiles;
  std::unique_ptr<runtime::Program> program;
  std::string working_providers;  // those with something to compute, for metrics
  GaugeShare gauges;              // its planned memory

  // Whether a computation belongs to a provider whose claims hold for the profiles only.
  bool is_bound_to_profiles = false;

  // Idle frames.
  std::mutex frames_mutex;
  std::vector<std::unique_ptr<runtime::Frame>> frames;

 private:
  // Gives idle frames back where the memory of a device runs out.
  void offer_idle_frames();
  [[nodiscard]] Status assemble(const GivenOptions& options);
  void count_memory();
  [[nodiscard]] Status check_profiles(std::span<const runtime::Value* const> inputs) const;

  std::optional<bridge::KeptBlocks> kept_blocks_;  // of idle frames; ends first
};

}  // namespace ephost::session
