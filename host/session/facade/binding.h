// The state of a binding: inputs and outputs of a session that stay bound from run to run.
#pragma once

#include <ephost/status.h>
#include <ephost/types/memory_info.h>
#include <ephost/types/session.h>

#include <string_view>
#include <vector>

#include "host/runtime/values/value.h"
#include "host/session/facade/session_state.h"
#include "host/session/runs/bound_outputs.h"

namespace ephost::session {

// The contracts of its functions are those of `IoBinding` in <ephost/session.h>.
struct Binding {
  explicit Binding(SessionState& bound_to);

  SessionState& session;
  std::vector<runtime::Value> inputs;  // by graph input; empty ones are not bound
  std::vector<const runtime::Value*> input_slots;
  BoundOutputs outputs;  // by graph output

  [[nodiscard]] Status bind_input(std::string_view name, runtime::Value value);
  [[nodiscard]] Status bind_output(std::string_view name, runtime::Value value);
  [[nodiscard]] Status bind_output_to_memory(std::string_view name, const MemoryInfo& memory);
  void clear_bound_inputs();
  void clear_bound_outputs();
  [[nodiscard]] Status run(const RunOptions& options);
};

}  // namespace ephost::session
