#include "host/base/processes/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "host/base/files/file_descriptor.h"
#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost {
namespace {

Status spawn_failure(const SpawnPlan& plan, int error) {
  return {error == ENOENT ? StatusCode::kNoSuchFile : StatusCode::kFail,
          formatted("cannot start {}: {}", quote(plan.program.native()),
                    std::generic_category().message(error))};
}

// Owns what posix_spawn is given.
class SpawnCall {
 public:
  explicit SpawnCall(bool leads_group) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    const int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    ::posix_spawnattr_setflags(
        &attributes_, static_cast<short>(leads_group ? flags | POSIX_SPAWN_SETPGROUP : flags));
  }
  SpawnCall(const SpawnCall&) = delete;
  SpawnCall& operator=(const SpawnCall&) = delete;
  ~SpawnCall() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  // 0, or the error.
  int pass_descriptors(const std::vector<SpawnPlan::Passed>& descriptors) {
    int last = STDERR_FILENO;
    for (const SpawnPlan::Passed& passed : descriptors) last = std::max(last, passed.number);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (const SpawnPlan::Passed& passed : descriptors) {
      // From behind the numbers, where none is replaced before it is copied.
      FileDescriptor copy(::fcntl(passed.descriptor, F_DUPFD_CLOEXEC, last + 1));
      if (!copy.is_open()) return errno;
      ::posix_spawn_file_actions_adddup2(&actions_, copy.get(), passed.number);
      copies_.push_back(std::move(copy));
    }
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, last + 1);
    return 0;
  }
  void work_in(const std::filesystem::path& folder) {
    ::posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
  }

  // 0, or the error.
  int start(const std::filesystem::path& program, char* const* arguments, char* const* environment,
            ProcessId& pid) const {
    return ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, arguments, environment);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
  std::vector<FileDescriptor> copies_;
};

// posix_spawn doesn't change them.
std::vector<char*> null_terminated(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<ProcessId> spawn(const SpawnPlan& plan) {
  SpawnCall call(plan.leads_group);
  if (const int error = call.pass_descriptors(plan.descriptors); error != 0)
    return spawn_failure(plan, error);
  if (!plan.folder.empty()) call.work_in(plan.folder);
  const std::vector<char*> arguments = null_terminated(plan.arguments);
  const std::vector<char*> environment = null_terminated(plan.environment);
  ProcessId pid = 0;
  const int error = call.start(plan.program, arguments.data(),
                               plan.environment.empty() ? environ : environment.data(), pid);
  if (error != 0) return spawn_failure(plan, error);
  return pid;
}

}  // namespace ephost
