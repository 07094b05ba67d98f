// computation.h: a compiled partition as the host runs it. Binds the host's memory to the program's
// views and executes its primitives in order; allocates nothing while it runs.
#pragma once

#include <ephost/plugin.hpp>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "plugins/dnnl/executor/program.h"
#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

class DnnlComputation : public eph::Computation {
 public:
  // The program belongs to the recipe and its primitives exist. `threads` is the number that both
  // were made for.
  DnnlComputation(std::string name, Recipe recipe, Program program, dnnl::engine engine,
                  int threads);

  void compute(eph::Run& run, eph::State* state) override;
  void describe(eph_computation_info& info) override;
  std::unique_ptr<eph::State> create_state() override;

  // What the context binary stores.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Recipe& recipe() const { return recipe_; }
  [[nodiscard]] const std::vector<PackedConstant>& constants() const { return program_.constants; }

  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] int threads() const { return threads_; }

 private:
  class RunState;

  // The address of each buffer in this run. Throws Failure where an input isn't what was compiled.
  void locate(eph::Run& run, std::vector<void*>& addresses) const;
  void locate_input(eph::Run& run, const Buffer& buffer, void*& address) const;
  void locate_output(eph::Run& run, const Buffer& buffer, void*& address) const;

  std::string name_;
  Recipe recipe_;
  Program program_;
  dnnl::engine engine_;
  int threads_;
  std::vector<dnnl::memory> constant_memories_;  // by view; empty handles for other views
};

}  // namespace ephost_dnnl
