// Computations on a machine that is said to be crowded.
#include "plugins/dnnl/executor/threads/teams.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <chrono>
#include <set>

#include "plugins/openmp/crowd.h"
#include "tests/unit/plugins/dnnl/failing_library.h"
#include "tests/unit/plugins/dnnl/net.h"

namespace ephost::test::teams_test {
namespace {

// Runs the net until teams of so many sizes have, and expects the same results from each. Returns
// the sizes.
std::set<int> sizes_with_the_same_results(Net& net, int threads, std::size_t wanted) {
  ProviderSession session(threads);
  const auto partitions = session.compile(net.graph());
  const std::vector<std::vector<float>> expected = partitions.at(0)->run(net);
  const auto crowd = ephost_openmp::Crowd::shared();
  std::set<int> sizes;
  FailingLibrary watched([&](const Execution&) {
    sizes.insert(omp_get_max_threads());
    return false;
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (sizes.size() < wanted && std::chrono::steady_clock::now() < end) {
    crowd->add(100'000'000, 1000, threads);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(partitions[0]->run(net), expected);
  }
  return sizes;
}

// Convolutions, a sum, pooling and products, with extents that threads divide unevenly.
TEST(Teams, OfFewerThreadsGiveTheSameResults) {
  Net net;
  uint32_t x = net.conv(net.input({1, 3, 19, 19}), 24, 3);
  x = net.add("Relu", {net.add("Add", {x, net.conv(x, 24, 1)})});
  x = net.add("GlobalAveragePool", {x});
  net.output(net.add("Softmax", {net.linear(net.add("Flatten", {x}), 33)}));
  const std::set<int> sizes = sizes_with_the_same_results(net, 4, 2);
  EXPECT_EQ(*sizes.rbegin(), 4);
  EXPECT_EQ(sizes.count(3) + sizes.count(2) > 0, true);
}

// Few results of many terms, which the library may divide by terms: then all threads are needed.
TEST(Teams, OfFewerThreadsDoNotChangeSums) {
  Net net;
  net.output(net.linear(net.input({2, 20000}), 16, false));
  EXPECT_EQ(*sizes_with_the_same_results(net, 16, 5).rbegin(), 16);
}

}  // namespace
}  // namespace ephost::test::teams_test
