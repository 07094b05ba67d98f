// Random models for devices that know few operators (tests/fixtures/device).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/session/devices/device_sample.h"

namespace ephost::test {

// Random nodes of a few operators on tensors of one shape, each of which may read any earlier
// value.
struct RandomDeviceModel {
  graph::Graph graph;
  std::string on_device;  // names of nodes
  std::string on_other;   // of those that are left
  std::string in_sram;    // operators
};

// How many a test tries; more of them in a long run (scripts/check_all.sh).
inline uint64_t random_model_count() {
  const char* const given = std::getenv("EPHOST_RANDOM_MODELS");
  return given == nullptr ? 30 : std::strtoull(given, nullptr, 10);
}

inline RandomDeviceModel random_device_model(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t bound) { return random() % bound; };
  const bool is_open = below(3) == 0;
  // Of values with the same symbol the sizes are known to be equal, so that they share memory.
  const int64_t open_extent = below(2) == 0 ? -1 : graph::symbolic_dim(0);
  const graph::ValueType type = float_type(graph::Shape{is_open ? open_extent : 8});
  GraphBuilder builder;
  std::vector<std::string> values = {"x", "w"};
  builder.input("x", type).constant("w", constant({0.5F}));
  const uint64_t nodes = 1 + below(25);
  RandomDeviceModel model;
  for (uint64_t i = 0; i < nodes; ++i) {
    const std::array<const char*, 7> ops = {"Add", "Sub", "Mul", "Relu", "Neg", "Identity", "Abs"};
    const uint64_t op = below(ops.size());
    // The constant has another shape, so it can only be the second operand.
    const auto any = [&](uint64_t from) {
      return values[from + below(std::min<uint64_t>(values.size() - from, 6))];
    };
    const std::string first = below(2) == 0 && values.size() > 2 ? values.back() : [&] {
      const std::string chosen = any(0);
      return chosen == "w" ? std::string("x") : chosen;
    }();
    const std::string out = "v" + std::to_string(i);
    if (op < 3) {
      builder.node(ops[op], {first, any(0)}, {out});
    } else {
      builder.node(ops[op], {first}, {out});
    }
    values.push_back(out);
    std::string& place = below(2) == 0 ? model.on_device : model.on_other;
    place += "n" + std::to_string(i) + ",";
  }
  for (size_t i = 2; i < values.size(); ++i) {
    if (i + 1 == values.size() || below(6) == 0) builder.output(values[i]);
  }
  model.graph = builder.build();
  for (size_t i = 0; i < model.graph.nodes.size(); ++i) {
    model.graph.nodes[i].name = "n" + std::to_string(i);
  }
  for (graph::Value& value : model.graph.values) {
    if (!value.is_constant()) value.type = type;
  }
  if (model.on_device.empty()) model.on_device = "none";
  if (model.on_other.empty()) model.on_other = "none";
  if (below(3) == 0) model.in_sram = "Add,Neg";
  return model;
}

// The model's input x in a round of runs.
inline std::vector<float> random_device_input(uint64_t seed, uint64_t round) {
  std::vector<float> x(8);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>((seed + round * 31 + i * 7) % 23) / 7 - 1;
  }
  return x;
}

}  // namespace ephost::test
