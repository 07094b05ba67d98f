// `ephost bench MODEL`: measures the time and memory that creating a session and running it take.
#include <algorithm>
#include <memory>
#include <optional>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/arguments/interrupt.h"
#include "host/cli/measure/measure.h"
#include "host/cli/measure/statistics.h"
#include "host/cli/options/metrics_file.h"
#include "host/cli/options/options.h"
#include "host/cli/report/activity.h"
#include "host/cli/report/report.h"
#include "host/cli/report/table.h"
#include "host/cli/shell/command.h"

namespace ephost::cli {
namespace {

struct BenchFlags {
  SessionFlags session;
  ReportFlags report;
  MeasureRequest request;
  bool compare_context = false;
};

struct Benchmark {
  Measurement model;
  std::optional<ContextMeasurement> context;
};

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

double context_speedup(const Benchmark& benchmark) {
  return ratio(median(benchmark.model.session.seconds), median(benchmark.context->session.seconds));
}

Json session_json(const SessionTimes& times) {
  return {{"median_seconds", median(times.seconds)},
          {"first_seconds", times.seconds.front()},
          {"seconds", times.seconds},
          {"phases", phases_json(times.phases)}};
}

Json to_json(const Benchmark& benchmark, const BenchFlags& flags) {
  const Measurement& model = benchmark.model;
  Json blocks = Json::array();
  for (const PlannedMemory& block : model.blocks) {
    blocks.push_back({{"location", block.location},
                      {"peak_bytes", block.peak_bytes},
                      {"lower_bound_bytes", block.lower_bound_bytes}});
  }
  Json json = {{"model", flags.request.model.native()},
               {"providers", model.providers},
               {"session", session_json(model.session)},
               {"cache", cache_json(model.cache)},
               {"first_run_seconds", model.first_run_seconds},
               {"run",
                {{"count", model.run_seconds.size()},
                 {"median_seconds", median(model.run_seconds)},
                 {"p90_seconds", percentile(model.run_seconds, 0.9)},
                 {"min_seconds", percentile(model.run_seconds, 0)}}},
               {"allocations_per_run", nullptr},
               {"host_allocations_per_run", nullptr},
               {"peak_resident_bytes", model.peak_resident_bytes},
               {"planned_memory", blocks}};
  if (model.allocations_per_run) {
    json.set("allocations_per_run", *model.allocations_per_run);
    json.set("host_allocations_per_run", *model.host_allocations_per_run);
  }
  if (benchmark.context) {
    const ContextMeasurement& context = *benchmark.context;
    json.set("context", {{"compile_seconds", context.compile_seconds},
                         {"partitions", context.partitions},
                         {"file_bytes", context.file_bytes},
                         {"session", session_json(context.session)},
                         {"speedup", context_speedup(benchmark)}});
  }
  return json;
}

void add_session_facts(const std::string& name, const SessionTimes& times, Facts& facts) {
  std::string value = seconds_text(median(times.seconds));
  if (times.seconds.size() > 1) {
    value += formatted(" (median of {}, the first {})", times.seconds.size(),
                       seconds_text(times.seconds.front()));
  }
  facts.add(name, value);
  facts.add("  of which", phases_text(times.phases));
}

void add_context_facts(const Benchmark& benchmark, Facts& facts) {
  const ContextMeasurement& context = *benchmark.context;
  facts.add("compiling",
            formatted("{}, {}, {}", seconds_text(context.compile_seconds),
                      counted(context.partitions, "partition"), bytes_text(context.file_bytes)));
  add_session_facts("session from context", context.session, facts);
  facts.add("context speed-up", fixed(context_speedup(benchmark), 2) + " times");
}

std::string allocations_text(const Measurement& model) {
  if (!model.allocations_per_run) return "not counted (that needs a preloaded library, see --help)";
  return formatted("{} by the host, {} with its plugins", compact(*model.host_allocations_per_run),
                   compact(*model.allocations_per_run));
}

std::string to_table(const Benchmark& benchmark) {
  const Measurement& model = benchmark.model;
  Facts facts;
  facts.add("providers", join(model.providers, ", "));
  add_session_facts("session creation", model.session, facts);
  if (const std::string cache = cache_text(model.cache); !cache.empty()) {
    facts.add("cache, last session", cache);
  }
  facts.add("first run", seconds_text(model.first_run_seconds));
  facts.add("run",
            formatted("median {}, p90 {}, best {} ({})", seconds_text(median(model.run_seconds)),
                      seconds_text(percentile(model.run_seconds, 0.9)),
                      seconds_text(percentile(model.run_seconds, 0)),
                      counted(model.run_seconds.size(), "run")));
  facts.add("allocations per run", allocations_text(model));
  facts.add("peak resident memory", bytes_text(model.peak_resident_bytes));
  for (const PlannedMemory& block : model.blocks) {
    facts.add("planned memory",
              formatted("{}, lower bound {} (ratio {})", bytes_text(block.peak_bytes),
                        bytes_text(block.lower_bound_bytes),
                        fixed(ratio(static_cast<double>(block.peak_bytes),
                                    static_cast<double>(block.lower_bound_bytes)),
                              3)));
  }
  if (benchmark.context) add_context_facts(benchmark, facts);
  return facts.to_text();
}

Result<Benchmark> run_benchmark(const Environment& environment, const BenchFlags& flags) {
  Benchmark benchmark;
  const Interrupt interrupt;
  MeasureRequest request = flags.request;
  request.cancelled = interrupt.flag();
  EPHOST_ASSIGN_OR_RETURN(SessionOptions options, make_session_options(flags.session, environment));
  options.set_load_cancellation_flag(interrupt.flag());
  add_input_files(request.inputs, options);
  // Child processes come first, as they start as copies of this one, which must not have loaded
  // anything. Only the session that runs is profiled.
  SessionOptions for_children = options;
  for_children.enable_profiling({});
  EPHOST_ASSIGN_OR_RETURN(SessionTimes sessions, time_sessions(environment, for_children, request));
  if (flags.compare_context) {
    EPHOST_ASSIGN_OR_RETURN(benchmark.context, measure_context(environment, for_children, request));
  }
  Activity activity("measuring " + request.model.native(), flags.report.shows_progress());
  activity.follow(options);
  EPHOST_ASSIGN_OR_RETURN(benchmark.model, measure_runs(environment, options, request));
  benchmark.model.session = std::move(sessions);
  return benchmark;
}

Result<int> run(const BenchFlags& flags) {
  apply(flags.report);
  EPHOST_ASSIGN_OR_RETURN(const Environment environment,
                          open_environment(flags.session.environment));
  EPHOST_ASSIGN_OR_RETURN(const Benchmark benchmark, run_benchmark(environment, flags));
  print(flags.report.json() ? to_text(to_json(benchmark, flags)) : to_table(benchmark));
  return kExitSuccess;
}

}  // namespace

Command add_bench(ArgumentParser& root) {
  auto flags = std::make_shared<BenchFlags>();
  MeasureRequest& request = flags->request;
  ArgumentParser app = root.add_subcommand("bench", "Measure session creation, runs and memory");
  app.add("MODEL", request.model, "An ONNX model or context model").type_name("FILE").required();
  app.add("--sessions", request.sessions, "Number of sessions to create, each in its own process")
      .type_name("N")
      .positive()
      .show_default();
  app.add("--runs", request.runs, "Number of timed runs").type_name("N").positive().show_default();
  app.add("--warm-up", request.warm_up, "Number of runs before the timed ones")
      .type_name("N")
      .not_negative()
      .show_default();
  app.add_flag("--compare-context", flags->compare_context,
               "Also create sessions from the context model of the model, and compare");
  add_input_flags(app, request.inputs);
  add_session_flags(app, flags->session);
  add_execution_flags(app, flags->session);
  add_run_flags(app, request.run);
  add_profile_flag(app, flags->session);
  add_cache_flag(app, flags->session);
  add_metrics_flag(app, flags->session.environment);
  add_report_flags(app, flags->report);
  app.footer(
      "Allocations per run are counted where libephost_count_allocations.so, which is built with "
      "the\n"
      "benchmarks of ephost's source, is preloaded (LD_PRELOAD).");
  return {app, [flags] {
            flags->request.quiet = !flags->report.shows_progress();
            return with_metrics_file(flags->session.environment, [&] { return run(*flags); });
          }};
}

}  // namespace ephost::cli
