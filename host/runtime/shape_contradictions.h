// The values of a model that came out with another type or shape than its plan was made for,
// because an inference or a declaration inside the model is wrong. The plan cannot be used with
// such a value: the session makes the model again without these shapes.
#pragma once

#include <ephost/status.h>

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "host/graph/graph.h"

namespace ephost::runtime {

class Program;

// Safe from any thread.
class ShapeContradictions {
 public:
  void add(const std::string& value, const Status& reason) {
    const std::lock_guard lock(mutex_);
    if (values_.insert(value).second) last_ = reason;
  }
  // The names of the values.
  [[nodiscard]] std::set<std::string> values() const {
    const std::lock_guard lock(mutex_);
    return values_;
  }
  // What the last of them was refused with.
  [[nodiscard]] Status last() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> values_;
  Status last_;
};

// Why a value cannot be `what`, which its type does not admit: INVALID_GRAPH, which says whether
// the model declares that type or it was inferred. `admits` says it of any type. Notes the value,
// unless the model declares it as an output of its own.
[[nodiscard]] Status refuse_value(const Program& program, graph::ValueId id,
                                  const std::string& what,
                                  const std::function<bool(const graph::ValueType&)>& admits);

}  // namespace ephost::runtime
