// partition_computation.h: the common base of all computations of the provider: a name, and what
// the context binary stores.
#pragma once

#include <cstdint>
#include <ephost/plugin.hpp>
#include <string>
#include <vector>

#include "plugins/dnnl/executor/constants.h"
#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

// What becomes of NaN: it is handed on as the ONNX text says, or the library may lose it.
enum class NanMode : uint8_t { kPropagate, kLibrary };

class PartitionComputation : public eph::Computation {
 public:
  [[nodiscard]] virtual const std::string& name() const = 0;
  // What was compiled, whatever has failed in runs since.
  [[nodiscard]] virtual const Recipe& recipe() const = 0;
  [[nodiscard]] virtual const std::vector<PackedConstant>& constants() const = 0;
  // Whether the recipe is an example of any number of rows (recipe/row_products.h).
  [[nodiscard]] virtual bool has_open_rows() const = 0;
};

}  // namespace ephost_dnnl
