#include "host/cli/measure/peak_memory.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string>

namespace ephost::cli {

uint64_t peak_resident_bytes() {
  std::ifstream file("/proc/self/status");
  return parse_peak_resident_bytes(std::string(std::istreambuf_iterator<char>(file), {}));
}

uint64_t parse_peak_resident_bytes(std::string_view status_file) {
  constexpr std::string_view kField = "\nVmHWM:";
  const size_t field = status_file.find(kField);
  if (field == std::string_view::npos) return 0;
  std::string_view text = status_file.substr(field + kField.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  uint64_t kibibytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), kibibytes);
  return kibibytes * 1024;
}

}  // namespace ephost::cli
