#include "host/cli/measure/measure.h"

#include <ephost/compile_model.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "host/base/files/folders/temporary_folder.h"
#include "host/cli/measure/allocation_counter.h"
#include "host/cli/measure/child_process.h"
#include "host/cli/measure/peak_memory.h"
#include "host/cli/measure/statistics.h"
#include "host/cli/options/options.h"
#include "host/cli/report/report.h"

namespace ephost::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool records_profile(const SessionOptions& options) {
  return std::ranges::any_of(options.config_entries(), [](const auto& entry) {
    return entry.first == "session.profile_file" && !entry.second.empty();
  });
}

// The phases of the last session with the median of each over all sessions that have it: with a
// cache store the first session has other phases.
std::vector<Phase> median_phases(const std::vector<std::vector<Phase>>& sessions) {
  std::vector<Phase> phases = sessions.back();
  for (Phase& phase : phases) {
    std::vector<double> seconds;
    for (const auto& session : sessions) {
      for (const Phase& other : session) {
        if (other.name == phase.name) seconds.push_back(other.seconds);
      }
    }
    phase.seconds = median(seconds);
  }
  return phases;
}

Result<IoBinding> bind(const Session& session, const InputFlags& flags) {
  EPHOST_ASSIGN_OR_RETURN(std::vector<NamedValue> inputs, make_inputs(session, flags));
  EPHOST_ASSIGN_OR_RETURN(IoBinding binding, session.create_binding());
  for (const NamedValue& input : inputs) {
    EPHOST_RETURN_IF_ERROR(binding.bind_input(input.name, input.value));
  }
  return binding;
}

Status time_runs(Session& session, IoBinding& binding, const MeasureRequest& request,
                 Measurement& out) {
  RunOptions options = make_run_options(request.run);
  options.cancelled = request.cancelled;
  const auto run = [&] {
    if (request.run.deadline_seconds) options.deadline = make_run_options(request.run).deadline;
    return session.run(binding, options);
  };
  const auto first = Clock::now();
  EPHOST_RETURN_IF_ERROR(run());
  out.first_run_seconds = seconds_since(first);
  for (uint32_t i = 0; i < request.warm_up; ++i) EPHOST_RETURN_IF_ERROR(run());
  out.run_seconds.resize(request.runs);
  for (double& seconds : out.run_seconds) {
    const auto start = Clock::now();
    EPHOST_RETURN_IF_ERROR(run());
    seconds = seconds_since(start);
  }
  return Status::ok_status();
}

Status count_allocations(Session& session, IoBinding& binding, Measurement& out) {
  if (!can_count_allocations()) return Status::ok_status();
  constexpr uint32_t kRuns = 10;
  std::vector<fs::path> plugins;
  for (const SessionProvider& provider : session.providers()) plugins.push_back(provider.library);
  start_counting_allocations(plugins);
  Status status;
  for (uint32_t i = 0; i < kRuns && status.ok(); ++i) status = session.run(binding);
  const AllocationCount counted = stop_counting_allocations();
  out.allocations_per_run = static_cast<double>(counted.all) / kRuns;
  out.host_allocations_per_run = static_cast<double>(counted.by_host) / kRuns;
  return status;
}

std::string activity_of(const MeasureRequest& request, const std::string& what) {
  return request.quiet ? std::string() : what + request.model.native();
}

}  // namespace

Result<SessionTimes> time_sessions(const Environment& environment, const SessionOptions& options,
                                   const MeasureRequest& request) {
  SessionTimes times;
  const std::string activity = activity_of(request, "creating sessions of ");
  std::vector<std::vector<Phase>> phases;
  for (uint32_t i = 0; i < request.sessions; ++i) {
    EPHOST_ASSIGN_OR_RETURN(
        const Json made, in_child(activity, [&]() -> Result<Json> {
          const auto start = Clock::now();
          const auto session = Session::create(environment, request.model, options);
          const double seconds = seconds_since(start);
          EPHOST_RETURN_IF_ERROR(session.status());
          return Json{{"seconds", seconds}, {"phases", phases_json(session->phases())}};
        }));
    times.seconds.push_back(made.member("seconds").number());
    std::vector<Phase>& of_session = phases.emplace_back();
    for (const Json& phase : made.member("phases").elements()) {
      of_session.push_back({phase.member("name").string(), phase.member("seconds").number()});
    }
  }
  times.phases = median_phases(phases);
  return times;
}

Result<ContextMeasurement> measure_context(const Environment& environment,
                                           const SessionOptions& options,
                                           const MeasureRequest& request) {
  ContextMeasurement measured;
  EPHOST_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::create());
  ModelCompilationOptions compile;
  compile.input_model_path = request.model;
  compile.output_model_path = folder.path() / "model_ctx.onnx";
  EPHOST_ASSIGN_OR_RETURN(
      const Json compiled, in_child(activity_of(request, "compiling "), [&]() -> Result<Json> {
        SessionOptions without_store = options;
        without_store.add_config_entry("ep.cache_dir", "");
        const auto start = Clock::now();
        EPHOST_ASSIGN_OR_RETURN(const CompileReport report,
                                compile_model(environment, without_store, compile));
        const double seconds = seconds_since(start);
        uint64_t bytes = 0;
        for (const CompiledFile& file : report.files) bytes += file.bytes;
        return Json{
            {"seconds", seconds}, {"partitions", report.partitions.size()}, {"bytes", bytes}};
      }));
  measured.compile_seconds = compiled.member("seconds").number();
  measured.partitions = static_cast<uint64_t>(compiled.member("partitions").number());
  measured.file_bytes = static_cast<uint64_t>(compiled.member("bytes").number());
  MeasureRequest of_context = request;
  of_context.model = compile.output_model_path;
  EPHOST_ASSIGN_OR_RETURN(measured.session, time_sessions(environment, options, of_context));
  return measured;
}

Result<Measurement> measure_runs(const Environment& environment, const SessionOptions& options,
                                 const MeasureRequest& request) {
  Measurement measured;
  EPHOST_ASSIGN_OR_RETURN(Session session, Session::create(environment, request.model, options));
  measured.cache = session.cache_use();
  EPHOST_ASSIGN_OR_RETURN(IoBinding binding, bind(session, request.inputs));
  EPHOST_RETURN_IF_ERROR(time_runs(session, binding, request, measured));
  measured.peak_resident_bytes = peak_resident_bytes();
  EPHOST_RETURN_IF_ERROR(count_allocations(session, binding, measured));
  for (const SessionProvider& provider : session.providers()) {
    measured.providers.push_back(provider.name);
  }
  measured.blocks = session.planned_memory();
  if (records_profile(options)) EPHOST_RETURN_IF_ERROR(session.end_profiling().status());
  return measured;
}

}  // namespace ephost::cli
