// The host's graphs as messages, and what a worker asks of them later.
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/worker/protocol/messages.pb.h"
#include "host/worker/tables/graph_part_writer.h"
#include "host/worker/tables/outgoing.h"

namespace ephost::worker {

// A tensor, or what is made of tensors. Data that lies in no region goes into the message.
void write(const eph_value& value, Outgoing& outgoing, wire::Value& out);

// The graphs of one call. Borrows them; used by one thread.
class HostGraphs {
 public:
  explicit HostGraphs(Outgoing& outgoing) : outgoing_(outgoing) {}

  // Before graphs with so many nodes and values in total: memory for them.
  void expect(uint64_t nodes, uint64_t values);
  // The whole graph, but for data that is large and lies in no region.
  Status write_all(const eph_graph* graph, wire::Graph& out);
  // The graph without nodes and values, for a call that may read none: the worker asks for all.
  Status write_outline(const eph_graph* graph, wire::Graph& out) { return write_frame(graph, out); }
  // One node of it, and its values.
  Status write_one(const eph_graph* graph, uint32_t node, wire::Graph& out);
  // The node of an operator and values by number, as if they were a graph, with all of their data.
  Status write_operator(const eph_node_info& node,
                        std::span<const std::pair<uint32_t, eph_value_info>> values,
                        wire::Graph& out);
  // Adds the descriptions of all graphs to the request that refers to them.
  Status finish(wire::Request& request);

  // Answers READ_GRAPH, READ_CONSTANT or GRAPH_GET_ONNX. A failure breaks the protocol.
  Status answer(const wire::Callback& callback, wire::Answer& out);

 private:
  uint32_t number_of(const eph_graph* graph);
  Status write_frame(const eph_graph* graph, wire::Graph& out);
  Status write_part(const eph_graph* graph, uint64_t nodes, uint64_t values, wire::GraphPart& out);
  Status answer_whole(const eph_graph* graph, wire::Answer& out);
  Status write_node(const eph_node_info& info, uint32_t index, GraphPartWriter& writer);
  // Data of a constant that lies in no region is left to be asked for beyond `most_inline` bytes.
  void write_value(const eph_value_info& info, uint32_t index, uint64_t most_inline,
                   GraphPartWriter& writer);
  Status add_node(const eph_graph* graph, uint32_t index, GraphPartWriter& writer);
  Status add_value(const eph_graph* graph, uint32_t index, GraphPartWriter& writer);
  Result<PlainAttribute> plain_attribute(const eph_attribute& attribute, GraphPartWriter& writer);
  void write_constant(const eph_value& constant, uint64_t most_inline, wire::Value& out);
  Status attach(const char* name, std::span<const std::byte> bytes, wire::Answer& out);

  Outgoing& outgoing_;
  std::vector<const eph_graph*> graphs_;  // by number - 1
  std::unordered_map<const eph_graph*, uint32_t> numbers_;
  std::string plain_;  // of what was not sent yet
};

}  // namespace ephost::worker
