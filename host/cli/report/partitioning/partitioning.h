// A partitioning (ephost/partition_model.h) rendered as text, Graphviz and HTML: whole documents as
// strings. Names in it may be anything: they are escaped.
#pragma once

#include <ephost/partition_model.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ephost::cli {

// A table for terminals, one line a node, followed by a summary, refused claims and declined nodes.
[[nodiscard]] std::string explanation_text(const GraphPartitioning& graph);

// A Graphviz digraph: one box a node, one colour a provider, one cluster a partition. A body is
// named by its path.
[[nodiscard]] std::string to_dot(const GraphPartitioning& graph);

// One HTML page without external resources: the model's own graph first, then its bodies.
[[nodiscard]] std::string partitioning_page(std::span<const GraphPartitioning> graphs);

// The fill colour of a provider, e.g. "#8dd3c7"; colours repeat. Grey for the name of no provider.
[[nodiscard]] std::string_view provider_color(const GraphPartitioning& graph,
                                              std::string_view provider);
inline constexpr std::string_view kUnassignedColor = "#e0e0e0";

// One line about a provider: what it took and how many of its claims were refused.
[[nodiscard]] std::string describe_provider(const PartitioningSummary& provider);

// One line about a refused claim: whose, how many nodes, which first, and why.
[[nodiscard]] std::string describe_refusal(const GraphPartitioning& graph,
                                           const RefusedClaim& refusal);

}  // namespace ephost::cli
