#include "host/worker/tables/remote_plugin.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/base/format.h"
#include "host/base/log.h"
#include "host/base/text.h"
#include "host/plugin/adopt.h"
#include "host/worker/protocol/arena_message.h"
#include "host/worker/protocol/calls.h"
#include "host/worker/tables/remote_tables.h"

namespace ephost::worker {

Result<std::shared_ptr<Worker>> Workers::living_front() {
  if (front_ == nullptr || !front_->status().ok()) {
    EPHOST_ASSIGN_OR_RETURN(front_, Worker::start(plugin_, offer_, options_));
    front_has_provider_ = false;
  }
  return front_;
}

Result<std::shared_ptr<Worker>> Workers::front() {
  const std::lock_guard lock(mutex_);
  return living_front();
}

Result<std::shared_ptr<Worker>> Workers::for_provider() {
  {
    const std::lock_guard lock(mutex_);
    if (!front_has_provider_) {
      EPHOST_ASSIGN_OR_RETURN(auto front, living_front());
      front_has_provider_ = true;
      return front;
    }
  }
  return Worker::start(plugin_, offer_, options_);
}

Result<std::shared_ptr<Worker>> Workers::for_devices() {
  {
    const std::lock_guard lock(mutex_);
    auto known = of_devices_.lock();
    if (known != nullptr && known->status().ok()) return known;
  }
  EPHOST_ASSIGN_OR_RETURN(auto worker, for_provider());
  const std::lock_guard lock(mutex_);
  of_devices_ = worker;
  return worker;
}

RemoteOperators::RemoteOperators(Workers& workers, const wire::Loaded& loaded)
    : eph_operators_api{sizeof(eph_operators_api), &RemoteOperators::get_operators},
      loaded_(loaded) {
  definitions_.reserve(static_cast<size_t>(loaded.operators_size()));
  for (const wire::Operator& given : loaded.operators()) {
    Definition definition;
    static_cast<eph_operator_def&>(definition) = read(given, storage_);
    definition.struct_size = sizeof(eph_operator_def);
    definition.infer = given.has_infer() ? &RemoteOperators::infer : nullptr;
    definition.workers = &workers;
    definition.index = static_cast<uint32_t>(definitions_.size());
    definitions_.push_back(definition);
  }
}

int32_t RemoteOperators::get_operators(const eph_operators_api* self,
                                       const eph_operator_def** out_operators, uint64_t* out_stride,
                                       uint64_t* out_count, eph_error* error) noexcept {
  const auto& operators = static_cast<const RemoteOperators&>(*self);
  *out_operators = operators.definitions_.data();
  *out_stride = sizeof(Definition);
  *out_count = operators.definitions_.size();
  const std::string& message = operators.loaded_.operators_message();
  if (!message.empty()) error->api->set_message(error, text_of(message));
  return operators.loaded_.operators_code();
}

int32_t RemoteOperators::infer(const eph_operator_def* self, eph_inference* inference,
                               eph_error* error) noexcept {
  return answer_call(error, [&]() -> Result<int32_t> {
    const auto& definition = static_cast<const Definition&>(*self);
    EPHOST_ASSIGN_OR_RETURN(const auto worker, definition.workers->front());
    Outgoing outgoing(worker->regions());
    HostGraphs graphs(outgoing);
    const ArenaMessage<wire::Request> message;
    wire::Request& request = *message;
    request.set_call(kInfer);
    request.set_node(definition.index);
    eph_node_info node = {};
    node.struct_size = sizeof(node);
    const int32_t code = inference->api->get_node(inference, &node, error);
    if (code != EPH_OK) return code;
    std::vector<std::pair<uint32_t, eph_value_info>> values;
    for (uint32_t i = 0; i < node.input_count; ++i) {
      eph_value_info value = {};
      value.struct_size = sizeof(value);
      if (inference->api->get_input(inference, i, &value, nullptr) != EPH_OK) continue;
      values.emplace_back(i, value);
    }
    EPHOST_RETURN_IF_ERROR(graphs.write_operator(node, values, *request.mutable_graph()));
    EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer,
                            worker->call(request, outgoing, {.graphs = &graphs}));
    for (const wire::InferredOutput& output : answer.outputs()) {
      if (output.shape_size() != std::max(output.rank(), 0) ||
          (output.dim_names_size() != 0 && output.dim_names_size() != output.shape_size())) {
        return Status(StatusCode::kEpFail, "the worker sent an output of infer without its shape");
      }
      Storage storage;
      const int32_t set = inference->api->set_output(
          inference, output.output(), output.element_type(), output.shape().data(),
          output.dim_names_size() == 0 ? nullptr : read(output.dim_names(), storage), output.rank(),
          error);
      if (set != EPH_OK) return set;
    }
    return take_code(answer, error);
  });
}

namespace {

// Everything that the tables of the plugin point to.
struct RemotePlugin : plugin::LoadedPlugin {
  RemotePlugin(const manifest::FoundPlugin& found, const plugin::HostOffer& offer,
               const IsolationOptions& options)
      : workers(found, offer, options), table(workers) {}

