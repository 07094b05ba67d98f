// Runs one body of a step again and again and hands its outputs on as held values. Memory that an
// earlier iteration gave up is written again.
//
// Copies: none of what a body computes or passes through, but for tensors of strings, which are
// copied when they leave the body. What is no tensor goes in and out by reference, and goes in as
// the body's own where the caller holds it alone.
#pragma once

#include <ephost/status.h>
#include <ephost/value.h>

#include <cstddef>
#include <span>
#include <vector>

#include "host/runtime/host_step.h"
#include "host/runtime/program.h"
#include "host/runtime/values/held_value.h"

namespace ephost::runtime {

class BodyRunner {
 public:
  // Borrows both; `program` is that of the body.
  BodyRunner(HostStep& step, size_t body, const Program& program);

  // Where the next run should put an output that the body computes; it goes elsewhere if type or
  // shape differ.
  void set_place(size_t output, Value place) { outputs_[output] = std::move(place); }

  // `inputs` has one value for each input of the body, but for those at its end that take their
  // defaults; they are shared with outputs that pass them
  // through, so that the caller must not change what it doesn't hold exclusively.
  [[nodiscard]] Status run(std::span<const HeldValue> inputs);

  // An output of the last run; the runner lets go of it.
  [[nodiscard]] HeldValue take(size_t output) { return std::move(results_[output]); }
  // Gives the memory of an earlier output back, where nobody else holds it.
  void recycle(size_t output, HeldValue held);

 private:
  // Where an output comes from.
  enum class Source {
    kComputed,    // by the body; `index`: the first output of the same value
    kPassedOn,    // `index`: the input that it is
    kFromOutside  // an outer value or a constant
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
