// Sessions that share their EP contexts (ep.share_ep_contexts). A group owns what they share: one
// object of each provider that can be shared, the workspace of loaded binaries whose partitions no
// session has taken yet, and the compiled models whose contexts its last session writes.
#pragma once

#include <ephost/environment.h>
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
#include "host/session/caching/context_generation.h"

namespace ephost::session {

// A mapped binary of which some partitions wait for their session.
struct SharedBinary {
  graph::Blob bytes;
  context::ContentChecksum checksum;
  std::set<std::string> waiting;
};

// What the sessions created so far have made.
struct GroupWork {
  std::map<std::filesystem::path, SharedBinary> workspace;  // by path, absolute
  std::vector<CompiledModel> models;  // to be written, in the order of their sessions
};

// A provider that serves the whole group.
struct SharedProvider {
  std::shared_ptr<bridge::Provider> provider;
  std::vector<manifest::TypedOption> options;
};

// What follows the mutex is guarded by it.
struct SessionGroup {
  std::mutex creating;  // held while a session of the group is created
  mutable std::mutex mutex;
  std::vector<SharedProvider> providers;
  GroupWork work;
};

// The groups of an environment. Safe to use from any thread.
class SessionGroups {
 public:
  [[nodiscard]] std::shared_ptr<SessionGroup> find_or_add(const std::string& name);
  // Forgets the group; its sessions live on. False if there is none.
  bool remove(const std::string& name);
  [[nodiscard]] std::vector<SessionGroupInfo> list() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<SessionGroup>> groups_;
};

// The creation of one session of a group, up to `commit`; without that the group stays as it was,
// but for providers that were new. While it lives, other sessions of the group wait.
class GroupSeat {
 public:
  // `lock_wait` holds for what the last session writes, and its flag for the writing itself.
  GroupSeat(SessionGroups& groups, std::string name, bool is_last, context::LockWait lock_wait);
  GroupSeat(const GroupSeat&) = delete;
  GroupSeat& operator=(const GroupSeat&) = delete;
  ~GroupSeat();

  // The group's provider of this plugin; null where it has none yet. INVALID_ARGUMENT where it was
  // created with other options.
  [[nodiscard]] Result<std::shared_ptr<bridge::Provider>> find_provider(
      const plugin::LoadedPlugin& plugin, std::span<const manifest::TypedOption> options) const;
  // Offers a new provider to the group, which takes it if it can be shared.
  void add_provider(const std::shared_ptr<bridge::Provider>& provider,
                    std::vector<manifest::TypedOption> options);

  // Names of partitions of other models that are to be written.
  [[nodiscard]] std::vector<std::string> taken_names() const;

  // Binaries in which all the partitions wait that `model` wants of them, by the names that the
  // model states.
  [[nodiscard]] std::map<std::string, graph::Blob> waiting_files(
      const graph::Model& model, const std::optional<std::filesystem::path>& folder) const;
  // Takes the partitions that were loaded out of the workspace, into which binaries that are new go
  // first. INVALID_GRAPH where a provider cannot read one.
  [[nodiscard]] Status take(const PreparedModel& prepared,
                            const std::optional<std::filesystem::path>& folder);

  // Finds what is wrong with the output of one more model, before it is compiled.
  [[nodiscard]] Status check_output(const context::WriteOptions& options) const;
  // Adds a model to what the group writes. NOT_IMPLEMENTED where one of its providers cannot share
  // contexts.
  [[nodiscard]] Status add_model(CompiledModel model);

  // Makes everything count. The last session writes all the models, and ends the group; where that
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
  // What `commit` puts in place; `creating_` keeps the group as it is until then.
  std::map<std::filesystem::path, SharedBinary> workspace_;
  std::optional<CompiledModel> new_model_;
};

}  // namespace ephost::session
