#include "host/bridge/extensions/device.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "host/bridge/extensions/stream.h"
#include "host/bridge/provider.h"
#include "host/graph/graph.h"
#include "tests/support/in_process_provider.h"
#include "tests/support/status_matchers.h"

namespace ephost::bridge::device_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
Plugin& plugin() {
  static Plugin current;
  return current;
}

int32_t open(const eph_device_api*, const eph_host*, const eph_device* device,
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
void close(eph_device_handle* device) noexcept {
  const auto* const id = reinterpret_cast<std::string*>(device);
  plugin().devices.push_back("-" + *id);
  delete id;
}
int32_t get_status(eph_device_handle*, eph_error*) noexcept {
  return plugin().is_lost ? EPH_DEVICE_LOST : EPH_OK;
}
int32_t get_memories(eph_device_handle*, const eph_memory_info** out, uint64_t* stride,
                     uint64_t* count, eph_error*) noexcept {
  *out = plugin().memories.empty() ? nullptr : plugin().memories.data();
  *stride = sizeof(eph_memory_info);
  *count = plugin().count;
  return plugin().code;
}
int32_t allocate(eph_device_handle*, uint32_t, uint64_t size, void** out,
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
void release(eph_device_handle*, uint32_t, void*) noexcept { --plugin().live; }
int32_t copy(eph_device_handle*, const eph_copy* copies, uint64_t, uint64_t,
             eph_error* error) noexcept {
  if (plugin().code != EPH_OK) {
    error->api->set_message(error, EPH_STRING("bus error"));
    return plugin().code;
  }
  std::memcpy(copies->to, copies->from, copies->size);
  return EPH_OK;
}

eph_device_api table() {
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
int32_t create_stream(eph_device_handle* device, const eph_stream_config*, eph_stream** out,
                      eph_error*) noexcept {
  *out = plugin().gives_null ? nullptr : reinterpret_cast<eph_stream*>(device);
  return EPH_OK;
}
void destroy_stream(eph_device_handle*, eph_stream*) noexcept {}
int32_t enqueue_copies(eph_device_handle* device, eph_stream*, const eph_copy* copies,
                       uint64_t stride, uint64_t count, uint64_t, eph_error* error) noexcept {
  return copy(device, copies, stride, count, error);
}
int32_t record(eph_device_handle*, eph_stream*, eph_point* out, eph_error*) noexcept {
  *out = plugin().gives_null ? 0 : 5;
  return EPH_OK;
}
int32_t wait(eph_device_handle*, eph_stream*, eph_stream*, eph_point, eph_error*) noexcept {
  return EPH_OK;
}
int32_t query(eph_device_handle*, eph_stream*, eph_point* out, eph_error*) noexcept {
  *out = 5;
  return EPH_OK;
}
int32_t wait_host(eph_device_handle*, eph_stream*, eph_point point, uint64_t timeout_ns,
                  uint64_t* step, eph_error* error) noexcept {
  if (point != 0 && timeout_ns == 0) return EPH_DEADLINE_EXCEEDED;
  if (plugin().code == EPH_OK) return EPH_OK;
  *step = 3;
  error->api->set_message(error, EPH_STRING("hung"));
  return plugin().code;
}
int32_t notify(eph_device_handle*, eph_stream*, eph_point, void (*)(void*, int32_t), void*,
               eph_error*) noexcept {
  return EPH_OK;
}

eph_device_api table_with_streams() {
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

const eph_device_api* offered = nullptr;

// The provider's table with one for devices, wherever `offered` points.
std::shared_ptr<const plugin::LoadedPlugin> loaded() {
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
    EXPECT_THAT(status.message(), HasSubstr("report this to the plugin's vendor"));
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

TEST_F(DeviceTest, KnowsItsMemories) {
  const auto device = open_one();
  ASSERT_THAT(device, IsOk());
  ASSERT_EQ((*device)->memories().size(), 2U);
  EXPECT_EQ((*device)->memories()[0].alignment, 64U);
  EXPECT_EQ((*device)->memories()[1].alignment, 128U);
  EXPECT_EQ((*device)->name_of(0), "host memory");
  EXPECT_EQ((*device)->name_of(2), "\"dram\"");
}

TEST_F(DeviceTest, IsOpenOnceForAllThatUseIt) {
  auto first = open_one();
  ASSERT_THAT(first, IsOk());
  {
    const auto second = open_one();
    const auto other = open_one("two");
    ASSERT_THAT(second, IsOk());
    EXPECT_EQ((*second)->handle(), (*first)->handle());
    EXPECT_NE((*other)->handle(), (*first)->handle());
    EXPECT_THAT(plugin().devices, ElementsAre("one", "two"));
  }
  EXPECT_THAT(plugin().devices, ElementsAre("one", "two", "-two"));
  first->reset();
  EXPECT_THAT(plugin().devices, ElementsAre("one", "two", "-two", "-one"));
  EXPECT_THAT(open_one(), IsOk());
  EXPECT_THAT(plugin().devices, ElementsAre("one", "two", "-two", "-one", "one", "-one"));
}

TEST_F(DeviceTest, IsOpenedAgainWhenItIsLost) {
  const auto lost = open_one();
  ASSERT_THAT(lost, IsOk());
  plugin().is_lost = true;
  const auto again = open_one();
  ASSERT_THAT(again, IsOk());
  EXPECT_NE((*again)->handle(), (*lost)->handle()) << "those that use it keep what they have";
  plugin().is_lost = false;
  const auto third = open_one();
  EXPECT_EQ((*third)->handle(), (*again)->handle());
}

TEST_F(DeviceTest, IsOpenedOnceByThreadsAtTheSameTime) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 100; ++k) EXPECT_THAT(open_one(), IsOk());
    });
  }
  for (std::thread& thread : threads) thread.join();
  bool is_open = false;
  for (const std::string& event : plugin().devices) {
    EXPECT_EQ(event, is_open ? "-one" : "one");
    is_open = !is_open;
  }
  EXPECT_FALSE(is_open);
}

