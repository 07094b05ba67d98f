// `ephost compile MODEL`: compiles a model and writes its context model with the binaries.
#include <ephost/compile_model.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/cli/arguments/flags.h"
#include "host/cli/arguments/interrupt.h"
#include "host/cli/commands/weight_sharing.h"
#include "host/cli/options/metrics_file.h"
#include "host/cli/options/options.h"
#include "host/cli/report/activity.h"
#include "host/cli/report/report.h"
#include "host/cli/report/table.h"
#include "host/cli/shell/command.h"
#include "host/cli/signing/signer.h"
#include "host/cli/signing/signing_flags.h"

namespace ephost::cli {
namespace {

constexpr const char* kStandardStream = "-";

struct CompileFlags {
  SessionFlags session;
  ReportFlags report;
  bool embed = false;
  bool share_weights = false;
  std::string provider_options;  // with share_weights: "key|value key|value"
  SigningFlags signing;
  ModelCompilationOptions compile;

  [[nodiscard]] bool from_standard_input() const {
    return compile.input_model_path == kStandardStream;
  }
  [[nodiscard]] bool to_standard_output() const {
    return compile.output_model_path == kStandardStream;
  }
};

// On the providers that were asked for and have nothing of the model.
std::vector<std::string> open_shapes_notes(const CompileReport& report,
                                           const std::vector<std::string>& asked) {
  std::vector<std::string> notes;
  for (const SessionProvider& provider : report.providers) {
    if (std::ranges::find(asked, provider.name) == asked.end()) continue;
    if (provider.node_count == 0 && provider.wished_node_count > 0) {
      notes.push_back(open_shapes_note(provider.name));
    }
  }
  return notes;
}

Json to_json(const CompileReport& report, const std::vector<std::string>& notes, double seconds) {
  Json files = Json::array();
  for (const CompiledFile& file : report.files) {
    files.push_back({{"path", file.path}, {"bytes", file.bytes}});
  }
  Json partitions = Json::array();
  for (const CompiledPartition& partition : report.partitions) {
    partitions.push_back(
        {{"name", partition.name}, {"provider", partition.provider}, {"nodes", partition.nodes}});
  }
  Json fallbacks = Json::array();
  for (const Fallback& fallback : report.fallbacks) {
    fallbacks.push_back({{"provider", fallback.provider},
                         {"partition", fallback.partition},
                         {"nodes", fallback.nodes},
                         {"reason", fallback.reason.message()}});
  }
  return {{"output", report.output_path},
          {"files", files},
          {"partitions", partitions},
          {"fallbacks", fallbacks},
          {"remaining_nodes", report.remaining_nodes},
          {"deterministic", report.deterministic_providers},
          {"cache", cache_json(report.cache_use)},
          {"notes", notes},
          {"seconds", seconds}};
}

std::string to_table(const CompileReport& report, const std::vector<std::string>& notes,
                     double seconds) {
  Table partitions({{"partition"}, {"provider"}, {"nodes", Align::kRight}});
  for (const CompiledPartition& partition : report.partitions) {
    partitions.add_row({partition.name, partition.provider, std::to_string(partition.nodes)});
  }
  std::string text = partitions.empty() ? "no provider compiled anything\n" : partitions.to_text();
  Table files({{"file"}, {"size", Align::kRight}});
  for (const CompiledFile& file : report.files) {
    files.add_row({file.path, bytes_text(file.bytes)});
  }
  if (!files.empty()) text += "\n" + files.to_text();
  text += "\n";
  for (const Fallback& fallback : report.fallbacks) {
    text += formatted("left to others: {} of {}{}: {}\n", counted(fallback.nodes, "node"),
                      fallback.provider,
                      fallback.partition.empty() ? "" : ", partition " + quote(fallback.partition),
                      printable(fallback.reason.message()));
  }
  if (!report.deterministic_providers.empty()) {
    text +=
        formatted("the same in two compilations: {}\n", join(report.deterministic_providers, ", "));
  }
  if (const std::string cache = cache_text(report.cache_use); !cache.empty()) {
    text += formatted("cache: {}\n", cache);
  }
  for (const std::string& note : notes) text += formatted("note: {}\n", note);
  return text + formatted("{} compiled, {} left to kernels, {}\n",
                          counted(report.partitions.size(), "partition"),
                          counted(report.remaining_nodes, "node"), seconds_text(seconds));
}

Result<size_t> read_standard_input(std::span<std::byte> buffer) {
  const size_t count = std::fread(buffer.data(), 1, buffer.size(), stdin);
  if (std::ferror(stdin) == 0) return count;
  return Status(StatusCode::kFail, "standard input could not be read");
}

// While it lives, a closed pipe at standard output is a failed write instead of a signal, so that
// everything is cleaned up.
class HeldPipeSignal {
 public:
  explicit HeldPipeSignal(bool is_held) : is_held_(is_held) {
    if (is_held_) old_ = std::signal(SIGPIPE, SIG_IGN);
  }
  HeldPipeSignal(const HeldPipeSignal&) = delete;
  HeldPipeSignal& operator=(const HeldPipeSignal&) = delete;
  ~HeldPipeSignal() {
    if (is_held_) std::signal(SIGPIPE, old_);
  }

