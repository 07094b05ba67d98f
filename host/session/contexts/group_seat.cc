#include "host/session/contexts/group_seat.h"

#include <algorithm>
#include <utility>

#include "host/base/format.h"
#include "host/base/hash.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/context/ep_context_node.h"
#include "host/context/write/output_files.h"
#include "host/plugin/loaded_plugin.h"
#include "host/session/contexts/context_generation.h"

namespace ephost::session {

namespace fs = std::filesystem;

namespace {

// Each session puts layers of its own over a plugin. A plugin in workers has no library, and tables
// of its own for each way of isolating it.
bool is_same(const plugin::LoadedPlugin& a, const plugin::LoadedPlugin& b) {
  return a.library == b.library && a.api_self == b.api_self && a.manifest.file == b.manifest.file &&
         a.layers == b.layers;
}

fs::path key_of(const fs::path& folder, const std::string& name) {
  return fs::absolute(folder / name).lexically_normal();
}

bool same_options(std::span<const manifest::TypedOption> a,
                  std::span<const manifest::TypedOption> b) {
  return std::ranges::equal(
      a, b, [](const auto& x, const auto& y) { return x.name == y.name && x.text == y.text; });
}

// Whether a provider that was created with `known` serves a session that wants it with `wanted`.
bool serves(const bridge::ProviderConfig& known, const bridge::ProviderConfig& wanted) {
  constexpr uint32_t kWrites = EPH_PURPOSE_WRITES_CONTEXT;
  if ((wanted.purpose & kWrites) != 0 && (known.purpose & kWrites) == 0) return false;
  const auto id = &bridge::DeviceInfo::id;
  return same_options(known.options, wanted.options) &&
         std::ranges::equal(known.devices, wanted.devices, {}, id, id);
}

// The partitions that a model needs, by the file that its primary nodes state. A secondary node may
// refer to any file of its source.
std::map<std::string, std::set<std::string>> wanted_by_file(const graph::Model& model) {
  std::vector<context::EpContextNode> nodes;
  for (const context::NodePlace& place : context::find_ep_context_nodes(model.graph)) {
    Result<context::EpContextNode> node = context::read_ep_context_node(*place.graph, place.node);
    if (node.ok()) nodes.push_back(std::move(*node));
  }
  std::map<std::string, std::set<std::string>> wanted;
  for (const context::EpContextNode& primary : nodes) {
    if (!primary.main_context || primary.embedded) continue;
    std::set<std::string>& names = wanted[primary.reference];
    names.insert(primary.partition_name);
    for (const context::EpContextNode& node : nodes) {
      if (node.main_context || node.source != primary.source) continue;
      if (node.reference == primary.partition_name || node.reference == primary.reference) {
        names.insert(node.partition_name);
      }
    }
  }
  return wanted;
}

// The paths were checked when the payload was loaded.
context::ContentChecksum checksum_of(const graph::Model& model,
                                     const context::CachedPayload& payload) {
  const Result<context::ContextMetadata> metadata = context::read_metadata(model.metadata);
  if (metadata.ok()) {
    const auto stated = metadata->binaries.find(payload.file_name);
    if (stated != metadata->binaries.end()) return stated->second;
  }
  return {content_checksum(payload.bytes.bytes), payload.bytes.bytes.size()};
}

}  // namespace

GroupSeat::GroupSeat(SessionGroups& groups, std::string name, bool is_last,
                     context::LockWait lock_wait)
    : groups_(groups),
      name_(std::move(name)),
      is_last_(is_last),
      lock_wait_(std::move(lock_wait)),
      group_(groups.find_or_add(name_)),
      creating_(group_->creating) {}

GroupSeat::~GroupSeat() {
  // The hooks of a session need not outlive its creation; the providers do.
  const std::lock_guard lock(group_->mutex);
  for (const auto& shared : group_->providers) shared->set_progress_hooks({});
}

Result<std::shared_ptr<bridge::Provider>> GroupSeat::find_provider(
    const plugin::LoadedPlugin& plugin, const bridge::ProviderConfig& config) const {
  const std::lock_guard lock(group_->mutex);
  for (const auto& shared : group_->providers) {
    if (shared->name() != plugin.manifest.provider) continue;
    if (is_same(shared->plugin(), plugin) && serves(shared->config(), config)) return shared;
    return Status(
        StatusCode::kInvalidArgument,
        formatted(
            "the sessions of group {} share one {}, which was created with other options, "
            "for other devices, for a session that writes no context, from another plugin, or "
            "with another isolation; use the same for all of them",
            quote(name_), plugin.manifest.provider));
  }
  return std::shared_ptr<bridge::Provider>();
}

void GroupSeat::add_provider(const std::shared_ptr<bridge::Provider>& provider) {
  if (!provider->can_share_contexts()) return;
  const std::lock_guard lock(group_->mutex);
  group_->providers.push_back(provider);
}

std::vector<std::string> GroupSeat::taken_names() const {
  const std::lock_guard lock(group_->mutex);
  std::vector<std::string> names;
  for (const CompiledModel& model : group_->work.models) {
    for (const CompiledNode& node : model.nodes) names.push_back(node.partition.name);
  }
  return names;
}

std::map<std::string, graph::Blob> GroupSeat::waiting_files(
    const graph::Model& model, const std::optional<fs::path>& folder) const {
  std::map<std::string, graph::Blob> files;
  if (!folder) return files;
  const Result<context::ContextMetadata> metadata = context::read_metadata(model.metadata);
  if (!metadata.ok()) return files;  // loading reports the reason
  const std::lock_guard lock(group_->mutex);
  for (const auto& [file, wanted] : wanted_by_file(model)) {
    const auto binary = group_->work.workspace.find(key_of(*folder, file));
    if (binary == group_->work.workspace.end()) continue;
    const SharedBinary& shared = binary->second;
    const auto stated = metadata->binaries.find(file);
    if (stated != metadata->binaries.end() && stated->second != shared.checksum) continue;
    if (std::ranges::includes(shared.waiting, wanted)) files.emplace(file, shared.bytes);
  }
  return files;
}

Status GroupSeat::take(const PreparedModel& prepared, const std::optional<fs::path>& folder) {
  if (!folder) return Status::ok_status();
  {
    const std::lock_guard lock(group_->mutex);
    workspace_ = group_->work.workspace;
  }
  for (const context::CachedPartition& partition : prepared.context.partitions) {
    const context::CachedPayload& payload = prepared.context.payloads[partition.payload];
    if (payload.file_name.empty()) continue;
    const fs::path path = key_of(*folder, payload.file_name);
    auto binary = workspace_.find(path);
    if (binary == workspace_.end() ||
        binary->second.bytes.bytes.data() != payload.bytes.bytes.data()) {
      bridge::Provider* provider = find_accepting(prepared, payload.source);
      if (provider == nullptr || !provider->can_share_contexts()) continue;
      EPHOST_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                              provider->list_partitions(payload.bytes.bytes));
      SharedBinary loaded;
      loaded.bytes = payload.bytes;
      loaded.checksum = checksum_of(prepared.model, payload);
      loaded.waiting = {names.begin(), names.end()};
      binary = workspace_.insert_or_assign(path, std::move(loaded)).first;
    }
    binary->second.waiting.erase(partition.attributes.partition_name);
  }
  std::erase_if(workspace_, [](const auto& entry) { return entry.second.waiting.empty(); });
  return Status::ok_status();
}

