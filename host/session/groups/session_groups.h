// The groups of an environment: sessions that share objects of providers and compiled contexts. A
// session takes a GroupSeat (contexts/group_seat.h) while it is created.
#pragma once

#include <ephost/types/environment.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "host/bridge/provider.h"
#include "host/context/metadata.h"
#include "host/graph/graph.h"
#include "host/session/groups/compiled_model.h"

namespace ephost::session {

// A mapped binary with partitions that no session has taken yet.
struct SharedBinary {
  graph::Blob bytes;
  context::ContentChecksum checksum;
  std::set<std::string> waiting;
};

// Results of the sessions that were created so far.
struct GroupWork {
  std::map<std::filesystem::path, SharedBinary> workspace;  // by path, absolute
  std::vector<CompiledModel> models;  // to be written, in the order of their sessions
};

// `mutex` guards the members after it.
struct SessionGroup {
  std::mutex creating;  // held while a session of the group is created
  mutable std::mutex mutex;
  std::vector<std::shared_ptr<bridge::Provider>> providers;  // that serve the whole group
  GroupWork work;
};

// The groups of an environment. Thread-safe.
class SessionGroups {
 public:
  [[nodiscard]] std::shared_ptr<SessionGroup> find_or_add(const std::string& name);
  // Forgets the group; its sessions are not affected. False if there is none.
  bool remove(const std::string& name);
  [[nodiscard]] std::vector<SessionGroupInfo> list() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<SessionGroup>> groups_;
};

}  // namespace ephost::session
