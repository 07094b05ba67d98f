// Calls of extensions.
#include "host/plugin/adopt.h"
#include "host/worker/program/collectors.h"
#include "host/worker/program/served_calls.h"
#include "host/worker/program/served_graph.h"

namespace ephost::worker {

void ServedCalls::list_partitions(const wire::Request& request, wire::Answer& out) {
  eph_bytes payload = {no_bytes(), request.size()};
  if (request.size() != 0) {
    const wire::Shared& place = request.data().shared();
    const auto bytes = mapped_regions().translate(place.region(), place.offset(),
                                                  static_cast<size_t>(request.size()));
    if (!bytes.ok()) return fail(out, bytes.status());
    payload.data = bytes->data();
  }
  NameCollector names(out);
  call_slot(site("list_partitions"), out,
            provider_of(request).extension<eph_shared_contexts_api>().list_partitions,
            provider_of(request).handle, payload, static_cast<eph_name_list*>(&names));
}

void ServedCalls::answer_memory(const wire::Request& request, wire::Answer& out) {
  ServedProvider& provider = provider_of(request);
  const eph_device_memory_api& memory = provider.extension<eph_device_memory_api>();
  switch (request.call()) {
    case wire::MEMORY_GET_MEMORIES: {
      const eph_memory* memories = nullptr;
      uint64_t count = 0;
      if (!call_slot(site("get_memories"), out, memory.get_memories, provider.handle, &memories,
                     &count)) {
        return;
      }
      const auto list =
          plugin::adopt_array(memories, count, kMaxEntries, site("get_memories"), "out_memories");
      if (!list.ok()) return fail(out, list.status());
      for (const eph_memory& given : *list) {
        wire::Memory& added = *out.add_memories();
        added.set_name(copy(given.name));
        added.set_alignment(given.alignment);
      }
      return;
    }
    case wire::MEMORY_DESCRIBE: {
      const ServedComputation& of = computation_of(request.computation());
      const plugin::CallSite described = site("describe", of.kind, of.name);
      eph_computation_memory info = {};
      info.struct_size = sizeof(info);
      info.memory = 1;
      if (!call_slot(described, out, memory.describe, provider.handle, of.handle, &info)) return;
      const auto adopted = plugin::adopt<eph_computation_memory>(&info, described);
      if (!adopted.ok()) return fail(out, adopted.status());
      Status arrays = plugin::check_array(adopted->inputs, adopted->input_count, kMaxEntries,
                                          described, "inputs");
      if (arrays.ok()) {
        arrays = plugin::check_array(adopted->outputs, adopted->output_count, kMaxEntries,
                                     described, "outputs");
      }
      if (!arrays.ok()) return fail(out, arrays);
      write(*adopted, *out.mutable_memory());
      return;
    }
    case wire::MEMORY_ALLOCATE: {
      void* data = nullptr;
      call_slot(site("allocate"), out, memory.allocate, provider.handle, request.memory(),
                request.size(), &data);
      out.set_handle(reinterpret_cast<uint64_t>(data));
      return;
    }
    case wire::MEMORY_RELEASE:
      plugin::call_release(site("release"), memory.release, provider.handle, request.memory(),
                           reinterpret_cast<void*>(request.address()));
      return;
    default: {
      void* to = reinterpret_cast<void*>(request.address());
      const void* from = reinterpret_cast<const void*>(request.from_address());
      if (request.has_data()) {
        const wire::Shared& place = request.data().shared();
        const auto bytes = mapped_regions().translate(place.region(), place.offset(),
                                                      static_cast<size_t>(request.size()));
        if (!bytes.ok()) return fail(out, bytes.status());
        if (request.memory() == 0) to = bytes->data();
        if (request.from_memory() == 0) from = bytes->data();
      }
      call_slot(site("copy"), out, memory.copy, provider.handle, request.memory(), to,
                request.from_memory(), from, request.size());
      return;
    }
  }
}

void ServedCalls::answer_runs(const wire::Request& request, wire::Answer& out) {
  ServedProvider& provider = provider_of(request);
  Storage storage;
  const auto* const options = read_all<eph_option>(
      request.options(), storage, [](const wire::Option& option) { return read(option); });
  const auto option_count = static_cast<uint64_t>(request.options_size());
  switch (request.call()) {
    case wire::RUN_BEGIN: {
      eph_run_config config = {};
      config.struct_size = sizeof(config);
      config.run_id = request.run_id();
      config.tag = text_of(request.text());
      config.deadline_ns = request.deadline_ns();
      config.options = options;
      config.option_count = option_count;
      call_slot(site("begin_run"), out, provider.extension<eph_run_provider_api>().begin_run,
                provider.handle, &config);
      return;
    }
    case wire::RUN_END:
      call_slot(site("end_run"), out, provider.extension<eph_run_provider_api>().end_run,
                provider.handle, request.run_id(), request.code());
      return;
    default:
      call_slot(site("set_options"), out, provider.extension<eph_run_provider_api>().set_options,
                provider.handle, options, option_count);
      return;
  }
}

void ServedCalls::answer_profiling(const wire::Request& request, wire::Answer& out) {
  ServedProvider& provider = provider_of(request);
  if (request.call() == wire::PROFILING_START) {
    call_slot(site("start"), out, provider.extension<eph_profiling_api>().start, provider.handle);
    return;
  }
  EventCollector events(name(), out);
  call_slot(site("stop"), out, provider.extension<eph_profiling_api>().stop, provider.handle,
            static_cast<eph_event_list*>(&events));
}

void ServedCalls::get_kept_operators(const wire::Request& request, wire::Answer& out) {
  const eph_kept_operator* kept = nullptr;
  uint64_t count = 0;
  if (!call_slot(site("get_kept_operators"), out,
                 provider_of(request).extension<eph_graph_wishes_api>().get_kept_operators,
                 provider_of(request).handle, &kept, &count)) {
    return;
  }
  const auto list =
      plugin::adopt_array(kept, count, kMaxEntries, site("get_kept_operators"), "out_operators");
  if (!list.ok()) return fail(out, list.status());
  for (const eph_kept_operator& entry : *list) write(entry, *out.add_kept());
}

void ServedCalls::answer_shapes(const Call& call, wire::Answer& out) {
  const wire::Request& request = call->request();
  ServedProvider& provider = provider_of(request);
  if (request.call() == wire::SHAPES_GET_WISHES) {
    ServedGraph graph(*call, request.graph());
    WishCollector collector(out);
    call_slot(site("get_wishes"), out, provider.extension<eph_shapes_provider_api>().get_wishes,
              provider.handle, static_cast<const eph_graph*>(&graph),
              static_cast<eph_shape_wishes*>(&collector));
    return;
  }
  const auto* const profiles = read_all<eph_shape_profile>(
      request.profiles(), call->storage(),
      [&](const wire::ShapeProfile& profile) { return read(profile, call->storage()); });
  call_slot(site("set_profiles"), out, provider.extension<eph_shapes_provider_api>().set_profiles,
            provider.handle, profiles, static_cast<uint64_t>(request.profiles_size()));
}

void ServedCalls::infer(const Call& call, wire::Answer& out) {
  const eph_operator_def* const definition = definitions_.at(call->request().node());
  ServedInference inference(*call, out);
  call_slot(site("infer", view(definition->op_type)), out, definition->infer, definition,
            static_cast<eph_inference*>(&inference));
}

}  // namespace ephost::worker
