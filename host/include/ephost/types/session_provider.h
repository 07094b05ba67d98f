// A provider and its share of a model: in a session, in a specialisation, or where the model was
// compiled.
#pragma once

#include <cstdint>
#include <string>

namespace ephost {

// A provider, and the library of its plugin.
struct SessionProvider {
  std::string name;  // e.g. "CPUExecutionProvider"
  std::string library;
  // The provider's nodes of the model as it is compiled, in all graphs that the host runs, whether
  // in partitions or alone. A session does not count its specialisations, which have counts of
  // their own; a compilation counts all models that it writes.
  uint64_t node_count = 0;
  // Nodes of the model with open shapes that it would take, or run better, if the extents of inputs
  // were fixed.
  uint64_t wished_node_count = 0;
};

}  // namespace ephost
