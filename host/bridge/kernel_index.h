// A provider's kernel list, looked up by node.
#pragma once

#include <ephost/plugin_abi.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/graph/graph.h"

namespace ephost::bridge {

class KernelIndex {
 public:
  KernelIndex() = default;
  // Borrows the list, whose arrays the caller has checked and which lives as long as the provider.
  explicit KernelIndex(std::span<const eph_kernel_def> kernels);

  // Whether an entry matches the node by operator, domain, since_version and types. An unknown type
  // matches.
  [[nodiscard]] bool fits(const graph::Graph& graph, const graph::Node& node) const;

  // Why no entry matches: no kernel for the operator, for its version, or for a type.
  [[nodiscard]] std::string why_not(const graph::Graph& graph, const graph::Node& node) const;

  [[nodiscard]] std::span<const eph_kernel_def> kernels() const { return kernels_; }

 private:
  enum class Fit { kNoOperator, kNoVersion, kNoType, kFits };
  [[nodiscard]] Fit best_fit(const graph::Graph& graph, const graph::Node& node) const;

  std::span<const eph_kernel_def> kernels_;
  std::unordered_map<std::string_view, std::vector<uint32_t>> by_operator_;
};

}  // namespace ephost::bridge