  Status write(std::span<const std::byte> bytes) {
    const size_t count = std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    if (count == bytes.size() && std::fflush(stdout) == 0) return Status::ok_status();
    is_broken_ = errno == EPIPE;
    return flush_output();
  }

  // Ends the process by the signal, as other commands end on a closed pipe; returns if the process
  // was started with the signal ignored.
  void raise_if_broken() const {
    if (!is_broken_) return;
    std::signal(SIGPIPE, old_);
    std::raise(SIGPIPE);
  }

 private:
  bool is_held_;
  bool is_broken_ = false;
  void (*old_)(int) = SIG_DFL;
};

ModelCompilationOptions compilation_of(const CompileFlags& flags, HeldPipeSignal& output) {
  ModelCompilationOptions compile = flags.compile;
  if (flags.embed) compile.ep_context_embed_mode = true;
  if (flags.from_standard_input()) {
    compile.input_model_path.clear();
    compile.input_model_read_func = read_standard_input;
  }
  if (flags.to_standard_output()) {
    compile.output_model_path.clear();
    compile.output_model_write_func = [&output](std::span<const std::byte> bytes) {
      return output.write(bytes);
    };
  }
  return compile;
}

Result<CompileReport> compile(const CompileFlags& flags, const Environment& environment,
                              SessionOptions options) {
  const std::string what =
      "compiling " +
      (flags.from_standard_input() ? "standard input" : flags.compile.input_model_path);
  Activity activity(what, flags.report.shows_progress());
  const Interrupt interrupt;
  options.set_load_cancellation_flag(interrupt.flag());
  // The standard streams may be redirected to files.
  if (flags.from_standard_input()) options.add_input_file("/dev/stdin");
  if (flags.to_standard_output()) options.add_output_file("/dev/stdout");
  activity.follow(options);
  HeldPipeSignal output(flags.to_standard_output());
  Result<CompileReport> report = compile_model(environment, options, compilation_of(flags, output));
  output.raise_if_broken();
  return report;
}

// MODEL is a list of models; -i gives options of the only provider.
Status compile_group(const CompileFlags& flags, const Environment& environment) {
  EPHOST_ASSIGN_OR_RETURN(const auto models, parse_model_list(flags.compile.input_model_path));
  EPHOST_ASSIGN_OR_RETURN(const auto provider_options, parse_key_values(flags.provider_options));
  SessionFlags session = flags.session;
  if (!provider_options.empty() && session.providers.size() != 1) {
    return Status(StatusCode::kInvalidArgument,
                  "-i gives options of one provider; name one with -e, or use --ep-option");
  }
  for (const auto& [key, value] : provider_options) {
    session.provider_options.push_back(session.providers.front() + ":" + key + "=" + value);
  }
  EPHOST_ASSIGN_OR_RETURN(SessionOptions options, make_session_options(session, environment));
  if (flags.compile.force_overwrite) options.add_config_entry("ep.context_force_overwrite", "1");
  return compile_sharing(environment, options, models, flags.report);
}

Result<int> run(const CompileFlags& flags) {
  apply(flags.report);
  EPHOST_ASSIGN_OR_RETURN(const Environment environment,
                          open_environment(flags.session.environment));
  // The key is read first, since compiling may take minutes.
  std::optional<Signer> signer;
  if (!flags.signing.key.empty()) {
    EPHOST_ASSIGN_OR_RETURN(signer, Signer::create(flags.signing));
  }
  if (flags.share_weights) {
    EPHOST_RETURN_IF_ERROR(compile_group(flags, environment));
    return kExitSuccess;
  }
  if (signer && flags.to_standard_output()) {
    return Status(StatusCode::kInvalidArgument,
                  "--sign needs a file that the signature can lie beside; give another --output "
                  "than -, or run \"ephost sign\" afterwards");
  }
  EPHOST_ASSIGN_OR_RETURN(SessionOptions options, make_session_options(flags.session, environment));
  const std::vector<std::string> asked = asked_providers(environment, flags.session, options);
  const auto start = std::chrono::steady_clock::now();
  EPHOST_ASSIGN_OR_RETURN(const CompileReport report,
                          compile(flags, environment, std::move(options)));
  if (signer && !report.partitions.empty()) {
    EPHOST_RETURN_IF_ERROR(signer->sign_model(environment, report.output_path).status());
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  const std::vector<std::string> notes = open_shapes_notes(report, asked);
  const int status = notes.empty() ? kExitSuccess : kExitOpenShapes;
  const std::string text = flags.report.json() ? to_text(to_json(report, notes, taken.count()))
                                               : to_table(report, notes, taken.count());
  // What was asked for is the file.
  if (flags.report.quiet && !flags.report.json()) return status;
  if (!flags.to_standard_output()) {
    print(text);
  } else if (!flags.report.quiet) {
    print_notice(text);
  }
  return status;
}

}  // namespace

Command add_compile(ArgumentParser& root) {
  auto flags = std::make_shared<CompileFlags>();
  ModelCompilationOptions& compile = flags->compile;
  ArgumentParser app =
      root.add_subcommand("compile", "Compile a model and write its context model");
  app.add("MODEL", compile.input_model_path, "An ONNX model; - is standard input")
      .type_name("FILE")
      .required();
  Argument share_weights =
      app.add_flag("--share-weights", flags->share_weights,
                   "Compile several models, MODEL being \"a.onnx,b.onnx\", to context models that "
                   "share binaries");
  app.add("-i", flags->provider_options, "Options of the provider")
      .type_name("\"KEY|VALUE KEY|VALUE\"")
      .needs(share_weights);
  app.add("-o,--output", compile.output_model_path,
          "The context model [MODEL_ctx.onnx]; - is standard output, the report goes to "
          "standard error then")
      .type_name("FILE")
      .excludes(share_weights);
  Argument key = add_signing_flags(app, flags->signing, "--sign");
  key.excludes(share_weights);
  app.add_flag("--embed", flags->embed,
               "Embed payloads in the model instead of writing .bin files beside it")
      .excludes(share_weights);
  app.add("--target", compile.target,
          "Compile for this device, which need not be present (see \"ephost devices --targets\")")
      .type_name("ID")
      .excludes(share_weights);
  app.add("--external-initializers", compile.output_model_external_initializers_file,
          "Write the remaining initializers to this file beside the model")
      .type_name("NAME");
  app.add("--initializer-threshold", compile.external_initializers_size_threshold,
          "Keep initializers smaller than this inside the model")
      .type_name("BYTES");
  app.add("--initializer-alignment", compile.external_initializers_alignment,
          "Alignment of initializers of 1 MiB or more in that file")
      .type_name("BYTES")
      .show_default();
  Argument error_if_exists = app.add_flag("--error-if-exists", compile.error_if_output_exists,
                                          "Fail instead of replacing a context model");
  app.add_flag("--force", compile.force_overwrite,
               "Replace existing output files even if they do not belong to a context model, but "
               "not those that the model is read from")
      .excludes(error_if_exists);
  app.add_flag("--error-if-nothing-compiled", compile.error_if_no_nodes_compiled,
               "Fail instead of writing the plain model");
  app.add_flag(
         "--check-deterministic", compile.check_deterministic,
         "Compile twice, and fail if a provider that promises to write the same bytes does not")
      .excludes(share_weights);
  add_session_flags(app, flags->session);
  add_profile_flag(app, flags->session);
  add_cache_flag(app, flags->session);
  add_report_flags(app, flags->report);
  add_metrics_flag(app, flags->session.environment);
  return {app, [flags] {
            return with_metrics_file(flags->session.environment, [&] { return run(*flags); });
          }};
}

}  // namespace ephost::cli
