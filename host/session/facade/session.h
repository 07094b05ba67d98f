// Session: a model, ready to run.
#pragma once

#include <ephost/status.h>
#include <ephost/types/cache_use.h>
#include <ephost/types/fallback.h>
#include <ephost/types/memory_info.h>
#include <ephost/types/model_metadata.h>
#include <ephost/types/session.h>
#include <ephost/types/specialization.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/runtime/values/value.h"
#include "host/session/config/session_options.h"
#include "host/session/environment/environment.h"

namespace ephost {

// Called when a run is over, with OK and the outputs that were asked for, or with the failure and
// nothing. The inputs are released by then. It must not throw, may start further runs and may
// destroy the session, but should not wait for other runs, which may be waiting for its thread.
using RunAsyncCallback = std::function<void(Status status, std::vector<Value> outputs)>;

// Inputs and outputs that stay bound from run to run: a run over static shapes then allocates
// nothing. Made by Session::create_binding; one run at a time may use it.
class IoBinding {
 public:
  IoBinding(IoBinding&&) noexcept;
  IoBinding& operator=(IoBinding&&) noexcept;
  ~IoBinding();

  // NOT_FOUND for an unknown name; INVALID_ARGUMENT for another type or shape than the model's. The
  // dense form of a sparse tensor is made now.
  [[nodiscard]] Status bind_input(std::string_view name, Value value);
  // Binds memory of the caller for an output. An output that isn't bound gets memory at the first
  // run, which later runs overwrite while its shape stays and no input lies in it. A run never
  // writes what it reads: an output in memory of an input, or at an address that its type does not
  // admit, is copied there in the end. A run fails with INVALID_ARGUMENT where two outputs are
  // bound to memory in common.
  [[nodiscard]] Status bind_output(std::string_view name, Value value);
  // Lets the host allocate an output, in that memory, where it was bound to the caller's before;
  // the next run makes a new value. INVALID_ARGUMENT for memory that is not the host's. As ONNX
  // Runtime's BindOutputToDevice.
  [[nodiscard]] Status bind_output(std::string_view name, const MemoryInfo& memory);

  // Forget what was bound. The values that `outputs` had stay those of their owners.
  void clear_bound_inputs();
  void clear_bound_outputs();

  // The outputs of the last run, in the model's order, and their names.
  [[nodiscard]] const std::vector<Value>& outputs() const;
  [[nodiscard]] std::vector<std::string> output_names() const;

  struct State;

