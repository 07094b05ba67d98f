// A plugin whose devices answer what a test says, and the fixture of tests that open them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/bridge/extensions/device.h"
#include "host/bridge/provider.h"
#include "host/graph/graph.h"
#include "tests/support/in_process_provider.h"
#include "tests/support/status_matchers.h"

namespace ephost::bridge::toy {

// What the plugin answers; each test sets what it needs.
struct Plugin {
  std::vector<eph_memory_info> memories = {eph::make_memory("sram", 0),
                                           eph::make_memory("dram", 128)};
  uint64_t count = 2;
  int32_t code = EPH_OK;
  alignas(128) std::array<std::byte, 256> block = {};
  size_t misplaced_by = 0;
  bool gives_null = false;
  bool is_lost = false;
  int live = 0;
  uint64_t asked = 0;                // size of the last block
  std::vector<std::string> devices;  // opened, or closed where it begins with '-'
  std::vector<eph_device_handle*> given;
  eph_computation_info places = {};
};
inline Plugin& plugin() {
  static Plugin current;
  return current;
}

inline int32_t open(const eph_device_api*, const eph_host*, const eph_device* device,
                    eph_device_handle** out, eph_error* error) noexcept {
  *out = nullptr;
  if (plugin().code != EPH_OK) {
    error->api->set_message(error, EPH_STRING("no driver"));
    return plugin().code;
  }
  if (plugin().gives_null) return EPH_OK;
  *out = reinterpret_cast<eph_device_handle*>(new std::string(eph::view(device->id)));
  plugin().devices.emplace_back(eph::view(device->id));
  return EPH_OK;
}
inline void close(eph_device_handle* device) noexcept {
  const auto* const id = reinterpret_cast<std::string*>(device);
  plugin().devices.push_back("-" + *id);
  delete id;
}
inline int32_t get_status(eph_device_handle*, eph_error*) noexcept {
  return plugin().is_lost ? EPH_DEVICE_LOST : EPH_OK;
}
inline int32_t get_memories(eph_device_handle*, const eph_memory_info** out, uint64_t* stride,
                            uint64_t* count, eph_error*) noexcept {
  *out = plugin().memories.empty() ? nullptr : plugin().memories.data();
  *stride = sizeof(eph_memory_info);
  *count = plugin().count;
  return plugin().code;
}
inline int32_t allocate(eph_device_handle*, uint32_t, uint64_t size, void** out,
                        eph_error* error) noexcept {
  *out = nullptr;
  if (plugin().code != EPH_OK) {
    error->api->set_message(error, EPH_STRING("full"));
    return plugin().code;
  }
  plugin().asked = size;
  if (plugin().gives_null) return EPH_OK;
  *out = plugin().block.data() + plugin().misplaced_by;
  ++plugin().live;
  return EPH_OK;
}
inline void release(eph_device_handle*, uint32_t, void*) noexcept { --plugin().live; }
inline int32_t copy(eph_device_handle*, const eph_copy* copies, uint64_t, uint64_t,
                    eph_error* error) noexcept {
  if (plugin().code != EPH_OK) {
    error->api->set_message(error, EPH_STRING("bus error"));
    return plugin().code;
  }
  std::memcpy(copies->to, copies->from, copies->size);
  return EPH_OK;
}

inline eph_device_api table() {
  eph_device_api made = {};
  made.struct_size = sizeof(made);
  made.open = &open;
  made.close = &close;
  made.get_status = &get_status;
  made.get_memories = &get_memories;
  made.allocate = &allocate;
  made.release = &release;
  made.copy = &copy;
  return made;
}

// Streams of which all that is enqueued is done.
inline int32_t create_stream(eph_device_handle* device, const eph_stream_config*, eph_stream** out,
                             eph_error*) noexcept {
  *out = plugin().gives_null ? nullptr : reinterpret_cast<eph_stream*>(device);
  return EPH_OK;
}
inline void destroy_stream(eph_device_handle*, eph_stream*) noexcept {}
inline int32_t enqueue_copies(eph_device_handle* device, eph_stream*, const eph_copy* copies,
                              uint64_t stride, uint64_t count, uint64_t,
                              eph_error* error) noexcept {
  return copy(device, copies, stride, count, error);
}
inline int32_t record(eph_device_handle*, eph_stream*, eph_point* out, eph_error*) noexcept {
  *out = plugin().gives_null ? 0 : 5;
  return EPH_OK;
}
inline int32_t wait(eph_device_handle*, eph_stream*, eph_stream*, eph_point, eph_error*) noexcept {
  return EPH_OK;
}
inline int32_t query(eph_device_handle*, eph_stream*, eph_point* out, eph_error*) noexcept {
  *out = 5;
  return EPH_OK;
}
inline int32_t wait_host(eph_device_handle*, eph_stream*, eph_point point, uint64_t timeout_ns,
                         uint64_t* step, eph_error* error) noexcept {
  if (point != 0 && timeout_ns == 0) return EPH_DEADLINE_EXCEEDED;
  if (plugin().code == EPH_OK) return EPH_OK;
  *step = 3;
  error->api->set_message(error, EPH_STRING("hung"));
  return plugin().code;
}
inline int32_t notify(eph_device_handle*, eph_stream*, eph_point, void (*)(void*, int32_t), void*,
                      eph_error*) noexcept {
  return EPH_OK;
}

inline eph_device_api table_with_streams() {
  eph_device_api made = table();
  made.create_stream = &create_stream;
  made.destroy_stream = &destroy_stream;
  made.enqueue_copies = &enqueue_copies;
  made.record = &record;
  made.wait = &wait;
  made.query = &query;
  made.wait_host = &wait_host;
  made.notify = &notify;
  return made;
}

class Placed : public eph::Computation {
 public:
  void compute(eph::Run&, eph::State*) override {}
  void describe(eph_computation_info& info) override {
    const eph_computation_info& places = plugin().places;
    info.memory = places.memory;
    info.input_memories = places.input_memories;
    info.input_memory_count = places.input_memory_count;
    info.accepts = places.accepts;
  }
};

class DeviceProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "ToyExecutionProvider";
  static constexpr std::string_view kName = "toy";
  static constexpr std::string_view kVendor = "tests";
  static void get_devices(eph::Host, eph::DeviceList&) {}
  static std::unique_ptr<DeviceProvider> create(eph::Host, const eph::Config& config) {
    plugin().given.clear();
    for (size_t i = 0; config.opened() != nullptr && i < config.devices().size(); ++i) {
      plugin().given.push_back(config.opened()[i]);
    }
    return std::make_unique<DeviceProvider>();
  }
  eph::ArrayView<eph_kernel_def> kernels() {
    static constexpr eph_kernel_def kAll = {EPH_STRING("Relu"), {}, 1, 99, nullptr, 0};
    return {&kAll, 1};
  }
  std::unique_ptr<eph::Computation> create_kernel(const eph::GraphView&, uint32_t) {
    return std::make_unique<Placed>();
  }
};

