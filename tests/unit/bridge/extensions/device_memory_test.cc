#include "host/bridge/extensions/device_memory.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>

#include "host/bridge/provider.h"
#include "tests/support/in_process_provider.h"
#include "tests/support/status_matchers.h"

namespace ephost::bridge::device_memory_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

// What the plugin answers; each test sets what it needs.
struct Plugin {
  std::vector<eph_memory> memories = {{EPH_STRING("sram"), 0}, {EPH_STRING("dram"), 128}};
  uint64_t count = 2;
  int32_t code = EPH_OK;
  eph_computation_memory places = {};
  alignas(128) std::array<std::byte, 256> block = {};
  size_t misplaced_by = 0;
  bool gives_null = false;
  int live = 0;
};
Plugin& plugin() {
  static Plugin current;
  return current;
}

int32_t get_memories(eph_provider*, const eph_memory** out, uint64_t* count, eph_error*) noexcept {
  *out = plugin().memories.empty() ? nullptr : plugin().memories.data();
  *count = plugin().count;
  return plugin().code;
}
int32_t describe(eph_provider*, eph_computation*, eph_computation_memory* out,
                 eph_error*) noexcept {
  const uint64_t size = out->struct_size;
  *out = plugin().places;
  out->struct_size = size;
  return plugin().code;
}
int32_t allocate(eph_provider*, uint32_t, uint64_t, void** out, eph_error* error) noexcept {
  *out = nullptr;
  if (plugin().code != EPH_OK) {
    error->api->set_message(error, EPH_STRING("full"));
    return plugin().code;
  }
  if (plugin().gives_null) return EPH_OK;
  *out = plugin().block.data() + plugin().misplaced_by;
  ++plugin().live;
  return EPH_OK;
}
void release(eph_provider*, uint32_t, void*) noexcept { --plugin().live; }
int32_t copy(eph_provider*, uint32_t, void* to, uint32_t, const void* from, uint64_t size,
             eph_error* error) noexcept {
  if (plugin().code != EPH_OK) {
    error->api->set_message(error, EPH_STRING("bus error"));
    return plugin().code;
  }
  std::memcpy(to, from, size);
  return EPH_OK;
}

eph_device_memory_api table() {
  return {sizeof(eph_device_memory_api), &get_memories, &describe, &allocate, &release, &copy};
}

class DeviceMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    plugin() = {};
    plugin().places.memory = 1;
  }
  static Result<bridge::DeviceMemory> create(const eph_device_memory_api& api) {
    return bridge::DeviceMemory::create(api, nullptr, "ToyExecutionProvider");
  }
  static std::string refusal(const Status& status) {
    EXPECT_EQ(status.code(), StatusCode::kEpFail);
    EXPECT_THAT(status.message(), HasSubstr("report this to the plugin's vendor"));
    return status.message();
  }
};

TEST_F(DeviceMemory, KnowsTheMemoriesOfAProvider) {
  const auto memory = create(table());
  ASSERT_THAT(memory, IsOk());
  ASSERT_EQ(memory->memories().size(), 2U);
  EXPECT_EQ(memory->memories()[0].alignment, 64U);
  EXPECT_EQ(memory->memories()[1].alignment, 128U);
  EXPECT_EQ(memory->name_of(0), "host memory");
  EXPECT_EQ(memory->name_of(2), "\"dram\"");
}

TEST_F(DeviceMemory, RefusesImpossibleMemories) {
  for (const uint64_t alignment : {96U, 1U << 21}) {
    plugin().memories[1].alignment = alignment;
    EXPECT_THAT(refusal(create(table()).status()), HasSubstr("an alignment of"));
  }
  plugin().count = 0;
  EXPECT_THAT(refusal(create(table()).status()), HasSubstr("has no memory"));
  for (const uint64_t count : {uint64_t{65}, ~uint64_t{0}}) {
    plugin().count = count;
    EXPECT_THAT(refusal(create(table()).status()), HasSubstr("and at most 64 are allowed"));
  }
  plugin().count = 2;
  plugin().memories.clear();
  EXPECT_THAT(refusal(create(table()).status()), HasSubstr("has 2 entries at a null pointer"));
  plugin() = {};
  plugin().code = EPH_ENGINE_ERROR;
  EXPECT_EQ(create(table()).status().code(), StatusCode::kEngineError);
}

TEST_F(DeviceMemory, PutsEverythingIntoMemoryOneUnlessTold) {
  eph_device_memory_api api = table();
  api.describe = nullptr;
  const auto described = create(api)->describe(nullptr);
  ASSERT_THAT(described, IsOk());
  EXPECT_EQ(described->memory, 1U);
  EXPECT_EQ(bridge::DeviceMemory().describe(nullptr)->memory, kHostMemory);
}

