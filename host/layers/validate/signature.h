// The declared shapes of a computation's inputs and outputs, and whether those of a run agree with
// them.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/layers/validate/finding.h"

namespace ephost::layers {

struct Signature {
  // A dimension: an extent, or -1 with the name of its symbol, which may be empty.
  struct Dimension {
    int64_t extent = -1;
    std::string symbol;
  };
  struct Slot {
    bool is_known = false;  // a tensor of known rank
    std::vector<Dimension> shape;

    [[nodiscard]] bool is_open() const;
  };
  std::vector<Slot> inputs;
  std::vector<Slot> outputs;

  // The computation of the whole graph, or of one of its nodes. Slots that cannot be read are
  // unknown.
  [[nodiscard]] static Signature of_graph(const eph_graph& graph);
  [[nodiscard]] static Signature of_node(const eph_graph& graph, uint32_t node);

  // By output; those of unknown rank are open.
  [[nodiscard]] std::vector<bool> open_outputs() const;
  // What is wrong with the outputs of a run: another extent than declared, or one symbol with two
  // extents. Inputs are what the symbols stand for.
  [[nodiscard]] std::vector<Finding> findings(const eph_run& run) const;
};

}  // namespace ephost::layers
