// Messages of a session whose device fails; nothing leaks.
#include <gmock/gmock.h>

#include "tests/integration/session/devices/device_sample.h"
#include "tests/support/status_matchers.h"

namespace ephost::device_faults_test {
namespace {

using test::alternating;
using test::float_type;
using test::Inputs;
using test::IsOk;
using test::kAlternating;
using test::kX;
using test::named_floats;
using ::testing::AllOf;
using ::testing::HasSubstr;

class DeviceFault : public test::DeviceSession {
 protected:
  // The message of a session, or of its first run, if a call fails after the given number of calls.
  std::string failure(const char* kind, const char* successes, graph::Graph graph) {
    auto session =
        create(write(std::move(graph)), on_device({{"fail", kind}, {"successes", successes}}));
    if (!session.ok()) return session.status().message();
    const auto outputs = session->run(Inputs{named_floats("x", {4}, kX)});
    if (!outputs.ok()) return outputs.status().message();
    return "it worked";
  }
};

TEST_F(DeviceFault, NamesProviderAndValueWhereACopyFails) {
  EXPECT_THAT(failure("copy_in", "0", alternating()),
              AllOf(HasSubstr("DeviceExecutionProvider failed copying constant \"w"),
                    HasSubstr("(16 bytes) from host memory to \"dram\": the bus is down")));
  (void)report();
  EXPECT_THAT(failure("copy_in", "1", alternating()),
              AllOf(HasSubstr("running Memcpy node \"x to device:dram\""),
                    HasSubstr("DeviceExecutionProvider failed copying value \"x\" (16 bytes) from "
                              "host memory to \"dram\": the bus is down")));
  (void)report();
  EXPECT_THAT(
      failure("copy_out", "0", alternating()),
      AllOf(HasSubstr("running Memcpy node \"y to host\""), HasSubstr("from \"dram\" to host")));
  (void)report();
}

TEST_F(DeviceFault, NamesProviderAndPurposeWhereMemoryRunsOut) {
  EXPECT_THAT(failure("allocate", "0", alternating()),
              HasSubstr("DeviceExecutionProvider failed allocating 16 bytes in \"dram\" for the "
                        "constants of graph \"flow\": the device is full"));
  (void)report();
  EXPECT_THAT(failure("allocate", "1", alternating()),
              HasSubstr("for the block of intermediate values: the device is full"));
  (void)report();
}

TEST_F(DeviceFault, NamesTheValueWhereMemoryRunsOutInARun) {
  graph::Graph graph = alternating();
  for (graph::Value& value : graph.values) {
    if (!value.is_constant()) value.type = float_type(graph::Shape{-1});
  }
  EXPECT_THAT(failure("allocate", "2", std::move(graph)),
              AllOf(HasSubstr("for value \"x@device:dram\""),
                    HasSubstr("DeviceExecutionProvider failed allocating"),
                    HasSubstr("the device is full")));
  (void)report();
}

TEST_F(DeviceFault, RefusesMemoryThatIsNullOrMisaligned) {
  EXPECT_THAT(failure("null", "0", alternating()), HasSubstr("is out of 16 bytes"));
  (void)report();
  EXPECT_THAT(failure("misalign", "0", alternating()),
              HasSubstr("gave no memory, or memory that is not aligned to 64 bytes"));
  (void)report();
}

TEST_F(DeviceFault, RefusesAComputationInAMemoryThatDoesNotExist) {
  SessionOptions options = on_device({{"misplace", "1"}});
  options.add_config_entry("session.disable_ep_fallback", "1");
  const auto session = create(write(alternating()), options);
  EXPECT_THAT(session.status().message(),
              HasSubstr("puts values of a computation into memory 7, which does not exist"));
  (void)report();
}

TEST_F(DeviceFault, GoesOnAfterAFailedRun) {
  auto session =
      create(write(alternating()), on_device({{"fail", "copy_out"}, {"successes", "2"}}));
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(run(*session, kX), kAlternating);
  EXPECT_EQ(run(*session, kX), kAlternating);
  EXPECT_FALSE(session->run(Inputs{named_floats("x", {4}, kX)}).ok());
}

}  // namespace
}  // namespace ephost::device_faults_test
