#include "host/partition/names.h"

#include <algorithm>

#include "host/base/text.h"

namespace ephost::partition {
namespace {

constexpr size_t kLongestSuggestion = 256;

bool is_usable(std::string_view name) {
  const auto is_control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  };
  return !name.empty() && name.size() <= kLongestSuggestion &&
         std::ranges::none_of(name, is_control) && is_valid_utf8(name);
}

}  // namespace

PartitionNamer::PartitionNamer(std::string_view prefix, std::span<const std::string> taken)
    : prefix_(prefix), taken_(taken.begin(), taken.end()) {}

std::string PartitionNamer::name(std::string_view suggested, std::string_view stem) {
  if (!is_usable(suggested)) return numbered(stem, 0);
  std::string whole = prefix_ + std::string(suggested);
  return taken_.insert(whole).second ? whole : numbered(suggested, 2);
}

std::string PartitionNamer::numbered(std::string_view stem, uint64_t first) {
  uint64_t& next = next_.try_emplace(std::string(stem), first).first->second;
  for (;;) {
    std::string whole = prefix_ + std::string(stem) + "_" + std::to_string(next++);
    if (taken_.insert(whole).second) return whole;
  }
}

}  // namespace ephost::partition
