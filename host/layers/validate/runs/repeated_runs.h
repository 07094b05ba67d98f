// Repetitions of a run that has succeeded, with the same inputs and its memory arranged in other
// ways that the computation allows. Comparing the outputs finds those that depend on what memory
// contained before, promises of `describe` that do not hold, and outputs that are never written.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "host/layers/validate/runs/guarded_run.h"

namespace ephost::layers {

class RepeatedRuns {
 public:
  // Runs the computation with these arguments; returns its code.
  using Compute = std::function<int32_t(const std::shared_ptr<GuardedRun>& run)>;

  // Borrows all of it. `is_open` says of which outputs the shape is not known before the run: those
  // that had their memory beforehand have none in a repetition, and the other way round.
  RepeatedRuns(eph_run* inner, const GuardedRun& first, const GuardedRun::Declared& declared,
               GuardedRun::Memory memory, std::vector<bool> is_open, Compute compute);

  // After a first run without findings whose outputs were not copied to the host yet. A computation
  // that does not even give the same result in the same arrangement (a random operator) is left
  // alone.
  [[nodiscard]] std::vector<Finding> all_findings();
  // Findings about what the first run left untouched; another run with another pattern decides.
  [[nodiscard]] std::vector<Finding> untouched_findings();
  // Whether the same arrangement gives the same result.
  [[nodiscard]] bool is_repeatable() const;

 private:
  struct Outcome {
    int32_t code = EPH_OK;
    std::shared_ptr<GuardedRun> run;
    std::vector<Finding> findings;  // of the run alone
  };
  [[nodiscard]] Outcome repeat(Arrangement arrangement, std::byte fill,
                               std::vector<bool> is_hidden) const;
  // The first output in which a repetition differs from the first run.
  struct Difference {
    uint32_t output = 0;
    uint64_t element = 0;
    bool has_failed = false;  // the repetition has; there are no outputs
  };
  [[nodiscard]] std::optional<Difference> difference(const Outcome& outcome) const;
  void add_untouched(const GuardedRun& again, std::vector<Finding>& found) const;
  void add_difference(const Difference& difference, bool is_shared,
                      std::vector<Finding>& found) const;

  eph_run* const inner_;
  const GuardedRun& first_;
  const GuardedRun::Declared& declared_;
  const GuardedRun::Memory memory_;
  const std::vector<bool> is_open_;
  const Compute compute_;
};

}  // namespace ephost::layers
