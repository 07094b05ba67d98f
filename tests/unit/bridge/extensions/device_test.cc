#include "host/bridge/extensions/device.h"

#include <gmock/gmock.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/unit/bridge/extensions/toy_device.h"

namespace ephost::bridge::device_test {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using toy::DeviceTest;
using toy::plugin;
using toy::table;

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
  plugin().places = {};
  plugin().places.accepts = 0b101;
  EXPECT_THAT(make_kernel(**provider)->memory().accepted, ::testing::ElementsAre(0U, 2U));
  plugin().places.accepts = 0b1000;
  EXPECT_THAT(refusal(make_kernel(**provider).status()),
              HasSubstr("memory 3, which does not exist"));
}

TEST_F(DeviceTest, KnowsWhatMemoriesShare) {
  eph_memory_info& first = plugin().memories[0];
  first.flags = EPH_MEMORY_HOST_READABLE;
  first.domain = EPH_STRING("unified");
  first.peers = EPH_STRING("link");
  first.alignment = 256;
  eph_memory_info& second = plugin().memories[1];
  second.flags = EPH_MEMORY_HOST_WRITABLE;
  second.domain = EPH_STRING("unified");
  second.alignment = 64;
  second.tail_padding = 0;
  const auto provider = create({"one"});
  ASSERT_THAT(provider, IsOk());
  const MemoryInfo& coarse = (*provider)->memories()[0].info();
  const MemoryInfo& fine = (*provider)->memories()[1].info();
  EXPECT_TRUE(coarse.is_host_readable);
  EXPECT_FALSE(coarse.is_host_writable);
  EXPECT_FALSE(fine.is_host_readable);
  EXPECT_TRUE(fine.is_host_writable);
  EXPECT_EQ(coarse.peers, "link");
  EXPECT_EQ(fine.peers, "");
  EXPECT_TRUE(fine.is_served_by(coarse));
  EXPECT_FALSE(coarse.is_served_by(fine));  // less aligned
  MemoryInfo padded = fine;
  padded.tail_padding = 16;
  EXPECT_EQ(padded.is_served_by(coarse), coarse.tail_padding >= 16);
  EXPECT_TRUE(fine.is_served_by(padded));
  EXPECT_FALSE(MemoryInfo().is_served_by(MemoryInfo()));  // no domain
}

TEST_F(DeviceTest, RefusesComputationsInMemoryForStaging) {
  plugin().memories[1].flags = EPH_MEMORY_STAGING;
  const auto provider = create({"one"});
  ASSERT_THAT(provider, IsOk());
  const eph_slot_memory slots[] = {{0, 1}, {1, 2}};
  const auto expect_refused = [&] {
    EXPECT_THAT(refusal(make_kernel(**provider).status()), HasSubstr("a memory for staging"));
    plugin().places = {};
  };
  plugin().places.memory = 2;
  expect_refused();
  plugin().places.input_memories = slots;
  plugin().places.input_memory_count = 2;
  expect_refused();
  plugin().places.accepts = 0b100;
  expect_refused();
  EXPECT_THAT(make_kernel(**provider), IsOk());
}

}  // namespace
}  // namespace ephost::bridge::device_test
