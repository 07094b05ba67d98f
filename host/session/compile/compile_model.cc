#include "host/session/compile/compile_model.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/format.h"
#include "host/base/hash.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/context/ep_context_node.h"
#include "host/context/file_names.h"
#include "host/context/write/output_files.h"
#include "host/session/caching/session_cache.h"
#include "host/session/compile/compilation_options.h"
#include "host/session/config/cancellation.h"
#include "host/session/config/lock_wait.h"
#include "host/session/config/session_config.h"
#include "host/session/contexts/context_generation.h"
#include "host/session/contexts/profile_contexts.h"
#include "host/session/creation/pipeline.h"
#include "host/session/creation/retries.h"
#include "host/session/environment/environment_state.h"
#include "host/session/environment/exception_barrier.h"
#include "host/session/environment/session_log.h"
#include "host/session/model/node_counts.h"
#include "host/session/shapes/input_extents.h"

namespace ephost::session {
namespace {

namespace fs = std::filesystem;

using context::invalid_argument;

ModelSource source_of(const ModelCompilationOptions& options) {
  ModelSource source{options.input_model_path, {}};
  if (source.path.empty()) source.bytes = options.input_model_buffer;
  return source;
}

// compile_model takes its output from its arguments, so the session itself must not write one.
SessionSettings without_generation(SessionSettings settings) {
  settings.config.context_enable = false;
  return settings;
}

CompileReport report_on(const PreparedModel& prepared, const ContextGeneration& generation,
                        bool has_path) {
  CompileReport report;
  for (const context::WrittenFile& file : generation.written().files) {
    report.files.push_back({file.path, file.checksum.size});
  }
  if (has_path) report.output_path = report.files.back().path;
  report.partitions = generation.partitions();
  report.fallbacks = fallbacks_of(prepared);
  report.remaining_nodes = generation.written().remaining_nodes;
  report.providers = describe_providers(prepared);
  return report;
}

// Adds the numbers of nodes of partitions that come from the cache store.
void add_node_counts(const context::CacheEntry& entry, CompileReport& report) {
  const std::map<std::string, uint64_t> counts(entry.partitions.begin(), entry.partitions.end());
  for (CompiledPartition& partition : report.partitions) {
    if (const auto found = counts.find(partition.name); found != counts.end()) {
      partition.nodes = found->second;
    }
  }
}

Result<PreparedModel> compile_with(EnvironmentState& environment, const ModelSource& source,
                                   const SessionSettings& settings, const PipelineHooks& hooks) {
  return prepare_model(environment, source, without_generation(settings), Stage::kCompiled, hooks);
}

// What the providers write for the model, without writing it.
Result<PayloadDigests> compile_to_nowhere(EnvironmentState& environment, const ModelSource& source,
                                          const SessionSettings& settings, PipelineHooks hooks) {
  PayloadDigests digests;
  hooks.after_import = [](const PreparedModel& prepared) {
    return context::refuse_ep_context_nodes(prepared.model.graph);
  };
  hooks.after_compile = [&](PreparedModel& prepared) -> Status {
    EPHOST_RETURN_IF_ERROR(check_workers(prepared));
    EPHOST_ASSIGN_OR_RETURN(digests, digest_contexts(prepared));
    return {};
  };
  EPHOST_RETURN_IF_ERROR(compile_with(environment, source, settings, hooks).status());
  return digests;
}

Result<CompileReport> compile(EnvironmentState& environment, const SessionSettings& settings,
                              const ModelCompilationOptions& compilation,
                              std::vector<LostProvider> lost,
                              std::vector<context::WrittenFile>& written);

// Compiles a model for the profiles of a session before the context model of the model as it is,
// which names them, is written.
class ProfileCompilation {
 public:
  // Borrows all.
  ProfileCompilation(EnvironmentState& environment, const SessionSettings& settings,
                     const ModelCompilationOptions& compilation, Attempt& attempt, fs::path output)
      : environment_(environment),
        settings_(settings),
        compilation_(compilation),
        attempt_(attempt),
        output_(std::move(output)) {}

  // INVALID_ARGUMENT where there is no folder for further models.
  [[nodiscard]] Status check(const context::WriteOptions& write) const {
    if (write.destination != context::Destination::kFile) {
      return invalid_argument(
          "the context models for profiles of shapes are files beside the model, which goes to "
          "memory here; set output_model_path, or leave session.shapes.profiles out");
    }
    if (!write.write_payload) return Status::ok_status();
    return invalid_argument(
        "the payloads of several context models, for profiles of shapes, would get the same names; "
        "leave out ep_context_data_write_func or session.shapes.profiles");
  }

