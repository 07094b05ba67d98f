// The calls around which the layer "validate" does more than it does around each. Used inside
// host/layers/validate only.
#pragma once

#include "host/layers/validate/validator.h"
#include "host/layers/validate/validator_undo.h"

namespace ephost::layers {

template <class Use>
int32_t Validator::with_arena(const Subject& subject, Use use) {
  // Also where an exception passes through.
  struct Lending {
    explicit Lending(Validator& lender, const Subject& call)
        : validator(lender),
          arena(std::make_shared<Arena>(
              lender.options_.guard,
              "what " + lender.log_.name(call) + " was passed, which had returned (rule 20)")) {}
    Lending(const Lending&) = delete;
    Lending& operator=(const Lending&) = delete;
    ~Lending() {
      arena->poison();
      const size_t bytes = arena->bytes();
      validator.keep(std::move(arena), bytes);
    }
    Validator& validator;
    std::shared_ptr<Arena> arena;
  };
  const Lending lending(*this, subject);
  return use(*lending.arena);
}

// A call that has to be undone unless it succeeds, also where an exception passes through.
template <class Undo>
class Attempt {
 public:
  explicit Attempt(Undo undo) : undo_(std::move(undo)) {}
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt() {
    if (!has_succeeded_) undo_();
  }
  // Returns `code`.
  int32_t ended(int32_t code) const {
    has_succeeded_ = code == EPH_OK;
    return code;
  }

