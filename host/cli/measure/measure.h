// The measurements of `ephost bench`; bench.cc prints them.
#pragma once

#include <ephost/environment.h>
#include <ephost/session.h>
#include <ephost/session_options.h>
#include <ephost/status.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/arguments/flags.h"
#include "host/cli/values/inputs.h"

namespace ephost::cli {

struct MeasureRequest {
  std::filesystem::path model;
  InputFlags inputs;
  RunFlags run;
  uint32_t sessions = 5;  // number to create, at least 1
  uint32_t runs = 50;     // number to time, after the first run and `warm_up` others
  uint32_t warm_up = 5;
  bool quiet = false;                            // show no progress on the terminal
  const std::atomic<bool>* cancelled = nullptr;  // ends the runs; may be null
};

// Sessions that were each created in a new process, in which nothing was loaded before.
struct SessionTimes {
  std::vector<double> seconds;  // of each creation
  std::vector<Phase> phases;    // medians over all creations
};

struct Measurement {
  std::vector<std::string> providers;  // in the order of priority
  SessionTimes session;
  CacheUse cache;  // of the last session
  double first_run_seconds = 0;
  std::vector<double> run_seconds;  // with bound inputs and outputs
  // Per run, counted in additional runs; nothing if they cannot be counted (allocation_counter.h).
  std::optional<double> allocations_per_run;
  std::optional<double> host_allocations_per_run;  // those that no plugin made
  uint64_t peak_resident_bytes = 0;                // of the process, so far
  std::vector<PlannedMemory> blocks;
};

// Creates sessions in child processes, which start as copies of this process. Call this function
// and `measure_context` before this process loads anything or starts threads.
[[nodiscard]] Result<SessionTimes> time_sessions(const Environment& environment,
                                                 const SessionOptions& options,
                                                 const MeasureRequest& request);

// Session creation from a context model, which is compiled first and removed afterwards.
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
