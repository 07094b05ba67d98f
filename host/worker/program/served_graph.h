// A graph of the host as the plugin sees it: from the message that it came with, and from what is
// asked of the host where that has only a part of it.
#pragma once

#include <ephost/plugin_abi.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/worker/program/call_state.h"
#include "host/worker/program/graph_part.h"

namespace ephost::worker {

// Safe from any thread, while the call lasts.
class ServedGraph : public eph_graph {
 public:
  // Borrows all three. `plain` is the data of the message that the graph came with, which the call
  // keeps.
  ServedGraph(CallState& call, const wire::Graph& graph, const char* plain);
  // A graph of the call's request.
  ServedGraph(CallState& call, const wire::Graph& graph) : ServedGraph(call, graph, call.plain()) {}
  ServedGraph(const ServedGraph&) = delete;
  ServedGraph& operator=(const ServedGraph&) = delete;

  // The name of a node, and its operator, for reports.
  [[nodiscard]] std::pair<std::string, std::string> describe_node(uint32_t node) const;

 private:
  static ServedGraph& self(const eph_graph* handle) {
    return const_cast<ServedGraph&>(static_cast<const ServedGraph&>(*handle));
  }
  static int32_t get_graph(const eph_graph*, eph_graph_info*, eph_error*) noexcept;
  static int32_t get_node(const eph_graph*, uint32_t, eph_node_info*, eph_error*) noexcept;
  static int32_t get_value(const eph_graph*, uint32_t, eph_value_info*, eph_error*) noexcept;
  static int32_t find_value(const eph_graph*, eph_string, uint32_t*, eph_error*) noexcept;
  static int64_t get_opset(const eph_graph*, eph_string) noexcept;
  static int32_t get_onnx(const eph_graph*, uint64_t, eph_bytes*, eph_error*) noexcept;
  static const eph_graph_api kApi;

  // Asks for the whole part if the message has none.
  Status read_part();
  void take_part(const wire::GraphPart& part, const char* plain);
  Result<eph_node_info> node(uint32_t index);
  Result<eph_value_info> value(uint32_t index);
  Result<uint32_t> index_of(std::string_view name);
  // Null if the message does not have it.
  [[nodiscard]] const PlainNode* given_node(uint32_t index) const;
  [[nodiscard]] const PlainValueInfo* given_value(uint32_t index) const;

  CallState& call_;
  const wire::Graph& graph_;
  std::recursive_mutex mutex_;  // guards what follows
  std::optional<GraphPart> part_;
  bool is_whole_ = false;  // GraphPart.is_whole
  // Otherwise: what the part has.
  std::unordered_map<uint32_t, const PlainNode*> given_nodes_;
  std::unordered_map<uint32_t, const PlainValueInfo*> given_values_;
  Storage storage_;
  // What was read before and has parts in `storage_`, by index.
  std::unordered_map<uint32_t, const eph_node_info*> nodes_;
  std::unordered_map<uint32_t, const eph_value_info*> values_;
  std::unordered_map<std::string_view, uint32_t> names_;  // of all values, once one was asked for
  bool has_names_ = false;
  std::vector<std::unique_ptr<ServedGraph>> bodies_;
  std::map<uint64_t, std::span<const std::byte>> onnx_;
};

}  // namespace ephost::worker
