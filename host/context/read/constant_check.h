// Lookup and comparison of the constants that EPContext nodes name. Used only by the examination.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ephost/status.h"
#include "host/context/named_constants.h"
#include "host/context/read/loader.h"
#include "host/context/read/payload_files.h"

namespace ephost::context {

class ConstantCheck {
 public:
  // Borrows both. `files` knows whether checksums are deferred.
  ConstantCheck(const LoadOptions& options, PayloadFiles& files)
      : options_(options), files_(files) {}

  // The constants, whose data is shared with the graph. INVALID_GRAPH, without naming the node, if
  // one is missing, is not a constant, or has another type, shape or content than is stated. The
  // content of a constant is read once, however many nodes name it.
  [[nodiscard]] Result<std::vector<graph::Tensor>> find(const graph::Graph& graph,
                                                        const std::vector<NamedConstant>& stated);

 private:
  [[nodiscard]] Result<const graph::Tensor*> look_up(const graph::Graph& graph,
                                                     const std::string& name);
  [[nodiscard]] Status compare(const NamedConstant& stated, const graph::Tensor& tensor);

  const LoadOptions& options_;
  PayloadFiles& files_;
  std::map<const graph::Graph*, std::unordered_map<std::string_view, const graph::Tensor*>>
      constants_;  // by graph and name; made for its first node that names one
  std::map<std::pair<const std::byte*, size_t>, ChecksummedBytes> read_;  // by address and size
};

}  // namespace ephost::context
