#include "tests/differential/runs.h"

#include <ephost/throwing.h>

#include <algorithm>
#include <map>

#include "tests/support/temp_directory.h"

namespace ephost::test {
namespace {

SessionOptions options_of(GraphOptimizationLevel level, bool with_dnnl, Dice& dice) {
  SessionOptions options;
  options.set_graph_optimization_level(level);
  if (with_dnnl) options.append_execution_provider("dnnl");
  options.set_intra_op_num_threads(dice.one_in(4) ? 2 : 1);
  if (dice.one_in(6)) {
    options.set_execution_mode(ExecutionMode::kParallel).set_inter_op_num_threads(2);
  }
  if (dice.one_in(8)) options.enable_mem_pattern(false);
  if (dice.one_in(8)) options.enable_mem_reuse(false);
  return options;
}

// What a session needs for its whole life.
struct KeptModel {
  std::string model;
  std::vector<std::byte> context_model;
  std::map<std::string, std::vector<std::byte>, std::less<>> binaries;
  std::optional<TempDirectory> folder;
  uint64_t compiled_nodes = 0;
};

Result<Session> load_bytes(const Environment& environment, std::span<const std::byte> bytes,
                           const SessionOptions& options) {
  return Session::create(environment, ModelBytes{bytes}, options);
}

uint64_t count_nodes(const CompileReport& report) {
  uint64_t count = 0;
  for (const CompiledPartition& partition : report.partitions) count += partition.nodes;
  return count;
}

Result<Session> make_session(const Environment& environment, const Way& way, KeptModel& made) {
  const auto model = std::as_bytes(std::span(made.model));
  if (way.context == Way::Context::kNone) return load_bytes(environment, model, way.options);
  if (way.context == Way::Context::kOptimized) {
    const auto saved = made.folder.emplace() / "optimized.onnx";
    SessionOptions saving = way.compile_options;
    saving.set_optimized_model_file_path(saved);
    EPHOST_RETURN_IF_ERROR(load_bytes(environment, model, saving).status());
    return Session::create(environment, saved, way.options);
  }
  ModelCompilationOptions compilation;
  compilation.input_model_buffer = model;
  compilation.ep_context_embed_mode = way.context == Way::Context::kEmbedded;
  if (way.context == Way::Context::kFiles) {
    compilation.output_model_path = made.folder.emplace() / "model_ctx.onnx";
    EPHOST_ASSIGN_OR_RETURN(const auto report,
                            compile_model(environment, way.compile_options, compilation));
    made.compiled_nodes = count_nodes(report);
    return Session::create(environment, report.output_path, way.options);
  }
  compilation.output_model_buffer = &made.context_model;
  SessionOptions loading = way.options;
  if (way.context == Way::Context::kBinary) {
    compilation.ep_context_binary_model_name = "model";
    compilation.ep_context_data_write_func = [&](std::string_view name,
                                                 std::span<const std::byte> bytes) {
      made.binaries[std::string(name)].assign(bytes.begin(), bytes.end());
      return Status();
    };
    loading.set_ep_context_data_read_func([&](std::string_view name) -> Result<EpContextData> {
      const auto found = made.binaries.find(name);
      if (found == made.binaries.end()) return Status(StatusCode::kNotFound, "no such binary");
      return EpContextData{found->second, nullptr};
    });
  }
  EPHOST_ASSIGN_OR_RETURN(const auto report,
                          compile_model(environment, way.compile_options, compilation));
  made.compiled_nodes = count_nodes(report);
  return load_bytes(environment, made.context_model, loading);
}

std::vector<NamedValue> named_inputs(const BoundedValues& inputs) {
  std::vector<NamedValue> named;
  for (const auto& [name, tensor] : inputs) named.push_back({name, to_value(tensor)});
  return named;
}

std::optional<std::string> find_wrong_output(const onnx::GraphProto& graph,
                                             const std::vector<Value>& results,
                                             const BoundedValues& expected) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string& name = graph.output(static_cast<int>(i)).name();
    if (const auto wrong = find_wrong_element(results[i], expected.at(name))) {
      return "output " + name + ": " + *wrong;
    }
  }
  return std::nullopt;
}

