#include "host/session/pipeline/model/model_signature.h"

#include <memory>
#include <utility>

#include "host/base/files/contained_path.h"
#include "host/base/files/file.h"
#include "host/base/log.h"
#include "host/context/ep_context_node.h"

namespace ephost::session {
namespace {

Result<graph::Blob> open_payload(const std::string& name, const context::LoadOptions& options) {
  if (options.read_payload) return options.read_payload(name);
  if (!options.folder) return Status(StatusCode::kNoSuchFile, "the model comes from memory");
  EPHOST_ASSIGN_OR_RETURN(const InputFile file,
                          open_contained(*options.folder, name, StatusCode::kInvalidGraph));
  EPHOST_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::map(file));
  const auto owner = std::make_shared<const MappedFile>(std::move(mapped));
  return graph::Blob{.bytes = owner->bytes(), .owner = owner};
}

}  // namespace

trust::ModelFiles open_model_files(const graph::Model& model, context::LoadOptions& options) {
  bool is_complete = true;
  for (const context::NodePlace& place : context::find_ep_context_nodes(model.graph)) {
    const auto node = context::read_ep_context_node(*place.graph, place.node);
    if (!node.ok() || !node->main_context || node->embedded) continue;
    if (options.files.contains(node->reference)) continue;
    Result<graph::Blob> payload = open_payload(node->reference, options);
    is_complete = is_complete && payload.ok();
    if (payload.ok()) options.files.emplace(node->reference, std::move(*payload));
  }
  if (is_complete) options.read_payload = nullptr;
  trust::ModelFiles files;
  for (const auto& [name, blob] : options.files) files.emplace(name, blob.bytes);
  return files;
}

Status check_model_signature(const trust::Verifier& verifier, SignaturePolicy policy,
                             const std::filesystem::path& file, std::span<const std::byte> content,
                             const graph::Model& model, context::LoadOptions& options) {
  if (policy == SignaturePolicy::kOff || context::find_ep_context_nodes(model.graph).empty()) {
    return {};
  }
  const trust::SignatureState state =
      verifier.examine_model(file, content, open_model_files(model, options));
  if (state.status.ok()) return {};
  if (policy == SignaturePolicy::kRequire || state.is_revoked) return state.status;
  log_warning(state.status.message());
  return {};
}

}  // namespace ephost::session
