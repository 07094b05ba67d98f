#include <ephost/compile_model.h>

#include <utility>

#include "host/base/text.h"
#include "host/context/ep_context_node.h"
#include "host/context/names.h"
#include "host/session/context_generation.h"
#include "host/session/pipeline.h"

namespace ephost {
namespace {

Result<std::unique_ptr<session::ContextGeneration>> create_generation(
    const std::filesystem::path& model_path, const CompileOptions& options) {
  context::WriteOptions write_options;
  write_options.output_path =
      options.output_path.empty() ? context::context_model_path(model_path) : options.output_path;
  write_options.source_path = model_path;
  write_options.embed = options.embed_context;
  write_options.external_initializers_file_name = options.external_initializers_file_name;
  write_options.overwrite = !options.error_if_output_exists;
  return session::ContextGeneration::create(std::move(write_options), true);
}

// The arguments of compile_model stand in for the entries that would write during the session.
SessionOptions without_generation(SessionOptions options) {
  options.add_config_entry("ep.context_enable", "0");
  return options;
}

CompileReport report_on(const session::ContextGeneration& generation) {
  CompileReport report;
  for (const context::WrittenFile& file : generation.written().files) {
    report.files.push_back({file.path, file.sum.size});
  }
  if (!report.files.empty()) report.output_path = report.files.back().path;
  report.partitions = generation.partitions();
  report.remaining_nodes = generation.written().remaining_nodes;
  return report;
}

}  // namespace

Result<CompileReport> compile_model(const Environment& environment,
                                    const std::filesystem::path& model_path,
                                    const SessionOptions& options,
                                    const CompileOptions& compile_options) {
  EPHOST_ASSIGN_OR_RETURN(const auto generation, create_generation(model_path, compile_options));
  session::PipelineHooks hooks;
  hooks.after_import = [](const session::PreparedModel& prepared) {
    return context::refuse_ep_context_nodes(prepared.model.graph);
  };
  hooks.after_compile = [&](session::PreparedModel& prepared) {
    if (prepared.partition_count() == 0 && compile_options.error_if_no_nodes_compiled) {
      return Status(StatusCode::kFail,
                    "no provider compiled any node of " + quote(model_path.native()) +
                        "; add a provider that does, or allow the plain model to be written");
    }
    return generation->write(prepared);
  };
  EPHOST_RETURN_IF_ERROR(session::prepare_model(environment, {model_path, {}},
                                                without_generation(options),
                                                session::Stage::kCompiled, hooks)
                             .status());
  return report_on(*generation);
}

}  // namespace ephost