// Each set of inputs, and the first one again after the others.
std::optional<Failure> run_session(Session& session, const Case& tested,
                                   const std::vector<BoundedValues>& expected) {
  for (std::size_t run = 0; run < tested.inputs.size() + 1; ++run) {
    const std::size_t set = run % tested.inputs.size();
    const auto results = session.run(named_inputs(tested.inputs[set]));
    const std::string where = "run " + std::to_string(run) + ": ";
    if (!results.ok()) return Failure{Failure::Kind::kNoRun, where + results.status().to_string()};
    if (const auto wrong = find_wrong_output(tested.model.graph(), *results, expected[set])) {
      return Failure{Failure::Kind::kWrongResult, where + *wrong};
    }
  }
  return std::nullopt;
}

CaseOutcome run_way(const Environment& environment, const Case& tested, const Way& way,
                    const std::vector<BoundedValues>& expected) {
  KeptModel made;
  made.model = tested.model.SerializeAsString();
  Result<Session> session = make_session(environment, way, made);
  CaseOutcome outcome{std::nullopt, made.compiled_nodes};
  if (session.ok()) {
    outcome.failure = run_session(*session, tested, expected);
  } else {
    outcome.failure = Failure{Failure::Kind::kNoSession, session.status().to_string()};
  }
  if (outcome.failure) outcome.failure->text = way.name + ": " + outcome.failure->text;
  return outcome;
}

Environment make_environment(const std::filesystem::path& plugins) {
  EnvironmentOptions options;
  options.plugin_directories = {plugins};
  options.search_default_directories = false;
  return value_or_throw(Environment::create(options));
}

// A session that keeps both plugins loaded.
Session make_keeper(const Environment& environment) {
  RandomGraph graph(0);
  const std::string x = graph.input({2, 3}, {-1, 1});
  graph.add(Draft("MatMul", {x, graph.constant({3, 2}, {-1, 1})}));
  const std::string bytes = graph.grow(0).model.SerializeAsString();
  SessionOptions options;
  options.append_execution_provider("dnnl");
  return value_or_throw(load_bytes(environment, std::as_bytes(std::span(bytes)), options));
}

}  // namespace

std::vector<Way> ways_for(uint64_t seed) {
  using Level = GraphOptimizationLevel;
  Dice dice("ways " + std::to_string(seed));
  const auto context = static_cast<Way::Context>(1 + (seed % 8 == 0 ? 2 : seed % 2));
  const Level compiled_at = dice.one_in(2) ? Level::kAll : Level::kDisableAll;
  return {{"cpu, disable_all", options_of(Level::kDisableAll, false, dice)},
          {"cpu, all", options_of(Level::kAll, false, dice)},
          {"dnnl, all", options_of(Level::kAll, true, dice)},
          {"dnnl, disable_all", options_of(Level::kDisableAll, true, dice)},
          {"dnnl, context model", options_of(Level::kAll, true, dice), context,
           options_of(compiled_at, true, dice)},
          {"cpu, saved optimized model", options_of(Level::kDisableAll, false, dice),
           Way::Context::kOptimized, options_of(Level::kAll, false, dice)}};
}

Runner::Runner(const std::filesystem::path& plugins)
    : environment_(make_environment(plugins)), keeper_(make_keeper(environment_)) {}

CaseOutcome Runner::run(const Case& tested, const std::vector<Way>& ways) const {
  CaseOutcome total;
  std::vector<BoundedValues> expected;
  try {
    for (const BoundedValues& inputs : tested.inputs) {
      expected.push_back(evaluate_model(tested.model, inputs));
    }
  } catch (const NotEvaluable& reason) {
    total.failure = Failure{Failure::Kind::kInvalid, reason.what()};
  }
  for (std::size_t i = 0; !total.failure && i < ways.size(); ++i) {
    const CaseOutcome outcome = run_way(environment_, tested, ways[i], expected);
    total.compiled_nodes += outcome.compiled_nodes;
    total.failure = outcome.failure;
  }
  return total;
}

}  // namespace ephost::test
