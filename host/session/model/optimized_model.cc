#include "host/session/model/optimized_model.h"

#include <string_view>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/context/ep_context_node.h"
#include "host/context/metadata.h"
#include "host/graph/clone.h"
#include "host/onnx_io/export/export.h"

namespace ephost::session {
namespace {

Status save(const PreparedModel& prepared, const SessionConfig& config) {
  if (!context::find_ep_context_nodes(prepared.model.graph).empty()) {
    return Status(StatusCode::kInvalidGraph,
                  "a context model has no optimized form; save that of the model that it was made "
                  "from");
  }
  graph::Model model = graph::clone(prepared.model);
  context::write_metadata({}, model.metadata);
  onnx_io::ExportOptions options{
      .external_file_name = config.optimized_model_external_initializers_file,
      .marks_inferred_types = true};
  if (!options.external_file_name.empty()) {
    options.placement = [&config](std::string_view, const graph::Tensor& tensor) {
      return tensor.data.bytes.size() < config.optimized_model_external_initializers_min_bytes
                 ? onnx_io::Placement::kEmbedded
                 : onnx_io::Placement::kExternal;
    };
  }
  EPHOST_ASSIGN_OR_RETURN(const onnx_io::ExportedModel exported,
                          onnx_io::export_model(model, options));
  return exported.write(config.optimized_model_file_path);
}

}  // namespace

Status add_optimized_model_files(const SessionConfig& config, OperationFiles& files) {
  const std::filesystem::path& path = config.optimized_model_file_path;
  if (path.empty()) return Status::ok_status();
  EPHOST_RETURN_IF_ERROR(files.add_output(path, "the optimized model"));
  const std::string& external = config.optimized_model_external_initializers_file;
  if (external.empty()) return Status::ok_status();
  return files.add_output(path.parent_path() / external,
                          "the external initializers of the optimized model");
}

Status save_optimized_model(const PreparedModel& prepared, const SessionConfig& config) {
  return save(prepared, config)
      .with_context(formatted("saving the optimized model {}",
                              quote(config.optimized_model_file_path.native())));
}

}  // namespace ephost::session
