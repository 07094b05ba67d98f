// The provider as a whole: its kernel list, options, devices, use from several threads, unloading.
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/cpu_test.h"

namespace ephost::test::provider_test {
namespace {

TEST(CpuProvider, ReportsItsNames) {
  const eph_provider_api& api = cpu_session().api();
  EXPECT_EQ(eph::view(api.type_name), "CPUExecutionProvider");
  EXPECT_EQ(eph::view(api.name), "cpu");
  EXPECT_EQ(eph::view(api.vendor), "ephost");
  EXPECT_EQ(api.compile, nullptr);
}

TEST(CpuProvider, HasOneDeviceWithAnInstructionSet) {
  FakeHost host;
  FakeDeviceList list;
  FakeError error;
  ASSERT_EQ(cpu_session().api().get_devices(&cpu_session().api(), &host, &list, &error), EPH_OK)
      << error.message;
  ASSERT_EQ(list.architectures.size(), 1U);
  EXPECT_EQ(list.architectures[0].rfind("x86-64", 0), 0U);
}

TEST(CpuProvider, ListsKernelsWithoutOverlap) {
  const eph_kernel_def* kernels = nullptr;
  uint64_t count = 0;
  FakeError error;
  ASSERT_EQ(cpu_session().api().get_kernels(cpu_session().provider(), &kernels, &count, &error),
            EPH_OK);
  std::set<std::pair<std::string, int32_t>> seen;
  for (uint64_t i = 0; i < count; ++i) {
    const eph_kernel_def& kernel = kernels[i];
    const std::string operation =
        std::string(eph::view(kernel.domain)) + ":" + std::string(eph::view(kernel.op_type));
    EXPECT_LE(kernel.since_version, kernel.until_version);
    for (int32_t version = kernel.since_version; version <= kernel.until_version; ++version) {
      EXPECT_TRUE(seen.emplace(operation, version).second) << operation << " " << version;
    }
    for (uint64_t r = 0; r < kernel.rule_count; ++r) EXPECT_NE(kernel.rules[r].element_types, 0U);
  }
}

TEST(CpuProvider, RefusesAThreadCountOutOfRange) {
  cpu_session();  // keeps libgomp loaded, which loses a few bytes each time it is unloaded
  EXPECT_THROW(PluginSession(CPU_PLUGIN, {{"num_threads", -1}}), std::runtime_error);
  try {
    PluginSession session(CPU_PLUGIN, {{"num_threads", 1025}});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "option num_threads=1025 is outside of 0..1024");
  }
}

Tensor convolve(PluginSession& session) {
  SingleNodeGraph node("Conv", 11);
  node.input(random_floats({1, 16, 40, 40}, 1)).constant(random_floats({16, 16, 3, 3}, 2)).output();
  const Outcome outcome = session.run(node);
  EXPECT_THAT(outcome, IsOk());
  return outcome.ok() ? outcome.outputs[0] : Tensor();
}

TEST(CpuProvider, GivesTheSameWithAnyNumberOfThreads) {
  const Tensor expected = convolve(cpu_session());
  for (const int64_t threads : {1, 2, 3}) {
    PluginSession session(CPU_PLUGIN, {{"num_threads", threads}});
    EXPECT_EQ(difference(convolve(session), expected), "") << threads;
  }
}

// The library is unloaded while the threads of its parallel loops live on.
TEST(CpuProvider, CanBeUnloadedAndLoadedAgain) {
  for (int i = 0; i < 3; ++i) {
    PluginSession session(CPU_PLUGIN);
    convolve(session);
    SingleNodeGraph regex("RegexFullMatch", 20);
    regex.input(strings({1}, {"a"})).output().attribute("pattern", std::string("a*"));
    EXPECT_THAT(session.run(regex), IsOk());  // its library must not leak
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

// One kernel, several threads with a state each; half of them see other shapes than the others.
TEST(CpuProvider, RunsOneKernelInSeveralThreads) {
  const auto run_concurrently = [](const std::string& op_type, int32_t version,
                                   const Tensor& second, const std::vector<Tensor>& firsts) {
    SingleNodeGraph made_from(op_type, version);
    made_from.state(Stated::kTypes).input(firsts[0]).constant(second).output();
    FakeError error;
    eph_computation* kernel = nullptr;
    PluginSession& session = cpu_session();
    ASSERT_EQ(session.api().create_kernel(session.provider(), &made_from, 0, &kernel, &error),
              EPH_OK);
    std::atomic<int> failures = 0;
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        const auto node = make_node(op_type, version, {firsts[t % firsts.size()], second});
        const Tensor expected = run_one(op_type, version, {firsts[t % firsts.size()], second});
        KernelSession shared(kernel, *node, /*owns=*/false);
        for (int i = 0; i < 20; ++i) {
          const Outcome outcome = shared.run();
          if (!outcome.ok() || !difference(outcome.outputs[0], expected).empty()) ++failures;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    kernel->api->destroy(kernel);
    EXPECT_EQ(failures, 0) << op_type;
  };
  run_concurrently("Conv", 11, random_floats({8, 8, 3, 3}, 1),
                   {random_floats({1, 8, 20, 20}, 2), random_floats({1, 8, 9, 30}, 3)});
  run_concurrently("MatMul", 13, random_floats({64, 48}, 1),
                   {random_floats({30, 64}, 2), random_floats({7, 64}, 3)});
  run_concurrently("Add", 14, random_floats({64}, 1),
                   {random_floats({30, 64}, 2), random_floats({7, 64}, 3)});
}

}  // namespace
}  // namespace ephost::test::provider_test
