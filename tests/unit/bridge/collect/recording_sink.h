// recording_sink.h: a sink that counts what is written to a context, or refuses it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/bridge/collect/context_collector.h"

namespace ephost::bridge::testing {

class RecordingSink : public ContextSink {
 public:
  Result<uint32_t> begin_payload(std::string_view compatibility) override {
    if (!refusal.ok()) return refusal;
    compatibilities.emplace_back(compatibility);
    return payloads++;
  }
  Status append(uint32_t, std::span<const std::byte> bytes) override {
    size += bytes.size();
    return refusal;
  }
  Status add_node(const eph_context_node& node) override {
    nodes.push_back(node.computation);
    return refusal;
  }
  uint32_t payloads = 0;
  std::vector<std::string> compatibilities;
  size_t size = 0;
  std::vector<uint32_t> nodes;
  Status refusal;
};

}  // namespace ephost::bridge::testing
