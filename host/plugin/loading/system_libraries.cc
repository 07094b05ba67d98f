#include "host/plugin/loading/system_libraries.h"

#include <glob.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <system_error>

#include "host/base/files/file.h"
#include "host/base/files/ownership.h"

namespace ephost::plugin {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxDepth = 8;
constexpr uint64_t kMaxConfigurationBytes = 65536;

void add_configured(const fs::path& file, int depth, std::vector<fs::path>& out_folders);

void add_included(const std::string& pattern, int depth, std::vector<fs::path>& out_folders) {
  glob_t found = {};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) {
      add_configured(found.gl_pathv[i], depth + 1, out_folders);
    }
  }
  ::globfree(&found);
}

// A file that cannot be read adds nothing.
void add_configured(const fs::path& file, int depth, std::vector<fs::path>& out_folders) {
  const auto text = read_file(file, kMaxConfigurationBytes);
  if (!text.ok() || depth > kMaxDepth) return;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    if (word == "include") {
      while (words >> word) add_included(file.parent_path() / word, depth, out_folders);
    } else if (word.starts_with('/')) {
      out_folders.emplace_back(word);
    }
  }
}

bool lies_below_any(const std::vector<fs::path>& folders, const fs::path& path) {
  return std::ranges::any_of(folders,
                             [&](const fs::path& folder) { return lies_below(folder, path); });
}

}  // namespace

std::vector<fs::path> system_library_folders(const fs::path& configuration) {
  std::vector<fs::path> folders;
  for (const char* const name : {"lib", "lib32", "lib64", "libx32"}) {
    folders.push_back(fs::path("/") / name);
    folders.push_back(fs::path("/usr") / name);
  }
  add_configured(configuration, 0, folders);
  return folders;
}

bool is_system_library(const fs::path& path) {
  std::vector<fs::path> folders = system_library_folders();
  if (!lies_below_any(folders, path)) return false;
  std::error_code error;
  const fs::path folder = fs::canonical(path.parent_path(), error);
  if (error) return false;
  for (fs::path& one : folders) {
    const fs::path canonical = fs::canonical(one, error);
    if (!error) one = canonical;
  }
  return lies_below_any(folders, folder) && check_ownership(path).ok();
}

bool lies_below(const fs::path& folder, const fs::path& path) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

}  // namespace ephost::plugin
