// The optimization passes by name, and which of them run. Levels are ONNX Runtime's; names are too,
// where it has a pass that does the same.
#pragma once

#include <ephost/status.h>

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ephost::optimize {

enum class Pass : uint8_t {
  kConstantFolding,
  kDeadCodeElimination,
  kEliminateIdentity,   // Identity, and Concat, Sum, Max, Min and Mean of one
  kEliminateDropout,    // in inference, where nobody wants the mask
  kEliminateCast,       // Cast, CastLike to the same type
  kEliminateReshape,    // Reshape, Flatten, Squeeze to the same shape
  kEliminateTranspose,  // that moves nothing
  kEliminatePad,        // by nothing
  kEliminateSlice,      // of everything
  kEliminateExpand,     // Expand, Tile to the same shape
};
inline constexpr size_t kPassCount = 10;

[[nodiscard]] std::string_view pass_name(Pass pass);

class PassSelection {
 public:
  // All.
  PassSelection() { runs_.set(); }
  // `level` is "disable_all", "basic", "extended" or "all"; all passes there are belong to "basic".
  // `disabled` are names. INVALID_ARGUMENT, with the nearest name, for what does not exist.
  [[nodiscard]] static Result<PassSelection> create(std::string_view level,
                                                    std::span<const std::string> disabled);

  [[nodiscard]] bool runs(Pass pass) const { return runs_[static_cast<size_t>(pass)]; }
  PassSelection& disable(Pass pass) {
    runs_.reset(static_cast<size_t>(pass));
    return *this;
  }
  // The names of those that do not run, in their order: equal for selections that do the same.
  [[nodiscard]] std::string disabled_names() const;

 private:
  std::bitset<kPassCount> runs_;
};

}  // namespace ephost::optimize
