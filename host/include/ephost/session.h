// Session: a model, ready to run.
#pragma once

#include <ephost/detail/api.h>
#include <ephost/detail/callbacks.h>
#include <ephost/detail/records/session.h>
#include <ephost/detail/run.h>
#include <ephost/environment.h>
#include <ephost/session_options.h>
#include <ephost/status.h>
#include <ephost/types/function.h>
#include <ephost/types/session.h>
#include <ephost/types/specialization.h>
#include <ephost/value.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ephost {
inline namespace v1 {

class Session;

// Called when a run is over, with OK and the outputs that were asked for, or with the failure and
// nothing. The inputs are released by then. It must not throw, may start further runs and may
// destroy the session, but should not wait for other runs, which may be waiting for its thread.
using RunAsyncCallback = Function<void(Status status, std::vector<Value> outputs)>;

// Inputs and outputs that stay bound from run to run: a run over static shapes then allocates
// nothing. Made by Session::create_binding; one run at a time may use it.
class IoBinding {
 public:
  // NOT_FOUND for an unknown name; INVALID_ARGUMENT for another type or shape than the model's.
  // A sparse tensor is made dense now.
  [[nodiscard]] Status bind_input(const std::string& name, const Value& value) {
    return detail::take_status(
        detail::api().session->bind_input(handle(), name.c_str(), value.handle()));
  }
  // Binds memory of the caller for an output. An output that isn't bound gets memory at the first
  // run, which later runs overwrite while its shape stays and no input lies in it. A run never
  // writes what it reads: an output in memory of an input, or at an address that its type does not
  // admit, is copied there in the end. But where the only node that reads an input changes it where
  // it is and makes the output of it, both may be one value, which is undefined if the run fails. A
  // run fails with INVALID_ARGUMENT where two outputs are bound to memory in common.
  [[nodiscard]] Status bind_output(const std::string& name, const Value& value) {
    return detail::take_status(
        detail::api().session->bind_output(handle(), name.c_str(), value.handle()));
  }

  // Lets the host allocate an output, in that memory, where it was bound to the caller's before;
  // the next run makes a new value. The memory is named as for Value::allocate; only tensors lie on
  // devices. As ONNX Runtime's BindOutputToDevice.
  [[nodiscard]] Status bind_output(const std::string& name, const MemoryInfo& memory) {
    const ephost_memory_info given = detail::record_of(memory);
    return detail::take_status(
        detail::api().session->bind_output_to_memory(handle(), name.c_str(), &given));
  }

  // Forget what was bound. Copies of the values that `outputs` had stay valid.
  void clear_bound_inputs() { detail::api().session->clear_bound_inputs(handle()); }
  void clear_bound_outputs() { detail::api().session->clear_bound_outputs(handle()); }

  // The outputs of the last run, in the model's order, and their names.
  [[nodiscard]] std::vector<Value> outputs() const {
    std::vector<Value> outputs;
    outputs.reserve(output_names_.size());
    for (uint64_t i = 0; i < output_names_.size(); ++i) {
      ephost_value* output = nullptr;
      detail::expect_success(detail::api().session->get_output(handle(), i, &output));
      outputs.emplace_back(output);
    }
    return outputs;
  }
  [[nodiscard]] const std::vector<std::string>& output_names() const { return output_names_; }

  // The handle of the C API; it belongs to this object.
  [[nodiscard]] ephost_binding* handle() const { return handle_.get(); }

 private:
  friend class Session;
  struct Release {
    void operator()(ephost_binding* binding) const {
      detail::api().session->release_binding(binding);
    }
  };
  IoBinding(ephost_binding* made, const ephost_session* session,
            std::vector<std::string> output_names)
      : handle_(made), session_(session), output_names_(std::move(output_names)) {}

  detail::Owned<ephost_binding, Release> handle_;
  const ephost_session* session_;
  std::vector<std::string> output_names_;
};

// Moves, does not copy. `run` and `run_async` may be called from several threads at once. Its end
// waits until all runs of run_async and their callbacks are over; a flag or a deadline ends them
// early. A callback may destroy the session: then it waits for the others.
class Session {
 public:
  EPHOST_ON_DEMAND
  static Result<Session> create(const Environment& environment, const std::string& model_path,
                                const SessionOptions& options = {}) {
    return make(environment, [&](ephost_session** session) {
      return table().create(environment.handle(), model_path.c_str(), options.handle(), session);
    });
  }
  EPHOST_ON_DEMAND
  static Result<Session> create(const Environment& environment, ModelBytes model,
                                const SessionOptions& options = {}) {
    return make(environment, [&](ephost_session** session) {
      return table().create_from_array(environment.handle(), model.bytes.data(), model.bytes.size(),
                                       options.handle(), session);
    });
  }

  [[nodiscard]] const std::vector<ValueDescription>& inputs() const { return info_->inputs; }
  [[nodiscard]] const std::vector<ValueDescription>& outputs() const { return info_->outputs; }

  // The inputs with a default, which are among `inputs` too: initializers of the model that are
  // also listed as its inputs, from IR version 4 on. A run may give a value for one of them;
  // otherwise it has the model's value. In older models such initializers are constants.
  [[nodiscard]] const std::vector<ValueDescription>& overridable_initializers() const {
    return info_->overridable_initializers;
  }
  // In which memory each input is passed on, and each output made, without a copy. Any other memory
  // does as well: the host copies. Outputs that are not bound come out in host memory. As ONNX
  // Runtime's GetMemoryInfoForInputs and GetMemoryInfoForOutputs.
  [[nodiscard]] const std::vector<MemoryInfo>& memory_info_for_inputs() const {
    return info_->input_memory;
  }
  [[nodiscard]] const std::vector<MemoryInfo>& memory_info_for_outputs() const {
    return info_->output_memory;
  }
  // What the model declares about itself. A session that the cache store was a hit for has the
  // statements of the model that it was asked for. A context model has those of the model that it
  // was made of, except that the producer is "ephost".
  [[nodiscard]] const ModelMetadata& model_metadata() const { return info_->model_metadata; }

  // Runs the model. Every input without a default must be given, by name (INVALID_ARGUMENT
  // otherwise, also for a wrong type or shape). Returns the outputs named, or all in the model's
  // order if `output_names` is empty. The values belong to the caller. INVALID_ARGUMENT for options
  // that a provider of the session does not have for a run.
  [[nodiscard]] Result<std::vector<Value>> run(std::span<const NamedValue> inputs,
                                               std::span<const std::string> output_names = {},
                                               const RunOptions& options = {}) {
    const detail::NamedValueViews given(inputs);
    const detail::SmallArray<const char*> wanted(output_names, detail::text_of);
    const bool wants_all = output_names.empty();
    const size_t count = wants_all ? info_->outputs.size() : output_names.size();
    detail::SmallArray<ephost_value*> results(count);
    const detail::RunOptionsRecord record(options);
    std::vector<Value> outputs;
    outputs.reserve(count);
    EPHOST_RETURN_IF_ERROR(detail::take_status(
        table().run(handle(), record.get(), given.names.data(), given.values.data(), inputs.size(),
                    wants_all ? nullptr : wanted.data(), count, results.data())));
    for (size_t i = 0; i < count; ++i) outputs.emplace_back(results[i]);
    return outputs;
  }

  // Returns at once and runs the model on a thread of the environment's, which stands in for that
  // of a caller: everything that `run` says applies. `callback` is called exactly once, with the
  // outputs or with what `run` would have failed with, by that thread or by one that destroys the
  // session; INVALID_ARGUMENT if it is empty, FAIL if no thread can be started, and only then it is
  // not called. Inputs, names and options are copied; the memory of borrowed values and the flag of
  // `options` must last until the callback, and a deadline counts from now on. As many runs execute
  // at a time as there are processors; others wait for their turn, in order. As ONNX Runtime's
  // RunAsync.
  [[nodiscard]] Status run_async(std::span<const NamedValue> inputs,
                                 std::span<const std::string> output_names,
                                 RunAsyncCallback callback, const RunOptions& options = {}) {
    const detail::NamedValueViews given(inputs);
    const detail::SmallArray<const char*> wanted(output_names, detail::text_of);
    const bool is_callable = callback != nullptr;
    detail::Owned<RunAsyncCallback, detail::Delete> done(new RunAsyncCallback(std::move(callback)));
    const detail::RunOptionsRecord record(options);
    Status started = detail::take_status(
        table().run_async(handle(), record.get(), given.names.data(), given.values.data(),
                          inputs.size(), output_names.empty() ? nullptr : wanted.data(),
                          output_names.size(), is_callable ? call_back : nullptr, done.get()));
    if (started.ok()) static_cast<void>(done.release());  // call_back has it
    return started;
  }

  // `run` with bound inputs and outputs. The binding must be this session's.
  [[nodiscard]] Result<IoBinding> create_binding() const {
    ephost_binding* made = nullptr;
    EPHOST_RETURN_IF_ERROR(detail::take_status(table().create_binding(handle(), &made)));
    std::vector<std::string> names;
    for (const ValueDescription& output : info_->outputs) names.push_back(output.name);
    return IoBinding(made, handle(), std::move(names));
  }
  [[nodiscard]] Status run(IoBinding& binding, const RunOptions& options = {}) {
    if (binding.session_ != handle()) {
      return {StatusCode::kInvalidArgument,
              "the binding belongs to another session; create one with this session"};
    }
    const detail::RunOptionsRecord record(options);
    return detail::take_status(table().run_with_binding(binding.handle(), record.get()));
  }

  // Changes options of providers with the scope `dynamic` for runs that begin afterwards: keys are
  // "ep.PROVIDER.OPTION", as in RunOptions. INVALID_ARGUMENT for an option that the provider does
  // not declare with this scope, or a value that it does not admit. All are changed or, after a
  // failure, none. May be called during runs. Sessions that share a provider share its options.
  [[nodiscard]] Status set_ep_dynamic_options(const OptionList& options) {
    const detail::OptionViews entries(options);
    return detail::take_status(
        table().set_ep_dynamic_options(handle(), entries.data(), entries.size()));
  }

  // Gives back what the session keeps only so that later runs begin faster: the memory of runs,
  // with what providers have for each of them, and the plans for shapes that came. The next run
  // makes what it needs again. Constants, compiled partitions and specialisations stay. May be
  // called during runs; what they use is kept.
  [[nodiscard]] Status shrink() { return detail::take_status(table().shrink(handle())); }

  // Ends the recording that SessionOptions::enable_profiling began and writes it as a Chrome trace:
  // the file. A session that is destroyed while it records writes its file too. Not during runs.
  // INVALID_ARGUMENT if the session does not record, or no longer.
  [[nodiscard]] Result<std::string> end_profiling() {
    return detail::take_text([&](char** text) { return table().end_profiling(handle(), text); });
  }

  // What session creation did, in order. Not what followed when a worker ended later.
  [[nodiscard]] const std::vector<Phase>& phases() const { return info_->phases; }
  // What providers failed at, in the order of the attempts; others run these nodes. First those
  // that the session works without.
  [[nodiscard]] const std::vector<Fallback>& fallbacks() const { return info_->fallbacks; }
  // The use of the cache store (`ep.cache_dir`).
  [[nodiscard]] const CacheUse& cache_use() const { return info_->cache_use; }

  // In priority order, those of a device before the CPU provider.
  [[nodiscard]] const std::vector<SessionProvider>& providers() const { return info_->providers; }
  // Nodes that the host runs itself, such as control flow.
  [[nodiscard]] uint64_t host_node_count() const { return info_->host_node_count; }
  // The blocks of the main graph; none where all sizes are known at run time only.
  [[nodiscard]] const std::vector<PlannedMemory>& planned_memory() const {
    return info_->planned_memory;
  }

  // What the model was specialised for so far, because a provider wishes for fixed extents
  // (session.shapes.specialize): specialisations that are ready, those that failed, and those that
  // are being made. May be called during runs.
  EPHOST_ON_DEMAND
  [[nodiscard]] std::vector<Specialization> specializations() const {
    const ephost_specialization_list* list = nullptr;
    detail::expect_success(table().specializations(handle(), &list));
    const detail::Report<ephost_specialization_list> report(list);
    return detail::read_list<Specialization>(list->specializations, list->specialization_count);
  }

  // Whether the application may write a file without replacing one that the session was created
  // from or that its options state as an input or output (SessionOptions::add_output_file),
  // whatever path or link leads there. INVALID_ARGUMENT otherwise. `role` is what the message calls
  // the file, e.g. "the file of output "y"".
  [[nodiscard]] Status check_output_file(const std::string& file, const std::string& role) const {
    return detail::take_status(table().check_output_file(handle(), file.c_str(), role.c_str()));
  }

  // The handle of the C API; it belongs to this object.
  [[nodiscard]] ephost_session* handle() const { return handle_.get(); }

 private:
  struct Release {
    void operator()(ephost_session* session) const { table().release(session); }
  };
  // What ephost_session_info tells.
  struct Info {
    std::vector<ValueDescription> inputs;
    std::vector<ValueDescription> outputs;
    std::vector<Phase> phases;
    std::vector<Fallback> fallbacks;
    CacheUse cache_use;
    std::vector<SessionProvider> providers;
    std::vector<PlannedMemory> planned_memory;
    std::vector<ValueDescription> overridable_initializers;
    ModelMetadata model_metadata;
    std::vector<MemoryInfo> input_memory;
    std::vector<MemoryInfo> output_memory;
    uint64_t host_node_count = 0;
  };

  EPHOST_ON_DEMAND
  Session(const Environment& environment, ephost_session* made)
      : environment_(environment), handle_(made) {
    using detail::read_list;
    const ephost_session_info& of = *table().info(made);
    info_.reset(new Info{
        .inputs = read_list<ValueDescription>(of.inputs, of.input_count),
        .outputs = read_list<ValueDescription>(of.outputs, of.output_count),
        .phases = read_list<Phase>(of.phases, of.phase_count),
        .fallbacks = read_list<Fallback>(of.fallbacks, of.fallback_count),
        .cache_use = detail::read_record<CacheUse>(*of.cache_use),
        .providers = read_list<SessionProvider>(of.providers, of.provider_count),
        .planned_memory = read_list<PlannedMemory>(of.planned_memory, of.planned_memory_count),
        .overridable_initializers = read_list<ValueDescription>(of.overridable_initializers,
                                                                of.overridable_initializer_count),
        .model_metadata = detail::read_record<ModelMetadata>(*of.model_metadata),
        .input_memory = read_list<MemoryInfo>(of.input_memory, of.input_count),
        .output_memory = read_list<MemoryInfo>(of.output_memory, of.output_count),
        .host_node_count =
            detail::has(of, &ephost_session_info::host_node_count) ? of.host_node_count : 0,
    });
  }

  // `context` is a RunAsyncCallback, which it destroys.
  static void call_back(void* context, ephost_status* status, ephost_value* const* outputs,
                        uint64_t output_count) {
    const detail::Owned<RunAsyncCallback, detail::Delete> callback(
        static_cast<RunAsyncCallback*>(context));
    std::vector<Value> values;
    for (ephost_value* output : std::span(outputs, output_count)) values.emplace_back(output);
    (*callback.get())(detail::take_status(status), std::move(values));
  }

  static const ephost_session_api& table() { return *detail::api().session; }
  template <class Function>
  static Result<Session> make(const Environment& environment, const Function& function) {
    ephost_session* made = nullptr;
    EPHOST_RETURN_IF_ERROR(detail::take_status(function(&made)));
    return Session(environment, made);
  }

  Environment environment_;  // destroyed last: the session's messages go to its function
  detail::Owned<ephost_session, Release> handle_;
  detail::Owned<const Info, detail::Delete> info_;
};

}  // namespace v1
}  // namespace ephost
