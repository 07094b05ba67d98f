// computation.h: a compiled partition as the host runs it. Binds the host's memory to the program's
// views and executes its primitives in order; allocates nothing while it runs.
//
// While other programs keep processors busy, it runs on as many of its threads as are fastest, with
// the same results (teams.h).
//
// If NaN may have been lost in a run, the run begins again with a program that keeps it, which is
// made then (exact_recipe.h) and takes about three times as long.
//
// If the library fails at a step, the computation makes another program, with another primitive for
// that step, from the constants of the first, and starts the run again. Later runs use that program
// too.
#pragma once

#include <atomic>
#include <ephost/plugin.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <utility>
#include <vector>

#include "plugins/dnnl/executor/compiled_partition.h"
#include "plugins/dnnl/executor/partition_computation.h"
#include "plugins/dnnl/executor/threads/team_sizer.h"
#include "plugins/dnnl/executor/threads/teams.h"
#include "plugins/dnnl/recipe/recipe.h"
#include "plugins/openmp/crowd.h"

namespace ephost_dnnl {

// Receives what the user should know although nothing fails. May be called from any thread.
using WarnFunction = std::function<void(const std::string& message)>;

class DnnlComputation : public PartitionComputation {
 public:
  // The program was made from the recipe and its primitives exist. `threads` is the number of
  // threads that both were made for.
  DnnlComputation(std::string name, Recipe recipe, Program program, dnnl::engine engine,
                  int threads, NanMode nan, WarnFunction warn);

  void compute(eph::Run& run, eph::State* state) override;
  void describe(eph_computation_info& info) override;
  std::unique_ptr<eph::State> create_state() override;

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const Recipe& recipe() const override { return compiled().recipe; }
  [[nodiscard]] const std::vector<PackedConstant>& constants() const override {
    return compiled().program.constants;
  }
  [[nodiscard]] bool has_open_rows() const override { return false; }

 private:
  // A recipe, its program, memory objects for the constants that the program reads, and what fewer
  // threads need.
  struct Executable {
    Executable(Recipe made_from, Program made, const dnnl::engine& engine, int threads);
    Recipe recipe;
    Program program;
    std::vector<dnnl::memory> constants;  // by view; empty handles for other views
    std::unique_ptr<Teams> teams;
  };
  class Binding;
  class RunState;

  [[nodiscard]] const Executable& compiled() const { return *compiled_; }

  // The addresses of the ports in this run. Throws Failure if an input differs from what was
  // compiled.
  void locate_ports(eph::Run& run, RunState& state) const;
  void* locate_input(eph::Run& run, uint32_t port) const;
  void* locate_output(eph::Run& run, uint32_t port) const;
  // The workspace that a program needs: the host's, or scratch memory if that is too small.
  void* locate_workspace(eph::Run& run, const Program& program) const;

  // Runs the program that is bound. Returns false if NaN may have been lost. Throws StepFailed.
  bool execute(eph::Run& run, Binding& binding, ephost_openmp::Crowd::Run& use);
  // The same on the threads of the caller.
  bool execute(eph::Run& run, Binding& binding, const Primitives* primitives) const;
  // Runs the program that keeps NaN.
  void compute_exactly(eph::Run& run, const RunState& state);
  // Made when it is first wanted. Throws Failure if it can't be.
  const Executable& exact();
  // How many threads the next run has, and its primitives; null for those of the program.
  std::pair<int, const Primitives*> choose_team(const Executable& executable);

  // Replaces a program in which a step failed. Throws Failure if there is no alternative.
  void replace(const Executable& failed, const StepFailed& failure);

  std::string name_;
  dnnl::engine engine_;
  int threads_;
  NanMode nan_;
  WarnFunction warn_;
  const std::shared_ptr<ephost_openmp::Crowd> crowd_ = ephost_openmp::Crowd::shared();
  std::mutex sizer_mutex_;
  TeamSizer sizer_;
  std::unique_ptr<const Executable> compiled_;
  std::mutex mutex_;  // guards the replacement, and what is made when it is first wanted
  std::unique_ptr<const Executable> exact_;
  // None is removed, since other runs may still use it.
  std::vector<std::unique_ptr<const Executable>> replacements_;
  std::atomic<const Executable*> current_;
};

}  // namespace ephost_dnnl
