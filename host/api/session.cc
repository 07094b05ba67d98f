#include "host/session/facade/session.h"

#include <array>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "host/api/handles.h"
#include "host/api/key_values.h"
#include "host/api/report.h"
#include "host/api/run_options.h"
#include "host/api/tables.h"
#include "host/base/format.h"
#include "host/session/facade/session_state.h"

// Bindings keep it.
struct ephost_session {
  explicit ephost_session(ephost::Session made) : session(std::move(made)) {}

  std::atomic<uint64_t> owners{1};
  ephost::Session session;
  ephost::api::Arena arena;  // of `info`
  ephost_session_info info = {};
};

struct ephost_binding {
  ephost_session* session;
  ephost::IoBinding binding;
};

namespace ephost::api {
namespace {

void describe(ephost_session& session) {
  const Session& of = session.session;
  Arena& arena = session.arena;
  ephost_session_info& info = session.info;
  info.struct_size = sizeof(info);
  arena.list(of.inputs(), info.inputs, info.input_count);
  arena.list(of.outputs(), info.outputs, info.output_count);
  arena.list(of.phases(), info.phases, info.phase_count);
  arena.list(of.fallbacks(), info.fallbacks, info.fallback_count);
  info.cache_use = arena.record_of(of.cache_use());
  arena.list(of.providers(), info.providers, info.provider_count);
  arena.list(of.planned_memory(), info.planned_memory, info.planned_memory_count);
  arena.list(of.overridable_initializers(), info.overridable_initializers,
             info.overridable_initializer_count);
  info.model_metadata = arena.record_of(of.model_metadata());
  uint64_t count = 0;
  arena.list(of.memory_info_for_inputs(), info.input_memory, count);
  arena.list(of.memory_info_for_outputs(), info.output_memory, count);
  info.host_node_count = of.host_node_count();
}

// `model` is a path or ModelBytes.
template <class Model>
ephost_status* create_from(const ephost_environment* environment, const Model& model,
                           const ephost_session_options* options, ephost_session** out_session) {
  *out_session = nullptr;
  return guarded("creating a session", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(Session made,
                            Session::create(environment->environment, model, options_of(options)));
    auto session = std::make_unique<ephost_session>(std::move(made));
    describe(*session);
    *out_session = session.release();
    return {};
  });
}

ephost_status* create(const ephost_environment* environment, const char* model_path,
                      const ephost_session_options* options, ephost_session** out_session) {
  return create_from(environment, std::filesystem::path(model_path), options, out_session);
}

ephost_status* create_from_array(const ephost_environment* environment, const void* model,
                                 uint64_t size, const ephost_session_options* options,
                                 ephost_session** out_session) {
  const ModelBytes bytes{{static_cast<const std::byte*>(model), size}};
  return create_from(environment, bytes, options, out_session);
}

void release(ephost_session* session) {
  if (session != nullptr && session->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete session;
  }
}

const ephost_session_info* info(const ephost_session* session) { return &session->info; }

Status check_output_count(uint64_t count, const ephost_session& session) {
  if (count == session.info.output_count) return {};
  return {StatusCode::kInvalidArgument,
          formatted("the model has {} outputs, not {}; name those that are wanted, or make room "
                    "for all",
                    session.info.output_count, count)};
}

ephost_status* run(ephost_session* session, const ephost_run_options* options,
                   const char* const* input_names, const ephost_value* const* inputs,
                   uint64_t input_count, const char* const* output_names, uint64_t output_count,
                   ephost_value** out_values) {
  std::fill_n(out_values, output_count, nullptr);
  ephost_status* const failure = guarded("running a session", [&]() -> Status {
    EPHOST_RETURN_IF_ERROR(check_record(options, "ephost_run_options"));
    Session::State& state = session->session.state();
    // Models with few inputs and outputs need no memory here.
    std::array<std::byte, 1024> few;
    std::pmr::monotonic_buffer_resource memory(few.data(), few.size());
    std::pmr::vector<const Value*> slots(state.inputs.size(), nullptr, &memory);
    for (uint64_t i = 0; i < input_count; ++i) {
      EPHOST_ASSIGN_OR_RETURN(const size_t slot, state.input_slot(input_names[i]));
      slots[slot] = &inputs[i]->value;
    }
    if (output_names == nullptr) {
      EPHOST_RETURN_IF_ERROR(check_output_count(output_count, *session));
    }
    std::pmr::vector<size_t> wanted(output_names == nullptr ? 0 : output_count, &memory);
    for (uint64_t i = 0; i < wanted.size(); ++i) {
      EPHOST_ASSIGN_OR_RETURN(wanted[i], state.output_slot(output_names[i]));
    }
    std::pmr::vector<Value> values(state.outputs.size(), &memory);
    EPHOST_RETURN_IF_ERROR(state.run(slots, values, *RunOptionsFrom(options)));
    if (output_names == nullptr) {
      for (uint64_t i = 0; i < output_count; ++i) out_values[i] = new_handle(std::move(values[i]));
    } else {  // an output may be named twice
      for (uint64_t i = 0; i < output_count; ++i) out_values[i] = new_handle(values[wanted[i]]);
    }
    return {};
  });
  if (failure != nullptr) {  // memory may run out after the run
    for (uint64_t i = 0; i < output_count; ++i) {
      kValueApi.release(std::exchange(out_values[i], nullptr));
    }
  }
  return failure;
}

// Hands over the outcome of a run to a function of the application.
void call_back(ephost_run_async_callback callback, void* context, const Status& status,
               std::vector<Value> outputs) {
  std::vector<ephost_value*> handles;
  ephost_status* failure = to_c(status);
  try {
    for (Value& output : outputs) handles.push_back(new_handle(std::move(output)));
  } catch (const std::bad_alloc&) {
    for (ephost_value* made : handles) kValueApi.release(made);
    handles.clear();
    failure = to_c(Status(StatusCode::kOutOfMemory, "memory ran out after the run"));
  }
  callback(context, failure, handles.data(), handles.size());
}

ephost_status* run_async(ephost_session* session, const ephost_run_options* options,
                         const char* const* input_names, const ephost_value* const* inputs,
                         uint64_t input_count, const char* const* output_names,
                         uint64_t output_count, ephost_run_async_callback callback, void* context) {
  return guarded("starting a run", [&]() -> Status {
    std::vector<NamedValue> named;
    for (uint64_t i = 0; i < input_count; ++i) named.push_back({input_names[i], inputs[i]->value});
    std::vector<std::string> wanted;
    if (output_names != nullptr) wanted.assign(output_names, output_names + output_count);
    RunAsyncCallback done;
    if (callback != nullptr) {
      done = [=](const Status& status, std::vector<Value> outputs) {
        call_back(callback, context, status, std::move(outputs));
      };
    }
    return session->session.run_async(named, wanted, std::move(done), *RunOptionsFrom(options));
  });
}

ephost_status* create_binding(ephost_session* session, ephost_binding** out_binding) {
  *out_binding = nullptr;
  return guarded("creating a binding", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(IoBinding binding, session->session.create_binding());
    *out_binding = new ephost_binding{session, std::move(binding)};
    session->owners.fetch_add(1, std::memory_order_relaxed);
    return {};
  });
}

