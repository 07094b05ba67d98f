// What becomes of primitives that leave their arguments when they are tried, through the C ABI.
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/unit/plugins/dnnl/failing_library.h"
#include "tests/unit/plugins/dnnl/net.h"

namespace ephost::test::stray_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Access {
  int64_t distance;
  bool writes;
};
// Behind the last byte and before the first one, near and far. Reads are noticed in other pages.
const Access kAccesses[] = {{0, true},     {7, true},     {5000, true}, {-1, true},
                            {-5000, true}, {4095, false}, {-1, false}};

void build(Net& net) {
  const uint32_t x = net.conv(net.input({1, 5, 6, 6}), 13, 3);
  net.output(net.add("Relu", {x}));
}

TEST(DnnlStray, ReplacesAPrimitiveThatTouchesMemoryBeyondItsArguments) {
  for (const auto& [distance, writes] : kAccesses) {
    SCOPED_TRACE(distance);
    Net net;
    build(net);
    std::string straying;
    ProviderSession session(1);
    std::vector<std::unique_ptr<Partition>> partitions;
    {
      StrayingLibrary library(
          [&](const Execution& execution) {
            if (straying.empty() && execution.kind == dnnl_convolution) {
              straying = execution.implementation;
            }
            return execution.kind == dnnl_convolution && execution.implementation == straying;
          },
          distance, writes);
      partitions = session.compile(net.graph());
      EXPECT_GE(library.accesses(), 1);
    }
    std::set<std::string> used;
    FailingLibrary observer([&](const Execution& execution) {
      if (execution.kind == dnnl_convolution) used.insert(execution.implementation);
      return false;
    });
    expect_reference(net, *partitions.at(0));
    EXPECT_EQ(used.count(straying), 0U) << straying;
  }
}

TEST(DnnlStray, TakesAFusionApartThatNoPrimitiveComputesInsideItsMemory) {
  if (dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::sse41) {
    GTEST_SKIP() << "on SSE4.1 nothing is fused with this convolution";
  }
  Net net;
  build(net);
  ProviderSession session(1);
  std::vector<std::unique_ptr<Partition>> partitions;
  {
    StrayingLibrary library(
        [](const Execution& execution) {
          return execution.kind == dnnl_convolution && execution.has_post_ops;
        },
        0, true);
    partitions = session.compile(net.graph());
    EXPECT_GE(library.accesses(), 2);
  }
  int functions = 0;
  FailingLibrary observer([&](const Execution& execution) {
    EXPECT_FALSE(execution.kind == dnnl_convolution && execution.has_post_ops);
    if (execution.kind == dnnl_eltwise) ++functions;
    return false;
  });
  expect_reference(net, *partitions.at(0));
  EXPECT_EQ(functions, 1);
}

TEST(DnnlStray, RefusesAPartitionWhoseEveryPrimitiveTouchesOtherMemory) {
  Net net;
  build(net);
  StrayingLibrary library(
      [](const Execution& execution) { return execution.kind == dnnl_convolution; }, 0, true);
  ProviderSession session(1);
  FakeError error;
  int32_t code = EPH_OK;
  EXPECT_THAT(session.compile(net.graph(), error, code), IsEmpty());
  EXPECT_EQ(code, EPH_EP_FAIL);
  EXPECT_THAT(error.message, HasSubstr("oneDNN has no primitive for Convolution"));
}

// What a trial does not see, as it runs on zeros, the comparisons with the reference do.
TEST(DnnlStray, ComparisonsWithTheReferenceNoticeWhatTouchesMemoryInARun) {
  for (const auto& [distance, writes] : kAccesses) {
    SCOPED_TRACE(distance);
    Net net;
    build(net);
    ProviderSession session(1);
    const auto partitions = session.compile(net.graph());
    StrayingLibrary straying(
        [](const Execution& execution) { return execution.kind == dnnl_convolution; }, distance,
        writes);
    EXPECT_NONFATAL_FAILURE(expect_reference(net, *partitions.at(0)), "argument 17");
    EXPECT_EQ(straying.accesses(), 2);  // on either side
  }
}

}  // namespace
}  // namespace ephost::test::stray_test
