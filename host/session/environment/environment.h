// Environments: their creation, and what an application asks of one. What lies behind the handle of
// an environment is its state (environment_state.h). All functions may be called by any thread.
#pragma once

#include <ephost/status.h>
#include <ephost/types/environment.h>
#include <ephost/types/metrics.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/trust/own_files.h"
#include "host/trust/policy.h"

namespace ephost::session {

struct EnvironmentState;

// The file with the policy of the machine; tests replace it.
struct MachineFile {
  std::filesystem::path path = trust::machine_policy_file();
  trust::Owner owner = trust::Owner::kRoot;
};

// Each of these is the function of `Environment` in <ephost/environment.h> with a name alike.
[[nodiscard]] Result<std::shared_ptr<EnvironmentState>> create_environment(
    const EnvironmentOptions& options, const MachineFile& machine_file = {});
[[nodiscard]] std::vector<InstalledPlugin> installed_plugins(const EnvironmentState& environment);
[[nodiscard]] std::vector<SkippedPlugin> skipped_plugins(const EnvironmentState& environment);
[[nodiscard]] std::vector<SearchedDirectory> searched_directories(
    const EnvironmentState& environment);
[[nodiscard]] Status check_loadable(EnvironmentState& environment,
                                    const std::filesystem::path& manifest);
[[nodiscard]] Status register_plugin(EnvironmentState& environment,
                                     const std::filesystem::path& path, std::string name);
[[nodiscard]] Status abandon_session_group(EnvironmentState& environment, const std::string& name);
[[nodiscard]] Result<MetricsReport> read_metrics(const EnvironmentState& environment);

}  // namespace ephost::session
