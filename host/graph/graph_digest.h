// Digests of what a provider can see of a graph (host/bridge/graph_view.h), so that the context
// cache can tell whether a partition is still the one that was compiled.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/cancellation.h"
#include "host/base/hash.h"
#include "host/graph/graph.h"

namespace ephost::graph {

// The content checksums of large data by its place in memory, so that data which several graphs
// share is read once.
using DataChecksums = std::map<std::pair<const std::byte*, size_t>, Hash128>;

class GraphDigester {
 public:
  // Borrows the model. It and the graphs' data must neither change nor be freed while the object
  // exists, as data is recognised by its address.
  explicit GraphDigester(const Model& model, const Cancellation& cancellation = {})
      : model_(model), cancellation_(cancellation) {}

  // The SHA-256, in 64 lower-case hexadecimal digits, of `maker`, a text that identifies the
  // compiler of the graph, and of a serialisation of the graph: its name, nodes with their order,
  // operators, versions, attributes and bodies, values with names, types and names of dimensions,
  // inputs, outputs, annotations, and constants; and of what the model adds to it: IR version,
  // opsets and functions. Two different graphs never have the same serialisation. Data of
  // constants, large attributes and functions is in it as its size and its 128-bit XXH3 checksum,
  // so that a digest costs no more than the checksum of a model file. What cannot be seen has no
  // influence: where external data lies, how symbols are numbered, what the graph was extracted
  // from.
  //
  // CANCELLED or DEADLINE_EXCEEDED once cancellation is requested; FAIL if OpenSSL has no SHA-256.
  [[nodiscard]] Result<std::string> digest(const Graph& graph, std::string_view maker);

 private:
  const Model& model_;
  Cancellation cancellation_;
  DataChecksums checksums_;
};

}  // namespace ephost::graph
