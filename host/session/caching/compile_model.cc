#include "host/session/caching/compile_model.h"

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
#include "host/session/caching/context_generation.h"
#include "host/session/caching/lock_wait.h"
#include "host/session/caching/profile_contexts.h"
#include "host/session/caching/session_cache.h"
#include "host/session/cancellation.h"
#include "host/session/environment_state.h"
#include "host/session/exception_barrier.h"
#include "host/session/pipeline/pipeline.h"
#include "host/session/session_config.h"
#include "host/session/session_log.h"
#include "host/session/shapes/input_extents.h"

namespace ephost {
namespace {

namespace fs = std::filesystem;

Status invalid(std::string message) {
  return Status(StatusCode::kInvalidArgument, std::move(message));
}

Status check_choices(const ModelCompilationOptions& options) {
  const int inputs = int{!options.input_model_path.empty()} +
                     int{options.input_model_buffer.data() != nullptr} +
                     int{options.input_model_read_func != nullptr};
  if (inputs != 1) {
    return invalid(
        formatted("compile_model needs one model and got {}; "
                  "set one of input_model_path, input_model_buffer and input_model_read_func",
                  inputs));
  }
  const int outputs = int{!options.output_model_path.empty()} +
                      int{options.output_model_buffer != nullptr} +
                      int{options.output_model_write_func != nullptr};
  if (outputs > 1) {
    return invalid(
        "compile_model writes one model and got several places for it; set one of "
        "output_model_path, output_model_buffer and output_model_write_func");
  }
  if (options.error_if_output_exists && options.force_overwrite) {
    return invalid(
        "error_if_output_exists and force_overwrite exclude each other; set one of them");
  }
  const std::string& name = options.ep_context_binary_model_name;
  if (name.find('/') == std::string::npos) return Status::ok_status();
  return invalid("ep_context_binary_model_name " + quote(name) +
                 " has a folder in it; that goes to ep_context_binary_folder");
}

Result<fs::path> output_file(const ModelCompilationOptions& options,
                             const session::SessionConfig& config) {
  if (!options.output_model_path.empty()) return options.output_model_path;
  if (!config.context_file_path.empty()) return config.context_file_path;
  if (!options.input_model_path.empty()) {
    return context::context_model_path(options.input_model_path);
  }
  return invalid(
      "a model from memory has no name to derive its context model's from; set output_model_path "
      "or ep.context_file_path, or take the model as a buffer");
}

// The path after which the files of a model in memory are named. Empty if the options give none, as
// files would then go where nobody expects them.
fs::path path_of_files(const ModelCompilationOptions& options,
                       const context::WriteOptions& write_options,
                       const session::SessionConfig& config) {
  const bool is_named =
      !options.ep_context_binary_folder.empty() || !options.ep_context_binary_model_name.empty();
  if (!is_named && !config.context_file_path.empty()) return config.context_file_path;
  if (!is_named && context::writes_files(write_options)) return {};
  std::string name = options.ep_context_binary_model_name;
  if (name.empty()) name = options.input_model_path.stem().native();
  if (name.empty()) name = "model";
  if (!name.ends_with(".onnx")) name += "_ctx.onnx";
  return options.ep_context_binary_folder / name;
}

Result<onnx_io::Placement> place(const GetInitializerLocationFunction& ask, std::string_view name,
                                 const graph::Tensor& tensor) {
  InitializerInfo info{
      .name = name, .element_type = tensor.type, .shape = tensor.shape, .bytes = tensor.data.bytes};
  ExternalInitializerInfo external;
  if (tensor.external) {
    external = {tensor.external->location, tensor.external->offset, tensor.external->size};
    info.external = &external;
  }
  EPHOST_ASSIGN_OR_RETURN(const InitializerLocation location, ask(info));
  switch (location) {
    case InitializerLocation::kExternalFile:
      return onnx_io::Placement::kExternal;
    case InitializerLocation::kOriginal:
      return onnx_io::Placement::kOriginal;
    case InitializerLocation::kEmbedded:
      break;
  }
  return onnx_io::Placement::kEmbedded;
}

Result<context::WriteOptions> write_options(const ModelCompilationOptions& options,
                                            const session::SessionConfig& config) {
  context::WriteOptions write;
  write.source_path = options.input_model_path;
  write.overwrite = !options.error_if_output_exists;
  write.force_overwrite = options.force_overwrite || config.context_force_overwrite;
  write.embed = options.ep_context_embed_mode.value_or(config.context_embed_mode);
  write.write_payload = options.ep_context_data_write_func;
  write.external_initializers_file_name = options.output_model_external_initializers_file.empty()
                                              ? config.context_external_initializers_file
                                              : options.output_model_external_initializers_file;
  write.initializer_size_threshold = options.external_initializers_size_threshold;
  write.initializer_alignment = options.external_initializers_alignment;
  if (const auto& ask = options.output_model_get_initializer_location_func) {
    write.place_initializer = [&ask](std::string_view name, const graph::Tensor& tensor) {
      return place(ask, name, tensor);
    };
  }
  if (options.output_model_write_func) {
    write.destination = context::Destination::kFunction;
    write.write_model = options.output_model_write_func;
  } else if (options.output_model_buffer != nullptr) {
    write.destination = context::Destination::kMemory;
  }
  if (write.destination == context::Destination::kFile) {
    EPHOST_ASSIGN_OR_RETURN(write.output_path, output_file(options, config));
  } else {
    write.output_path = path_of_files(options, write, config);
  }
  return write;
}

Result<std::vector<std::byte>> read_all(const ReadFunction& read,
                                        const Cancellation& cancellation) {
  constexpr size_t kLeastRoom = size_t{1} << 20;
  std::vector<std::byte> bytes;
  for (size_t size = 0;;) {
    EPHOST_RETURN_IF_ERROR(cancellation.check());
    if (bytes.size() - size < kLeastRoom) bytes.resize(std::max(2 * size, kLeastRoom) + kLeastRoom);
    const std::span<std::byte> room = std::span(bytes).subspan(size);
    EPHOST_ASSIGN_OR_RETURN(const size_t count, read(room));
    if (count > room.size()) {
      return invalid(formatted("input_model_read_func gives {} bytes where there is room for {}",
                               count, room.size()));
    }
    size += count;
    if (count > 0) continue;
    bytes.resize(size);
    return bytes;
  }
}

// `bytes` gets a model that the application reads itself.
Result<session::ModelSource> source_of(const ModelCompilationOptions& options,
                                       const Cancellation& cancellation,
                                       std::vector<std::byte>& bytes) {
  session::ModelSource source{options.input_model_path, {}};
  if (options.input_model_read_func) {
    EPHOST_ASSIGN_OR_RETURN(bytes, read_all(options.input_model_read_func, cancellation));
    source.bytes = bytes;
  } else if (source.path.empty()) {
    source.bytes = options.input_model_buffer;
  }
  return source;
}

// compile_model takes its output from its arguments, so the session itself must not write one.
SessionOptions without_generation(SessionOptions options) {
  options.add_config_entry("ep.context_enable", "0");
  return options;
}

CompileReport report_on(const session::PreparedModel& prepared,
                        const session::ContextGeneration& generation, bool has_path) {
  CompileReport report;
  for (const context::WrittenFile& file : generation.written().files) {
    report.files.push_back({file.path, file.checksum.size});
  }
  if (has_path) report.output_path = report.files.back().path;
  report.partitions = generation.partitions();
  report.fallbacks = session::fallbacks_of(prepared);
  report.remaining_nodes = generation.written().remaining_nodes;
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

Result<session::PreparedModel> compile_with(const Environment& environment,
                                            const session::ModelSource& source,
                                            const SessionOptions& options,
                                            const session::PipelineHooks& hooks) {
  return session::prepare_model(environment, source, without_generation(options),
                                session::Stage::kCompiled, hooks);
}

// What the providers write for the model, without writing it.
Result<session::PayloadDigests> compile_to_nowhere(const Environment& environment,
                                                   const session::ModelSource& source,
                                                   const SessionOptions& options,
                                                   const std::string& target) {
  session::PayloadDigests digests;
  session::PipelineHooks hooks;
  hooks.writes_context = true;
  hooks.target = target;
  hooks.after_import = [](const session::PreparedModel& prepared) {
    return context::refuse_ep_context_nodes(prepared.model.graph);
  };
  hooks.after_compile = [&](session::PreparedModel& prepared) -> Status {
    EPHOST_ASSIGN_OR_RETURN(digests, session::digest_contexts(prepared));
    return {};
  };
  EPHOST_RETURN_IF_ERROR(compile_with(environment, source, options, hooks).status());
  return digests;
}

Result<CompileReport> compile(const Environment& environment, const SessionOptions& options,
                              const ModelCompilationOptions& compilation);

// Compiles a model for the profiles of a session before the context model of the model as it is,
// which states them, is written.
class ProfileCompilation {
 public:
  // Borrows all; `bytes` are those of a model that the application reads itself.
  ProfileCompilation(const Environment& environment, const SessionOptions& options,
                     const ModelCompilationOptions& compilation, std::span<const std::byte> bytes,
                     fs::path output)
      : environment_(environment),
        options_(options),
        compilation_(compilation),
        bytes_(bytes),
        output_(std::move(output)) {}

  // INVALID_ARGUMENT where there is no folder for further models.
  [[nodiscard]] Status check(const context::WriteOptions& write) const {
    if (write.destination != context::Destination::kFile) {
      return invalid(
          "the context models for profiles of shapes are files beside the model, which goes to "
          "memory here; set output_model_path, or leave session.shapes.profiles out");
    }
    if (!write.write_payload) return Status::ok_status();
    return invalid(
        "the payloads of several context models, for profiles of shapes, would get the same names; "
        "leave out ep_context_data_write_func or session.shapes.profiles");
  }

  // Compiles for each profile, and tells `generation`.
  Status run(const session::PreparedModel& prepared, session::ContextGeneration& generation) {
    const session::InputExtents inputs(prepared.model, prepared.shape_wishes);
    EPHOST_ASSIGN_OR_RETURN(const auto all, session::best_extents(prepared.shape_profiles, inputs));
    if (all.empty()) {
      log_warning(formatted("{} has no effect: no provider wishes for fixed extents of this model",
                            session::kShapeProfilesKey));
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
    for (CompileReport& one : reports_) append(one, all);
    append(report, all);
    report.files = std::move(all.files);
    report.partitions = std::move(all.partitions);
    report.fallbacks = std::move(all.fallbacks);
  }

 private:
  static void append(CompileReport& from, CompileReport& to) {
    std::ranges::move(from.files, std::back_inserter(to.files));
    std::ranges::move(from.partitions, std::back_inserter(to.partitions));
    std::ranges::move(from.fallbacks, std::back_inserter(to.fallbacks));
  }

  Status run_one(const session::InputExtents& inputs, std::span<const int64_t> extents,
                 std::map<std::string, context::ContentChecksum>& written) {
    SessionOptions options = options_;
    options.add_config_entry(std::string(session::kShapeProfilesKey), "");
    inputs.add_overrides(extents, options);
    ModelCompilationOptions compilation = compilation_;
    compilation.output_model_path = session::specialized_model_path(output_, extents);
    if (compilation.input_model_read_func) {
      compilation.input_model_read_func = {};
      compilation.input_model_buffer = bytes_;
    }
    EPHOST_ASSIGN_OR_RETURN(CompileReport report, compile(environment_, options, compilation));
    EPHOST_ASSIGN_OR_RETURN(const MappedFile model, MappedFile::open(report.output_path));
    written[report.output_path.filename().native()] = {.hash = content_checksum(model.bytes()),
                                                       .size = model.bytes().size()};
    reports_.push_back(std::move(report));
    return Status::ok_status();
  }

  const Environment& environment_;
  const SessionOptions& options_;
  const ModelCompilationOptions& compilation_;
  std::span<const std::byte> bytes_;
  fs::path output_;
  std::vector<CompileReport> reports_;
};

Result<CompileReport> compile(const Environment& environment, const SessionOptions& options,
                              const ModelCompilationOptions& compilation) {
  EPHOST_RETURN_IF_ERROR(check_choices(compilation));
  std::vector<std::string> warnings;  // the pipeline logs them
  EPHOST_ASSIGN_OR_RETURN(const session::SessionConfig config,
                          session::read_session_config(options, warnings));
  const Cancellation cancellation = session::cancellation_of(options, config);
  EPHOST_ASSIGN_OR_RETURN(context::WriteOptions write, write_options(compilation, config));
  write.file_system = environment.state().output_file_system;
  write.lock_wait = session::lock_wait(config, cancellation);
  const bool has_path = write.destination == context::Destination::kFile;
  const bool has_profiles = !config.shape_profiles.empty();
  std::vector<std::byte> bytes;
  EPHOST_ASSIGN_OR_RETURN(const session::ModelSource source,
                          source_of(compilation, cancellation, bytes));
  ProfileCompilation profiles(environment, options, compilation, bytes, write.output_path);
  if (has_profiles) EPHOST_RETURN_IF_ERROR(profiles.check(write));
  using Without = session::ContextGeneration::WithoutNodes;
  EPHOST_ASSIGN_OR_RETURN(
      const auto generation,
      session::ContextGeneration::create(std::move(write),
                                         compilation.error_if_no_nodes_compiled && !has_profiles
                                             ? Without::kFail
                                             : Without::kWritePlainModel,
                                         cancellation));
  EPHOST_ASSIGN_OR_RETURN(session::SessionCache cache,
                          session::SessionCache::create(
                              source, without_generation(options), environment.state().host_version,
                              environment.state().registry.verifier().policy()));
  if (compilation.output_model_get_initializer_location_func) {
    cache.skip("the application places initializers, which may stay in the model's own files");
  }
  session::PayloadDigests digests;
  if (compilation.check_deterministic) {
    cache.skip("what the providers write is compared with what they write in another compilation");
    EPHOST_ASSIGN_OR_RETURN(digests,
                            compile_to_nowhere(environment, source, options, compilation.target));
    generation->expect(&digests);
  }
  bool writes = false;
  session::PipelineHooks hooks{.writes_context = true, .target = compilation.target};
  hooks.after_import = [&](const session::PreparedModel& prepared) {
    EPHOST_RETURN_IF_ERROR(context::refuse_ep_context_nodes(prepared.model.graph));
    return generation->check(prepared);
  };
  hooks.after_compile = [&](session::PreparedModel& prepared) {
    if (has_profiles) EPHOST_RETURN_IF_ERROR(profiles.run(prepared, *generation));
    writes = true;
    return cache.entry() ? generation->write_again(prepared) : generation->write(prepared);
  };
  cache.add_to(hooks);
  const auto prepare = [&] { return compile_with(environment, source, options, hooks); };
  auto prepared = prepare();
  if (!prepared.ok() && !writes && cache.blames_entry(prepared.status())) prepared = prepare();
  cache.count(environment.state().metrics.get());
  if (!prepared.ok()) return prepared.status();
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
  return report;
}

}  // namespace

std::filesystem::path default_context_model_path(const std::filesystem::path& model) {
  return context::context_model_path(model);
}

Result<CompileReport> compile_model(const Environment& environment, const SessionOptions& options,
                                    const ModelCompilationOptions& compilation) {
  using session::Family;
  return session::metered(environment.state().metrics.get(), Family::kCompilations,
                          Family::kCompilationSeconds, "compilation", [&] {
                            return session::without_exceptions("compiling a model", [&] {
                              const Log log = session::session_log(environment, options);
                              const LogScope scope(log);
                              return compile(environment, options, compilation);
                            });
                          });
}

}  // namespace ephost
