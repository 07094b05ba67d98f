// runs.h: runs of a case in every way that must give the same results, and their differences.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/conformance/random/evaluate/bounded_values.h"
#include "host/conformance/random/generate/random_graph.h"
#include "tests/support/host_api.h"

namespace ephost::test {

using namespace conformance;  // random graphs and their evaluation

// How a session is created from a case's model.
struct Way {
  // The last one is not a context model, but the optimized model that another session saves.
  enum class Context { kNone, kEmbedded, kBinary, kFiles, kOptimized };

  std::string name;  // for reports
  SessionOptions options;
  // Compiled to a context model first, or saved, with these options.
  Context context = Context::kNone;
  SessionOptions compile_options = {};
};

// The ways to run the case with that seed: on the CPU provider alone with and without
// optimizations, with the dnnl provider before it with and without them, through a context model,
// and from the saved optimized model; with different numbers of threads, and sometimes in parallel
// mode or without memory patterns.
[[nodiscard]] std::vector<Way> ways_for(uint64_t seed);

struct Failure {
  enum class Kind { kInvalid, kNoSession, kNoRun, kWrongResult, kCrash };
  Kind kind = Kind::kWrongResult;
  std::string text;
};

struct CaseOutcome {
  std::optional<Failure> failure;  // the first one
  uint64_t compiled_nodes = 0;     // by the dnnl provider, for a context model
};

// Runs cases in sessions with the plugins of a folder. They stay loaded as long as it lives.
class Runner {
 public:
  explicit Runner(const std::filesystem::path& plugins);

  // A case whose model cannot be evaluated fails as kInvalid.
  [[nodiscard]] CaseOutcome run(const Case& tested, const std::vector<Way>& ways) const;

 private:
  Environment environment_;
  Session keeper_;
};

}  // namespace ephost::test
