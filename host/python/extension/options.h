// The options of sessions and of runs as the extension has them: the API's own, and what ends a
// call.
#pragma once

#include <ephost/session_options.h>
#include <ephost/types/session.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/python/extension/objects.h"

namespace ephost::python {

// Runs of several threads may use one, and the program may end them. Needs the GIL.
class RunOptionsObject {
 public:
  RunOptions values;  // without `cancelled` and `deadline`
  std::optional<double> timeout_seconds;
  // Options of ONNX Runtime, which mean nothing here.
  int log_verbosity_level = 0;
  bool only_execute_path_to_fetches = false;
  bool synchronize_execution_providers = true;
  bool training_mode = false;

  [[nodiscard]] bool terminate() const { return terminate_; }
  void set_terminate(bool value);

 private:
  friend class RunScope;
  bool terminate_ = false;
  std::vector<Cancellation*> runs_;  // in progress
};

// One run, from its beginning to its end; both need the GIL.
class RunScope {
 public:
  // `options` may be null, and must outlive the scope otherwise.
  explicit RunScope(RunOptionsObject* options);
  ~RunScope();
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;
  [[nodiscard]] Cancellation& cancellation() { return cancellation_; }
  [[nodiscard]] const RunOptions& options() const { return options_; }

 private:
  RunOptionsObject* given_;
  Cancellation cancellation_;
  RunOptions options_;
};

// For the creation of one session, or one compilation.
class SessionOptionsObject {
 public:
  SessionOptions values;
  std::shared_ptr<Cancellation> cancellation = std::make_shared<Cancellation>();
  // What a progress function raised.
  std::shared_ptr<CallbackError> error = std::make_shared<CallbackError>();

  SessionOptionsObject() { values.set_load_cancellation_flag(&cancellation->flag()); }
};

}  // namespace ephost::python