inline const eph_device_api* offered = nullptr;

// The provider's table with one for devices, wherever `offered` points.
inline std::shared_ptr<const plugin::LoadedPlugin> loaded() {
  const auto made =
      std::make_shared<plugin::LoadedPlugin>(*test::in_process_plugin<DeviceProvider>());
  made->provider.get_extension = [](const eph_provider_api*, eph_string id) noexcept {
    return eph::view(id) == EPH_EXT_DEVICE ? static_cast<const void*>(offered) : nullptr;
  };
  return made;
}

class DeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    plugin() = {};
    offered = &table_;
  }
  static Result<std::shared_ptr<const Device>> open_one(const std::string& id = "one") {
    return Device::open(loaded(), HostServices("ToyExecutionProvider", {}, {}),
                        DeviceInfo{.id = id});
  }
  static Result<std::shared_ptr<Provider>> create(std::vector<std::string> ids,
                                                  uint32_t purpose = 0) {
    ProviderConfig config;
    for (std::string& id : ids) config.devices.push_back(DeviceInfo{.id = std::move(id)});
    config.purpose = purpose;
    return Provider::create(loaded(), std::move(config),
                            std::make_unique<HostServices>("x", PluginLog(), ProgressHooks()));
  }
  static std::string refusal(const Status& status) {
    EXPECT_EQ(status.code(), StatusCode::kEpFail);
    EXPECT_THAT(status.message(), ::testing::HasSubstr("report this to the plugin's vendor"));
    return status.message();
  }
  // A kernel for the node of a graph.
  static Result<Computation> make_kernel(Provider& provider) {
    static const graph::Model model = [] {
      graph::Model made;
      graph::Node node;
      node.op_type = "Relu";
      node.inputs = {made.graph.add_value({.name = "x"})};
      node.outputs = {made.graph.add_value({.name = "y"})};
      made.graph.add_node(std::move(node));
      return made;
    }();
    const GraphView view(model.graph, model);
    return provider.create_kernel(view, 0);
  }

  eph_device_api table_ = table();
};

}  // namespace ephost::bridge::toy