TEST_F(DeviceTest, SaysWhatFailedInOpening) {
  plugin().code = EPH_DEVICE_LOST;
  EXPECT_EQ(open_one().status().code(), StatusCode::kDeviceLost);
  EXPECT_EQ(open_one().status().message(),
            "ToyExecutionProvider failed opening device \"one\": no driver");
  plugin().code = EPH_OK;
  plugin().gives_null = true;
  EXPECT_THAT(refusal(open_one().status()), HasSubstr("reported success and gave no device"));
}

TEST_F(DeviceTest, RefusesImpossibleMemories) {
  for (const uint64_t alignment : {96U, 1U << 21}) {
    plugin().memories[1].alignment = alignment;
    EXPECT_THAT(refusal(open_one().status()),
                HasSubstr("reports an alignment of " + std::to_string(alignment) +
                          " for its memory \"dram\"; it must be a power of two of at most"));
  }
  plugin().memories[1] = eph::make_memory("dram", 64);
  plugin().memories[1].tail_padding = (1U << 20) + 1;
  EXPECT_THAT(refusal(open_one().status()), HasSubstr("a tail padding of 1048577"));
  plugin().memories[1] = eph::make_memory("dram", 64);
  plugin().memories[1].page_size = (1U << 30) + 1;
  EXPECT_THAT(refusal(open_one().status()), HasSubstr("a page size of 1073741825"));
  plugin() = {};
  plugin().count = 0;
  EXPECT_THAT(refusal(open_one().status()), HasSubstr("offers ephost.device/1 and has no memory"));
  plugin().count = 65;
  EXPECT_FALSE(open_one().ok());
  plugin().count = 2;
  plugin().memories.clear();
  EXPECT_FALSE(open_one().ok());
  EXPECT_EQ(std::ranges::count(plugin().devices, "one"),
            std::ranges::count(plugin().devices, "-one"));
}

TEST_F(DeviceTest, RefusesATableThatLacksAFunction) {
  table_.copy = nullptr;
  EXPECT_THAT(refusal(open_one().status()),
              HasSubstr("eph_device_api lacks the required function \"copy\""));
}

