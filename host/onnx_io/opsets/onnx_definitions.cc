#include "host/onnx_io/opsets/onnx_definitions.h"

#include <onnx/defs/operator_sets.h>

#include <algorithm>
#include <iterator>

namespace ephost::onnx_io {
namespace {

// Written by CMake from the list in onnx's header, sorted by name.
constexpr OnnxDefinition kDefinitions[] = {
#define EPHOST_DEFINITION(op_type, since) \
  {#op_type, since, &onnx::GetOpSchema<onnx::op_type##_Onnx_ver##since>},
#include "onnx_definitions.inc"
#undef EPHOST_DEFINITION
};

static_assert(std::is_sorted(std::begin(kDefinitions), std::end(kDefinitions),
                             [](const OnnxDefinition& a, const OnnxDefinition& b) {
                               return a.op_type < b.op_type;
                             }));

struct ByName {
  bool operator()(const OnnxDefinition& a, std::string_view b) const { return a.op_type < b; }
  bool operator()(std::string_view a, const OnnxDefinition& b) const { return a < b.op_type; }
};

}  // namespace

const OnnxDefinition* find_onnx_definition(std::string_view op_type, int version) {
  const auto [begin, end] =
      std::equal_range(std::begin(kDefinitions), std::end(kDefinitions), op_type, ByName());
  const OnnxDefinition* newest = nullptr;
  for (const OnnxDefinition* candidate = begin; candidate != end; ++candidate) {
    if (candidate->since > version) continue;
    if (newest == nullptr || candidate->since > newest->since) newest = candidate;
  }
  return newest;
}

}  // namespace ephost::onnx_io
