// The optimization passes by name, and the selection of those that run. Levels are ONNX Runtime's;
// so are the names of passes that ONNX Runtime has too.
#pragma once

#include <ephost/status.h>

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "host/graph/graph.h"

namespace ephost::optimize {

// Says something about nodes.
using NodePredicate = std::function<bool(const graph::Graph&, graph::NodeId)>;

enum class Pass : uint8_t {
  kConstantFolding,
  kDeadCodeElimination,
  kQuantizedOperators,  // see quantized_operators.h; after the providers' claims
  kEliminateIdentity,   // Identity, and Concat, Sum, Max, Min and Mean of one input
  kEliminateDropout,    // in inference, if the mask is unused
  kEliminateCast,       // Cast, CastLike to the same type
  kEliminateReshape,    // Reshape, Flatten, Squeeze to the same shape
  kEliminateTranspose,  // if it moves nothing
  kEliminatePad,        // if it pads nothing
  kEliminateSlice,      // if it keeps everything
  kEliminateExpand,     // Expand, Tile to the same shape
};
inline constexpr size_t kPassCount = 11;

[[nodiscard]] std::string_view pass_name(Pass pass);

class PassSelection {
 public:
  // Selects all passes.
  PassSelection() { runs_.set(); }
  // `level` is "disable_all", "basic", "extended" or "all"; all existing passes belong to "basic".
  // `disabled` lists passes by name. Returns INVALID_ARGUMENT, with the nearest name, for an
  // unknown level or pass.
  [[nodiscard]] static Result<PassSelection> create(std::string_view level,
                                                    std::span<const std::string> disabled);

  [[nodiscard]] bool runs(Pass pass) const { return runs_[static_cast<size_t>(pass)]; }
  PassSelection& disable(Pass pass) {
    runs_.reset(static_cast<size_t>(pass));
    return *this;
  }
  // The names of the passes that do not run, in their order; equal for equivalent selections.
  [[nodiscard]] std::string disabled_names() const;

 private:
  std::bitset<kPassCount> runs_;
};

}  // namespace ephost::optimize
