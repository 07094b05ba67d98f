// ephost_benchmarks MODELS [Google Benchmark's flags]: what the EP context cache costs and saves,
// and the planning. MODELS is a folder as scripts/make_models.py writes it. Each model in it is
// loaded with the dnnl provider in every form that the cache has, and planned for the CPU provider;
// the one called `chain` is cut into more and more partitions, and run to measure the cost of a
// node.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "host/cli/measure/child_process.h"
#include "host/onnx_io/import/import.h"
#include "tests/benchmarks/context_cache.h"
#include "tests/benchmarks/dispatch.h"
#include "tests/benchmarks/measurement.h"
#include "tests/benchmarks/partition_count.h"
#include "tests/benchmarks/planning.h"
#include "tests/benchmarks/ratios.h"
#include "tests/benchmarks/sessions.h"
#include "tests/support/temp_directory.h"

namespace ephost::benchmarks {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> find_models(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (fs::exists(entry.path() / "model.onnx")) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<size_t> count_nodes(const fs::path& model) {
  EPHOST_ASSIGN_OR_RETURN(const cli::Json count, cli::in_child("", [&]() -> Result<cli::Json> {
                            EPHOST_ASSIGN_OR_RETURN(const graph::Model imported,
                                                    onnx_io::import_model(model));
                            return cli::Json(imported.graph.nodes.size());
                          }));
  return static_cast<size_t>(count.number());
}

int run(const fs::path& folder) {
  static_cast<void>(environment());  // the manifests are read here, not in every child
  const test::TempDirectory work;
  std::vector<std::string> models = find_models(folder);
  size_t chain_nodes = 0;
  if (std::erase(models, "chain") > 0) {
    const fs::path chain = folder / "chain" / "model.onnx";
    const Result<size_t> nodes = count_nodes(chain);
    if (!nodes.ok()) {
      std::cerr << nodes.status().to_string() << '\n';
      return EXIT_FAILURE;
    }
    chain_nodes = *nodes;
    register_partition_counts(chain, chain_nodes, work / "chain");
    register_dispatch(chain);
  }
  for (const std::string& model : models) {
    register_context_cache(model, folder / model / "model.onnx", work / model);
    register_planning(model, folder / model / "model.onnx");
  }
  RatioReporter reporter(models, chain_nodes);
  const size_t ran = benchmark::RunSpecifiedBenchmarks(&reporter);
  return ran == 0 || reporter.has_failure() ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace
}  // namespace ephost::benchmarks

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc != 2 || !std::filesystem::is_directory(argv[1])) {
    std::cerr << "usage: ephost_benchmarks MODELS [--benchmark_...]\n"
                 "MODELS is a folder written by scripts/make_models.py\n";
    return EXIT_FAILURE;
  }
  return ephost::benchmarks::run(argv[1]);
}
