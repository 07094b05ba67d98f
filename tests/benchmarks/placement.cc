// ephost_placement_benchmark [FOLDER] [Google Benchmark's flags]: how long it takes to place
// buffers, and how small the block is. FOLDER holds MiniMalloc instances, NAME.CAPACITY.csv;
// without it only the generated problems are measured. Each is checked once before it is timed.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "host/base/files/file.h"
#include "host/plan/check/checker.h"
#include "host/plan/placement/minimalloc_csv.h"
#include "host/plan/placement/place_buffers.h"
#include "tests/unit/plan/placement/placement_problems.h"

namespace ephost::plan {
namespace {

namespace fs = std::filesystem;

struct Instance {
  std::string name;
  std::vector<Buffer> buffers;
  PlacementOptions options;
};

void measure(benchmark::State& state, const std::vector<Instance>& instances) {
  double peak = 0;
  double lower_bound = 0;
  double proved = 0;
  for (const Instance& instance : instances) {
    const auto placement = place_buffers(instance.buffers, instance.options);
    if (!placement.ok() ||
        !check_placement(instance.buffers, *placement, instance.options.alignment).ok()) {
      return state.SkipWithError(("wrong placement of " + instance.name).c_str());
    }
    if (placement->peak > instance.options.capacity.value_or(placement->peak)) {
      return state.SkipWithError((instance.name + " is over its capacity").c_str());
    }
    peak += static_cast<double>(placement->peak);
    lower_bound += static_cast<double>(placement->lower_bound);
    proved += placement->proved_optimal ? 1 : 0;
  }
  for ([[maybe_unused]] const auto& iteration : state) {
    for (const Instance& instance : instances) {
      benchmark::DoNotOptimize(place_buffers(instance.buffers, instance.options));
    }
  }
  state.counters["peak"] = peak;
  state.counters["lower_bound"] = lower_bound;
  state.counters["proved_optimal"] = proved;
}

void add(const std::string& name, std::vector<Instance> instances) {
  benchmark::RegisterBenchmark(name.c_str(), [instances =
                                                  std::move(instances)](benchmark::State& state) {
    measure(state, instances);
  })->Unit(benchmark::kMillisecond);
}

void add_variants(const Instance& instance) {
  add(instance.name + "/given", {instance});
  add(instance.name + "/mirrored",
      {{instance.name, testing::mirrored(instance.buffers), instance.options}});
  add(instance.name + "/shuffled",
      {{instance.name, testing::shuffled(instance.buffers, 1), instance.options}});
}

Result<Instance> read_instance(const fs::path& file) {
  Instance instance{"hard/" + file.stem().stem().string(), {}, {}};
  const std::string capacity = file.stem().extension().string();
  uint64_t bytes = 0;
  const auto [end, error] =
      std::from_chars(capacity.data() + 1, capacity.data() + capacity.size(), bytes);
  if (error != std::errc() || end != capacity.data() + capacity.size()) {
    return Status(StatusCode::kInvalidArgument,
                  "no capacity in the name of " + file.native() + "; call it NAME.CAPACITY.csv");
  }
  EPHOST_ASSIGN_OR_RETURN(const std::string text, read_file(file));
  EPHOST_ASSIGN_OR_RETURN(BufferTable table, read_minimalloc_csv(text, file.native()));
  instance.buffers = std::move(table.buffers);
  instance.options = {.alignment = 1, .capacity = bytes, .search_work = kPatientSearchWork};
  return instance;
}

Status add_given(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<Instance> all;
  for (const fs::path& file : files) {
    EPHOST_ASSIGN_OR_RETURN(Instance instance, read_instance(file));
    add_variants(instance);
    add(instance.name + "/as_in_a_session", {{instance.name, instance.buffers, {.alignment = 1}}});
    all.push_back(std::move(instance));
  }
  add("hard/all", std::move(all));
  return Status::ok_status();
}

void add_made() {
  const PlacementOptions exact = {
      .alignment = 1, .capacity = 1 << 12, .search_work = kPatientSearchWork};
  for (const uint64_t seed : {9, 16, 34}) {
    add_variants({"perfect_packing/" + std::to_string(seed),
                  testing::perfect_packing(seed, 1 << 12, 1 << 11, 64), exact});
  }
  const auto twenty_thousand = [](const std::string& lives, uint32_t times, testing::Lives kind) {
    add("20000_buffers/" + lives, {{lives, testing::random_buffers(1, 20'000, times, kind), {}}});
  };
  twenty_thousand("short_lives", 20'000, testing::Lives::kShort);
  twenty_thousand("mixed_lives", 10'000, testing::Lives::kMixed);
  twenty_thousand("long_lives", 10'000, testing::Lives::kLong);
  add("20000_buffers/graph_like", {{"graph", testing::graph_like(1, 17'000), {}}});
  for (const uint32_t steps : {100, 400, 1'000}) {
    add("graph_like/" + std::to_string(steps) + "_steps",
        {{"graph", testing::graph_like(steps, steps), {}}});
  }
}

}  // namespace
}  // namespace ephost::plan

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc > 2 || (argc == 2 && !std::filesystem::is_directory(argv[1]))) {
    std::cerr << "usage: ephost_placement_benchmark [FOLDER] [--benchmark_...]\n";
    return EXIT_FAILURE;
  }
  if (argc == 2) {
    const ephost::Status status = ephost::plan::add_given(argv[1]);
    if (!status.ok()) {
      std::cerr << status.to_string() << '\n';
      return EXIT_FAILURE;
    }
  }
  ephost::plan::add_made();
  return benchmark::RunSpecifiedBenchmarks() == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
