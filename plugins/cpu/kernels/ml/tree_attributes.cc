#include "plugins/cpu/kernels/ml/tree_attributes.h"

#include <limits>

namespace ephost_cpu {

void check_size(std::size_t size, std::size_t wanted, const std::string& name) {
  if (size == wanted) return;
  fail("attribute '" + name + "' has " + std::to_string(size) + " entries, expected " +
       std::to_string(wanted));
}

uint32_t index_in(int64_t index, std::size_t size, const std::string& name) {
  if (index < 0 || static_cast<uint64_t>(index) >= size) {
    fail("attribute '" + name + "' has the entry " + std::to_string(index) +
         ", which is out of range");
  }
  return static_cast<uint32_t>(index);
}

uint32_t feature_of(int64_t feature) {
  return index_in(feature, std::numeric_limits<uint32_t>::max(), "nodes_featureids");
}

std::vector<int64_t> sized_ints(const eph::NodeView& node, const char* name, std::size_t count) {
  std::vector<int64_t> list = ints_of(node, name);
  check_size(list.size(), count, name);
  return list;
}

std::vector<int64_t> missing_value_tracks(const eph::NodeView& node, std::size_t count) {
  constexpr const char* kName = "nodes_missing_value_tracks_true";
  std::vector<int64_t> tracks = ints_of(node, kName);
  if (tracks.empty()) tracks.resize(count);
  check_size(tracks.size(), count, kName);
  return tracks;
}

}  // namespace ephost_cpu
