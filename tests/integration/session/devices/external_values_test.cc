// Memory of others as values, and the wait for their fences: which handles a device takes and
// gives, what runs do there, and who releases what.
#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "tests/integration/session/devices/device_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::external_values_test {
namespace {

using test::alternating;
using test::IsOk;
using test::kAlternating;
using test::kX;

using ExternalValues = test::DeviceSessions;

External external(ExternalKind kind, const void* address, uint64_t size) {
  return {.kind = kind, .handle = reinterpret_cast<uintptr_t>(address), .offset = 0, .size = size};
}

// Counts what releases it.
std::shared_ptr<const void> counted(int& released) {
  return std::shared_ptr<int>(&released, [](int* count) { ++*count; });
}

TEST_P(ExternalValues, AreReadAndWrittenWhereTheyAre) {
  int released = 0;
  alignas(64) std::array<float, 16> x = {1, -5, 2, -1};
  alignas(64) std::array<float, 16> y = {};
  {
    auto session = create(write(alternating()), on_device());
    ASSERT_THAT(session, IsOk());
    const auto import = [&](std::array<float, 16>& place) {
      return Value::import(memory(), external(ExternalKind::kHostPointer, place.data(), 64),
                           ElementType::kFloat, std::vector<int64_t>{4}, counted(released));
    };
    auto from = import(x);
    auto to = import(y);
    ASSERT_THAT(from, IsOk());
    ASSERT_THAT(to, IsOk());
    EXPECT_EQ(from->device_data(), x.data());
    auto binding = session->create_binding();
    ASSERT_THAT(binding, IsOk());
    ASSERT_THAT(binding->bind_input("x", *from), IsOk());
    ASSERT_THAT(binding->bind_output("y", *to), IsOk());
    for (const float first : {1.0F, 2.0F}) {
      x[0] = first;
      ASSERT_THAT(session->run(*binding), IsOk());
      EXPECT_EQ(y[0], -(first + 1));
      EXPECT_EQ(y[2], kAlternating[2]);
    }
    const auto address = to->export_as(ExternalKind::kPointer);
    ASSERT_THAT(address, IsOk());
    EXPECT_EQ(address->handle + address->offset, reinterpret_cast<uintptr_t>(y.data()));
    EXPECT_EQ(address->size, 16U);
    EXPECT_EQ(to->export_as(ExternalKind::kDmaBuf).status().code(), StatusCode::kNotImplemented);
    const auto again = Value::import(MemoryInfo::of_dlpack(12, 0), *address, ElementType::kFloat,
                                     std::vector<int64_t>{4}, nullptr);
    ASSERT_THAT(again, IsOk());
    EXPECT_EQ(read(*again), read(*to));
  }
  EXPECT_EQ(released, 2);
  (void)report();
}

TEST_P(ExternalValues, AreRefusedWhereTheyDoNotFit) {
  int released = 0;
  alignas(64) std::array<float, 16> x = {};
  {
    auto session =
        create(write(alternating()), on_device({{"fail", "import"}, {"successes", "1"}}));
    ASSERT_THAT(session, IsOk());
    const auto import = [&](const MemoryInfo& where, ExternalKind kind, const float* place,
                            uint64_t size, ElementType type = ElementType::kFloat) {
      return Value::import(where, external(kind, place, size), type, std::vector<int64_t>{4},
                           counted(released))
          .status()
          .code();
    };
    using enum StatusCode;
    const auto kPlace = ExternalKind::kHostPointer;
    EXPECT_EQ(import(memory(), kPlace, x.data(), 15), kInvalidArgument);
    EXPECT_EQ(import(memory(), kPlace, x.data(), 64, ElementType::kString), kInvalidArgument);
    EXPECT_EQ(import(memory(), ExternalKind::kDmaBuf, x.data(), 64), kNotImplemented);
    EXPECT_EQ(import(memory("sram"), kPlace, x.data(), 64), kNotImplemented);
    EXPECT_EQ(import(MemoryInfo::cpu(), kPlace, x.data(), 64), kInvalidArgument);
    EXPECT_EQ(import(MemoryInfo::of_dlpack(2, 0), kPlace, x.data(), 64), kInvalidArgument);
    EXPECT_EQ(import(memory(), kPlace, x.data() + 1, 32), kInvalidArgument);  // by the device
    EXPECT_EQ(import(memory(), kPlace, x.data(), 64), kEngineError);
    EXPECT_EQ(Value::of<float>({4}, kX)->export_as(ExternalKind::kPointer).status().code(),
              kInvalidArgument);
    EXPECT_EQ(released, 8) << "by the caller, to whom they still belong";
  }
  (void)report();
}

TEST_P(ExternalValues, WaitForFences) {
  auto session = create(write(alternating()), on_device());
  ASSERT_THAT(session, IsOk());
  std::atomic<uint64_t> queue{0};
  bool is_done = false;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    is_done = true;
    queue.store(1);
  });
  EXPECT_THAT(Value::wait_for(memory(), external(ExternalKind::kQueue, &queue, 0)), IsOk());
  EXPECT_TRUE(is_done);
  other.join();
  EXPECT_THAT(Value::wait_for(memory(), {.kind = ExternalKind::kQueue}), IsOk());
  EXPECT_EQ(Value::wait_for(memory(), {.kind = ExternalKind::kSyncFile}).code(),
            StatusCode::kNotImplemented);
}

INSTANTIATE_TEST_SUITE_P(All, ExternalValues, ::testing::ValuesIn(test::device_kinds()),
                         test::name_of);

}  // namespace
}  // namespace ephost::external_values_test