 private:
  const Undo undo_;
  mutable bool has_succeeded_ = false;
};

// What a failed call has made although it failed. The host would never end it, and the plugin may
// have done so already: it is left alone.
template <class Made>
std::optional<Finding> Validator::leftover(int32_t code, Made** made, std::string_view what,
                                           std::string_view out) {
  if (code == EPH_OK || *made == nullptr) return std::nullopt;
  *made = nullptr;
  return Finding{19, formatted("failed and left a {} behind", what),
                 formatted("set {} on success only", out)};
}

// A slot that returns a code.
template <auto Member, class Next, class... A>
int32_t Validator::invoke(const Call<Validator>& call, const Subject& subject,
                          std::vector<Finding>& found, Next next, A... arguments) {
  using Runs = eph_run_provider_api;
  ProviderObject<Validator>* const provider = call.provider;
  if constexpr (kIsSame<Member, &eph_computation_api::compute>) {
    return compute(call, subject, found, next, arguments...);
  } else if constexpr (kIsSame<Member, &eph_provider_api::compile>) {
    return compile(call, subject, found, next, arguments...);
  } else if constexpr (kIsSame<Member, &eph_provider_api::get_ep_context_nodes>) {
    return write_context(subject, found, next, arguments...);
  } else if constexpr (kIsSame<Member, &eph_provider_api::create>) {
    log_.remember_log();
    provider->host().state().loan.begin(log_, {"destroy", {}});
    return create(subject, found, next, arguments...);
  } else if constexpr (kIsSame<Member, &eph_provider_api::create_kernel>) {
    const auto use = [&](HostObject<Validator, eph_graph>* graph, uint32_t node,
                         eph_computation** made, ErrorObject* error) {
      const int32_t code = next(graph, node, made, error);
      add(leftover(code, made, "kernel", "*out_computation"), found);
      auto& known = provider->state().made;
      known.clear();
      if (*made != nullptr) {
        known[*made] = {Signature::of_node(*graph->inner(), node),
                        graph->state().copies->constants()};
      }
      return code;
    };
    return use(arguments...);
  } else if constexpr (kIsSame<Member, &Runs::begin_run>) {
    const auto use = [&](const eph_run_config* config, ErrorObject* error) {
      ProviderOrder& order = provider->state().order;
      add(order.begin_run(config->run_id), found);
      const Attempt attempt([&] { order.drop_run(config->run_id); });
      return attempt.ended(with_arena(
          subject, [&](Arena& arena) { return next(copy_run_config(arena, *config), error); }));
    };
    return use(arguments...);
  } else if constexpr (kIsSame<Member, &Runs::end_run>) {
    add(provider->state().order.end_run(first_of(arguments...)), found);
    return next(arguments...);
  } else if constexpr (kIsSame<Member, &Runs::set_options>) {
    const auto use = [&](const eph_option* options, uint64_t count, ErrorObject* error) {
      return with_arena(subject, [&](Arena& arena) {
        return next(copy_options(arena, options, count), count, error);
      });
    };
    return use(arguments...);
  } else if constexpr (kIsSame<Member, &eph_shared_contexts_api::list_partitions>) {
    const auto use = [&](eph_bytes payload, auto* list, ErrorObject* error) {
      return next(provider->state().payloads->copy(payload), list, error);
    };
    return use(arguments...);
  } else if constexpr (kIsSame<Member, &eph_profiling_api::start>) {
    ProviderOrder& order = provider->state().order;
    add(order.start_profiling(), found);
    const Attempt attempt([&] { order.drop_profiling(); });
    return attempt.ended(next(arguments...));
  } else if constexpr (kIsSame<Member, &eph_profiling_api::stop>) {
    add(provider->state().order.stop_profiling(), found);
    return next(arguments...);
  } else if constexpr (kIsSame<Member, &eph_computation_api::describe>) {
    add(call.computation->state().order.describe(), found);
    const int32_t code = next(arguments...);
    if (code == EPH_OK) note(call, first_of(arguments...));
    return code;
  } else if constexpr (kIsSame<Member, &eph_provider_api::describe>) {
    const int32_t code = next(arguments...);
    const auto known = plugin::adopt<eph_provider_info>(first_of(arguments...), {});
    if (code == EPH_OK && known.ok()) {
      provider->state().order.set_max_concurrent(known->max_concurrent);
    }
    return code;
  } else if constexpr (kIsSame<Member, &eph_computation_api::create_state>) {
    void** const made = first_of(arguments...);
    const int32_t code = next(arguments...);
    add(leftover(code, made, "state", "*out_state"), found);
    call.computation->state().order.add_state(*made);
    return code;
  } else if constexpr (kIsSame<Member, &eph_device_api::open>) {
    call.device->host().state().loan.begin(log_, {"close", {}});
    const auto use = [&](const eph_host* host, const eph_device* device, eph_device_handle** out,
                         ErrorObject* error) {
      const int32_t code = with_arena(subject, [&](Arena& arena) {
        return next(host, copy_devices(arena, device, device->struct_size, 1), out, error);
      });
      add(leftover(code, out, "device", "*out_device"), found);
      return code;
    };
    return use(arguments...);
  } else if constexpr (kIsSame<Member, &eph_device_api::allocate>) {
    const auto use = [&](uint32_t memory, uint64_t size, void** data, ErrorObject* error) {
      const int32_t code = next(memory, size, data, error);
      add(leftover(code, data, "block of memory", "*out_data"), found);
      if (*data != nullptr) call.device->state().order.add_block(memory, *data);
      return code;
    };
    return use(arguments...);
  } else if constexpr (kIsSame<Member, &eph_device_api::create_stream>) {
    const auto use = [&](const eph_stream_config* config, eph_stream** made, ErrorObject* error) {
      const int32_t code = next(config, made, error);
      add(leftover(code, made, "stream", "*out_stream"), found);
      if (*made == nullptr) return code;
      call.device->state().order.add_stream(*made);
      streams_.add(*made, {&call.table.devices(), call.device->inner()});
      return code;
    };
    return use(arguments...);
  } else {
    return next(arguments...);
  }
}

// A slot that returns nothing, and so cannot fail.
template <auto Member, class Next, class... A>
void Validator::release(const Call<Validator>& call, const Subject& subject, Next next,
                        A... arguments) {
  std::vector<Finding> found;
  if constexpr (kIsSame<Member, &eph_computation_api::release_state>) {
    add(call.computation->state().order.remove_state(arguments...), found);
  } else if constexpr (kIsSame<Member, &eph_computation_api::destroy>) {
    found = call.computation->state().order.leftovers();
    add_all(call.computation->state().changed_constants(), found);
    call.provider->state().order.remove_computation();
  } else if constexpr (kIsSame<Member, &eph_provider_api::destroy>) {
    found = call.provider->state().order.leftovers();
  } else if constexpr (kIsSame<Member, &eph_device_api::release>) {
    add(call.device->state().order.remove_block(arguments...), found);
  } else if constexpr (kIsSame<Member, &eph_device_api::destroy_stream>) {
    add(call.device->state().order.remove_stream(arguments...), found);
    (streams_.remove(arguments), ...);
  } else if constexpr (kIsSame<Member, &eph_device_api::close>) {
    found = call.device->state().order.leftovers();
  }
  log_.add_all(subject, found);
  next(arguments...);
  if constexpr (kIsSame<Member, &eph_provider_api::destroy>) {
    const std::shared_ptr<PayloadCopies> payloads = call.provider->state().payloads;
    payloads->retire();
    keep(payloads, payloads->bytes());
    quarantine_.inspect();
    log_.summarize();
  }
}

template <class Next>
int32_t Validator::create(const Subject& subject, std::vector<Finding>& found, Next next,
                          const eph_host* host, const eph_provider_config* config,
                          eph_provider** out_provider, ErrorObject* error) {
  const int32_t code = with_arena(subject, [&](Arena& arena) {
    return next(host, copy_config(arena, *config), out_provider, error);
  });
  if (code != EPH_OK && *out_provider != nullptr) {
    found.push_back({19, "failed and left a provider behind", "set *out_provider on success only"});
  }
  return code;
}

template <class Next>
int32_t Validator::compile(const Call<Validator>& call, const Subject& subject,
                           std::vector<Finding>& found, Next next, const eph_partition* partitions,
                           uint64_t stride, uint64_t count, eph_computation** out_computations,
                           ErrorObject* error) {
  using Graph = HostObject<Validator, eph_graph>;
  std::vector<const Graph*> graphs;
  std::vector<bool> is_cached;
  std::vector<ConstantChecksums> constants(count);
  std::vector<std::shared_ptr<Reference>> references(count);
  const int32_t code = with_arena(subject, [&](Arena& arena) {
    const eph_partition* const copied =
        copy_partitions(arena, *call.provider->state().payloads, partitions, stride, count);
    for (uint64_t i = 0; i < count; ++i) {
      const eph_ep_context* const context = copied[i].ep_context;
      graphs.push_back(static_cast<const Graph*>(copied[i].graph));
      is_cached.push_back(context != nullptr);
      lend_object(subject, *graphs[i]);
      if (context != nullptr) constants[i].add(context->constants, context->constant_count);
    }
    const int32_t returned = next(copied, sizeof(eph_partition), count, out_computations, error);
    for (uint64_t i = 0; i < count; ++i) {
      if (out_computations[i] != nullptr) references[i] = make_reference(copied[i]);
    }
    return returned;
  });
  auto& made = call.provider->state().made;
  made.clear();
  for (uint64_t i = 0; i < count; ++i) {
    add_changed_constants(graphs[i], found);
    add_all(constants[i].findings(), found);
    if (out_computations[i] == nullptr) continue;
    if (!drops_constants_) constants[i].add(graphs[i]->state().copies->constants());
    // The inputs of a cached partition are those of its node: some may have become constant.
    const eph_graph& graph = *graphs[i]->inner();
    made[out_computations[i]] = {
        is_cached[i] ? Signature::of_node(graph, 0) : Signature::of_graph(graph),
        std::move(constants[i]), std::move(references[i])};
  }
  return code;
}

template <class Next>
int32_t Validator::write_context(const Subject& subject, std::vector<Finding>& found, Next next,
                                 eph_computation* const* computations, uint64_t count,
                                 HostObject<Validator, eph_context_writer>* writer,
                                 ErrorObject* error) {
  if (!is_deterministic_) return next(computations, count, writer, error);
  using Writer = HostObject<Validator, eph_context_writer>;
  ContextRecorder first(nullptr, log_.provider());
  ContextRecorder second(writer->inner(), log_.provider());
  int32_t code = EPH_OK;
  for (ContextRecorder* const recorder : {&first, &second}) {
    Lent<Writer> lent(*this, *this, recorder);
    lend_object(subject, *lent.get());
    code = next(computations, count, lent.get(), error);
    if (code != EPH_OK) return code;
  }
  found = second.differences_from(first);
  return code;
}

template <class Next>
int32_t Validator::compute(const Call<Validator>& call, const Subject& subject,
                           std::vector<Finding>& found, Next next, void* state,
                           HostObject<Validator, eph_run>* run, ErrorObject* error) {
  // Also where an exception passes through.
  struct Computing {
    Computing(ProviderOrder& of_provider, ComputationOrder& of_computation, void* used,
              std::vector<Finding>& findings)
        : provider(of_provider), computation(of_computation), state(used) {
      add(provider.begin_compute(), findings);
      add(computation.begin_compute(state), findings);
    }
    Computing(const Computing&) = delete;
    Computing& operator=(const Computing&) = delete;
    ~Computing() {
      provider.end_compute();
      computation.end_compute(state);
    }
    ProviderOrder& provider;
    ComputationOrder& computation;
    void* const state;
  };
  ComputationState& known = call.computation->state();
  const Computing computing(call.provider->state().order, known.order, state, found);
  const GuardedRun::Memory memory{.guard = options_.guard, .call = log_.name(subject)};
  const auto guarded = std::make_shared<GuardedRun>(run->inner(), known.declared, memory);
  const LentRun lent(*this, subject, guarded);
  bool has_ended_well = true;
  const auto compute_and_wait = [&](GuardedRun& arguments, ErrorObject* error_of_call) {
    const int32_t returned = next(state, static_cast<eph_run*>(&arguments), error_of_call);
    if (arguments.stream != nullptr) {
      has_ended_well = streams_.wait_for(arguments.stream) && has_ended_well;
    }
    return returned;
  };
  const int32_t code = compute_and_wait(*guarded, error);
  std::vector<Finding> of_run = guarded->findings(code == EPH_OK && has_ended_well);
  std::deque<LentRun> repeated;  // until all are compared
  const auto repeat = [&](const std::shared_ptr<GuardedRun>& again) {
    eph_error ignored = {&kIgnoresMessages};
    Lent<Error> lent_error(*this, &ignored);
    lent_error.get()->state().loan.begin(log_, subject);
    repeated.emplace_back(*this, subject, again);
    return compute_and_wait(*again, lent_error.get());
  };
  const bool is_sound = code == EPH_OK && has_ended_well && of_run.empty() && found.empty();
  if (is_sound) check_run(call, run->inner(), *guarded, memory, repeat, of_run);
  found.insert(found.end(), of_run.begin(), of_run.end());
  if (code == EPH_OK && has_ended_well && found.empty()) guarded->finish();
  return code;
}

template <class Object>
constexpr std::string_view Validator::handle_name() {
  constexpr std::string_view kTable =
      TableSlots<std::remove_cvref_t<decltype(*std::declval<Object&>().api)>>::kTable;
  return kTable.substr(0, kTable.size() - std::string_view("_api").size());
}

// What a function returns that must not be called.
template <auto Member, class Result>
Result Validator::refused() {
  if constexpr (std::is_void_v<Result>) {
    return;
  } else if constexpr (kIsSame<Member, &eph_claims_api::has_kernel> ||
                       kIsSame<Member, &eph_run_api::is_cancelled> ||
                       kIsSame<Member, &eph_progress_api::is_cancelled>) {
    return 0;
  } else if constexpr (std::is_same_v<Result, int32_t>) {
    return EPH_INVALID_ARGUMENT;
  } else if constexpr (std::is_same_v<Result, uint32_t>) {
    return 1;  // a number of threads
  } else {
    return Result{};
  }
}

template <class Next>
void Validator::run_loop(Next next, uint64_t total, uint64_t grain, eph_range_function function,
                         void* context) {
  if (function == nullptr) return next(total, grain, function, context);
  struct Loop {
    eph_range_function function;
    void* context;
  };
  Loop loop = {function, context};
  const eph_range_function body = [](void* given, uint64_t begin, uint64_t end) {
    const auto& own = *static_cast<const Loop*>(given);
    const LoopBody running;
    own.function(own.context, begin, end);
  };
  next(total, grain, body, &loop);
}

template <auto Member, class Next, class... A>
auto Validator::read_graph(const HostObject<Validator, eph_graph>& graph, Next next,
                           A... arguments) noexcept {
  GraphCopies* const copies = graph.state().copies.get();
  const auto result = next(arguments...);
  // `out` is filled by the host's rules, and again from a copy that ends with the graph.
  [[maybe_unused]] const auto fill = [&](auto* out, eph_error* error, auto read, auto copy) {
    auto known = std::remove_cvref_t<decltype(*out)>{};
    known.struct_size = sizeof(known);
    if (copies == nullptr || result != EPH_OK || read(&known, error) != EPH_OK) return result;
    try {
      return plugin::fill(copy(known), out);
    } catch (...) {  // out of memory: the host's own
      return result;
    }
  };
  if constexpr (kIsSame<Member, &eph_graph_api::get_graph>) {
    const auto use = [&](eph_graph_info* out, eph_error* error) {
      return fill(
          out, error, [&](auto* known, eph_error* e) { return next(known, e); },
          [&](const auto& known) { return copies->graph(known); });
    };
    return use(arguments...);
  } else if constexpr (kIsSame<Member, &eph_graph_api::get_node>) {
    const auto use = [&](uint32_t node, eph_node_info* out, eph_error* error) {
      return fill(
          out, error, [&](auto* known, eph_error* e) { return next(node, known, e); },
          [&](const auto& known) { return copies->node(node, known); });
    };
    return use(arguments...);
  } else if constexpr (kIsSame<Member, &eph_graph_api::get_value>) {
    const auto use = [&](uint32_t value, eph_value_info* out, eph_error* error) {
      return fill(
          out, error, [&](auto* known, eph_error* e) { return next(value, known, e); },
          [&](const auto& known) { return copies->value(value, known); });
    };
    return use(arguments...);
  } else if constexpr (kIsSame<Member, &eph_graph_api::get_onnx>) {
    const auto use = [&](uint64_t, eph_bytes* out, eph_error*) {
      if (copies == nullptr || result != EPH_OK) return result;
      try {
        *out = copies->onnx(*out);
      } catch (...) {  // out of memory: the host's own
      }
      return result;
    };
    return use(arguments...);
  } else {
    return result;
  }
}

}  // namespace ephost::layers
