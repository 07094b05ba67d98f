// The C++ wrapper of ephost.device_memory/1 as the host sees it.
#include <gtest/gtest.h>

#include <cstring>
#include <ephost/plugin.hpp>

#include "tests/support/fake_host.h"

namespace {

using ephost::test::FakeError;
using ephost::test::FakeHost;

bool fails = false;

void maybe_fail() {
  if (fails) throw eph::Failure(EPH_INVALID_GRAPH, "a failure with a code");
}

class Nothing : public eph::Computation {
 public:
  void compute(eph::Run&, eph::State*) override {}
};

// Has one block of 8 bytes in the first of its memories.
class TwoMemoriesProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "DeviceExecutionProvider";
  static constexpr std::string_view kName = "device";
  static constexpr std::string_view kVendor = "tests";
  static void get_devices(eph::Host, eph::DeviceList&) {}
  static std::unique_ptr<TwoMemoriesProvider> create(eph::Host, const eph::Options&) {
    return std::make_unique<TwoMemoriesProvider>();
  }

  eph::ArrayView<eph_memory> memories() {
    maybe_fail();
    return memories_;
  }
  void* allocate_memory(uint32_t memory, uint64_t size) {
    maybe_fail();
    return memory == 1 && size == sizeof(block_) ? block_ : nullptr;
  }
  void release_memory(uint32_t, void* data) { std::memset(data, 0, sizeof(block_)); }
  void copy_memory(uint32_t, void* to, uint32_t, const void* from, uint64_t size) {
    maybe_fail();
    std::memcpy(to, from, size);
  }

 private:
  std::vector<eph_memory> memories_{{EPH_STRING("sram"), 64}, {EPH_STRING("dram"), 256}};
  char block_[8] = {};
};

}  // namespace

EPH_DEFINE_PLUGIN("org.ephost.tests.wrapper_memory", "1.0.0", TwoMemoriesProvider)

namespace {

class WrapperMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    fails = false;
    ASSERT_EQ(api_.create(&api_, &host_, &config_, &provider_, &error_), EPH_OK);
    memory_ = static_cast<const eph_device_memory_api*>(
        api_.get_extension(provider_, EPH_STRING(EPH_EXT_DEVICE_MEMORY)));
    ASSERT_NE(memory_, nullptr);
  }
  void TearDown() override { api_.destroy(provider_); }

  const eph_provider_api& api_ = *ephost::test::get_api(eph_plugin_v1())->providers[0];
  FakeHost host_;
  FakeError error_;
  eph_provider_config config_ = {sizeof(config_), nullptr, 0};
  eph_provider* provider_ = nullptr;
  const eph_device_memory_api* memory_ = nullptr;
};

TEST_F(WrapperMemory, ListsAllocatesCopiesAndReleases) {
  EXPECT_EQ(memory_->struct_size, sizeof(eph_device_memory_api));
  const eph_memory* memories = nullptr;
  uint64_t count = 0;
  EXPECT_EQ(memory_->get_memories(provider_, &memories, &count, &error_), EPH_OK);
  ASSERT_EQ(count, 2U);
  EXPECT_EQ(eph::view(memories[1].name), "dram");
  void* block = nullptr;
  void* none = nullptr;
  ASSERT_EQ(memory_->allocate(provider_, 1, 8, &block, &error_), EPH_OK);
  EXPECT_EQ(memory_->copy(provider_, 1, block, 0, "1234567", 8, &error_), EPH_OK);
  EXPECT_STREQ(static_cast<const char*>(block), "1234567");
  EXPECT_EQ(memory_->allocate(provider_, 2, 8, &none, &error_), EPH_FAIL);
  memory_->release(provider_, 1, block);
  EXPECT_STREQ(static_cast<const char*>(block), "");
}

TEST_F(WrapperMemory, TurnsExceptionsIntoCodesAndGivesNothingThen) {
  fails = true;
  const eph_memory* memories = nullptr;
  uint64_t count = 1;
  void* block = &count;
  EXPECT_EQ(memory_->get_memories(provider_, &memories, &count, &error_), EPH_INVALID_GRAPH);
  EXPECT_EQ(memories, nullptr);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(memory_->allocate(provider_, 1, 8, &block, &error_), EPH_INVALID_GRAPH);
  EXPECT_EQ(block, nullptr);
  EXPECT_EQ(memory_->copy(provider_, 1, &count, 0, "", 1, &error_), EPH_INVALID_GRAPH);
}

TEST_F(WrapperMemory, PutsAComputationIntoMemoryOneUnlessItSaysOtherwise) {
  Nothing computation;
  eph_computation_memory places = {};
  places.struct_size = sizeof(places);
  places.memory = 1;
  EXPECT_EQ(memory_->describe(provider_, &computation, &places, &error_), EPH_OK);
  EXPECT_EQ(places.memory, 1U);
  EXPECT_EQ(places.input_count, 0U);
}

// The record of a host that knows less, or more, than the wrapper.
TEST_F(WrapperMemory, DescribesNoMoreThanTheHostKnows) {
  Nothing nothing;
  eph_computation_memory older = {};
  older.struct_size = offsetof(eph_computation_memory, inputs);
  older.memory = 1;
  older.input_count = 77;
  ASSERT_EQ(memory_->describe(provider_, &nothing, &older, &error_), EPH_OK);
  EXPECT_EQ(older.struct_size, offsetof(eph_computation_memory, inputs));
  EXPECT_EQ(older.memory, 1U);
  EXPECT_EQ(older.input_count, 77U);
  struct {
    eph_computation_memory known = {};
    uint64_t added = 77;
  } newer;
  newer.known.struct_size = sizeof(newer);
  newer.known.memory = 1;
  ASSERT_EQ(memory_->describe(provider_, &nothing, &newer.known, &error_), EPH_OK);
  EXPECT_EQ(newer.known.struct_size, sizeof(eph_computation_memory));
  EXPECT_EQ(newer.known.memory, 1U);
  EXPECT_EQ(newer.added, 77U);
  eph_computation_memory none = {};
  EXPECT_EQ(memory_->describe(provider_, &nothing, &none, &error_), EPH_INVALID_ARGUMENT);
}

}  // namespace
