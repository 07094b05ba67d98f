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
#include "host/session/facade/async_run.h"
#include "host/session/facade/binding.h"
#include "host/session/facade/session_creation.h"
#include "host/session/facade/session_state.h"

struct ephost_binding {
  ephost_session* session;
  ephost::session::Binding state;
};

namespace ephost::api {
namespace {

using session::SessionState;

void describe(ephost_session& session) {
  const SessionState& of = *session.state;
  const std::shared_ptr<session::SessionModel> model = of.model();
  Arena& arena = session.arena;
  ephost_session_info& info = session.info;
  info.struct_size = sizeof(info);
  arena.list(of.inputs, info.inputs, info.input_count);
  arena.list(of.outputs, info.outputs, info.output_count);
  arena.list(of.phases, info.phases, info.phase_count);
  arena.list(model->fallbacks, info.fallbacks, info.fallback_count);
  info.cache_use = arena.record_of(of.cache_use);
  arena.list(model->providers, info.providers, info.provider_count);
  arena.list(of.planned_memory(), info.planned_memory, info.planned_memory_count);
  arena.list(of.overridable_initializers, info.overridable_initializers,
             info.overridable_initializer_count);
  info.model_metadata = arena.record_of(of.metadata);
  uint64_t count = 0;
  arena.list(of.input_memory(), info.input_memory, count);
  arena.list(of.output_memory(), info.output_memory, count);
  info.host_node_count = of.host_node_count();
}

ephost_status* create_from(const ephost_environment* environment, const session::ModelSource& model,
                           const ephost_session_options* options, ephost_session** out_session) {
  *out_session = nullptr;
  return guarded("creating a session", [&]() -> Status {
    auto session = std::make_unique<ephost_session>();
    EPHOST_ASSIGN_OR_RETURN(
        session->state, session::create_session(*environment->state, model, options_of(options)));
    describe(*session);
    *out_session = session.release();
    return {};
  });
}

ephost_status* create(const ephost_environment* environment, const char* model_path,
                      const ephost_session_options* options, ephost_session** out_session) {
  return create_from(environment, {model_path, {}}, options, out_session);
}

ephost_status* create_from_array(const ephost_environment* environment, const void* model,
                                 uint64_t size, const ephost_session_options* options,
                                 ephost_session** out_session) {
  const std::span bytes(static_cast<const std::byte*>(model), size);
  return create_from(environment, {{}, bytes}, options, out_session);
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
    SessionState& state = *session->state;
    // Models with few inputs and outputs need no memory here.
    std::array<std::byte, 1024> few;
    std::pmr::monotonic_buffer_resource memory(few.data(), few.size());
    std::pmr::vector<const runtime::Value*> slots(state.inputs.size(), nullptr, &memory);
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
    std::pmr::vector<runtime::Value> values(state.outputs.size(), &memory);
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
               std::vector<runtime::Value> outputs) {
  std::vector<ephost_value*> handles;
  ephost_status* failure = to_c(status);
  try {
    for (runtime::Value& output : outputs) handles.push_back(new_handle(std::move(output)));
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
    session::AsyncRun run;
    for (uint64_t i = 0; i < input_count; ++i) {
      run.inputs.push_back({input_names[i], inputs[i]->value});
    }
    if (output_names != nullptr) run.output_names.assign(output_names, output_names + output_count);
    if (callback != nullptr) {
      run.callback = [=](const Status& status, std::vector<runtime::Value> outputs) {
        call_back(callback, context, status, std::move(outputs));
      };
    }
    run.options = *RunOptionsFrom(options);
    return session::start_run(*session->state, std::move(run));
  });
}

ephost_status* create_binding(ephost_session* session, ephost_binding** out_binding) {
  *out_binding = nullptr;
  return guarded("creating a binding", [&]() -> Status {
    *out_binding = new ephost_binding{session, session::Binding(*session->state)};
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
  return guarded("binding an input", [&] { return binding->state.bind_input(name, value->value); });
}

ephost_status* bind_output(ephost_binding* binding, const char* name, const ephost_value* value) {
  return guarded("binding an output",
                 [&] { return binding->state.bind_output(name, value->value); });
}

ephost_status* bind_output_to_memory(ephost_binding* binding, const char* name,
                                     const ephost_memory_info* memory) {
  return guarded("binding an output", [&] {
    return binding->state.bind_output_to_memory(name, detail::read_record<MemoryInfo>(*memory));
  });
}

void clear_bound_inputs(ephost_binding* binding) { binding->state.clear_bound_inputs(); }

void clear_bound_outputs(ephost_binding* binding) { binding->state.clear_bound_outputs(); }

ephost_status* run_with_binding(ephost_binding* binding, const ephost_run_options* options) {
  return guarded("running a session", [&]() -> Status {
    EPHOST_RETURN_IF_ERROR(check_record(options, "ephost_run_options"));
    return binding->state.run(*RunOptionsFrom(options));
  });
}

ephost_status* get_output(const ephost_binding* binding, uint64_t index, ephost_value** out_value) {
  *out_value = nullptr;
  return guarded("reading an output", [&]() -> Status {
    const std::vector<runtime::Value>& outputs = binding->state.outputs.values();
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
  SessionState& state = *session->state;
  return guarded(state.log, "changing options of providers",
                 [&] { return state.change_options(to_list(options, option_count)); });
}

ephost_status* end_profiling(ephost_session* session, char** out_file) {
  *out_file = nullptr;
  SessionState& state = *session->state;
  return guarded(state.log, "writing the profile", [&]() -> Status {
    EPHOST_ASSIGN_OR_RETURN(const std::filesystem::path file, state.end_profiling());
    return give_text(file.native(), out_file);
  });
}

ephost_status* check_output_file(const ephost_session* session, const char* file,
                                 const char* role) {
  return guarded("checking an output file",
                 [&] { return session->state->check_output_file(file, text_of(role)); });
}

ephost_status* specializations(const ephost_session* session,
                               const ephost_specialization_list** out_list) {
  *out_list = nullptr;
  return guarded("listing specialisations", [&]() -> Status {
    *out_list = new_report<ephost_specialization_list>([&](Arena& arena, auto& list) {
      arena.list(session->state->specializations(), list.specializations,
                 list.specialization_count);
    });
    return {};
  });
}

ephost_status* shrink(ephost_session* session) {
  SessionState& state = *session->state;
  return guarded(state.log, "shrinking a session", [&]() -> Status {
    state.shrink();
    return {};
  });
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
