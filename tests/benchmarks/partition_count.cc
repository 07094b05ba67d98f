#include "tests/benchmarks/partition_count.h"

#include <string>

#include "tests/benchmarks/sessions.h"

namespace ephost::benchmarks {
namespace {

namespace fs = std::filesystem;

SessionOptions with_groups_of(size_t nodes) {
  SessionOptions options;
  options.append_execution_provider("scripted", {{"claim", "every:" + std::to_string(nodes)}});
  return options;
}

Result<Sample> generate(const fs::path& model, const fs::path& output, size_t group) {
  ModelCompilationOptions compilation;
  compilation.input_model_path = model;
  compilation.output_model_path = output;
  return time_generation(with_groups_of(group), compilation);
}

}  // namespace

void register_partition_counts(const fs::path& chain, size_t nodes, const fs::path& work) {
  fs::create_directories(work);
  for (const size_t count : kPartitionCounts) {
    if (count > nodes) continue;
    const size_t group = nodes / count;
    const std::string name = "partitions/" + std::to_string(count) + "/";
    const fs::path context = work / ("chain_" + std::to_string(count) + "_ctx.onnx");
    register_benchmark(name + "session", [=](benchmark::State& state) {
      measure(state, [&] { return time_session(chain, with_groups_of(group)); });
    });
    register_benchmark(name + "generation", [=](benchmark::State& state) {
      measure(state, [&] { return generate(chain, work / "generated_ctx.onnx", group); });
    });
    register_benchmark(name + "load", [=](benchmark::State& state) {
      if (!fs::exists(context) &&
          !prepare(state, [&] { return generate(chain, context, group).status(); })) {
        return;
      }
      measure(state, [&] { return time_session(context, with_groups_of(group)); });
    });
  }
}

}  // namespace ephost::benchmarks
