// Starts the worker program of the tests, and counts what a process has open.
#pragma once

#include <ephost/plugin_abi.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/worker/process/worker_process.h"

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

inline size_t entries_of(const char* folder) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

inline size_t open_descriptors() { return entries_of("/proc/self/fd"); }

inline size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

// Direct children of this process, zombies included.
inline std::string children() {
  std::string all;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "children");
    for (std::string child; file >> child;) all += child + " ";
  }
  return all;
}

}  // namespace ephost::worker
