// ephost_isolation_benchmark MODELS: what it costs that plugins run in worker processes. MODELS is
// a folder as scripts/make_models.py writes it. Each model is run with the dnnl provider, in this
// process and in a worker in turns; the one called `chain`, of which the scripted provider takes
// groups of a hundred nodes, is created in turns. Prints medians, and the median of the ratios of
// neighbouring turns.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "host/cli/measure/child_process.h"
#include "host/cli/measure/statistics.h"
#include "host/cli/values/inputs.h"
#include "tests/benchmarks/sessions.h"

namespace ephost::benchmarks {
namespace {

namespace fs = std::filesystem;

constexpr size_t kTurns = 21;
constexpr double kSecondsOfATurn = 0.1;
constexpr size_t kMostRunsOfATurn = 20'000;

SessionOptions options_for(const std::string& provider, OptionList provider_options,
                           const std::string& isolation) {
  SessionOptions options;
  options.append_execution_provider(provider, std::move(provider_options));
  options.add_config_entry("session.isolation." + provider, isolation);
  return options;
}

// A session with its inputs and outputs bound.
class BoundSession {
 public:
  static Result<BoundSession> create(const fs::path& model, const std::string& isolation) {
    EPHOST_ASSIGN_OR_RETURN(
        Session session, Session::create(environment(), model, options_for("dnnl", {}, isolation)));
    EPHOST_ASSIGN_OR_RETURN(std::vector<NamedValue> inputs, cli::make_inputs(session, {}));
    EPHOST_ASSIGN_OR_RETURN(IoBinding binding, session.create_binding());
    for (NamedValue& input : inputs) {
      EPHOST_RETURN_IF_ERROR(binding.bind_input(input.name, std::move(input.value)));
    }
    return BoundSession(std::move(session), std::move(binding));
  }

  // The median time of the runs of one turn, back to back.
  Result<double> turn() {
    std::vector<double> seconds;
    const Stopwatch whole;
    do {
      const Stopwatch one;
      EPHOST_RETURN_IF_ERROR(session_.run(binding_));
      seconds.push_back(one.seconds());
    } while (whole.seconds() < kSecondsOfATurn && seconds.size() < kMostRunsOfATurn);
    return cli::median(seconds);
  }

 private:
  BoundSession(Session session, IoBinding binding)
      : session_(std::move(session)), binding_(std::move(binding)) {}

  Session session_;
  IoBinding binding_;
};

// Seconds of each turn, in this process and in a worker.
struct Pairs {
  std::vector<double> within, worker;
};

Result<Pairs> take_turns(const std::function<Result<double>()>& within,
                         const std::function<Result<double>()>& worker) {
  Pairs pairs;
  for (size_t i = 0; i < kTurns + 1; ++i) {
    EPHOST_ASSIGN_OR_RETURN(const double first, within());
    EPHOST_ASSIGN_OR_RETURN(const double second, worker());
    if (i == 0) continue;  // warms up
    pairs.within.push_back(first);
    pairs.worker.push_back(second);
  }
  return pairs;
}

Result<Pairs> measure_runs(const fs::path& model) {
  EPHOST_ASSIGN_OR_RETURN(BoundSession within, BoundSession::create(model, "none"));
  EPHOST_ASSIGN_OR_RETURN(BoundSession worker, BoundSession::create(model, "worker"));
  return take_turns([&] { return within.turn(); }, [&] { return worker.turn(); });
}

// Each session is created in a process of its own, so that nothing is loaded before.
Result<double> time_creation(const fs::path& model, const std::string& isolation) {
  EPHOST_ASSIGN_OR_RETURN(
      const cli::Json seconds, cli::in_child("", [&]() -> Result<cli::Json> {
        EPHOST_ASSIGN_OR_RETURN(
            const Sample sample,
            time_session(model, options_for("scripted", {{"claim", "every:100"}}, isolation)));
        return cli::Json(sample.seconds);
      }));
  return seconds.number();
}

void print(const std::string& what, Pairs pairs) {
  std::vector<double> ratios;
  for (size_t i = 0; i < pairs.within.size(); ++i) {
    ratios.push_back(pairs.worker[i] / pairs.within[i]);
  }
  const double within = cli::median(std::move(pairs.within)) * 1e6;
  const double worker = cli::median(std::move(pairs.worker)) * 1e6;
  std::printf("%-24s %12.1f %12.1f %12.1f %8.3f\n", what.c_str(), within, worker, worker - within,
              cli::median(std::move(ratios)));
  std::fflush(stdout);
}

Status run(const fs::path& folder) {
  static_cast<void>(environment());  // the manifests are read here, not in every child
  std::vector<std::string> models;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (fs::exists(entry.path() / "model.onnx")) models.push_back(entry.path().filename().string());
  }
  std::sort(models.begin(), models.end());
  std::printf("%-24s %12s %12s %12s %8s\n", "microseconds", "in process", "worker", "difference",
              "ratio");
  // Creation first: it is measured in children, which are copies of a process without threads.
  if (std::erase(models, "chain") > 0) {
    const fs::path chain = folder / "chain" / "model.onnx";
    EPHOST_ASSIGN_OR_RETURN(Pairs pairs,
                            take_turns([&] { return time_creation(chain, "none"); },
                                       [&] { return time_creation(chain, "worker"); }));
    print("create chain", std::move(pairs));
  }
  for (const std::string& model : models) {
    EPHOST_ASSIGN_OR_RETURN(Pairs pairs, measure_runs(folder / model / "model.onnx"));
    print("run " + model, std::move(pairs));
  }
  return {};
}

}  // namespace
}  // namespace ephost::benchmarks

int main(int argc, char** argv) {
  if (argc != 2 || !std::filesystem::is_directory(argv[1])) {
    std::cerr << "usage: ephost_isolation_benchmark MODELS\n"
                 "MODELS is a folder written by scripts/make_models.py\n";
    return EXIT_FAILURE;
  }
  const ephost::Status status = ephost::benchmarks::run(argv[1]);
  if (!status.ok()) std::cerr << status.to_string() << '\n';
  return status.ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}