Status GroupSeat::check_output(const context::WriteOptions& options) const {
  if (options.embed) {
    return Status(StatusCode::kInvalidArgument,
                  "sessions share contexts through a file; set ep.context_embed_mode to 0");
  }
  EPHOST_RETURN_IF_ERROR(context::ContextWriter::check(options));
  const std::lock_guard lock(group_->mutex);
  OperationFiles files = options.files;
  for (const CompiledModel& model : group_->work.models) {
    const fs::path& other = model.options.output_path;
    if (key_of(".", options.output_path) == key_of(".", other)) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("two models of group {} would be written to {}; "
                              "give them different output paths",
                              quote(name_), quote(other.native())));
    }
    if (key_of(".", options.output_path).parent_path() != key_of(".", other).parent_path()) {
      return Status(
          StatusCode::kInvalidArgument,
          formatted("the context models {} and {} share a binary, so they must lie in one folder; "
                    "set ep.context_file_path",
                    quote(other.native()), quote(options.output_path.native())));
    }
    EPHOST_RETURN_IF_ERROR(context::add_output_files(model.options, files));
  }
  return context::add_output_files(options, files);
}

Status GroupSeat::add_model(CompiledModel model) {
  for (const CompiledNode& node : model.nodes) {
    if (node.provider->can_share_contexts()) continue;
    return Status(
        StatusCode::kNotImplemented,
        node.provider->name() +
            " cannot share contexts between sessions; leave ep.share_ep_contexts at 0, or "
            "leave the provider out");
  }
  new_model_ = std::move(model);
  return Status::ok_status();
}

Status GroupSeat::commit() {
  std::vector<CompiledModel> models;
  {
    const std::lock_guard lock(group_->mutex);
    for (const CompiledModel& model : group_->work.models) models.push_back(share(model));
  }
  if (new_model_) models.push_back(std::move(*new_model_));
  if (!is_last_) {
    const std::lock_guard lock(group_->mutex);
    group_->work = {std::move(workspace_), std::move(models)};
    return Status::ok_status();
  }
  EPHOST_RETURN_IF_ERROR(write(std::move(models)));
  groups_.remove(name_);
  return Status::ok_status();
}

Status GroupSeat::write(std::vector<CompiledModel> models) const {
  const bool compiled =
      std::ranges::any_of(models, [](const CompiledModel& model) { return !model.nodes.empty(); });
  if (models.empty()) return Status::ok_status();
  if (!compiled) {
    log_warning("no provider compiled anything of group " + quote(name_) +
                " that can be cached; no context models were written");
    return Status::ok_status();
  }
  context::WriteOptions options = models.front().options;
  options.lock_wait = lock_wait_;
  EPHOST_ASSIGN_OR_RETURN(context::ContextWriter writer, context::ContextWriter::create(options));
  return write_compiled(std::move(writer), std::move(models), lock_wait_.cancellation).status();
}

}  // namespace ephost::session
