// `ep_weight_sharing_ctx_gen`: takes the command line of ONNX Runtime's tool of that name and does
// the same as `ephost compile --share-weights`.
#include <memory>
#include <string>

#include "host/cli/arguments/flags.h"
#include "host/cli/commands/weight_sharing.h"
#include "host/cli/documentation/examples.h"
#include "host/cli/options/options.h"
#include "host/cli/shell/command.h"
#include "host/cli/shell/command_line.h"

namespace ephost::cli {
namespace {

struct Flags {
  EnvironmentFlags environment;
  ReportFlags report;
  std::string provider;
  std::string provider_options;
  std::string config;
  std::string models;
};

Result<int> generate(const Flags& flags) {
  apply(flags.report);
  EPHOST_ASSIGN_OR_RETURN(const Environment environment, open_environment(flags.environment));
  EPHOST_ASSIGN_OR_RETURN(const auto models, parse_model_list(flags.models));
  EPHOST_ASSIGN_OR_RETURN(auto provider_options, parse_key_values(flags.provider_options));
  EPHOST_ASSIGN_OR_RETURN(const auto config, parse_key_values(flags.config));
  SessionOptions options;
  options.append_execution_provider(flags.provider, std::move(provider_options));
  for (const auto& [key, value] : config) options.add_config_entry(key, value);
  EPHOST_RETURN_IF_ERROR(compile_sharing(environment, options, models, flags.report));
  return kExitSuccess;
}

Work declare(ArgumentParser& root) {
  auto flags = std::make_shared<Flags>();
  root.add("-e", flags->provider, "The execution provider").type_name("NAME").required();
  root.add("-i", flags->provider_options, "Options of the provider")
      .type_name("\"KEY|VALUE KEY|VALUE\"");
  root.add("-C", flags->config, "Session configuration entries")
      .type_name("\"KEY|VALUE KEY|VALUE\"");
  root.add("MODELS", flags->models, "ONNX models, separated by commas")
      .type_name("FILE,FILE...")
      .required();
  add_environment_flags(root, flags->environment);
  add_report_flags(root, flags->report);
  root.add_to_footer(examples_text("ep_weight_sharing_ctx_gen -e dnnl encoder.onnx,decoder.onnx"));
  return [flags] { return generate(*flags); };
}

}  // namespace
}  // namespace ephost::cli

int main(int argc, char** argv) {
  using namespace ephost::cli;
  return run_program({.name = "ep_weight_sharing_ctx_gen",
                      .description = "Writes the context models of several models, which share the "
                                     "weights of their execution-provider contexts.",
                      .declare = declare},
                     argc, argv);
}
