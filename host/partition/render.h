// Helpers shared by the renderers of explain.h. Used inside host/partition only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "host/partition/explain.h"

namespace ephost::partition {

// A fill colour for the index-th provider, e.g. "#8dd3c7"; colours repeat.
[[nodiscard]] std::string_view provider_color(uint32_t index);
inline constexpr std::string_view kUnassignedColor = "#e0e0e0";

// "Conv", or "com.microsoft.FusedConv" outside ai.onnx.
[[nodiscard]] std::string operator_name(const graph::Node& node);

// "1 node", "2 nodes".
[[nodiscard]] std::string counted(uint64_t count, std::string_view noun);

// One line about a provider: what it took and how many of its claims were refused.
[[nodiscard]] std::string describe_provider(const ProviderSummary& provider);

// One line about a refused claim: its provider, the number of nodes, the first node, and the
// reason.
[[nodiscard]] std::string describe_refusal(const Explanation& explanation, const Refusal& refusal);

}  // namespace ephost::partition
