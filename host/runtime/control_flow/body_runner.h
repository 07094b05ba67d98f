// Repeated runs of one body of a step, whose outputs are passed on as held values. Memory
// of earlier iterations is reused.
//
// Copies nothing that a body computes or passes through, except tensors of strings, which are
// copied when they leave the body. Values that are not tensors go in and out by reference; the body
// owns one that the caller held alone.
#pragma once

#include <ephost/status.h>

#include <cstddef>
#include <span>
#include <vector>

#include "host/runtime/host_step.h"
#include "host/runtime/program.h"
#include "host/runtime/values/held_value.h"
#include "host/runtime/values/value.h"

namespace ephost::runtime {

class BodyRunner {
 public:
  // Borrows both. `program` is the body's.
  BodyRunner(HostStep& step, size_t body, const Program& program);

  // Memory where the next run should put an output that the body computes. Not used if type or
  // shape differ.
  void set_place(size_t output, Value place) { outputs_[output] = std::move(place); }

  // `inputs` has one value for each input of the body; inputs at the end may be left out to take
  // their defaults. They are shared with outputs that pass them through, so the caller must not
  // change a value that it does not hold exclusively.
  [[nodiscard]] Status run(std::span<const HeldValue> inputs);

  // An output of the last run, which the runner no longer holds.
  [[nodiscard]] HeldValue take(size_t output) { return std::move(results_[output]); }
  // Offers the memory of an earlier output for reuse, if it has no other owner.
  void recycle(size_t output, HeldValue held);

 private:
  // Where an output comes from.
  enum class Source {
    kComputed,    // by the body; `index`: the first output of the same value
    kPassedOn,    // `index`: the input that it is
    kFromOutside  // a captured value or a constant
  };
  struct Origin {
    Source source = Source::kFromOutside;
    size_t index = 0;
  };
  [[nodiscard]] Result<HeldValue> collect(size_t output);

  HostStep& step_;
  size_t body_;
  std::vector<Origin> origins_;       // by output
  std::vector<Value> outputs_;        // by output: memory for the next run
  std::vector<HeldValue> results_;    // by output
  std::vector<HeldValue> discarded_;  // by output: empty objects to be used again
};

}  // namespace ephost::runtime
