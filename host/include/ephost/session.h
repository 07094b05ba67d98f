// Session: a model, ready to run.
#pragma once

#include <ephost/cache_use.h>
#include <ephost/environment.h>
#include <ephost/fallback.h>
#include <ephost/session_options.h>
#include <ephost/status.h>
#include <ephost/value.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ephost {

// A model as bytes. They are borrowed: the caller keeps them as long as the session lives.
struct ModelBytes {
  std::span<const std::byte> bytes;
};

// An input or output of the model.
struct ValueDescription {
  std::string name;
  std::string type;  // e.g. "float[batch,3]", "optional(seq(int64[?]))"
  ValueKind kind = ValueKind::kTensor;
  bool is_optional = false;  // it may be without value
  bool has_default = false;  // of an input: the model has an initializer for it
  // Of a tensor; of the tensors in a sequence, and of a map's keys.
  ElementType element_type = ElementType::kUndefined;
  // Of a tensor.
  bool has_shape = false;
  std::vector<int64_t> shape;          // -1 where the extent is open
  std::vector<std::string> dim_names;  // beside `shape`; the symbol of an open extent, or empty
};

// What one run is told. A plain value.
struct RunOptions {
  // Set it to true from another thread to end the run with FAIL. Borrowed.
  const std::atomic<bool>* cancelled = nullptr;
  // Ends the run with FAIL once it has passed. Providers hear of it, and look at it while they
  // compute as far as they look at a cancellation.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  // Names the run in what providers log, and in the session's profile; any text.
  std::string tag = {};
  // Options of providers with the scope `run` (manifests/SCHEMA.md), as "ep.PROVIDER.OPTION", where
  // PROVIDER is a provider of the session, by its type name or short name. An option that is not
  // given has its default in this run, whatever it was before.
  OptionList config_entries = {};

  // Sets a configuration entry; the last one of a key stands.
  RunOptions& add_config_entry(std::string key, std::string value);
  // Sets the deadline to this time from now on.
  RunOptions& set_timeout(std::chrono::nanoseconds timeout);
};

// How long a phase of session creation took.
struct Phase {
  std::string name;
  double seconds = 0;
};

// A provider of a session, and the library of its plugin.
struct SessionProvider {
  std::string name;  // e.g. "CPUExecutionProvider"
  std::filesystem::path library;
};

// A block of memory that was planned before the first run. Values of unknown size are not in it.
struct PlannedMemory {
  uint32_t location = 0;  // 0: host memory; other numbers are memories of devices
  uint64_t peak_bytes = 0;
  uint64_t lower_bound_bytes = 0;  // no plan of the same steps needs less
};

// Inputs and outputs that stay bound from run to run: a run over static shapes then allocates
// nothing. Made by Session::create_binding; one run at a time may use it.
class IoBinding {
 public:
  IoBinding(IoBinding&&) noexcept;
  IoBinding& operator=(IoBinding&&) noexcept;
  ~IoBinding();

  // NOT_FOUND for an unknown name; INVALID_ARGUMENT for another type or shape than the model's.
  [[nodiscard]] Status bind_input(std::string_view name, Value value);
  // Binds memory of the caller's for an output. An output that isn't bound gets memory at the first
  // run, which later runs overwrite while its shape stays.
  [[nodiscard]] Status bind_output(std::string_view name, Value value);

  // The outputs of the last run, in the model's order.
  [[nodiscard]] const std::vector<Value>& outputs() const;

  struct State;

 private:
  friend class Session;
  explicit IoBinding(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Moves, does not copy. `run` may be called from several threads at once.
class Session {
 public:
  static Result<Session> create(const Environment& environment,
                                const std::filesystem::path& model_path,
                                const SessionOptions& options = {});
  static Result<Session> create(const Environment& environment, ModelBytes model,
                                const SessionOptions& options = {});

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  [[nodiscard]] const std::vector<ValueDescription>& inputs() const;
  [[nodiscard]] const std::vector<ValueDescription>& outputs() const;

  // Runs the model. Every input without a default must be given, by name (INVALID_ARGUMENT
  // otherwise, also for a wrong type or shape). Returns the outputs named, or all in the model's
  // order if `output_names` is empty. The values belong to the caller. INVALID_ARGUMENT for options
  // that a provider of the session does not have for a run.
  [[nodiscard]] Result<std::vector<Value>> run(std::span<const NamedValue> inputs,
                                               std::span<const std::string> output_names = {},
                                               const RunOptions& options = {});

  // The same with bound inputs and outputs. The binding must be this session's.
  [[nodiscard]] Result<IoBinding> create_binding() const;
  [[nodiscard]] Status run(IoBinding& binding, const RunOptions& options = {});

  // Changes options of providers with the scope `dynamic` for runs that begin afterwards: keys are
  // "ep.PROVIDER.OPTION", as in RunOptions. INVALID_ARGUMENT for an option that the provider does
  // not declare with this scope, or a value that it does not admit. All are changed or, after a
  // failure, none. Runs may go on meanwhile. Sessions that share a provider share its options.
  [[nodiscard]] Status set_ep_dynamic_options(const OptionList& options);

  // Ends the recording that SessionOptions::enable_profiling began and writes it as a Chrome trace:
  // the file. A session that is destroyed while it records writes its file too. Not while runs go
  // on. INVALID_ARGUMENT if the session does not record, or no longer.
  [[nodiscard]] Result<std::filesystem::path> end_profiling();

  // What session creation did, in order.
  [[nodiscard]] const std::vector<Phase>& phases() const;
  // What providers failed at, in the order of the attempts; others run these nodes.
  [[nodiscard]] const std::vector<Fallback>& fallbacks() const;
  // What the cache store (`ep.cache_dir`) had to do with it.
  [[nodiscard]] const CacheUse& cache_use() const;

  // In priority order, those of a device before the CPU provider.
  [[nodiscard]] std::vector<SessionProvider> providers() const;
  // The blocks of the main graph; none where all sizes are known at run time only.
  [[nodiscard]] std::vector<PlannedMemory> planned_memory() const;

  // Whether the application may write a file without replacing one that the session was created
  // from or that its options state as an input or output (SessionOptions::add_output_file),
  // whatever path or link leads there. INVALID_ARGUMENT otherwise. `role` is how the message speaks
  // of the file, e.g. "the file of output "y"".
  [[nodiscard]] Status check_output_file(const std::filesystem::path& file, std::string role) const;

  // For the host's own code.
  struct State;
  [[nodiscard]] const State& state() const { return *state_; }

 private:
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ephost
