// Calls of operators that the plugin defines.
#include "host/worker/program/collectors.h"
#include "host/worker/program/served_calls.h"

namespace ephost::worker {

void ServedCalls::infer(const Call& call, wire::Answer& out) {
  const eph_operator_def* const definition = definitions_.at(call->request().node());
  ServedInference inference(*call, out);
  call_slot(site("infer", view(definition->op_type)), out, definition->infer, definition,
            static_cast<eph_inference*>(&inference));
}

}  // namespace ephost::worker
