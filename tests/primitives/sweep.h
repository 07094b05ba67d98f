// sweep.h: a run in guarded memory of every primitive that the library offers for random recipes,
// and those for random operations on types that recipes do not have.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace ephost_dnnl::test {

struct SweepCounts {
  uint64_t recipes = 0;            // or operations on other types
  uint64_t configurations = 0;     // steps that ran, each with one primitive
  uint64_t refused = 0;            // steps that the library refused to run
  uint64_t writes = 0, reads = 0;  // of those that ran, accesses to memory beyond their arguments
  uint64_t left = 0;  // such steps in the programs that the provider makes of the recipes
};

struct Sweep {
  std::map<std::string, SweepCounts> by_kind;
  // The primitives with such accesses: how often, and the first seed.
  std::map<std::string, std::pair<uint64_t, uint64_t>> touching;
};

// Adds one recipe and one operation on other types.
void sweep_one(uint64_t seed, Sweep& sweep);

}  // namespace ephost_dnnl::test