TEST_F(DeviceTest, RefusesATableWithSomeFunctionsOfStreams) {
  table_ = table_with_streams();
  table_.notify = nullptr;
  EXPECT_THAT(refusal(open_one().status()),
              HasSubstr("has \"create_stream\" without \"notify\", and the two go together"));
  table_ = table();
  table_.record = &record;
  EXPECT_THAT(refusal(open_one().status()),
              HasSubstr("has \"record\" without \"create_stream\", and the two go together"));
  table_ = table_with_streams();
  table_.destroy_capture = [](eph_device_handle*, eph_capture*) noexcept {};
  EXPECT_THAT(refusal(open_one().status()),
              HasSubstr("has \"destroy_capture\" without \"begin_capture\", and the two go "
                        "together"));
}

TEST_F(DeviceTest, SaysWhatAStreamFailedWith) {
  table_ = table_with_streams();
  const auto device = open_one();
  ASSERT_THAT(device, IsOk());
  ASSERT_TRUE((*device)->has_streams());
  plugin().gives_null = true;
  EXPECT_THAT(refusal(Stream::create(*device, EPH_STREAM_COMPUTE).status()),
              HasSubstr("gave no stream"));
  plugin().gives_null = false;
  const auto stream = Stream::create(*device, EPH_STREAM_COMPUTE);
  ASSERT_THAT(stream, IsOk());
  EXPECT_EQ(*(*stream)->record(), 5U);
  EXPECT_EQ(*(*stream)->query(), 5U);
  EXPECT_THAT((*stream)->wait_host(5, UINT64_MAX).status, IsOk());
  EXPECT_FALSE((*stream)->wait_host(5, 0).is_over);

  plugin().gives_null = true;
  EXPECT_THAT(refusal((*stream)->record().status()), HasSubstr("recorded point 0 of a stream"));
  plugin().code = EPH_ENGINE_ERROR;
  const StreamWait failed = (*stream)->wait_host(5, UINT64_MAX);
  EXPECT_TRUE(failed.is_over);
  EXPECT_EQ(failed.step, 3U);
  EXPECT_EQ(failed.status.message(), "ToyExecutionProvider failed working on a stream: hung");
  // A kernel's own time limit has passed: the stream has failed, not the wait.
  plugin().code = EPH_DEADLINE_EXCEEDED;
  const StreamWait late = (*stream)->wait_host(5, 0);
  EXPECT_TRUE(late.is_over);
  EXPECT_EQ(late.step, 3U);
  EXPECT_EQ(late.status.code(), StatusCode::kDeadlineExceeded);
  plugin().code = EPH_ENGINE_ERROR;
  char to = 0;
  EXPECT_EQ((*stream)->enqueue_copy(1, &to, kHostMemory, "a", 1, 0, "a test").message(),
            "ToyExecutionProvider failed enqueuing a copy of a test (1 bytes) from host memory to "
            "\"sram\": bus error");
}

TEST_F(DeviceTest, AsksForBlocksWithPaddingInWholePages) {
  plugin().memories[0].tail_padding = 100;
  plugin().memories[1].page_size = 4096;
  const auto device = open_one();
  ASSERT_THAT(device, IsOk());
  EXPECT_THAT((*device)->allocate(1, 16, "a test"), IsOk());
  EXPECT_EQ(plugin().asked, 116U);
  EXPECT_THAT((*device)->allocate(2, 4097, "a test"), IsOk());
  EXPECT_EQ(plugin().asked, 8192U);
  EXPECT_EQ((*device)->allocate(2, ~uint64_t{0}, "a test").status().code(),
            StatusCode::kOutOfMemory);
}

TEST_F(DeviceTest, RefusesNullAndMisalignedMemory) {
  const auto opened = open_one();
  ASSERT_THAT(opened, IsOk());
  const Device& device = **opened;
  plugin().misplaced_by = 64;
  EXPECT_THAT(device.allocate(1, 16, "a test"), IsOk());
  EXPECT_THAT(
      refusal(device.allocate(2, 16, "a test").status()),
      HasSubstr("not aligned to 128 bytes, when allocating 16 bytes in \"dram\" for a test"));
  EXPECT_EQ(plugin().live, 1) << "the second was released again";
  plugin().gives_null = true;
  EXPECT_THAT(refusal(device.allocate(1, 16, "a test").status()), HasSubstr("gave no memory"));
  EXPECT_EQ(plugin().live, 1);
  plugin().code = EPH_FAIL;
  EXPECT_EQ(device.allocate(1, 16, "a test").status().message(),
            "ToyExecutionProvider failed allocating 16 bytes in \"sram\" for a test: full");
}