TEST_F(DeviceMemory, RefusesPlacesThatDoNotExist) {
  const auto memory = create(table());
  const eph_slot_memory slots[] = {{0, 2}, {5, 3}};
  plugin().places.inputs = slots;
  plugin().places.input_count = 1;
  const auto described = memory->describe(nullptr);
  ASSERT_THAT(described, IsOk());
  EXPECT_EQ(described->inputs[0].memory, 2U);
  plugin().places.input_count = 2;
  EXPECT_THAT(refusal(memory->describe(nullptr).status()), HasSubstr("does not exist"));
  plugin().places.input_count = ~uint64_t{0};
  EXPECT_FALSE(memory->describe(nullptr).ok());
  plugin().places.inputs = nullptr;
  plugin().places.input_count = 1;
  EXPECT_FALSE(memory->describe(nullptr).ok());
  plugin().places = {};
  plugin().places.memory = 3;
  EXPECT_FALSE(memory->describe(nullptr).ok());
}

TEST_F(DeviceMemory, RefusesNullAndMisalignedMemory) {
  const auto memory = create(table());
  plugin().misplaced_by = 64;
  EXPECT_THAT(memory->allocate(1, 16, "a test"), IsOk());
  EXPECT_THAT(
      refusal(memory->allocate(2, 16, "a test").status()),
      HasSubstr("not aligned to 128 bytes, when allocating 16 bytes in \"dram\" for a test"));
  EXPECT_EQ(plugin().live, 1) << "the second was released again";
  plugin().gives_null = true;
  EXPECT_THAT(refusal(memory->allocate(1, 16, "a test").status()), HasSubstr("gave no memory"));
  EXPECT_EQ(plugin().live, 1);
  plugin().code = EPH_FAIL;
  EXPECT_EQ(memory->allocate(1, 16, "a test").status().message(),
            "ToyExecutionProvider failed allocating 16 bytes in \"sram\" for a test: full");
}

TEST_F(DeviceMemory, CopiesAndSaysWhatFailed) {
  const auto memory = create(table());
  const int from = 7;
  int to = 0;
  EXPECT_THAT(memory->copy(0, &to, 1, &from, sizeof(to), "value \"x\""), IsOk());
  EXPECT_EQ(to, 7);
  plugin().code = EPH_ENGINE_ERROR;
  EXPECT_THAT(memory->copy(1, nullptr, 0, nullptr, 0, "nothing"), IsOk());
  EXPECT_EQ(memory->copy(0, &to, 2, &from, sizeof(to), "value \"x\"").message(),
            "ToyExecutionProvider failed copying value \"x\" (4 bytes) from \"dram\" to host "
            "memory: bus error");
}

const eph_device_memory_api* offered = nullptr;

class MemoryProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "MemoryExecutionProvider";
  static constexpr std::string_view kName = "memory";
  static constexpr std::string_view kVendor = "tests";
  static void get_devices(eph::Host, eph::DeviceList&) {}
  static std::unique_ptr<MemoryProvider> create(eph::Host, const eph::Options&) {
    return std::make_unique<MemoryProvider>();
  }
  const void* extension(std::string_view id) {
    return id == EPH_EXT_DEVICE_MEMORY ? offered : nullptr;
  }
};

TEST_F(DeviceMemory, RefusesATableThatLacksAFunction) {
  eph_device_memory_api table_without_copy = table();
  table_without_copy.copy = nullptr;
  offered = &table_without_copy;
  const auto provider =
      Provider::create(test::in_process_plugin<MemoryProvider>(), {},
                       std::make_unique<HostServices>("x", PluginLog(), ProgressHooks()));
  EXPECT_THAT(refusal(provider.status()),
              HasSubstr("eph_device_memory_api lacks the required function \"copy\""));
}

TEST_F(DeviceMemory, ReleasesWhatItAllocates) {
  const eph_device_memory_api api = table();
  offered = &api;
  auto provider = test::create_in_process<MemoryProvider>();
  ASSERT_EQ(provider->device_memory().memories().size(), 2U);
  {
    auto block = DeviceBlock::allocate(provider, 1, 16, "a test");
    ASSERT_THAT(block, IsOk());
    EXPECT_EQ(plugin().live, 1);
    DeviceBlock moved = std::move(block).value();
    EXPECT_EQ(moved.size(), 16U);
    provider.reset();
    EXPECT_EQ(moved.data(), plugin().block.data());
  }
  EXPECT_EQ(plugin().live, 0);
}

}  // namespace
}  // namespace ephost::bridge::device_memory_test
