// The metadata of a model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ephost {

// A plain value. Texts are as the model has them, of any content, and empty where it has none.
struct ModelMetadata {
  std::string producer_name;
  std::string graph_name;
  std::string domain;
  std::string description;        // of the model
  std::string graph_description;  // of its main graph
  int64_t version = 0;            // 0 where the model has none
  // In the model's order; each key once.
  std::vector<std::pair<std::string, std::string>> custom_metadata_map;

  // The value of a key; nothing if the model does not have it. The text is this object's.
  [[nodiscard]] std::optional<std::string_view> lookup_custom_metadata_map(
      std::string_view key) const {
    for (const auto& [known, value] : custom_metadata_map) {
      if (known == key) return value;
    }
    return std::nullopt;
  }
};

}  // namespace ephost