  // Compiles for each profile, and tells `generation`.
  Status run(const PreparedModel& prepared, ContextGeneration& generation) {
    const InputExtents inputs(prepared.model, prepared.shape_wishes);
    EPHOST_ASSIGN_OR_RETURN(const auto all, best_extents(prepared.shape_profiles, inputs));
    if (all.empty()) {
      log_warning(formatted("{} has no effect: no provider wishes for fixed extents of this model",
                            kShapeProfilesKey));
    }
    std::map<std::string, context::ContentChecksum> written;
    reports_.clear();
    for (const std::vector<int64_t>& extents : all) {
      EPHOST_RETURN_IF_ERROR(run_one(inputs, extents, written)
                                 .with_context("compiling for " + inputs.describe(extents)));
    }
    generation.state_specializations(std::move(written));
    return Status::ok_status();
  }

  // Puts what was written in front of the report on the model as it is.
  void add_to(CompileReport& report) {
    CompileReport all;
    for (CompileReport& one : reports_) {
      add_node_counts(one.providers, report.providers);
      append(one, all);
    }
    append(report, all);
    report.files = std::move(all.files);
    report.partitions = std::move(all.partitions);
    report.fallbacks = std::move(all.fallbacks);
  }

 private:
  static void add_node_counts(const std::vector<SessionProvider>& from,
                              std::vector<SessionProvider>& to) {
    for (const SessionProvider& one : from) {
      const auto same = std::ranges::find(to, one.name, &SessionProvider::name);
      if (same != to.end()) same->node_count += one.node_count;
    }
  }

  static void append(CompileReport& from, CompileReport& to) {
    std::ranges::move(from.files, std::back_inserter(to.files));
    std::ranges::move(from.partitions, std::back_inserter(to.partitions));
    std::ranges::move(from.fallbacks, std::back_inserter(to.fallbacks));
  }

  Status run_one(const InputExtents& inputs, std::span<const int64_t> extents,
                 std::map<std::string, context::ContentChecksum>& written) {
    SessionSettings settings = settings_;
    settings.config.shape_profiles.clear();
    inputs.add_overrides(extents, settings.config.dimension_overrides);
    ModelCompilationOptions compilation = compilation_;
    compilation.output_model_path = specialized_model_path(output_, extents);
    EPHOST_ASSIGN_OR_RETURN(CompileReport report, compile(environment_, settings, compilation,
                                                          attempt_.lost, attempt_.written));
    EPHOST_ASSIGN_OR_RETURN(const MappedFile model, MappedFile::open(report.output_path));
    const std::string name = std::filesystem::path(report.output_path).filename();
    written[name] = {.hash = content_checksum(model.bytes()), .size = model.bytes().size()};
    reports_.push_back(std::move(report));
    return Status::ok_status();
  }

