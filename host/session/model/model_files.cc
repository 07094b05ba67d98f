#include "host/session/model/model_files.h"

#include <filesystem>
#include <optional>

#include "host/base/files/containment/contained_path.h"
#include "host/context/ep_context_node.h"
#include "host/context/read/examination.h"

namespace ephost::session {

namespace fs = std::filesystem;

Status add_option_files(const GivenOptions& options, const SessionConfig& config,
                        OperationFiles& files) {
  for (const fs::path& file : options.input_files) {
    EPHOST_RETURN_IF_ERROR(files.add_input(file, "the input file"));
  }
  for (const fs::path& file : options.output_files) {
    EPHOST_RETURN_IF_ERROR(files.add_output(file, "the output file"));
  }
  if (config.profile_file.empty()) return Status::ok_status();
  return files.add_output(config.profile_file, "the profile");
}

Status add_model_files(const ModelSource& source, const graph::Model& model,
                       const onnx_io::ImportReport& read, const context::LoadOptions& folders,
                       OperationFiles& files) {
  if (!source.path.empty()) {
    EPHOST_RETURN_IF_ERROR(files.add_input(source.path, "the model"));
    EPHOST_RETURN_IF_ERROR(files.add_input(source.path, read.model.bytes, "the model"));
  }
  const std::optional<fs::path>& data_folder = context::initializers_folder(folders);
  for (const auto& [location, content] : read.external_data) {
    constexpr const char* kRole = "the external data";
    const fs::path path = data_folder.value_or(fs::path()) / location;
    if (data_folder) EPHOST_RETURN_IF_ERROR(files.add_input(path, kRole));
    EPHOST_RETURN_IF_ERROR(files.add_input(path, content.bytes, kRole));
  }
  if (!folders.folder || folders.read_payload) return Status::ok_status();
  for (const context::NodePlace& place : context::find_ep_context_nodes(model.graph)) {
    const Result<context::EpContextNode> node =
        context::read_ep_context_node(*place.graph, place.node);
    // Loading reports what is wrong with a node; a refused path is never opened.
    if (!node.ok() || !node->main_context || node->embedded ||
        !refusal_of_path(node->reference).empty()) {
      continue;
    }
    EPHOST_RETURN_IF_ERROR(
        files.add_input(*folders.folder / node->reference, "the context binary"));
  }
  return Status::ok_status();
}

Status add_plugin_files(const manifest::FoundPlugin& plugin, OperationFiles& files) {
  EPHOST_RETURN_IF_ERROR(files.add_input(plugin.manifest.file, "the plugin manifest"));
  return files.add_input(plugin.library, "the plugin library");
}

}  // namespace ephost::session
