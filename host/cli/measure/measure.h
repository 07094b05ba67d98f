// The measurements behind `ephost bench`; what is printed is decided in bench.cc.
#pragma once

#include <ephost/environment.h>
#include <ephost/session.h>
#include <ephost/session_options.h>
#include <ephost/status.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/values/inputs.h"

namespace ephost::cli {

struct MeasureRequest {
  std::filesystem::path model;
  InputFlags inputs;
  uint32_t sessions = 5;  // to create, at least one
  uint32_t runs = 50;     // to time, after the first run and `warm_up`
  uint32_t warm_up = 5;
  bool quiet = false;  // say nothing on the terminal meanwhile
};

// Sessions that were created in processes of their own, in which nothing was loaded yet.
struct SessionTimes {
  std::vector<double> seconds;  // of each creation
  std::vector<Phase> phases;    // medians over all creations
};

struct BlockUse {
  uint32_t location = 0;
  uint64_t peak_bytes = 0;
  uint64_t lower_bound_bytes = 0;
};

struct Measurement {
  std::vector<std::string> providers;  // in the order of priority
  SessionTimes session;
  CacheUse cache;  // of the last session
  double first_run_seconds = 0;
  std::vector<double> run_seconds;  // with bound inputs and outputs
  // Per run, in runs of their own; nothing where they cannot be counted (allocation_counter.h).
  std::optional<double> allocations_per_run;
  std::optional<double> host_allocations_per_run;  // of these, those that no plugin made
  uint64_t peak_resident_bytes = 0;                // of the process, so far
  std::vector<BlockUse> blocks;
};

// Creates sessions in child processes. This and `measure_context` come before anything is loaded in
// this process, and before it has threads: children start as copies of it.
[[nodiscard]] Result<SessionTimes> time_sessions(const Environment& environment,
                                                 const SessionOptions& options,
                                                 const MeasureRequest& request);

// Session creation from a context model that is compiled for the purpose and removed again.
struct ContextMeasurement {
  double compile_seconds = 0;
  uint64_t partitions = 0;
  uint64_t file_bytes = 0;
  SessionTimes session;
};

[[nodiscard]] Result<ContextMeasurement> measure_context(const Environment& environment,
                                                         const SessionOptions& options,
                                                         const MeasureRequest& request);

// Everything but `Measurement::session`, in this process.
[[nodiscard]] Result<Measurement> measure_runs(const Environment& environment,
                                               const SessionOptions& options,
                                               const MeasureRequest& request);

}  // namespace ephost::cli
