// Lookup of the payload of a secondary EPContext node. Used only by the examination.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "ephost/status.h"
#include "host/context/ep_context_node.h"

namespace ephost::context {

// The primary nodes of a model. All of them are added before the first lookup, so that the order of
// nodes does not matter.
class Primaries {
 public:
  void add(const EpContextNode& primary, uint32_t payload);

  // The payload of the primary node of the same source whose partition_name the secondary node
  // names; else of the one whose file it names; else the only payload of its source. Otherwise
  // INVALID_GRAPH, without naming the node.
  [[nodiscard]] Result<uint32_t> find(const EpContextNode& secondary) const;

 private:
  using Key = std::pair<std::string, std::string>;  // source, and partition_name or file

  std::map<Key, uint32_t> by_partition_;
  std::map<Key, uint32_t> by_file_;
  std::map<std::string, uint32_t> by_source_;
};

}  // namespace ephost::context
