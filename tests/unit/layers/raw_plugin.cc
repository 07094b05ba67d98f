#include "tests/unit/layers/raw_plugin.h"

#include <gtest/gtest.h>

#include <ephost/sdk/basics.hpp>
#include <string_view>
#include <utility>

#include "host/layers/decorate/decorator.h"

namespace ephost::test {
namespace {

Behaviour behaviour;

struct RawComputation : eph_computation {};

int32_t outcome(std::string_view slot, eph_error* error) {
  return behaviour.outcome ? behaviour.outcome(slot, error) : EPH_OK;
}
void ended(std::string_view slot) {
  if (behaviour.ended) behaviour.ended(slot);
}

int32_t compute(eph_computation*, void*, eph_run* run, eph_error* error) noexcept {
  return behaviour.compute ? behaviour.compute(run, error) : EPH_OK;
}
int32_t describe(eph_computation*, eph_computation_info* out, eph_error*) noexcept {
  if (behaviour.describe) behaviour.describe(out);
  return EPH_OK;
}
// One that fails has deleted what `out` still points to.
template <class Made, class Handle>
int32_t make(std::string_view slot, Handle** out, Made* made, eph_error* error) {
  *out = made;
  const int32_t code = outcome(slot, error);
  if (code != EPH_OK) delete made;
  return code;
}
int32_t create_state(eph_computation*, void** out, eph_error* error) noexcept {
  return make("create_state", out, new int(0), error);
}
constexpr eph_computation_api kComputation = {sizeof(eph_computation_api),
                                              [](eph_computation* own) noexcept {
                                                ended("destroy");
                                                delete static_cast<RawComputation*>(own);
                                              },
                                              &compute,
                                              &describe,
                                              &create_state,
                                              [](eph_computation*, void* state) noexcept {
                                                ended("release_state");
                                                delete static_cast<int*>(state);
                                              }};

const eph_run_provider_api kRuns = {
    sizeof(eph_run_provider_api),
    layers::as_slot<decltype(eph_run_provider_api::begin_run)>(
        +[](eph_provider*, const eph_run_config* config, eph_error* error) -> int32_t {
          if (behaviour.begin_run) behaviour.begin_run(config);
          return outcome("begin_run", error);
        }),
    [](eph_provider*, uint64_t, int32_t, eph_error*) noexcept -> int32_t {
      ended("end_run");
      return EPH_OK;
    },
    nullptr};

const eph_device_api kDevices = {
    sizeof(eph_device_api),
    [](const eph_device_api*, const eph_host*, const eph_device*, eph_device_handle** out,
       eph_error*) noexcept -> int32_t {
      *out = reinterpret_cast<eph_device_handle*>(&behaviour);
      return EPH_OK;
    },
    [](eph_device_handle*) noexcept {},
    nullptr,
    [](eph_device_handle*, const eph_memory_info**, uint64_t*, uint64_t*,
       eph_error*) noexcept -> int32_t { return EPH_OK; },
    [](eph_device_handle*, uint32_t, uint64_t, void** out, eph_error* error) noexcept -> int32_t {
      return make("allocate", out, new int(0), error);
    },
    [](eph_device_handle*, uint32_t, void* data) noexcept {
      ended("release");
      delete static_cast<int*>(data);
    },
    [](eph_device_handle*, uint32_t) noexcept {},
    [](eph_device_handle*, uint32_t, eph_memory_usage*, eph_error*) noexcept -> int32_t {
      return EPH_OK;
    },
    [](eph_device_handle*, const eph_copy*, uint64_t, uint64_t, eph_error*) noexcept -> int32_t {
      return EPH_OK;
    }};

const eph_profiling_api kProfiling = {
    sizeof(eph_profiling_api),
    [](eph_provider*, eph_error* error) noexcept -> int32_t { return outcome("start", error); },
    [](eph_provider*, eph_event_list*, eph_error*) noexcept -> int32_t {
      ended("stop");
      return EPH_OK;
    }};

int32_t create(const eph_provider_api*, const eph_host* host, const eph_provider_config* config,
               eph_provider** out, eph_error*) noexcept {
  if (behaviour.create) behaviour.create(host, config);
  *out = reinterpret_cast<eph_provider*>(&behaviour);
  return EPH_OK;
}
int32_t get_capability(eph_provider*, const eph_graph* graph, eph_claims* claims,
                       eph_error*) noexcept {
  if (behaviour.get_capability) behaviour.get_capability(graph, claims);
  return EPH_OK;
}
int32_t compile(eph_provider*, const eph_partition* partitions, uint64_t, uint64_t,
                eph_computation** out, eph_error* error) noexcept {
  const int32_t code = behaviour.compile ? behaviour.compile(partitions, error) : EPH_OK;
  if (code == EPH_OK) *out = new RawComputation{{&kComputation}};
  return code;
}
int32_t create_kernel(eph_provider*, const eph_graph*, uint32_t, eph_computation** out,
                      eph_error* error) noexcept {
  return make("create_kernel", out, new RawComputation{{&kComputation}}, error);
}
int32_t write_context(eph_provider*, eph_computation* const*, uint64_t, eph_context_writer* writer,
                      eph_error* error) noexcept {
  if (behaviour.write_context) behaviour.write_context(writer, error);
  return outcome("get_ep_context_nodes", error);
}
const void* get_provider_extension(eph_provider*, eph_string id) noexcept {
  if (eph::view(id) == EPH_EXT_RUN) return &kRuns;
  return eph::view(id) == EPH_EXT_PROFILING ? &kProfiling : nullptr;
}

eph_provider_api make_table() {
  eph_provider_api table = {};
  table.struct_size = sizeof(table);
  table.type_name = EPH_STRING("RawExecutionProvider");
  table.name = EPH_STRING("raw");
  table.vendor = EPH_STRING("tests");
  table.get_devices = [](const eph_provider_api*, const eph_host*, eph_device_list*,
                         eph_error*) noexcept -> int32_t { return EPH_OK; };
  table.create = &create;
  table.destroy = [](eph_provider*) noexcept {
    if (behaviour.destroy) behaviour.destroy();
  };
  table.get_capability = &get_capability;
  table.get_kernels = [](eph_provider*, const eph_kernel_def**, uint64_t*,
                         eph_error*) noexcept -> int32_t { return EPH_OK; };
  table.create_kernel = &create_kernel;
  table.compile = &compile;
  table.get_ep_context_nodes = &write_context;
  table.get_provider_extension = &get_provider_extension;
  table.get_extension = [](const eph_provider_api*, eph_string id) noexcept -> const void* {
    return eph::view(id) == EPH_EXT_DEVICE ? &kDevices : nullptr;
  };
  return table;
}
const eph_provider_api kTable = make_table();

std::shared_ptr<const plugin::LoadedPlugin> make_plugin(bool is_deterministic) {
  auto loaded = std::make_shared<plugin::LoadedPlugin>();
  loaded->manifest.provider = "RawExecutionProvider";
  loaded->manifest.name = "raw";
  loaded->manifest.deterministic = is_deterministic;
  loaded->provider = kTable;
  loaded->provider_self = &kTable;
  return loaded;
}

}  // namespace

RawPlugin::RawPlugin(Behaviour chosen, layers::ValidateOptions options, bool is_deterministic,
                     layers::MakeReference make_reference)
    : log_([this](const LogMessage& message) { lines_.emplace_back(message.message); },
           LoggingLevel::kWarning, {}),
      scope_(log_) {
  behaviour = std::move(chosen);
  const std::vector<std::shared_ptr<layers::Layer>> stack = {
      layers::make_validate(options, std::move(make_reference))};
  plugin_ = layers::with_layers(make_plugin(is_deterministic), stack).value();
  static constexpr std::string_view kDirectory = "/opt/plugins";
  eph_provider_config config = {};
  config.struct_size = sizeof(config);
  config.directory = eph::to_abi(kDirectory);
  EXPECT_EQ(api().create(plugin_->provider_self, &host_, &config, &provider_, &error), EPH_OK);
  const eph_device device = {sizeof(eph_device), EPH_STRING("raw")};
  EXPECT_EQ(devices().open(&devices(), &host_, &device, &device_, &error), EPH_OK);
}

RawPlugin::~RawPlugin() {
  destroy_provider();
  close_device();
  plugin_.reset();
  behaviour = {};
}

void RawPlugin::destroy_provider() {
  if (provider_ != nullptr) api().destroy(std::exchange(provider_, nullptr));
}

void RawPlugin::close_device() {
  if (device_ != nullptr) devices().close(std::exchange(device_, nullptr));
}

eph_computation* RawPlugin::compile(const eph_graph* graph, std::string_view name,
                                    const eph_ep_context* context) {
  const eph_partition partition = {sizeof(partition), graph, eph::to_abi(name), context, 0};
  eph_computation* made = nullptr;
  const int32_t code = api().compile(provider_, &partition, sizeof(partition), 1, &made, &error);
  if (code != EPH_OK) return made;
  eph_computation_info info = {};
  info.struct_size = sizeof(info);
  EXPECT_EQ(made->api->describe(made, &info, &error), EPH_OK);
  return made;
}

int32_t RawPlugin::compute(eph_computation* computation, eph_run* run) {
  void* state = nullptr;
  EXPECT_EQ(computation->api->create_state(computation, &state, &error), EPH_OK);
  const int32_t code = computation->api->compute(computation, state, run, &error);
  computation->api->release_state(computation, state);
  return code;
}

const eph_run_provider_api& RawPlugin::runs() const {
  return *static_cast<const eph_run_provider_api*>(
      api().get_provider_extension(provider_, EPH_STRING(EPH_EXT_RUN)));
}

const eph_device_api& RawPlugin::devices() const {
  return *static_cast<const eph_device_api*>(
      api().get_extension(plugin_->provider_self, EPH_STRING(EPH_EXT_DEVICE)));
}

const eph_profiling_api& RawPlugin::profiling() const {
  return *static_cast<const eph_profiling_api*>(
      api().get_provider_extension(provider_, EPH_STRING(EPH_EXT_PROFILING)));
}

}  // namespace ephost::test