 private:
  friend class Session;
  explicit IoBinding(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Moves, does not copy. `run` and `run_async` may be called from several threads at once.
class Session {
 public:
  static Result<Session> create(const Environment& environment,
                                const std::filesystem::path& model_path,
                                const SessionOptions& options = {});
  static Result<Session> create(const Environment& environment, ModelBytes model,
                                const SessionOptions& options = {});

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  // Waits until all runs of run_async and their callbacks are over; a flag or a deadline ends them
  // early. A callback may destroy the session: then it waits for the others.
  ~Session();

  [[nodiscard]] const std::vector<ValueDescription>& inputs() const;
  [[nodiscard]] const std::vector<ValueDescription>& outputs() const;
  // The inputs with a default, which are among `inputs` too: initializers of the model that are
  // also listed as its inputs, from IR version 4 on. A run may give a value for one of them;
  // otherwise it has the model's value. In older models such initializers are constants.
  [[nodiscard]] const std::vector<ValueDescription>& overridable_initializers() const;

  // What the model declares about itself. A session that the cache store was a hit for has the
  // statements of the model that it was asked for. A context model has those of the model that it
  // was made of, except that the producer is "ephost".
  [[nodiscard]] const ModelMetadata& model_metadata() const;

  // Which memory each input is expected in, and each output comes out in. As ONNX Runtime's
  // GetMemoryInfoForInputs and GetMemoryInfoForOutputs.
  [[nodiscard]] std::vector<MemoryInfo> memory_info_for_inputs() const;
  [[nodiscard]] std::vector<MemoryInfo> memory_info_for_outputs() const;

  // Runs the model. Every input without a default must be given, by name (INVALID_ARGUMENT
  // otherwise, also for a wrong type or shape). Returns the outputs named, or all in the model's
  // order if `output_names` is empty. The values belong to the caller. INVALID_ARGUMENT for options
  // that a provider of the session does not have for a run.
  [[nodiscard]] Result<std::vector<Value>> run(std::span<const NamedValue> inputs,
                                               std::span<const std::string> output_names = {},
                                               const RunOptions& options = {});

  // Returns at once and runs the model on a thread of the environment's, which stands in for that
  // of a caller: everything that `run` says applies. `callback` is called exactly once, with the
  // outputs or with what `run` would have failed with, by that thread or by one that destroys the
  // session; INVALID_ARGUMENT if it is empty, FAIL if no thread can be started, and only then it is
  // not called. Inputs, names and options are copied; the memory of borrowed values and the flag of
  // `options` must last until the callback, and a deadline counts from now on. As many runs are
  // under way at a time as there are processors; others wait for their turn, in order. As ONNX
  // Runtime's RunAsync.
  [[nodiscard]] Status run_async(std::span<const NamedValue> inputs,
                                 std::span<const std::string> output_names,
                                 RunAsyncCallback callback, const RunOptions& options = {});

  // `run` with bound inputs and outputs. The binding must be this session's.
  [[nodiscard]] Result<IoBinding> create_binding() const;
  [[nodiscard]] Status run(IoBinding& binding, const RunOptions& options = {});

  // Changes options of providers with the scope `dynamic` for runs that begin afterwards: keys are
  // "ep.PROVIDER.OPTION", as in RunOptions. INVALID_ARGUMENT for an option that the provider does
  // not declare with this scope, or a value that it does not admit. All are changed or, after a
  // failure, none. May be called during runs. Sessions that share a provider share its options.
  [[nodiscard]] Status set_ep_dynamic_options(const OptionList& options);

  // Gives back what the session keeps only so that later runs begin faster: the memory of runs,
  // with what providers have for each of them, and the plans for shapes that came. The next run
  // makes what it needs again. Constants, compiled partitions and specialisations stay. May be
  // called during runs; what they use is kept.
  [[nodiscard]] Status shrink();

  // Ends the recording that SessionOptions::enable_profiling began and writes it as a Chrome trace:
  // the file. A session that is destroyed while it records writes its file too. Not during runs.
  // INVALID_ARGUMENT if the session does not record, or no longer.
  [[nodiscard]] Result<std::filesystem::path> end_profiling();

  // What session creation did, in order. Not what followed when a worker ended later.
  [[nodiscard]] const std::vector<Phase>& phases() const;
  // What providers failed at, in the order of the attempts; others run these nodes. First those
  // that the session continues without.
  [[nodiscard]] std::vector<Fallback> fallbacks() const;
  // What the model was specialised for so far, because a provider wishes for fixed extents
  // (session.shapes.specialize): specialisations that are ready, those that failed, and those that
  // are being made.
  [[nodiscard]] std::vector<Specialization> specializations() const;
  // The use of the cache store (`ep.cache_dir`).
  [[nodiscard]] const CacheUse& cache_use() const;

  // In priority order, those of a device before the CPU provider.
  [[nodiscard]] std::vector<SessionProvider> providers() const;
  // Nodes that the host runs itself, such as control flow.
  [[nodiscard]] uint64_t host_node_count() const;
  // The blocks of the main graph; none where all sizes are known at run time only.
  [[nodiscard]] std::vector<PlannedMemory> planned_memory() const;

  // Whether the application may write a file without replacing one that the session was created
  // from or that its options state as an input or output (SessionOptions::add_output_file),
  // whatever path or link leads there. INVALID_ARGUMENT otherwise. `role` is how the message names
  // the file, e.g. "the file of output "y"".
  [[nodiscard]] Status check_output_file(const std::filesystem::path& file, std::string role) const;

  // For the host's own code.
  struct State;
  [[nodiscard]] State& state() const { return *state_; }

 private:
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ephost