TEST_F(DeviceTest, CopiesAndSaysWhatFailed) {
  const auto opened = open_one();
  ASSERT_THAT(opened, IsOk());
  const Device& device = **opened;
  const int from = 7;
  int to = 0;
  EXPECT_THAT(device.copy(0, &to, 1, &from, sizeof(to), "value \"x\""), IsOk());
  EXPECT_EQ(to, 7);
  plugin().code = EPH_ENGINE_ERROR;
  EXPECT_THAT(device.copy(1, nullptr, 0, nullptr, 0, "nothing"), IsOk());
  EXPECT_EQ(device.copy(0, &to, 2, &from, sizeof(to), "value \"x\"").message(),
            "ToyExecutionProvider failed copying value \"x\" (4 bytes) from \"dram\" to host "
            "memory: bus error");
}

TEST_F(DeviceTest, ReleasesWhatItAllocatesBeforeItIsClosed) {
  auto device = open_one();
  ASSERT_THAT(device, IsOk());
  {
    auto block = DeviceBlock::allocate({*device, 1}, 16, "a test");
    ASSERT_THAT(block, IsOk());
    EXPECT_EQ(plugin().live, 1);
    DeviceBlock moved = std::move(block).value();
    EXPECT_EQ(moved.size(), 16U);
    device->reset();
    EXPECT_EQ(moved.data(), plugin().block.data());
    EXPECT_THAT(plugin().devices, ElementsAre("one"));
  }
  EXPECT_EQ(plugin().live, 0);
  EXPECT_THAT(plugin().devices, ElementsAre("one", "-one"));
}

TEST_F(DeviceTest, NumbersTheMemoriesOfAllDevicesOfAProvider) {
  auto provider = create({"one", "two"});
  ASSERT_THAT(provider, IsOk());
  const auto memories = (*provider)->memories();
  ASSERT_EQ(memories.size(), 4U);
  EXPECT_EQ(memories[2].device->handle(), plugin().given.at(1));
  EXPECT_EQ(memories[2].number, 1U);
  EXPECT_EQ(memories[3].info().name, "dram");
  provider->reset();
  EXPECT_EQ(plugin().devices.size(), 4U) << "both are closed";
}

TEST_F(DeviceTest, IsNotOpenedForCompilationAlone) {
  plugin().places.memory = 1;
  const auto provider = create({"one"}, EPH_PURPOSE_COMPILE_ONLY);
  ASSERT_THAT(provider, IsOk());
  EXPECT_TRUE(plugin().devices.empty());
  EXPECT_TRUE(plugin().given.empty());
  const auto kernel = make_kernel(**provider);
  ASSERT_THAT(kernel, IsOk());
  EXPECT_EQ(kernel->memory().memory, kHostMemory);
}

TEST_F(DeviceTest, PutsComputationsWhereTheySayAndRefusesPlacesThatDoNotExist) {
  const auto provider = create({"one"});
  ASSERT_THAT(provider, IsOk());
  EXPECT_EQ(make_kernel(**provider)->memory().memory, kHostMemory);
  const eph_slot_memory slots[] = {{0, 2}, {5, 3}};
  plugin().places.memory = 1;
  plugin().places.input_memories = slots;
  plugin().places.input_memory_count = 1;
  const auto kernel = make_kernel(**provider);
  ASSERT_THAT(kernel, IsOk());
  EXPECT_EQ(kernel->memory().memory, 1U);
  EXPECT_EQ(kernel->memory().inputs.at(0).memory, 2U);
  plugin().places.input_memory_count = 2;
  EXPECT_THAT(refusal(make_kernel(**provider).status()), HasSubstr("does not exist"));
  plugin().places.input_memory_count = ~uint64_t{0};
  EXPECT_FALSE(make_kernel(**provider).ok());
  plugin().places.input_memories = nullptr;
  plugin().places.input_memory_count = 1;
  EXPECT_FALSE(make_kernel(**provider).ok());
  plugin().places = {};
  plugin().places.memory = 3;
  EXPECT_FALSE(make_kernel(**provider).ok());
}

}  // namespace
}  // namespace ephost::bridge::device_test