  static const void* get_extension(const eph_plugin_api* self, eph_string id) noexcept {
    const auto& plugin = static_cast<const Api&>(*self).plugin;
    return view(id) == EPH_EXT_OPERATORS ? plugin.operators.get() : nullptr;
  }
  // Never called: the worker has agreed on a version already.
  static const eph_plugin_api* get_api(const eph_load_info*) noexcept { return nullptr; }

  struct Api : eph_plugin_api {
    explicit Api(const RemotePlugin& of) : plugin(of) {}
    const RemotePlugin& plugin;
  };

  Workers workers;
  wire::Loaded facts;
  RemoteTable table;
  const eph_provider_api* tables[1] = {&table};
  Api own_api{*this};
  std::unique_ptr<RemoteOperators> operators;
};

Result<std::shared_ptr<const plugin::LoadedPlugin>> load_remote(const manifest::FoundPlugin& found,
                                                                const plugin::HostOffer& offer,
                                                                const IsolationOptions& options) {
  auto plugin = std::make_shared<RemotePlugin>(found, offer, options);
  EPHOST_ASSIGN_OR_RETURN(const auto worker, plugin->workers.front());
  plugin->facts = worker->loaded();
  const wire::Loaded& facts = plugin->facts;
  if (facts.type_name() != found.manifest.provider || facts.name() != found.manifest.name ||
      facts.minor() < offer.minor_min || facts.minor() > offer.minor_max) {
    return Status(StatusCode::kEpFail, "the worker answered for another plugin");
  }
  plugin->manifest = found.manifest;
  plugin->preamble.struct_size = sizeof(eph_plugin_preamble);
  plugin->preamble.abi_minor_min = facts.abi_minor_min();
  plugin->preamble.abi_minor_max = facts.abi_minor_max();
  plugin->preamble.id = text_of(facts.id());
  plugin->preamble.version = text_of(facts.version());
  plugin->preamble.build_flags = facts.build_flags();
  plugin->preamble.flags = facts.flags();
  plugin->preamble.get_api = &RemotePlugin::get_api;
  plugin->abi_minor = facts.minor();
  fill_remote_table(facts.slots(), plugin->table);
  plugin->table.type_name = text_of(facts.type_name());
  plugin->table.name = text_of(facts.name());
  plugin->table.vendor = text_of(facts.vendor());
  if (facts.has_devices()) {
    fill_remote_table(facts.device_slots(), plugin->table.devices.emplace(plugin->workers));
  }
  if (facts.has_operators()) {
    plugin->operators = std::make_unique<RemoteOperators>(plugin->workers, facts);
  }
  plugin->own_api.struct_size = sizeof(eph_plugin_api);
  plugin->own_api.providers = plugin->tables;
  plugin->own_api.provider_count = 1;
  plugin->own_api.get_extension = &RemotePlugin::get_extension;
  plugin->api = plugin->own_api;
  plugin->api_self = &plugin->own_api;
  EPHOST_ASSIGN_OR_RETURN(
      plugin->provider, plugin::adopt_provider(&plugin->table, {found.manifest.provider, "load"}));
  plugin->provider_self = &plugin->table;
  return std::shared_ptr<const plugin::LoadedPlugin>(std::move(plugin));
}

std::string key_of(const manifest::FoundPlugin& plugin, const IsolationOptions& options) {
  return formatted("{}\n{}\n{} {} {}\n{} {} {} {}\n{} {}\n{}\n{}", plugin.manifest.file.native(),
                   options.program.native(), options.calls.probe.count(),
                   options.calls.compile.count(), options.calls.run.count(), options.limits.memory,
                   options.limits.cpu_seconds, options.limits.open_files, options.limits.threads,
                   static_cast<int>(options.level), options.listed_only, options.failure_key,
                   options.files.text());
}

}  // namespace

std::shared_ptr<RemoteRegistry::Entry> RemoteRegistry::entry_of(const std::string& key) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Entry>& known = plugins_[key];
  if (known == nullptr) known = std::make_shared<Entry>();
  return known;
}

Result<std::shared_ptr<const plugin::LoadedPlugin>> RemoteRegistry::load(
    const manifest::FoundPlugin& plugin, const IsolationOptions& options) {
  // Workers whose health is watched are not shared.
  const bool is_shared = options.health == nullptr;
  const auto entry = is_shared ? entry_of(key_of(plugin, options)) : std::make_shared<Entry>();
  const std::lock_guard lock(entry->mutex);
  if (auto loaded = entry->plugin.lock()) return loaded;
  auto loaded = load_remote(plugin, host_, options);
  if (!loaded.ok()) {
    return std::move(loaded).status().with_context(formatted(
        "loading provider {} from {} in a worker, as {} says", quote(plugin.manifest.provider),
        quote(plugin.library.native()), quote(plugin.manifest.file.native())));
  }
  entry->plugin = *loaded;
  log_info(formatted("loaded {} for provider {} in a worker", quote(plugin.library.native()),
                     quote(plugin.manifest.provider)));
  return loaded;
}

}  // namespace ephost::worker
