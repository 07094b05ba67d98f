// TypeProto and graph::ValueType, both ways. Internal to the importer and to shape inference; names
// the generated classes without including them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ephost/status.h"
#include "host/graph/types.h"

namespace onnx {
class TypeProto;
}  // namespace onnx

namespace ephost::onnx_io {

// Numbers the names of symbolic dimensions; appends new ones to a model's list.
class DimSymbols {
 public:
  // `names` must outlive this.
  explicit DimSymbols(std::vector<std::string>& names);

  // The dimension that stands for `name`; unknown if the name is empty.
  int64_t dim(const std::string& name);
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, uint32_t> ids_;
};

// INVALID_GRAPH for element types that do not exist, dimensions below -1 (-1 is a common way to say
// unknown), missing inner types, and types nested more than 16 deep.
[[nodiscard]] Result<graph::ValueType> import_type(const onnx::TypeProto& proto,
                                                   DimSymbols& symbols);

// Leaves `out` unset for an unknown type.
void export_type(const graph::ValueType& type, const std::vector<std::string>& symbols,
                 onnx::TypeProto& out);

// What is known from either: `known` completed by `found`. Where both state an element type, kind,
// rank or extent and disagree, `found` stands and `conflict` is set; a symbol yields to an extent,
// nothing to an unknown.
[[nodiscard]] graph::ValueType merge_types(const graph::ValueType& known,
                                           const graph::ValueType& found, bool& conflict);

}  // namespace ephost::onnx_io
