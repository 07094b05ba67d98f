#include "host/session/facade/async_run.h"

#include <cxxabi.h>

#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/session/environment/exception_barrier.h"

namespace ephost::session {
namespace {

using RunOutputs = Result<std::vector<runtime::Value>>;

// Runs the model with inputs and outputs by name.
RunOutputs run_by_name(SessionState& session, const AsyncRun& run) {
  std::vector<const runtime::Value*> slots(session.inputs.size(), nullptr);
  for (const runtime::NamedValue& input : run.inputs) {
    EPHOST_ASSIGN_OR_RETURN(const size_t slot, session.input_slot(input.name));
    slots[slot] = &input.value;
  }
  std::vector<size_t> wanted;
  for (const std::string& name : run.output_names) {
    EPHOST_ASSIGN_OR_RETURN(const size_t slot, session.output_slot(name));
    wanted.push_back(slot);
  }
  std::vector<runtime::Value> values(session.outputs.size());
  EPHOST_RETURN_IF_ERROR(session.run(slots, values, run.options));
  if (wanted.empty()) return values;
  std::vector<runtime::Value> selected;
  for (const size_t slot : wanted) selected.push_back(values[slot]);
  return selected;
}

void report(AsyncRun& run, RunOutputs outputs) {
  const auto done = std::exchange(run.callback, {});
  run.inputs.clear();
  try {
    if (outputs.ok()) return done(Status::ok_status(), std::move(outputs).value());
    done(std::move(outputs).status(), {});
  } catch (abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& exception) {
    log_error(formatted("the callback of run_async threw an exception ({}); it must not throw",
                        exception.what()));
  } catch (...) {
    log_error("the callback of run_async threw an exception; it must not throw");
  }
}

// The callback may destroy the session, but not `log`.
void carry_out(SessionState& session, const Log& log, AsyncRun& run) {
  const LogScope scope(log);
  std::optional<RunOutputs> outputs;
  try {
    outputs = without_exceptions("running a session", [&] { return run_by_name(session, run); });
  } catch (abi::__forced_unwind&) {
    report(run, Status(StatusCode::kFail,
                       "the thread of the run was ended by a plugin; report this to its vendor"));
    throw;
  }
  report(run, *std::move(outputs));
}

}  // namespace

Status start_run(SessionState& session, AsyncRun run) {
  if (!run.callback) {
    return Status(StatusCode::kInvalidArgument,
                  "run_async got an empty callback; give one, or use run");
  }
  const auto kept = std::make_shared<AsyncRun>(std::move(run));
  return session.async_runs->start(
      [kept, log = session.log, &session] { carry_out(session, log, *kept); });
}

}  // namespace ephost::session
