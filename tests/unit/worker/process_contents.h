// Counts of what this process has open, mapped and started, to see what is left behind.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

namespace ephost::worker {

inline size_t entries_of(const char* folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

inline size_t open_descriptors() { return entries_of("/proc/self/fd"); }

inline size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

// Direct children of this process, zombies included.
inline std::string children() {
  std::string all;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "children");
    for (std::string child; file >> child;) all += child + " ";
  }
  return all;
}

// Mappings of memory that is shared with workers.
inline size_t shared_mappings() {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("/memfd:ephost") != std::string::npos) ++count;
  }
  return count;
}

}  // namespace ephost::worker
