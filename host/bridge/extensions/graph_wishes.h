// The operators that a provider wants to see as they are in the model (ephost.graph_wishes/1),
// checked and copied. The session asks before it changes a graph for which the provider has not
// made its claims yet.
#pragma once

#include <ephost/ext/graph_wishes.h>
#include <ephost/status.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/graph/graph.h"

namespace ephost::bridge {

class GraphWishes {
 public:
  // None, for a provider that does not offer the extension.
  GraphWishes() = default;
  // Asks the provider of this name. EP_FAIL if it fails, or if its list makes no sense.
  [[nodiscard]] static Result<GraphWishes> create(const eph_graph_wishes_api& api,
                                                  eph_provider* provider, std::string_view owner);

  // Whether the node has one of the operators.
  [[nodiscard]] bool keeps(const graph::Node& node) const;

 private:
  struct Entry {
    std::string domain;
    int32_t since_version = 0;
    int32_t until_version = 0;
  };

  std::unordered_map<std::string, std::vector<Entry>> by_operator_;
};

}  // namespace ephost::bridge
