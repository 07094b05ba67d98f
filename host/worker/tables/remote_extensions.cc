// The functions of the other extensions: runs, profiling, wishes, shapes, contexts.
#include "host/worker/protocol/arena_message.h"
#include "host/worker/tables/remote_provider.h"

namespace ephost::worker {

using Runs = eph_run_provider_api;
using Shapes = eph_shapes_provider_api;

template <>
struct Remote<&eph_shared_contexts_api::list_partitions> {
  static int32_t call(eph_provider* handle, eph_bytes payload, eph_name_list* list,
                      eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      Outgoing outgoing(provider.worker().regions());
      wire::Request request;
      request.set_call(wire::CONTEXTS_LIST_PARTITIONS);
      request.set_size(payload.size);
      EPHOST_RETURN_IF_ERROR(
          provider.refer_payload(payload, outgoing, *request.mutable_data()->mutable_shared()));
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, provider.call(request, outgoing));
      for (const std::string& name : answer.names()) {
        const int32_t code = list->api->add(list, text_of(name), error);
        if (code != EPH_OK) return code;
      }
      return take_code(answer, error);
    });
  }
};

template <>
struct Remote<&Runs::begin_run> {
  static int32_t call(eph_provider* handle, const eph_run_config* config,
                      eph_error* error) noexcept {
    RemoteProvider& provider = RemoteProvider::self(handle);
    return provider.call_for_code(wire::RUN_BEGIN, error, [&](wire::Request& request) {
      request.set_run_id(config->run_id);
      request.set_text(copy(config->tag));
      request.set_deadline_ns(config->deadline_ns);
      for (uint64_t i = 0; i < config->option_count; ++i) {
        write(config->options[i], *request.add_options());
      }
    });
  }
};

template <>
struct Remote<&Runs::end_run> {
  static int32_t call(eph_provider* handle, uint64_t run_id, int32_t code,
                      eph_error* error) noexcept {
    RemoteProvider& provider = RemoteProvider::self(handle);
    return provider.call_for_code(wire::RUN_END, error, [&](wire::Request& request) {
      request.set_run_id(run_id);
      request.set_code(code);
    });
  }
};

template <>
struct Remote<&Runs::set_options> {
  static int32_t call(eph_provider* handle, const eph_option* options, uint64_t count,
                      eph_error* error) noexcept {
    RemoteProvider& provider = RemoteProvider::self(handle);
    return provider.call_for_code(wire::RUN_SET_OPTIONS, error, [&](wire::Request& request) {
      for (uint64_t i = 0; i < count; ++i) write(options[i], *request.add_options());
    });
  }
};

template <>
struct Remote<&eph_profiling_api::start> {
  static int32_t call(eph_provider* handle, eph_error* error) noexcept {
    return RemoteProvider::self(handle).call_for_code(wire::PROFILING_START, error,
                                                      [](wire::Request&) {});
  }
};

template <>
struct Remote<&eph_profiling_api::stop> {
  static int32_t call(eph_provider* handle, eph_event_list* list, eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer,
                              RemoteProvider::self(handle).call(wire::PROFILING_STOP));
      for (const wire::Event& given : answer.events()) {
        Storage storage;
        const eph_event event = read(given, storage);
        const int32_t code = list->api->add(list, &event, error);
        if (code != EPH_OK) return code;
      }
      return take_code(answer, error);
    });
  }
};

template <>
struct Remote<&eph_graph_wishes_api::get_kept_operators> {
  static int32_t call(eph_provider* handle, const eph_kept_operator** out_operators,
                      uint64_t* out_count, eph_error* error) noexcept {
    *out_operators = nullptr;
    *out_count = 0;
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      EPHOST_ASSIGN_OR_RETURN(wire::Answer answer, provider.call(wire::WISHES_GET_KEPT_OPERATORS));
      const wire::Answer& kept = provider.keep(std::move(answer));
      *out_operators =
          read_all<eph_kept_operator>(kept.kept(), provider.storage(),
                                      [](const wire::KeptOperator& entry) { return read(entry); });
      *out_count = static_cast<uint64_t>(kept.kept_size());
      return take_code(kept, error);
    });
  }
};

template <>
struct Remote<&Shapes::set_profiles> {
  static int32_t call(eph_provider* handle, const eph_shape_profile* profiles, uint64_t count,
                      eph_error* error) noexcept {
    RemoteProvider& provider = RemoteProvider::self(handle);
    return provider.call_for_code(wire::SHAPES_SET_PROFILES, error, [&](wire::Request& request) {
      for (uint64_t i = 0; i < count; ++i) write(profiles[i], *request.add_profiles());
    });
  }
};

template <>
struct Remote<&Shapes::get_wishes> {
  static int32_t call(eph_provider* handle, const eph_graph* graph, eph_shape_wishes* wishes,
                      eph_error* error) noexcept {
    return answer_call(error, [&]() -> Result<int32_t> {
      RemoteProvider& provider = RemoteProvider::self(handle);
      Outgoing outgoing(provider.worker().regions());
      HostGraphs graphs(outgoing);
      const ArenaMessage<wire::Request> message;
      wire::Request& request = *message;
      request.set_call(wire::SHAPES_GET_WISHES);
      EPHOST_RETURN_IF_ERROR(graphs.write_outline(graph, *request.mutable_graph()));
      EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer,
                              provider.call(request, outgoing, {.graphs = &graphs}));
      for (const wire::Wish& wish : answer.wishes()) {
        Storage storage;
        const int32_t code = wishes->api->add(
            wishes, wish.nodes().data(), static_cast<uint64_t>(wish.nodes_size()),
            read(wish.symbols(), storage), static_cast<uint64_t>(wish.symbols_size()), error);
        if (code != EPH_OK) return code;
      }
      return take_code(answer, error);
    });
  }
};

void fill_remote_table(uint32_t slots, eph_graph_wishes_api& out) { fill_slots(slots, out); }
void fill_remote_table(uint32_t slots, eph_profiling_api& out) { fill_slots(slots, out); }
void fill_remote_table(uint32_t slots, eph_run_provider_api& out) { fill_slots(slots, out); }
void fill_remote_table(uint32_t slots, eph_shapes_provider_api& out) { fill_slots(slots, out); }
void fill_remote_table(uint32_t slots, eph_shared_contexts_api& out) { fill_slots(slots, out); }

}  // namespace ephost::worker
