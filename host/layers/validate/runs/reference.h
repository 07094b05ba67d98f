// The reference for the results of a computation: its graph, run by the CPU provider. A layer
// sees no other provider, so the session makes these (session/layers/cpu_reference.h).
#pragma once

#include <ephost/plugin_abi.h>
#include <ephost/status.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/base/values/value_view.h"

namespace ephost::layers {

class Reference {
 public:
  struct Output {
    std::string name;  // in the graph
    ValueView value;   // borrows from `owner`
    std::shared_ptr<const void> owner;
  };
  Reference() = default;
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  virtual ~Reference() = default;

  // Inputs and outputs are in the order of the graph; an input that is left out is null. May be
  // called by several threads at once. Fails for values that are not tensors of numbers in host
  // memory.
  [[nodiscard]] virtual Result<std::vector<Output>> run(
      std::span<const eph_value* const> inputs) = 0;
};

// Takes a graph as a serialised ONNX model, borrowed for the call. Fails where the CPU provider
// cannot run all of it, and where its results are random.
using MakeReference =
    std::function<Result<std::shared_ptr<Reference>>(std::span<const std::byte> onnx)>;

}  // namespace ephost::layers
