// The C++ wrapper of ephost.device/1 as the host sees it.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <ephost/plugin.hpp>

#include "tests/support/fake_host.h"

namespace {

using ephost::test::FakeError;
using ephost::test::FakeHost;

bool fails = false;
int open_devices = 0;

void maybe_fail() {
  if (fails) throw eph::Failure(EPH_INVALID_GRAPH, "a failure with a code");
}

// Has one block of 8 bytes in the first of its memories.
class TwoMemories : public eph::Device {
 public:
  explicit TwoMemories(std::string_view given) : id(given) { ++open_devices; }
  ~TwoMemories() override { --open_devices; }

  eph::ArrayView<eph_memory_info> memories() override {
    maybe_fail();
    return memories_;
  }
  void* allocate(uint32_t memory, uint64_t size) override {
    maybe_fail();
    return memory == 1 && size == sizeof(block_) ? block_ : nullptr;
  }
  void release(uint32_t, void* data) noexcept override { std::memset(data, 0, sizeof(block_)); }
  void trim(uint32_t memory) noexcept override { trimmed = memory; }
  void copy(const eph_copy& copy) override {
    maybe_fail();
    std::memcpy(copy.to, copy.from, copy.size);
  }
  void check_status() override {
    if (fails) throw eph::Failure(EPH_DEVICE_LOST, "it was pulled out");
  }

  const std::string id;
  uint32_t trimmed = 0;

 private:
  std::vector<eph_memory_info> memories_{eph::make_memory("sram", 64),
                                         eph::make_memory("dram", 256)};
  char block_[8] = {};
};

class DeviceProvider : public eph::Provider {
 public:
  static constexpr std::string_view kTypeName = "DeviceExecutionProvider";
  static constexpr std::string_view kName = "device";
  static constexpr std::string_view kVendor = "tests";
  static void get_devices(eph::Host, eph::DeviceList&) {}
  static std::unique_ptr<eph::Device> open_device(eph::Host, const eph_device& device) {
    maybe_fail();
    return std::make_unique<TwoMemories>(eph::view(device.id));
  }
  static std::unique_ptr<DeviceProvider> create(eph::Host, const eph::Config& config) {
    auto made = std::make_unique<DeviceProvider>();
    made->device = eph::opened<TwoMemories>(config, 0);
    return made;
  }
  TwoMemories* device = nullptr;
};

}  // namespace

EPH_DEFINE_PLUGIN("org.ephost.tests.wrapper_device", "1.0.0", DeviceProvider)

namespace {

class WrapperDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    fails = false;
    devices_ =
        static_cast<const eph_device_api*>(api_.get_extension(&api_, EPH_STRING(EPH_EXT_DEVICE)));
    ASSERT_NE(devices_, nullptr);
    const eph_device device = {sizeof(eph_device), EPH_STRING("one")};
    ASSERT_EQ(devices_->open(devices_, &host_, &device, &device_, &error_), EPH_OK);
  }
  void TearDown() override {
    devices_->close(device_);
    EXPECT_EQ(open_devices, 0);
  }

  const eph_provider_api& api_ = *ephost::test::get_api(eph_plugin_v1())->providers[0];
  FakeHost host_;
  FakeError error_;
  const eph_device_api* devices_ = nullptr;
  eph_device_handle* device_ = nullptr;
};

TEST_F(WrapperDevice, ListsAllocatesCopiesAndReleases) {
  EXPECT_EQ(devices_->struct_size, sizeof(eph_device_api));
  const eph_memory_info* memories = nullptr;
  uint64_t stride = 0;
  uint64_t count = 0;
  EXPECT_EQ(devices_->get_memories(device_, &memories, &stride, &count, &error_), EPH_OK);
  ASSERT_EQ(count, 2U);
  EXPECT_EQ(stride, sizeof(eph_memory_info));
  EXPECT_EQ(eph::view(memories[1].name), "dram");
  void* block = nullptr;
  void* none = nullptr;
  ASSERT_EQ(devices_->allocate(device_, 1, 8, &block, &error_), EPH_OK);
  // Records of a later host are longer.
  struct Longer {
    eph_copy known;
    uint64_t added = 77;
  };
  auto* const bytes = static_cast<char*>(block);
  const std::array<Longer, 2> copies = {
      {{{sizeof(Longer), bytes, "1234", 1, 0, 4}}, {{sizeof(Longer), bytes + 4, "567", 1, 0, 4}}}};
  EXPECT_EQ(devices_->copy(device_, &copies[0].known, sizeof(Longer), 2, &error_), EPH_OK);
  EXPECT_STREQ(bytes, "1234567");
  EXPECT_EQ(devices_->allocate(device_, 2, 8, &none, &error_), EPH_OUT_OF_MEMORY);
  devices_->release(device_, 1, block);
  EXPECT_STREQ(bytes, "");
  devices_->trim(device_, 2);
  EXPECT_EQ(static_cast<TwoMemories&>(eph::Device::of(device_)).trimmed, 2U);
}

TEST_F(WrapperDevice, TurnsExceptionsIntoCodesAndGivesNothingThen) {
  fails = true;
  const eph_memory_info* memories = nullptr;
  uint64_t stride = 0;
  uint64_t count = 1;
  void* block = &count;
  EXPECT_EQ(devices_->get_memories(device_, &memories, &stride, &count, &error_),
            EPH_INVALID_GRAPH);
  EXPECT_EQ(memories, nullptr);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(devices_->allocate(device_, 1, 8, &block, &error_), EPH_INVALID_GRAPH);
  EXPECT_EQ(block, nullptr);
  const eph_copy copy = {sizeof(copy), &count, "", 1, 0, 1};
  EXPECT_EQ(devices_->copy(device_, &copy, sizeof(copy), 1, &error_), EPH_INVALID_GRAPH);
  EXPECT_EQ(devices_->get_status(device_, &error_), EPH_DEVICE_LOST);
  const eph_device device = {sizeof(eph_device), EPH_STRING("two")};
  eph_device_handle* second = device_;
  EXPECT_EQ(devices_->open(devices_, &host_, &device, &second, &error_), EPH_INVALID_GRAPH);
  EXPECT_EQ(second, nullptr);
}

TEST_F(WrapperDevice, IsGivenToTheProvider) {
  const eph_device device = {sizeof(eph_device), EPH_STRING("one")};
  eph_provider_config config = {};
  config.struct_size = sizeof(config);
  config.devices = &device;
  config.device_stride = sizeof(device);
  config.device_count = 1;
  for (eph_device_handle* const* const opened :
       {&device_, static_cast<eph_device_handle**>(nullptr)}) {
    config.opened = opened;
    eph_provider* provider = nullptr;
    ASSERT_EQ(api_.create(&api_, &host_, &config, &provider, &error_), EPH_OK);
    TwoMemories* const given = reinterpret_cast<DeviceProvider*>(provider)->device;
    EXPECT_EQ(given == nullptr, opened == nullptr);
    if (given != nullptr) {
      EXPECT_EQ(given->id, "one");
    }
    api_.destroy(provider);
  }
}

TEST_F(WrapperDevice, IsTheOnlyInterfaceThatNeedsNoProvider) {
  EXPECT_EQ(api_.get_extension(&api_, EPH_STRING("ephost.device/2")), nullptr);
  EXPECT_EQ(devices_->get_status(device_, &error_), EPH_OK);
}

}  // namespace
