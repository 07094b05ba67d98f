#include "host/context/store/key_comparison.h"

#include <algorithm>
#include <utility>

#include "host/context/store/cache_key.h"

namespace ephost::context {
namespace {

TextPairs lines_of_model(std::string_view key_text) {
  TextPairs lines = parse_lines(key_text);
  std::erase_if(lines, [](const auto& line) {
    return line.first != "format" && line.first != "model" && line.first != "external data";
  });
  return lines;
}

// Empty if the key has no such provider.
TextPairs lines_of_provider(std::string_view key_text, std::string_view provider) {
  TextPairs lines;
  bool is_inside = false;
  for (auto& line : parse_lines(key_text)) {
    if (line.first == "provider") is_inside = line.second == provider;
    if (is_inside) lines.push_back(std::move(line));
  }
  return lines;
}

// The values of all lines of that name.
std::vector<std::string_view> values_of(const TextPairs& lines, std::string_view name) {
  std::vector<std::string_view> values;
  for (const auto& line : lines) {
    if (line.first == name) values.emplace_back(line.second);
  }
  return values;
}

}  // namespace

bool are_of_same_model(std::string_view key_text, std::string_view other) {
  return lines_of_model(key_text) == lines_of_model(other);
}

std::vector<std::string> provider_differences(std::string_view key_text, std::string_view other,
                                              std::string_view provider) {
  const TextPairs here = lines_of_provider(key_text, provider);
  const TextPairs there = lines_of_provider(other, provider);
  if (here.empty() != there.empty()) return {"provider"};
  std::vector<std::string> names;
  for (const TextPairs* lines : {&here, &there}) {
    for (const auto& line : *lines) {
      const bool is_known = std::find(names.begin(), names.end(), line.first) != names.end();
      if (is_known || values_of(here, line.first) == values_of(there, line.first)) continue;
      names.push_back(line.first);
    }
  }
  return names;
}

}  // namespace ephost::context
