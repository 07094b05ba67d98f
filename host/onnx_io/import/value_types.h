// Conversions between TypeProto and graph::ValueType. Internal to the importer and to shape
// inference; forward-declares the generated classes instead of including them.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/graph/types.h"

namespace onnx {
class TypeProto;
}  // namespace onnx

namespace ephost::onnx_io {

// Numbers the names of symbolic dimensions; appends new ones to a model's list.
class DimSymbols {
 public:
  // `names` must outlive this object. A name that has an entry in `sizes` is not a symbol but
  // stands for that size.
  explicit DimSymbols(std::vector<std::string>& names, std::map<std::string, int64_t> sizes = {});

  // The dimension for the symbol `name`; unknown if the name is empty.
  int64_t dim(const std::string& name);
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  // The names that `dim` was asked for and that stand for a size.
  [[nodiscard]] const std::set<std::string>& sized_names() const { return sized_names_; }

 private:
  std::vector<std::string>& names_;
  std::map<std::string, int64_t> sizes_;
  std::set<std::string> sized_names_;
  std::unordered_map<std::string, uint32_t> ids_;
};

// Returns INVALID_GRAPH for element types that do not exist, dimensions below -1 (-1 commonly means
// unknown), missing inner types, and types nested more than 16 levels deep.
[[nodiscard]] Result<graph::ValueType> import_type(const onnx::TypeProto& proto,
                                                   DimSymbols& symbols);

// Leaves `out` unset for an unknown type.
void export_type(const graph::ValueType& type, const std::vector<std::string>& symbols,
                 onnx::TypeProto& out);

// The type without its shape, and the shapes of what is in it.
[[nodiscard]] graph::ValueType without_shape(graph::ValueType type);

// Merges two types: `known` completed by `found`. Where both have an element type, kind, rank or
// extent and disagree, `found` wins and `conflict` is set. An extent replaces a symbol; an unknown
// dimension replaces nothing.
[[nodiscard]] graph::ValueType merge_types(const graph::ValueType& known,
                                           const graph::ValueType& found, bool& conflict);

}  // namespace ephost::onnx_io
