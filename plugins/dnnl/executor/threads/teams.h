// teams.h: the primitives of a program for fewer threads than it was made for. Many primitives
// divide their work when they are made, so a smaller team needs others.
//
// A smaller team gives the same results, bit for bit: its primitives take the same arguments in the
// same layouts, and have been compared with the program's own on random numbers.
#pragma once

#include <map>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <vector>

#include "plugins/dnnl/executor/compiled_partition.h"
#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

using Primitives = std::vector<dnnl::primitive>;  // by step

class Teams {
 public:
  // All must outlive it. The program was made from the recipe for that many threads.
  Teams(const Recipe& recipe, const Program& program, const dnnl::engine& engine, int threads)
      : recipe_(recipe), program_(program), engine_(engine), threads_(threads) {}

  // Made when they are first wanted, which takes as long as some runs. Null if they can't be had:
  // the library would use other layouts or more scratch memory, or compute other results.
  [[nodiscard]] const Primitives* primitives_for(int threads);

 private:
  [[nodiscard]] std::optional<Primitives> make(int threads) const;
  // The program as the library would divide it among fewer threads, without constants.
  [[nodiscard]] Program make_smaller(int threads) const;
  // Whether the primitive stays inside the arguments of the step and gives the same results.
  [[nodiscard]] bool can_replace(std::size_t step, const dnnl::primitive& smaller,
                                 int threads) const;

  const Recipe& recipe_;
  const Program& program_;
  const dnnl::engine& engine_;
  const int threads_;
  std::mutex mutex_;
  std::map<int, std::optional<Primitives>> made_;  // by number of threads
};

}  // namespace ephost_dnnl
