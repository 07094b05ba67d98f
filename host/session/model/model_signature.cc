#include "host/session/model/model_signature.h"

#include <memory>
#include <utility>
#include <vector>

#include "host/base/files/containment/contained_path.h"
#include "host/base/files/containment/hub_cache.h"
#include "host/base/files/file.h"
#include "host/base/files/ownership.h"
#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/context/ep_context_node.h"
#include "host/context/store/cache_entry.h"

namespace ephost::session {
namespace {

Result<graph::Blob> open_payload(const std::string& name, const context::LoadOptions& options) {
  if (options.read_payload) return options.read_payload(name);
  if (!options.folder) return Status(StatusCode::kNoSuchFile, "the model comes from memory");
  EPHOST_ASSIGN_OR_RETURN(const InputFile file,
                          open_contained(*options.folder, name, StatusCode::kInvalidGraph,
                                         posix_file_system(), hub_folders_of(*options.folder)));
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

Status check_model_writers(const std::filesystem::path& file, const context::LoadOptions& options) {
  std::vector<std::filesystem::path> paths;
  if (!file.empty()) paths.push_back(file);
  for (const auto& [name, blob] : options.files) {
    if (options.folder) paths.push_back(*options.folder / name);
    if (options.initializers_folder) paths.push_back(*options.initializers_folder / name);
  }
  for (const std::filesystem::path& path : paths) {
    // No variable of the environment allows others here.
    const Status status = check_ownership(path, FilesBeside::kAreNotUsed);
    if (status.ok()) continue;
    return Status(StatusCode::kInvalidGraph,
                  formatted("the signature of the context model {} means nothing: {}; take write "
                            "access from others (chown, chmod go-w)",
                            quote(file.native()), status.message()));
  }
  return {};
}

Status check_model_signature(const trust::Verifier& verifier, SignaturePolicy policy,
                             const std::filesystem::path& file, std::span<const std::byte> content,
                             const graph::Model& model, context::LoadOptions& options,
                             std::string_view description) {
  if (policy == SignaturePolicy::kOff || context::find_ep_context_nodes(model.graph).empty()) {
    return {};
  }
  trust::ModelFiles files = open_model_files(model, options);
  if (!description.empty()) files[std::string(context::kEntryFileName)] = as_bytes(description);
  const trust::SignatureState state = verifier.examine_model(file, content, files);
  Status status = state.status.ok() ? check_model_writers(file, options) : state.status;
  if (status.ok() || policy == SignaturePolicy::kRequire || state.is_revoked) return status;
  log_warning(status.message());
  return {};
}

}  // namespace ephost::session
