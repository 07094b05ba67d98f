// The plan of a model: the order of the steps, where each value lies in memory, and how much memory
// that takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ephost {

struct PlannedStep {
  uint32_t provider = 0;            // index into GraphPlan::providers
  uint32_t node = 0;                // id of the node; of a partition its first node
  std::string name;                 // of the node, may be empty; of a partition "partition NAME"
  std::string op;                   // e.g. "Conv", "com.example.Custom"; of a partition "3 nodes"
  std::string description;          // its name in messages
  std::string partition;            // empty: a kernel for a single node
  std::vector<std::string> inputs;  // empty names: optional ones that are left out
  std::vector<std::string> outputs;
  uint64_t workspace_bytes = 0;  // scratch memory while it runs
  // Constants that it reads: of a partition, those that enter it. Counted at each of their readers.
  uint64_t constant_bytes = 0;
  // Values that only the nodes of a partition see, and which the provider places as it likes; as
  // far as their sizes are known, their bytes together, and the most that are alive at a time when
  // the nodes run one by one in the model's order. 0 for a kernel.
  uint64_t inner_values = 0;
  uint64_t inner_bytes = 0;
  uint64_t inner_live_bytes = 0;
  // The device's stream that does its work, e.g. "npu compute 0"; empty: the host runs it to its
  // end.
  std::string stream;
  // Earlier steps whose work ends before: those that the stream waits for, and those that the host
  // waits for.
  std::vector<uint32_t> waits;
  std::vector<uint32_t> host_waits;
};

struct PlannedValue {
  std::string name;
  std::string type;                      // e.g. "float[1,3,?]"
  std::string kind;                      // how it gets its memory, e.g. "Allocate", "Reuse"
  uint32_t location = 0;                 // 0: host memory; others as in PlannedBlock
  std::string buffer;                    // the value whose buffer it lies in, which may be itself
  bool owns_buffer = true;               // `buffer` is the value itself
  uint32_t first_step = 0;               // the first step that needs it
  uint32_t last_step = 0;                // the last one, inclusive
  uint32_t use_count = 0;                // reads by steps, and one more for an output of the graph
  std::optional<uint64_t> bytes;         // not known before the run: nothing
  std::optional<uint64_t> buffer_bytes;  // likewise
  std::optional<uint64_t> offset;        // in its location's block; nothing: it is not in one
  bool is_allocated_by_runs = false;     // it needs memory of its own, which each run allocates
};

// A buffer of one or more values, or the workspace of a step, in the block of a location.
struct PlannedBuffer {
  uint32_t location = 0;
  uint32_t first_step = 0;
  uint32_t last_step = 0;  // inclusive
  uint64_t bytes = 0;
  uint64_t offset = 0;
  bool is_workspace = false;
};

struct PlannedBlock {
  uint32_t location = 0;
  std::string memory;  // "host", or the name of a device's memory
  uint64_t peak_bytes = 0;
  uint64_t lower_bound_bytes = 0;  // no plan of the same steps needs less
  bool proved_optimal = false;
  uint64_t alignment = 0;  // of the offsets; sizes count rounded up to it
};

// The model's own graph, or a body of a control-flow operator that the host runs.
struct GraphPlan {
  std::string path;  // of a body; empty for the model's own graph
  std::string name;
  std::vector<std::string> providers;  // in priority order
  std::vector<PlannedStep> steps;      // in the order in which they run
  std::vector<PlannedValue> values;    // those that steps read or write
  std::vector<PlannedBuffer> buffers;  // those in blocks
  std::vector<PlannedBlock> blocks;    // one for each location that has buffers of known size
  std::string order_rule;              // how the order was found; empty where there was no choice
  uint64_t order_bytes = 0;            // the most memory that one step needs in this order
  uint64_t given_order_bytes = 0;      // the same in the model's own order
};

}  // namespace ephost
