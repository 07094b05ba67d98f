// Sizes that the caller gives to free dimensions of a model while it is imported, so that
// everything that follows sees fixed ones. Internal to the importer, except for DimensionOverrides;
// forward-declares the generated classes instead of including them.
#pragma once

#include <ephost/status.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace onnx {
class GraphProto;
}  // namespace onnx

namespace ephost::onnx_io {

// Sizes are not negative.
struct DimensionOverrides {
  std::map<std::string, int64_t> by_name;  // of all dimensions of that name, in all graphs
  // Sizes of the dimensions of the main graph's inputs by denotation, in lower case.
  std::map<std::string, int64_t> by_denotation;
  // Sizes of the main graph's inputs by name: one for each dimension, or -1 to leave it as it is.
  std::map<std::string, std::vector<int64_t>> by_input;
};

// The overrides that apply to a model, by name alone.
struct ResolvedDimensions {
  std::map<std::string, int64_t> sizes;  // by name
  std::set<std::string> denotations;     // all of the model's inputs, in lower case
  std::set<std::string> inputs;          // the names of all inputs
};

// Gives the inputs of the main graph the sizes by denotation and by input: those without a name in
// `graph` itself, those with one in the result, as the name stands for the same size elsewhere.
// INVALID_ARGUMENT if two overrides give a dimension different sizes, if it has another one
// already, or if the sizes of an input are not as many as its dimensions.
[[nodiscard]] Result<ResolvedDimensions> resolve_dimensions(const DimensionOverrides& overrides,
                                                            onnx::GraphProto& graph);

// One sentence for each override that has no effect, which names the most similar one of `names`,
// all names of dimensions of the model, or of its denotations.
[[nodiscard]] std::vector<std::string> describe_unused(const DimensionOverrides& overrides,
                                                       const ResolvedDimensions& resolved,
                                                       const std::set<std::string>& names);

}  // namespace ephost::onnx_io
