#include <cxxabi.h>

#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/session/environment/exception_barrier.h"
#include "host/session/facade/session.h"
#include "host/session/facade/session_state.h"

namespace ephost {
namespace {

// What run_async was given.
struct AsyncRun {
  std::vector<NamedValue> inputs;
  std::vector<std::string> output_names;
  RunAsyncCallback callback;
  RunOptions options;
  Log log;  // of the session

  void report(Result<std::vector<Value>> outputs) {
    const auto done = std::exchange(callback, {});
    inputs.clear();
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

  // The callback may destroy the state.
  void carry_out(Session::State& state) {
    const LogScope scope(log);
    std::optional<Result<std::vector<Value>>> outputs;
    try {
      outputs = session::without_exceptions(
          "running a session", [&] { return state.run(inputs, output_names, options); });
    } catch (abi::__forced_unwind&) {
      report(Status(StatusCode::kFail,
                    "the thread of the run was ended by a plugin; report this to its vendor"));
      throw;
    }
    report(*std::move(outputs));
  }
};

}  // namespace

Status Session::run_async(std::span<const NamedValue> inputs,
                          std::span<const std::string> output_names, RunAsyncCallback callback,
                          const RunOptions& options) {
  return session::without_exceptions("starting a run", [&]() -> Status {
    if (!callback) {
      return Status(StatusCode::kInvalidArgument,
                    "run_async got an empty callback; give one, or use run");
    }
    auto run = std::make_shared<AsyncRun>();
    run->inputs.assign(inputs.begin(), inputs.end());
    run->output_names.assign(output_names.begin(), output_names.end());
    run->callback = std::move(callback);
    run->options = options;
    run->log = state_->log;
    return state_->async_runs->start([run, &state = *state_] { run->carry_out(state); });
  });
}

}  // namespace ephost
