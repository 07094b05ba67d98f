// Assembles the program that runs a prepared model. Called when a session is created.
#pragma once

#include <ephost/status.h>

#include <memory>

#include "host/runtime/program.h"
#include "host/session/config/given_options.h"
#include "host/session/model/prepared_model.h"

namespace ephost::session {

// Moves the plans and computations out of `prepared`, which must have reached Stage::kPlanned, and
// borrows its graphs: it must not move while the program exists. INVALID_GRAPH if a control-flow
// node and its bodies do not fit together.
[[nodiscard]] Result<std::unique_ptr<runtime::Program>> assemble_program(
    PreparedModel& prepared, const GivenOptions& options);

}  // namespace ephost::session
