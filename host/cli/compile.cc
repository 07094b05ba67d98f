// `ephost compile MODEL`: writes the context model and its binaries.
#include <ephost/compile_model.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "host/cli/activity.h"
#include "host/cli/command.h"
#include "host/cli/flags.h"
#include "host/cli/output.h"
#include "host/cli/table.h"

namespace ephost::cli {
namespace {

struct Flags {
  SessionFlags session;
  ReportFlags report;
  std::filesystem::path model;
  CompileOptions compile;
};

Json to_json(const CompileReport& report, double seconds) {
  Json files = Json::array();
  for (const CompiledFile& file : report.files) {
    files.push_back({{"path", file.path.native()}, {"bytes", file.bytes}});
  }
  Json partitions = Json::array();
  for (const CompiledPartition& partition : report.partitions) {
    partitions.push_back(
        {{"name", partition.name}, {"provider", partition.provider}, {"nodes", partition.nodes}});
  }
  return {{"output", report.output_path.native()},
          {"files", files},
          {"partitions", partitions},
          {"remaining_nodes", report.remaining_nodes},
          {"seconds", seconds}};
}

std::string to_table(const CompileReport& report, double seconds) {
  Table partitions({{"partition"}, {"provider"}, {"nodes", Align::kRight}});
  for (const CompiledPartition& partition : report.partitions) {
    partitions.add_row({partition.name, partition.provider, std::to_string(partition.nodes)});
  }
  std::string text = partitions.empty() ? "no provider compiled anything\n" : partitions.to_text();
  Table files({{"file"}, {"size", Align::kRight}});
  for (const CompiledFile& file : report.files) {
    files.add_row({file.path.native(), bytes_text(file.bytes)});
  }
  return text + "\n" + files.to_text() + "\n" + counted(report.partitions.size(), "partition") +
         " compiled, " + counted(report.remaining_nodes, "node") + " left to kernels, " +
         seconds_text(seconds) + "\n";
}

Result<int> run(const Flags& flags) {
  apply(flags.report);
  EPHOST_ASSIGN_OR_RETURN(const Environment environment,
                          open_environment(flags.session.environment));
  EPHOST_ASSIGN_OR_RETURN(const SessionOptions options,
                          make_session_options(flags.session, environment));
  const auto start = std::chrono::steady_clock::now();
  const auto report = [&] {
    const Activity activity("compiling " + flags.model.native(), !flags.report.quiet);
    return compile_model(environment, flags.model, options, flags.compile);
  }();
  if (!report.ok()) return report.status();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  print(flags.report.json() ? to_text(to_json(*report, taken.count()))
                            : to_table(*report, taken.count()));
  return kExitSuccess;
}

}  // namespace

Command add_compile(CLI::App& root) {
  auto flags = std::make_shared<Flags>();
  CompileOptions& compile = flags->compile;
  CLI::App* app = root.add_subcommand("compile", "Write the context model of a model");
  app->add_option("MODEL", flags->model, "An ONNX model")->type_name("FILE")->required();
  app->add_option("-o,--output", compile.output_path, "The context model [MODEL_ctx.onnx]")
      ->type_name("FILE");
  app->add_flag("--embed", compile.embed_context,
                "Payloads inside the model instead of in .bin files beside it");
  app->add_option("--external-initializers", compile.external_initializers_file_name,
                  "Write all initializers to this file beside the model")
      ->type_name("NAME");
  app->add_flag("--error-if-exists", compile.error_if_output_exists,
                "Fail instead of replacing the output");
  app->add_flag("--error-if-nothing-compiled", compile.error_if_no_nodes_compiled,
                "Fail instead of writing the plain model");
  add_session_flags(*app, flags->session);
  add_report_flags(*app, flags->report);
  return {app, [flags] { return run(*flags); }};
}

}  // namespace ephost::cli