void release_binding(ephost_binding* binding) {
  if (binding == nullptr) return;
  ephost_session* const session = binding->session;
  delete binding;
  release(session);
}

ephost_status* bind_input(ephost_binding* binding, const char* name, const ephost_value* value) {
  return guarded("binding an input",
                 [&] { return binding->binding.bind_input(name, value->value); });
}

ephost_status* bind_output(ephost_binding* binding, const char* name, const ephost_value* value) {
  return guarded("binding an output",
                 [&] { return binding->binding.bind_output(name, value->value); });
}

ephost_status* bind_output_to_memory(ephost_binding* binding, const char* name,
                                     const ephost_memory_info* memory) {
  return guarded("binding an output", [&] {
    return binding->binding.bind_output(name, detail::read_record<MemoryInfo>(*memory));
  });
}

void clear_bound_inputs(ephost_binding* binding) { binding->binding.clear_bound_inputs(); }

void clear_bound_outputs(ephost_binding* binding) { binding->binding.clear_bound_outputs(); }

ephost_status* run_with_binding(ephost_binding* binding, const ephost_run_options* options) {
  return guarded("running a session", [&]() -> Status {
    EPHOST_RETURN_IF_ERROR(check_record(options, "ephost_run_options"));
    return binding->session->session.run(binding->binding, *RunOptionsFrom(options));
  });
}

ephost_status* get_output(const ephost_binding* binding, uint64_t index, ephost_value** out_value) {
  *out_value = nullptr;
  return guarded("reading an output", [&]() -> Status {
    const std::vector<Value>& outputs = binding->binding.outputs();
    if (index >= outputs.size()) {
      return {StatusCode::kInvalidArgument,
              formatted("the model has {} outputs, and none of index {}", outputs.size(), index)};
    }
    *out_value = new_handle(outputs[index]);
    return {};
  });
}

ephost_status* set_ep_dynamic_options(ephost_session* session, const ephost_key_value* options,
                                      uint64_t option_count) {
  return guarded("changing options of providers", [&] {
    return session->session.set_ep_dynamic_options(to_list(options, option_count));
  });
}

ephost_status* end_profiling(ephost_session* session, char** out_file) {
  *out_file = nullptr;
  return guarded("writing the profile", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const std::filesystem::path file, session->session.end_profiling());
    return give_text(file.native(), out_file);
  });
}

ephost_status* check_output_file(const ephost_session* session, const char* file,
                                 const char* role) {
  return guarded("checking an output file",
                 [&] { return session->session.check_output_file(file, text_of(role)); });
}

ephost_status* specializations(const ephost_session* session,
                               const ephost_specialization_list** out_list) {
  *out_list = nullptr;
  return guarded("listing specialisations", [&]() -> Status {
    *out_list = new_report<ephost_specialization_list>([&](Arena& arena, auto& list) {
      arena.list(session->session.specializations(), list.specializations,
                 list.specialization_count);
    });
    return {};
  });
}

ephost_status* shrink(ephost_session* session) {
  return guarded("shrinking a session", [&] { return session->session.shrink(); });
}

}  // namespace

const ephost_session_api kSessionApi = {
    sizeof(ephost_session_api),
    create,
    create_from_array,
    release,
    info,
    run,
    run_async,
    create_binding,
    release_binding,
    bind_input,
    bind_output,
    bind_output_to_memory,
    clear_bound_inputs,
    clear_bound_outputs,
    run_with_binding,
    get_output,
    set_ep_dynamic_options,
    end_profiling,
    check_output_file,
    specializations,
    shrink,
};

}  // namespace ephost::api