  EnvironmentState& environment_;
  const SessionSettings& settings_;
  const ModelCompilationOptions& compilation_;
  Attempt& attempt_;
  fs::path output_;
  std::vector<CompileReport> reports_;
};

// The model is a file or in memory.
Result<CompileReport> compile_once(EnvironmentState& environment, const SessionSettings& settings,
                                   const ModelCompilationOptions& compilation, Attempt attempt) {
  const SessionConfig& config = settings.config;
  const Cancellation cancellation = cancellation_of(settings);
  EPHOST_ASSIGN_OR_RETURN(context::WriteOptions write,
                          compilation_write_options(compilation, config));
  write.file_system = environment.output_file_system;
  write.lock_wait = lock_wait(config, cancellation);
  write.written_before = attempt.written;
  const bool has_path = write.destination == context::Destination::kFile;
  const bool has_profiles = !config.shape_profiles.empty();
  const ModelSource source = source_of(compilation);
  ProfileCompilation profiles(environment, settings, compilation, attempt, write.output_path);
  if (has_profiles) EPHOST_RETURN_IF_ERROR(profiles.check(write));
  using Without = ContextGeneration::WithoutNodes;
  EPHOST_ASSIGN_OR_RETURN(
      const auto generation,
      ContextGeneration::create(std::move(write),
                                compilation.error_if_no_nodes_compiled && !has_profiles
                                    ? Without::kFail
                                    : Without::kWritePlainModel,
                                cancellation));
  SessionCache cache =
      SessionCache::create(source, without_generation(settings), environment.host_version,
                           environment.registry.verifier().policy());
  if (compilation.output_model_get_initializer_location_func) {
    cache.skip("the application places initializers, which may stay in the model's own files");
  }
  PayloadDigests digests;
  PipelineHooks hooks{.writes_context = true,
                      .target = compilation.target,
                      .workers = attempt.workers,
                      .lost = attempt.lost};
  if (compilation.check_deterministic) {
    cache.skip("what the providers write is compared with what they write in another compilation");
    EPHOST_ASSIGN_OR_RETURN(digests, compile_to_nowhere(environment, source, settings, hooks));
    generation->expect(&digests);
  }
  bool writes = false;
  hooks.after_import = [&](const PreparedModel& prepared) {
    EPHOST_RETURN_IF_ERROR(context::refuse_ep_context_nodes(prepared.model.graph));
    return generation->check(prepared);
  };
  hooks.after_compile = [&](PreparedModel& prepared) {
    EPHOST_RETURN_IF_ERROR(check_workers(prepared));
    if (has_profiles) EPHOST_RETURN_IF_ERROR(profiles.run(prepared, *generation));
    writes = true;
    return cache.entry() ? generation->write_again(prepared) : generation->write(prepared);
  };
  cache.add_to(hooks);
  DamagedEntry damaged(cache, &writes);
  auto prepared =
      with_retries([&] { return compile_with(environment, source, settings, hooks); }, damaged);
  cache.count(environment.metrics.get());
  if (!prepared.ok()) return prepared.status();
  std::ranges::copy(generation->written().files, std::back_inserter(attempt.written));
  if (std::vector<std::byte>* const buffer = compilation.output_model_buffer) {
    const std::span<const std::byte> model = generation->written().model.bytes;
    buffer->assign(model.begin(), model.end());
  }
  CompileReport report = report_on(*prepared, *generation, has_path);
  if (cache.entry()) add_node_counts(cache.entry()->stated, report);
  report.cache_use = cache.use();
  report.deterministic_providers = digests.providers();
  if (has_profiles) profiles.add_to(report);
  if (prepared->profiler) EPHOST_RETURN_IF_ERROR(prepared->profiler->write());
  // What is written needs no worker any more.
  if (attempt.workers != nullptr) attempt.workers->clear();
  return report;
}

// Does what session.on_crash says if workers end meanwhile. `lost` are left out from the beginning;
// `written` are the files of the operation so far, which may be replaced, and gets more of them.
Result<CompileReport> compile(EnvironmentState& environment, const SessionSettings& settings,
                              const ModelCompilationOptions& compilation,
                              std::vector<LostProvider> lost,
                              std::vector<context::WrittenFile>& written) {
  LossPolicy policy;
  LostWorker lost_worker(settings.config.on_crash, policy, lost);
  const auto attempt = [&] {
    return compile_once(environment, settings, compilation, {lost_worker.workers(), lost, written});
  };
  return with_retries(attempt, lost_worker);
}

// The application reads its model once, whatever is made of it.
Result<CompileReport> compile(EnvironmentState& environment, const GivenOptions& options,
                              ModelCompilationOptions compilation) {
  EPHOST_RETURN_IF_ERROR(check_choices(compilation));
  EPHOST_ASSIGN_OR_RETURN(const SessionSettings settings, SessionSettings::read(options));
  std::vector<std::byte> bytes;
  if (compilation.input_model_read_func) {
    EPHOST_ASSIGN_OR_RETURN(bytes,
                            read_all(compilation.input_model_read_func, cancellation_of(settings)));
    compilation.input_model_read_func = {};
    compilation.input_model_buffer = bytes;
  }
  std::vector<context::WrittenFile> written;
  return compile(environment, settings, compilation, {}, written);
}

}  // namespace

std::filesystem::path default_context_model_path(const std::filesystem::path& model) {
  return context::context_model_path(model);
}

Result<CompileReport> compile_model(EnvironmentState& environment, const GivenOptions& options,
                                    const ModelCompilationOptions& compilation) {
  return metered(environment.metrics.get(), Family::kCompilations, Family::kCompilationSeconds,
                 "compilation", [&] {
                   return without_exceptions("compiling a model", [&] {
                     const Log log = session_log(environment, options);
                     const LogScope scope(log);
                     return compile(environment, options, compilation);
                   });
                 });
}

}  // namespace ephost::session
