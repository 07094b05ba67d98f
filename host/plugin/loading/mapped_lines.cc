#include "host/plugin/loading/mapped_lines.h"

#include <cstdint>
#include <optional>
#include <sstream>

namespace ephost::plugin {
namespace {

struct Range {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  std::string access;  // such as "r-xp"
  std::string file;    // device and inode
};

std::optional<Range> read_range(const std::string& line) {
  std::istringstream fields(line);
  Range range;
  char dash = 0;
  std::string offset;
  std::string device;
  std::string inode;
  fields >> std::hex >> range.begin >> dash >> range.end >> range.access >> offset >> device >>
      inode;
  if (!fields) return std::nullopt;
  range.file = device + " " + inode;
  return range;
}

}  // namespace

std::string file_mapped_at(const void* address, const std::string& maps) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    const std::optional<Range> range = read_range(line);
    if (range && range->begin <= wanted && wanted < range->end) return range->file;
  }
  return {};
}

size_t count_loaded_ranges(const std::string& file, const std::string& maps) {
  size_t count = 0;
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    const std::optional<Range> range = read_range(line);
    if (range && range->file == file && range->access != "r--p") ++count;
  }
  return count;
}

}  // namespace ephost::plugin
