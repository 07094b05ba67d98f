// A provider whose claims are set by a test.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/partition/partition.h"

namespace ephost::partition::testing {

class FakeSource : public ClaimSource {
 public:
  FakeSource(std::string name, std::vector<Claim> claims)
      : name_(std::move(name)), claims_(std::move(claims)) {}

  // Claims every free node individually.
  static FakeSource greedy(std::string name) {
    FakeSource source(std::move(name), {});
    source.is_greedy_ = true;
    return source;
  }

  FakeSource& without_kernel(NodeId node) {
    missing_kernels_.insert(node);
    return *this;
  }
  FakeSource& failing(Status failure) {
    failure_ = std::move(failure);
    return *this;
  }
  FakeSource& short_named(std::string name) {
    short_name_ = std::move(name);
    return *this;
  }

  [[nodiscard]] std::string_view provider_name() const override { return name_; }
  [[nodiscard]] std::string_view short_name() const override {
    return short_name_.empty() ? ClaimSource::short_name() : short_name_;
  }
  [[nodiscard]] Result<std::vector<Claim>> claims(const Graph& graph,
                                                  std::span<const uint32_t> owner) override {
    seen_owner_.assign(owner.begin(), owner.end());
    if (!failure_.ok()) return failure_;
    if (!is_greedy_) return claims_;
    std::vector<Claim> all;
    for (NodeId node = 0; node < graph.nodes.size(); ++node) {
      if (owner[node] == kUnassigned) all.push_back({.nodes = {node}});
    }
    return all;
  }
  [[nodiscard]] bool has_kernel(const Graph& /*graph*/, NodeId node) override {
    return !missing_kernels_.contains(node);
  }

  // The owners that it was shown.
  [[nodiscard]] const std::vector<uint32_t>& seen_owner() const { return seen_owner_; }

 private:
  std::string name_;
  std::string short_name_;
  std::vector<Claim> claims_;
  std::set<NodeId> missing_kernels_;
  Status failure_;
  bool is_greedy_ = false;
  std::vector<uint32_t> seen_owner_;
};

inline Claim fused(std::vector<NodeId> nodes, std::string name = "") {
  return {.nodes = std::move(nodes), .fused = true, .name = std::move(name)};
}

inline Claim single(NodeId node) { return {.nodes = {node}}; }

}  // namespace ephost::partition::testing
