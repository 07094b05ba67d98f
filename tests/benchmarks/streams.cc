// What the streams of a device cost and gain, on a device that takes known times
// (tests/fixtures/timed): the same model with calls that wait for their work, and with work that is
// enqueued. A ratio of 1 is the time that the device alone needs.
#include <benchmark/benchmark.h>
#include <ephost/ephost.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "host/graph/graph.h"
#include "host/onnx_io/export/export.h"
#include "tests/fixtures/fixtures.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::benchmarks {
namespace {

using graph::testing::GraphBuilder;
using std::chrono::nanoseconds;

const graph::ValueType kRow = graph::testing::tensor_type(ElementType::kFloat, graph::Shape{16});

Value row() { return *Value::of<float>({16}, std::vector<float>(16, 1.0F)); }

// A model, and the time that its kernels and copies take if nothing else does.
struct Case {
  GraphBuilder graph;
  std::vector<std::string> inputs;
  nanoseconds kernel = {};
  nanoseconds copy = {};
  nanoseconds ideal = {};
  int steps = 0;
};

std::string add_chain(GraphBuilder& builder, const std::string& from, const std::string& name,
                      int steps) {
  std::string last = from;
  for (int i = 0; i < steps; ++i) {
    const std::string next = name + std::to_string(i);
    builder.node("Add", {last, last}, {next});
    last = next;
  }
  return last;
}

// Each step needs the one before.
Case chain(int steps, nanoseconds kernel) {
  Case made{.inputs = {"x"}, .kernel = kernel, .ideal = steps * kernel, .steps = steps};
  made.graph.input("x", kRow);
  made.graph.output(add_chain(made.graph, "x", "v", steps));
  return made;
}

// Two chains side by side.
Case branches(int steps, nanoseconds kernel) {
  Case made{
      .inputs = {"x"}, .kernel = kernel, .ideal = (steps + 1) * kernel, .steps = 2 * steps + 1};
  made.graph.input("x", kRow);
  const std::string a = add_chain(made.graph, "x", "a", steps);
  const std::string b = add_chain(made.graph, "x", "b", steps);
  made.graph.node("Add", {a, b}, {"y"}).output("y");
  return made;
}

// Each input is copied in, used once, and the result copied out.
Case pipeline(int steps, nanoseconds kernel, nanoseconds copy) {
  Case made{.kernel = kernel,
            .copy = copy,
            .ideal = steps * std::max(kernel, copy) + 2 * std::min(kernel, copy),
            .steps = steps};
  if (copy > kernel) made.ideal = steps * copy + kernel + copy;
  for (int i = 0; i < steps; ++i) {
    const std::string number = std::to_string(i);
    made.inputs.push_back("x" + number);
    made.graph.input("x" + number, kRow);
    made.graph.node("Add", {"x" + number, "x" + number}, {"y" + number}).output("y" + number);
  }
  return made;
}

struct Variant {
  bool enqueues = true;
  int compute_streams = 1;
  bool captures = false;
};

Result<double> seconds_of_a_run(Session& session, const Case& of, benchmark::State& state) {
  EPHOST_ASSIGN_OR_RETURN(IoBinding binding, session.create_binding());
  for (const std::string& name : of.inputs) EPHOST_RETURN_IF_ERROR(binding.bind_input(name, row()));
  for (int i = 0; i < 20; ++i) EPHOST_RETURN_IF_ERROR(session.run(binding));
  double seconds = 0;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    EPHOST_RETURN_IF_ERROR(session.run(binding));
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(taken.count());
    seconds += taken.count();
  }
  return seconds / static_cast<double>(state.iterations());
}

Result<double> measure(Case of, Variant variant, benchmark::State& state) {
  const test::TempDirectory folder;
  graph::Model made;
  made.graph = of.graph.build();
  made.graph.name = "streams";
  made.ir_version = 8;
  made.opset_imports = {{"", 16}};
  for (graph::Value& value : made.graph.values) value.type = kRow;
  const std::filesystem::path model = folder / "model.onnx";
  EPHOST_ASSIGN_OR_RETURN(const onnx_io::ExportedModel exported, onnx_io::export_model(made));
  EPHOST_RETURN_IF_ERROR(exported.write(model));
  EnvironmentOptions places;
  places.plugin_directories = {test::fixture_directory("timed"), EPHOST_PLUGINS};
  places.search_default_directories = false;
  EPHOST_ASSIGN_OR_RETURN(const Environment environment, Environment::create(places));
  SessionOptions options;
  options.set_graph_optimization_level(GraphOptimizationLevel::kDisableAll);
  options.append_execution_provider("timed",
                                    {{"enqueue", variant.enqueues ? "1" : "0"},
                                     {"compute_streams", std::to_string(variant.compute_streams)},
                                     {"kernel_ns", std::to_string(of.kernel.count())},
                                     {"copy_ns", std::to_string(of.copy.count())}});
  options.add_config_entry("session.capture", variant.captures ? "auto" : "off");
  EPHOST_ASSIGN_OR_RETURN(Session session, Session::create(environment, model, options));
  return seconds_of_a_run(session, of, state);
}

void add(const std::string& name, const std::function<Case()>& make, Variant variant) {
  const auto run = [make, variant](benchmark::State& state) {
    Case of = make();
    const int steps = of.steps;
    const double ideal = std::chrono::duration<double>(of.ideal).count();
    const Result<double> seconds = measure(std::move(of), variant, state);
    if (!seconds.ok()) return state.SkipWithError(seconds.status().message().c_str());
    state.counters["us_per_step"] = *seconds * 1e6 / steps;
    if (ideal != 0) state.counters["ratio_to_device"] = *seconds / ideal;
  };
  benchmark::RegisterBenchmark(name.c_str(), run)->UseManualTime()->Unit(benchmark::kMicrosecond);
}

void add_all() {
  const auto both = [](const std::string& name, const std::function<Case()>& make) {
    add(name + "/waiting", make, {.enqueues = false});
    add(name + "/enqueued", make, {});
    add(name + "/captured", make, {.captures = true});
  };
  both("chain_of_1000_without_kernels", [] { return chain(1000, nanoseconds(0)); });
  both("chain_of_1000_2us", [] { return chain(1000, nanoseconds(2000)); });
  both("pipeline_of_20_100us",
       [] { return pipeline(20, nanoseconds(100'000), nanoseconds(100'000)); });
  both("pipeline_of_20_50us_copies",
       [] { return pipeline(20, nanoseconds(100'000), nanoseconds(50'000)); });
  const auto two = [] { return branches(50, nanoseconds(20'000)); };
  add("branches_of_50_20us/one_stream", two, {});
  add("branches_of_50_20us/two_streams", two, {.compute_streams = 2});
}

}  // namespace
}  // namespace ephost::benchmarks

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  ephost::benchmarks::add_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
