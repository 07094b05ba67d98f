#include "host/session/groups/session_groups.h"

namespace ephost::session {

std::shared_ptr<SessionGroup> SessionGroups::find_or_add(const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<SessionGroup>& group = groups_[name];
  if (group == nullptr) group = std::make_shared<SessionGroup>();
  return group;
}

bool SessionGroups::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return groups_.erase(name) != 0;
}

std::vector<SessionGroupInfo> SessionGroups::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<SessionGroupInfo> infos;
  for (const auto& [name, group] : groups_) {
    const std::lock_guard group_lock(group->mutex);
    SessionGroupInfo& info = infos.emplace_back();
    info.name = name;
    for (const auto& [path, binary] : group->work.workspace) {
      info.waiting_partitions.insert(info.waiting_partitions.end(), binary.waiting.begin(),
                                     binary.waiting.end());
    }
    for (const CompiledModel& model : group->work.models) {
      info.unwritten_models.push_back(model.options.output_path);
    }
  }
  return infos;
}

}  // namespace ephost::session
