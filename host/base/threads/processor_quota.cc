#include "host/base/threads/processor_quota.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace ephost {
namespace {

namespace fs = std::filesystem;

// A mounted hierarchy of cgroups that can limit processor time.
struct Hierarchy {
  bool is_v2 = false;
  std::string shown;  // the cgroup that is mounted
  fs::path folder;    // where
};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

bool lists(std::string_view commas, std::string_view word) {
  while (!commas.empty()) {
    const size_t end = std::min(commas.find(','), commas.size());
    if (commas.substr(0, end) == word) return true;
    commas.remove_prefix(std::min(end + 1, commas.size()));
  }
  return false;
}

// A line of /proc/self/mountinfo: number, parent, device, shown folder, place, options, any number
// of tags, "-", type, source, options of the file system.
std::optional<Hierarchy> hierarchy_of(const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  const auto dash = std::find(words.begin(), words.end(), "-");
  if (dash - words.begin() < 6 || words.end() - dash < 4) return {};
  const bool is_v2 = dash[1] == "cgroup2";
  if (!is_v2 && !(dash[1] == "cgroup" && lists(dash[3], "cpu"))) return {};
  return Hierarchy{is_v2, words[3], words[4]};
}

// The path of this process's cgroup in a hierarchy, from /proc/self/cgroup: "0::/path" in version
// 2, "4:cpu,cpuacct:/path" in version 1.
std::optional<std::string> cgroup_in(const Hierarchy& hierarchy, const fs::path& root) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    if (hierarchy.is_v2 ? controllers.empty() : lists(controllers, "cpu")) {
      return line.substr(second + 1);
    }
  }
  return {};
}

std::optional<uint32_t> processors_for(double quota, double period) {
  if (!(quota > 0 && period > 0)) return {};
  return static_cast<uint32_t>(std::clamp(quota / period, 1.0, 1e6));
}

// What one cgroup states: microseconds in each period, or `max` for no limit.
std::optional<uint32_t> quota_of(const fs::path& cgroup, bool is_v2) {
  double quota = 0, period = 0;
  if (is_v2) {
    std::ifstream file(cgroup / "cpu.max");
    return file >> quota >> period ? processors_for(quota, period) : std::nullopt;
  }
  std::ifstream quota_file(cgroup / "cpu.cfs_quota_us"), period_file(cgroup / "cpu.cfs_period_us");
  return quota_file >> quota && period_file >> period ? processors_for(quota, period)
                                                      : std::nullopt;
}

// The parts of `cgroup` below the one that is mounted; none if it is not below, as in a container
// that sees its own cgroup as the root.
fs::path below(const std::string& shown, const std::string& cgroup) {
  const fs::path relative = fs::path(cgroup).lexically_relative(shown);
  const bool is_outside = relative.empty() || *relative.begin() == "..";
  return is_outside || relative == "." ? fs::path() : relative;
}

}  // namespace

std::optional<uint32_t> processor_quota(const fs::path& root) {
  std::optional<uint32_t> least;
  std::ifstream mounts(root / "proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const std::optional<Hierarchy> hierarchy = hierarchy_of(line);
    const auto cgroup = hierarchy ? cgroup_in(*hierarchy, root) : std::nullopt;
    if (!cgroup) continue;
    fs::path folder = root / hierarchy->folder.relative_path();
    const auto consider = [&] {
      const std::optional<uint32_t> quota = quota_of(folder, hierarchy->is_v2);
      if (quota) least = std::min(least.value_or(*quota), *quota);
    };
    consider();
    for (const fs::path& part : below(hierarchy->shown, *cgroup)) {
      folder /= part;
      consider();
    }
  }
  return least;
}

}  // namespace ephost
