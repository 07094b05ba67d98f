// A plan drawn as one HTML page without external resources: memory against time with one box for
// each value, a lane with the steps of each provider or stream, what they wait for, and their
// order. Plain data in, text out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ephost::cli {

struct MapBox {
  std::string name;
  std::string what;                  // one line: its type and kind
  std::optional<uint32_t> provider;  // of the step that writes it: index into MemoryMap::providers
  uint64_t begin = 0;                // in steps, up to, not including, `end`
  uint64_t end = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  bool is_workspace = false;
  // The values inside of a partition's workspace, as in MapStep.
  uint64_t inner_values = 0;
  uint64_t inner_live = 0;
};

// One block of memory.
struct MapBlock {
  std::string name = "0";
  uint32_t location = 0;
  uint64_t peak = 0;
  uint64_t lower_bound = 0;
  bool proved_optimal = false;
  std::vector<MapBox> boxes;
  // Pairs of a time and the bytes that are live from then on; ascending.
  std::vector<std::pair<uint64_t, uint64_t>> live;
};

struct MapStep {
  std::string node;
  std::string op;
  uint32_t provider = 0;
  uint64_t live = 0;       // bytes in the blocks while it runs
  uint64_t workspace = 0;  // of these
  uint64_t weights = 0;    // bytes of the constants that it reads
  // For a partition: the values inside of it, and the most bytes of them that are alive at a time.
  uint64_t inner_values = 0;
  uint64_t inner_live = 0;
  uint32_t lane = 0;            // index into MemoryMap::streams, if there are any
  std::vector<uint32_t> waits;  // earlier steps, of other lanes
  bool is_critical = false;
};

struct MemoryMap {
  std::string name;                    // of the graph, or a file
  std::vector<std::string> providers;  // each has a colour, and a lane unless there are streams
  std::vector<std::string> streams;    // each has a lane; the first is the host
  std::vector<MapBlock> blocks;
  std::vector<MapStep> steps;
  uint64_t end = 0;                  // of time, in steps
  std::vector<double> step_seconds;  // how long each step took; empty if that is not known
  std::vector<std::string> notes;    // sentences about memory that is in no block
};

// `live` of a block: each entry needs `size` bytes from `begin` up to, not including, `end`.
struct LiveRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t size = 0;
};
[[nodiscard]] std::vector<std::pair<uint64_t, uint64_t>> live_bytes(
    std::span<const LiveRange> ranges);

// The first map is that of the model's own graph; those of bodies follow. Names are escaped.
[[nodiscard]] std::string to_html(const std::string& title, std::span<const MemoryMap> maps);

}  // namespace ephost::cli
