// Memories of devices that the host can read and write, that share their addresses, or between
// which devices copy: what is copied, and that the results stay those of the CPU.
#include <gmock/gmock.h>

#include "tests/integration/session/devices/device_sample.h"
#include "tests/integration/session/devices/random_model.h"
#include "tests/support/status_matchers.h"

namespace ephost::shared_addresses_test {
namespace {

using test::alternating;
using test::DeviceReport;
using test::Inputs;
using test::IsOk;
using test::kAlternating;
using test::kX;
using test::named_floats;

class SharedAddresses : public test::DeviceSessions {
 protected:
  ~SharedAddresses() override { ::unsetenv("EPHOST_TEST_DEVICE_MEMORY"); }
  static void set_memory(const std::string& kind) {
    ::setenv("EPHOST_TEST_DEVICE_MEMORY", kind.c_str(), 1);
  }
  // The second device is one with streams where the first has none, and the other way round.
  [[nodiscard]] SessionOptions on_two(const std::string& first, const std::string& second,
                                      OptionList options = {}) const {
    options.emplace_back("nodes", first);
    SessionOptions session = on_device(std::move(options));
    session.append_execution_provider(
        kind_.provider == "device" ? "streams" : "device",
        {{"nodes", second}, {"report", (folder_ / "other").native()}});
    return session;
  }
  // Runs the model three times with each kind of memory, and counts the copies of the first device.
  std::vector<DeviceReport> counts_of(const SessionOptions& options) {
    const auto model = write(alternating());
    std::vector<DeviceReport> counts;
    for (const char* const kind : {"", "unified", "peers"}) {
      SCOPED_TRACE(kind);
      set_memory(kind);
      {
        auto session = create(model, options);
        EXPECT_THAT(session, IsOk());
        for (int i = 0; session.ok() && i < 3; ++i) EXPECT_EQ(run(*session, kX), kAlternating);
      }
      counts.push_back(report());
    }
    return counts;
  }
};

// Relu, on the CPU, reads what the device has computed, and writes what it reads next.
TEST_P(SharedAddresses, LetTheHostReadAndWriteOnTheDevice) {
  const std::vector<DeviceReport> counts = counts_of(on_device({{"nodes", "add,mul,neg"}}));
  EXPECT_EQ(counts[0].copies_in, 1U + 3 * 2);
  EXPECT_EQ(counts[0].copies_out, 3U * 2);
  EXPECT_EQ(counts[1].copies_in, 1U + 3);
  EXPECT_EQ(counts[1].copies_out, 3U);
  EXPECT_EQ(counts[2].copies_in, counts[0].copies_in) << "the host is not a peer";
}

TEST_P(SharedAddresses, LetDevicesReadEachOthersValues) {
  const std::vector<DeviceReport> counts = counts_of(on_two("add,mul,neg", "relu"));
  // x in and y out, and through the host: a out and b in.
  EXPECT_EQ(counts[0].copies_in, 1U + 3 * 2);
  EXPECT_EQ(counts[0].copies_out, 3U * 2);
  EXPECT_EQ(counts[1].copies_in, 1U + 3);
  EXPECT_EQ(counts[1].copies_out, 3U);
  EXPECT_EQ(counts[1].copies_within, 0U);
  EXPECT_EQ(counts[2].copies_in, 1U + 3);
  EXPECT_EQ(counts[2].copies_out, 3U);
  EXPECT_EQ(counts[2].copies_within, 3U) << "b comes from the other device";
}

TEST_P(SharedAddresses, GiveTheSameBitsAsTheCpuForRandomModels) {
  uint64_t copies[2] = {0, 0};
  for (uint64_t seed = 0; seed < test::random_model_count(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::RandomDeviceModel random = test::random_device_model(seed);
    const SessionOptions on_devices = on_two(random.on_device, random.on_other,
                                             {{"sram", random.in_sram},
                                              {"fuse", seed % 4 == 0 ? "1" : "0"},
                                              {"accepts", seed % 3 == 0 ? "3" : "0"}});
    const auto model = write(std::move(random.graph));
    SessionOptions on_cpu;
    on_cpu.set_graph_optimization_level(GraphOptimizationLevel::kDisableAll);
    auto expected_session = create(model, on_cpu);
    ASSERT_THAT(expected_session, IsOk());
    for (const std::string kind : {"", "unified", "peers"}) {
      SCOPED_TRACE(kind);
      set_memory(kind);
      SessionOptions options = on_devices;
      options.enable_mem_pattern(seed % 7 != 0);
      if (seed % 2 == 0) options.set_execution_mode(ExecutionMode::kParallel);
      {
        auto session = create(model, options);
        ASSERT_THAT(session, IsOk());
        for (const uint64_t round : {0, 1, 2}) {
          const Inputs inputs = {named_floats("x", {8}, test::random_device_input(seed, round))};
          const auto expected = expected_session->run(inputs);
          const auto outputs = session->run(inputs);
          ASSERT_THAT(outputs, IsOk());
          for (size_t i = 0; i < outputs->size(); ++i) {
            EXPECT_TRUE(std::ranges::equal((*outputs)[i].bytes(), (*expected)[i].bytes()));
          }
        }
      }
      const DeviceReport counts = report();
      if (kind != "peers") {
        copies[kind == "unified" ? 1 : 0] += counts.copies_in + counts.copies_out;
      }
    }
  }
  EXPECT_LT(copies[1], copies[0]);
}

INSTANTIATE_TEST_SUITE_P(All, SharedAddresses, ::testing::ValuesIn(test::device_kinds()),
                         test::name_of);

}  // namespace
}  // namespace ephost::shared_addresses_test
