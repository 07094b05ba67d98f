// The place of a session in its group while it is being created (ep.share_ep_contexts): what it
// takes from the group, what it adds, and the writing of the group's context models.
#pragma once

#include <ephost/status.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/bridge/provider.h"
#include "host/context/folder_lock.h"
#include "host/context/metadata.h"
#include "host/context/read/loader.h"
#include "host/graph/graph.h"
#include "host/manifest/options.h"
#include "host/session/groups/session_groups.h"
#include "host/session/model/prepared_model.h"

namespace ephost::session {

// Stands for a session of a group while it is being created. What the session did takes effect with
// `commit`; without it, the group stays as it was, except for new providers. While a seat exists,
// the creation of other sessions of the group waits.
class GroupSeat {
 public:
  // `lock_wait`: how long the last session waits for the folders that it writes to; its flag also
  // cancels the writing.
  GroupSeat(SessionGroups& groups, std::string name, bool is_last, context::LockWait lock_wait);
  GroupSeat(const GroupSeat&) = delete;
  GroupSeat& operator=(const GroupSeat&) = delete;
  ~GroupSeat();

  // The group's provider of this plugin; null if it has none yet. INVALID_ARGUMENT if it was
  // created with other options or devices, or not to write contexts that this session writes.
  [[nodiscard]] Result<std::shared_ptr<bridge::Provider>> find_provider(
      const plugin::LoadedPlugin& plugin, const bridge::ProviderConfig& config) const;
  // Offers a new provider to the group, which keeps it if it can be shared.
  void add_provider(const std::shared_ptr<bridge::Provider>& provider);

  // Names of partitions in the group's other models that will be written.
  [[nodiscard]] std::vector<std::string> taken_names() const;

  // Binaries that have all partitions that `model` needs of them, by the names that the model
  // states.
  [[nodiscard]] std::map<std::string, graph::Blob> waiting_files(
      const graph::Model& model, const std::optional<std::filesystem::path>& folder) const;
  // Adds new binaries to the workspace and takes the loaded partitions out of it. INVALID_GRAPH if
  // a provider cannot read a binary.
  [[nodiscard]] Status take(const PreparedModel& prepared,
                            const std::optional<std::filesystem::path>& folder);

  // Checks the output options of one more model, before it is compiled.
  [[nodiscard]] Status check_output(const context::WriteOptions& options) const;
  // Adds a model to those that the group writes. NOT_IMPLEMENTED if one of its providers cannot
  // share contexts.
  [[nodiscard]] Status add_model(CompiledModel model);

  // Applies everything to the group. The last session writes all models and ends the group; if that
  // fails, the group stays as it was.
  [[nodiscard]] Status commit();

 private:
  Status write(std::vector<CompiledModel> models) const;

  SessionGroups& groups_;
  std::string name_;
  bool is_last_;
  context::LockWait lock_wait_;
  std::shared_ptr<SessionGroup> group_;
  std::unique_lock<std::mutex> creating_;
  // `commit` moves these into the group; until then `creating_` keeps the group unchanged.
  std::map<std::filesystem::path, SharedBinary> workspace_;
  std::optional<CompiledModel> new_model_;
};

}  // namespace ephost::session
