// Starts the worker program of the tests.
#pragma once

#include <ephost/plugin_abi.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/worker/process/worker_process.h"
#include "tests/unit/worker/process_contents.h"

namespace ephost::worker {

inline constexpr bool kIsSanitized = EPH_BUILD_FLAGS != 0;

inline WorkerOptions test_options(std::vector<std::string> arguments = {}) {
  WorkerOptions options;
  options.program = EPHOST_TEST_WORKER;
  options.arguments = std::move(arguments);
  options.name = "acme";
  return options;
}

inline Result<std::string> ask(HostChannel& channel, std::string request,
                               const CallOptions& options = {}) {
  EPHOST_ASSIGN_OR_RETURN(Message answer, channel.call(Message{std::move(request)}, options));
  return std::move(answer.bytes);
}

inline Result<std::string> ask(WorkerProcess& worker, std::string request,
                               const CallOptions& options = {}) {
  EPHOST_ASSIGN_OR_RETURN(ChannelLease channel, worker.channel());
  return ask(*channel, std::move(request), options);
}

// The message of a failed call.
inline std::string failure_of(WorkerProcess& worker, std::string request,
                              const CallOptions& options = {}) {
  const Result<std::string> answer = ask(worker, std::move(request), options);
  return answer.ok() ? "answered " + *answer : answer.status().message();
}

}  // namespace ephost::worker
