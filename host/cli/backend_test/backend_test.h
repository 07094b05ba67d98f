// Runner of ONNX backend tests (host/base/values/backend_test.h); test.cc reports.
#pragma once

#include <ephost/environment.h>
#include <ephost/session.h>
#include <ephost/session_options.h>
#include <ephost/status.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "host/base/values/backend_test.h"
#include "host/cli/backend_test/compare.h"

namespace ephost::cli {

// How many nodes of a model run on each provider, by its type name; the host's own are those of
// "host". Providers without any are not in it.
using NodeCounts = std::map<std::string, uint64_t, std::less<>>;

struct BackendTestRun {
  // OK if every data set gives the expected outputs. NOT_IMPLEMENTED for operators that no provider
  // takes.
  Status status;
  NodeCounts nodes;  // empty if the model did not run to its end
  // Providers that ran none of its nodes, and would take some if shapes were fixed.
  std::set<std::string> want_shapes;
  // The session, if there was one: as long as it is kept, its plugins stay loaded.
  std::optional<Session> session;
};

struct BackendTestOptions {
  Tolerance tolerance;
  const std::atomic<bool>* cancelled = nullptr;  // ends a run when it becomes true
};

[[nodiscard]] BackendTestRun run_backend_test(const Environment& environment,
                                              const SessionOptions& options,
                                              const BackendTest& test,
                                              const BackendTestOptions& how);

// "DnnlExecutionProvider 12, host 1"; "none" for no nodes.
[[nodiscard]] std::string to_text(const NodeCounts& nodes);

// FAIL if a node runs on none of the providers, which are type names.
[[nodiscard]] Status check_all_run_on(const NodeCounts& nodes,
                                      std::span<const std::string> providers);

}  // namespace ephost::cli
