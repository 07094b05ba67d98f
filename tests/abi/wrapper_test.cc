// The C++ wrapper as the host sees it, through the tables that it makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ephost/plugin.hpp>

#include "tests/abi/wrapper_plugin.h"
#include "tests/support/fake_claims.h"
#include "tests/support/fake_context_writer.h"
#include "tests/support/fake_graph.h"
#include "tests/support/fake_host.h"
#include "tests/support/fake_run.h"

using ephost::test::alive;
using ephost::test::BareProvider;
using ephost::test::FullProvider;
using ephost::test::Throws;
using ephost::test::throws;

EPH_DEFINE_PLUGIN("org.ephost.tests.wrapper", "4.5.6", FullProvider, BareProvider)

namespace {

using ephost::test::FakeClaims;
using ephost::test::FakeContextWriter;
using ephost::test::FakeDeviceList;
using ephost::test::FakeError;
using ephost::test::FakeGraph;
using ephost::test::FakeHost;
using ephost::test::FakeRun;
using ephost::test::get_api;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const eph_provider_api& full() { return *ephost::test::get_api(eph_plugin_v1())->providers[0]; }
const eph_provider_api& bare() { return *ephost::test::get_api(eph_plugin_v1())->providers[1]; }

class Wrapper : public ::testing::Test {
 protected:
  void SetUp() override {
    throws = Throws::kNothing;
    alive = 0;
    ASSERT_EQ(full().create(&full(), &host_, &config_, &provider_, &error_), EPH_OK);
  }
  void TearDown() override {
    throws = Throws::kNothing;
    full().destroy(provider_);
    EXPECT_EQ(alive, 0);
  }

  eph_computation* make_kernel() {
    eph_computation* kernel = nullptr;
    EXPECT_EQ(full().create_kernel(provider_, &graph_, 0, &kernel, &error_), EPH_OK);
    return kernel;
  }

  FakeHost host_;
  FakeError error_;
  FakeGraph graph_;
  eph_provider_config config_ = {sizeof(config_), nullptr, 0};
  eph_provider* provider_ = nullptr;
};

TEST_F(Wrapper, DescribesThePluginInItsPreamble) {
  const eph_plugin_preamble* preamble = eph_plugin_v1();
  EXPECT_EQ(preamble, eph_plugin_v1());
  EXPECT_EQ(preamble->struct_size, sizeof(eph_plugin_preamble));
  EXPECT_EQ(preamble->abi_minor_max, uint32_t{EPH_ABI_MINOR});
  EXPECT_EQ(eph::view(preamble->id), "org.ephost.tests.wrapper");
  EXPECT_EQ(eph::view(preamble->version), "4.5.6");
  EXPECT_EQ(get_api(preamble, 0), get_api(preamble, 0));
  EXPECT_EQ(get_api(preamble, 0)->provider_count, 2U);
  EXPECT_EQ(get_api(preamble, EPH_ABI_MINOR + 1), nullptr);
  EXPECT_EQ(eph::view(bare().type_name), "BareExecutionProvider");
}

TEST_F(Wrapper, GivesNullSlotsForOmittedFunctions) {
  EXPECT_NE(bare().create, nullptr);
  EXPECT_NE(bare().destroy, nullptr);
  EXPECT_NE(bare().get_devices, nullptr);
  EXPECT_EQ(bare().get_capability, nullptr);
  EXPECT_EQ(bare().get_kernels, nullptr);
  EXPECT_EQ(bare().create_kernel, nullptr);
  EXPECT_EQ(bare().compile, nullptr);
  EXPECT_EQ(bare().get_ep_context_nodes, nullptr);
  EXPECT_EQ(bare().get_compatibility, nullptr);
  EXPECT_EQ(bare().validate, nullptr);
  EXPECT_EQ(bare().list_targets, nullptr);
  EXPECT_EQ(bare().get_provider_extension, nullptr);
}

TEST_F(Wrapper, DestroysNull) {
  full().destroy(nullptr);
  eph_computation* kernel = make_kernel();
  kernel->api->destroy(nullptr);
  kernel->api->release_state(kernel, nullptr);
  kernel->api->destroy(kernel);
}

TEST_F(Wrapper, TurnsEachKindOfExceptionIntoACodeWithItsMessage) {
  const struct {
    Throws what;
    int32_t code;
    const char* message;
  } cases[] = {{Throws::kFailure, EPH_INVALID_GRAPH, "a failure with a code"},
               {Throws::kFailureWithOk, EPH_FAIL, "a failure that claims success"},
               {Throws::kStandard, EPH_FAIL, "a standard exception"},
               {Throws::kBadAlloc, EPH_OUT_OF_MEMORY, "the plugin ran out of memory"},
               {Throws::kOther, EPH_FAIL, "an exception of an unknown type"}};
  for (const auto& one : cases) {
    throws = one.what;
    FakeDeviceList devices;
    EXPECT_EQ(full().get_devices(&full(), &host_, &devices, &error_), one.code);
    EXPECT_THAT(error_.message, HasSubstr(one.message));
  }
}

TEST_F(Wrapper, LetsNoExceptionOutOfAnyFunction) {
  eph_computation* kernel = make_kernel();
  FakeClaims claims;
  FakeContextWriter writer;
  FakeRun run({{{1}, {1}}});
  const eph_partition partition = {sizeof(partition), &graph_, EPH_STRING("p"), nullptr};
  eph_provider* provider = nullptr;
  eph_computation* made = nullptr;
  const eph_kernel_def* kernels = nullptr;
  uint64_t count = 0;
  void* state = nullptr;
  eph_string text = {};
  int32_t level = 0;
  throws = Throws::kOther;
  EXPECT_EQ(full().create(&full(), &host_, &config_, &provider, &error_), EPH_FAIL);
  EXPECT_EQ(full().get_capability(provider_, &graph_, &claims, &error_), EPH_FAIL);
  EXPECT_EQ(full().get_kernels(provider_, &kernels, &count, &error_), EPH_FAIL);
  EXPECT_EQ(full().create_kernel(provider_, &graph_, 0, &made, &error_), EPH_FAIL);
  EXPECT_EQ(full().compile(provider_, &partition, sizeof(partition), 1, &made, &error_), EPH_FAIL);
  EXPECT_EQ(full().get_ep_context_nodes(provider_, &kernel, 1, &writer, &error_), EPH_FAIL);
  EXPECT_EQ(full().get_compatibility(provider_, &text, &error_), EPH_FAIL);
  FakeDeviceList targets;
  const eph_device device = {sizeof(device), EPH_STRING("abacus-1")};
  EXPECT_EQ(full().validate(&full(), &host_, &device, text, &level, &error_), EPH_FAIL);
  EXPECT_EQ(full().list_targets(&full(), &host_, &targets, &error_), EPH_FAIL);
  EXPECT_EQ(full().get_provider_extension(provider_, eph::to_abi("known/1")), nullptr);
  EXPECT_EQ(kernel->api->compute(kernel, nullptr, &run, &error_), EPH_FAIL);
  EXPECT_EQ(kernel->api->create_state(kernel, &state, &error_), EPH_FAIL);
  throws = Throws::kNothing;
  kernel->api->destroy(kernel);
}

TEST_F(Wrapper, SetsOutParametersToNullBeforeItFails) {
  eph_computation* kernel = make_kernel();
  auto* provider = reinterpret_cast<eph_provider*>(this);
  auto* made = reinterpret_cast<eph_computation*>(this);
  const auto* kernels = reinterpret_cast<const eph_kernel_def*>(this);
  uint64_t count = 9;
  void* state = this;
  throws = Throws::kStandard;
  EXPECT_NE(full().create(&full(), &host_, &config_, &provider, &error_), EPH_OK);
  EXPECT_NE(full().create_kernel(provider_, &graph_, 0, &made, &error_), EPH_OK);
  EXPECT_NE(full().get_kernels(provider_, &kernels, &count, &error_), EPH_OK);
  EXPECT_NE(kernel->api->create_state(kernel, &state, &error_), EPH_OK);
  EXPECT_EQ(provider, nullptr);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(kernels, nullptr);
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(state, nullptr);
  throws = Throws::kNothing;
  kernel->api->destroy(kernel);
}

TEST_F(Wrapper, DoesNotReportSuccessWithoutAResult) {
  eph_option nothing = {};
  nothing.name = EPH_STRING("nothing");
  nothing.int_value = 1;
  const eph_provider_config config = {sizeof(config), &nothing, 1};
  eph_provider* provider = nullptr;
  EXPECT_EQ(full().create(&full(), &host_, &config, &provider, &error_), EPH_FAIL);
  EXPECT_THAT(error_.message, HasSubstr("create of the plugin made nothing"));
  eph_computation* made = nullptr;
  EXPECT_EQ(full().create_kernel(provider_, &graph_, 7, &made, &error_), EPH_FAIL);
  const eph_partition null = {sizeof(null), &graph_, EPH_STRING("null"), nullptr};
  EXPECT_EQ(full().compile(provider_, &null, sizeof(null), 1, &made, &error_), EPH_FAIL);
  const eph_partition skip = {sizeof(skip), &graph_, EPH_STRING("skip"), nullptr};
  EXPECT_EQ(full().compile(provider_, &skip, sizeof(skip), 1, &made, &error_), EPH_FAIL);
  EXPECT_THAT(error_.message, HasSubstr("compile made 0 computations of 1 partitions"));
}

TEST_F(Wrapper, ReadsPartitionsByTheirStride) {
  struct LaterPartition {
    eph_partition known;
    uint64_t unknown;
  };
  const LaterPartition partitions[] = {
      {{sizeof(LaterPartition), &graph_, EPH_STRING("a"), nullptr}, 1},
      {{sizeof(LaterPartition), &graph_, EPH_STRING("null"), nullptr}, 2}};
  eph_computation* made[2] = {};
  // Only the second one has this name; a reader with the wrong stride would not find it.
  EXPECT_EQ(
      full().compile(provider_, &partitions[0].known, sizeof(LaterPartition), 2, made, &error_),
      EPH_FAIL);
  ASSERT_NE(made[0], nullptr);
  EXPECT_EQ(made[1], nullptr);
  made[0]->api->destroy(made[0]);
}

TEST_F(Wrapper, ReadsDevicesByTheirStride) {
  struct LaterDevice {
    eph_device known;
    uint64_t unknown;
  };
  const LaterDevice devices[] = {{{sizeof(LaterDevice), EPH_STRING("a")}, 1},
                                 {{sizeof(LaterDevice), EPH_STRING("b")}, 2}};
  const eph_device target = {sizeof(target), EPH_STRING("c")};
  eph_provider_config config = {};
  config.struct_size = sizeof(config);
  config.devices = &devices[0].known;
  config.device_stride = sizeof(LaterDevice);
  config.device_count = 2;
  config.target = &target;
  config.directory = EPH_STRING("/opt");
  config.purpose = EPH_PURPOSE_WRITES_CONTEXT;
  eph_provider* provider = nullptr;
  ASSERT_EQ(full().create(&full(), &host_, &config, &provider, &error_), EPH_OK);
  EXPECT_EQ(host_.logged().back(), "made in /opt for a for b for c, writes");
  full().destroy(provider);
}

TEST_F(Wrapper, ListsDevicesAndTargets) {
  FakeDeviceList list;
  EXPECT_EQ(full().get_devices(&full(), &host_, &list, &error_), EPH_OK);
  EXPECT_EQ(full().list_targets(&full(), &host_, &list, &error_), EPH_OK);
  EXPECT_THAT(list.ids, ElementsAre("abacus-1", "abacus-2"));
}

TEST_F(Wrapper, PassesClaimsAndReasonsOn) {
  const uint32_t x = graph_.add_input("x", {2});
  graph_.add("Add", {x, x}, {2});
  graph_.add("Mul", {x, x}, {2});
  FakeClaims claims({1});
  ASSERT_EQ(full().get_capability(provider_, &graph_, &claims, &error_), EPH_OK);
  EXPECT_THAT(claims.nodes, ElementsAre(1));
  EXPECT_THAT(claims.fused, ElementsAre(ElementsAre(0)));
  EXPECT_THAT(claims.flags, ElementsAre(EPH_CLAIM_DROP_CONSTANTS));
  EXPECT_EQ(claims.declined[1], "no Mul here");
}

TEST_F(Wrapper, ComputesIntoPreparedMemoryWithoutAskingTheHost) {
  eph_computation* kernel = make_kernel();
  FakeRun run({{{2}, {3, 4}}});
  run.prepare({2});
  ASSERT_EQ(kernel->api->compute(kernel, nullptr, &run, &error_), EPH_OK);
  EXPECT_THAT(run.result(), ElementsAre(6, 8));
  EXPECT_EQ(run.allocations, 0);
  kernel->api->destroy(kernel);
}

TEST_F(Wrapper, CarriesAFailureOfTheHostThroughThePlugin) {
  eph_computation* kernel = make_kernel();
  FakeRun run({{{2}, {3, 4}}});
  run.allocate_code = EPH_INVALID_GRAPH;
  EXPECT_EQ(kernel->api->compute(kernel, nullptr, &run, &error_), EPH_INVALID_GRAPH);
  EXPECT_EQ(error_.message, "the fake host allocates nothing");
  kernel->api->destroy(kernel);
}

TEST_F(Wrapper, PutsValuesTogether) {
  FakeRun fake({{{2}, {3, 4}}, {{1}, {5}}});
  eph::Run run(&fake);
  eph_value& text = run.make_tensor(std::vector<int64_t>{1}, EPH_ELEMENT_STRING);
  run.set_element(text, 0, "a");
  const std::vector<const eph_value*> elements = {run.input(0), run.input(1)};
  const eph_value& sequence = run.make_sequence(elements);
  run.set_output(0, &run.splice(&sequence, 1, 1, elements));
  run.set_output(0, &run.make_map(text, *run.input(1)));
  run.set_output(0, nullptr);
  EXPECT_THAT(fake.made, ElementsAre("tensor of type 8, rank 1", "value 0[0] = a",
                                     "sequence of nothing at 0 less 0 with input 0 with input 1",
                                     "sequence of value 1 at 1 less 1 with input 0 with input 1",
                                     "output 0 = value 2", "map of value 0 to input 1",
                                     "output 0 = value 3", "output 0 = nothing"));
}

TEST_F(Wrapper, CarriesAFailureToMakeAValueThroughThePlugin) {
  FakeRun fake({{{2}, {3, 4}}});
  fake.make_code = EPH_INVALID_ARGUMENT;
  eph::Run run(&fake);
  const auto code_of = [](auto make) {
    try {
      make();
    } catch (const eph::Failure& failure) {
      EXPECT_STREQ(failure.what(), "the fake host makes nothing");
      return failure.code();
    }
    return int32_t{EPH_OK};
  };
  EXPECT_EQ(code_of([&] { run.make_tensor(std::vector<int64_t>{1}, EPH_ELEMENT_FLOAT); }),
            EPH_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { run.make_sequence({}); }), EPH_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { run.make_map(*run.input(0), *run.input(0)); }), EPH_INVALID_ARGUMENT);
}

TEST_F(Wrapper, DescribesItselfToAnOlderHost) {
  eph_computation* kernel = make_kernel();
  eph_computation_info info = {};
  info.struct_size = offsetof(eph_computation_info, aliases);
  info.alias_count = 77;  // beyond the record of the older host
  ASSERT_EQ(kernel->api->describe(kernel, &info, &error_), EPH_OK);
  EXPECT_EQ(info.host_alignment, 4096U);
  EXPECT_EQ(info.struct_size, offsetof(eph_computation_info, aliases));
  EXPECT_EQ(info.alias_count, 77U);
  kernel->api->destroy(kernel);
}

TEST_F(Wrapper, DescribesItselfToANewerHost) {
  eph_computation* kernel = make_kernel();
  struct {
    eph_computation_info known = {};
    uint64_t added = 77;
  } info;
  info.known.struct_size = sizeof(info);
  ASSERT_EQ(kernel->api->describe(kernel, &info.known, &error_), EPH_OK);
  EXPECT_EQ(info.known.struct_size, sizeof(eph_computation_info));
  EXPECT_EQ(info.added, 77U);
  kernel->api->destroy(kernel);
}

TEST_F(Wrapper, OwnsTheStatesOfItsComputations) {
  eph_computation* kernel = make_kernel();
  void* state = nullptr;
  const int before = alive;
  ASSERT_EQ(kernel->api->create_state(kernel, &state, &error_), EPH_OK);
  EXPECT_EQ(alive, before + 1);
  kernel->api->release_state(kernel, state);
  EXPECT_EQ(alive, before);
  kernel->api->destroy(kernel);
}

TEST_F(Wrapper, WritesContextNodesAndCompatibility) {
  eph_computation* kernels[2] = {make_kernel(), make_kernel()};
  FakeContextWriter writer;
  ASSERT_EQ(full().get_ep_context_nodes(provider_, kernels, 2, &writer, &error_), EPH_OK);
  EXPECT_THAT(writer.payloads, ElementsAre("bytes"));
  EXPECT_THAT(writer.compatibilities, ElementsAre("for abacus-1"));
  EXPECT_EQ(writer.nodes.size(), 2U);
  eph_string text = {};
  ASSERT_EQ(full().get_compatibility(provider_, &text, &error_), EPH_OK);
  for (const auto& [id, expected] : {std::pair("abacus-1", EPH_COMPATIBILITY_OPTIMAL),
                                     std::pair("abacus-9", EPH_COMPATIBILITY_UNSUPPORTED)}) {
    const eph_device device = {sizeof(device), eph::to_abi(id)};
    int32_t verdict = -1;
    EXPECT_EQ(full().validate(&full(), &host_, &device, text, &verdict, &error_), EPH_OK);
    EXPECT_EQ(verdict, expected);
  }
  for (eph_computation* kernel : kernels) kernel->api->destroy(kernel);
}

TEST_F(Wrapper, OffersExtensions) {
  EXPECT_NE(full().get_provider_extension(provider_, eph::to_abi("known/1")), nullptr);
  EXPECT_EQ(full().get_provider_extension(provider_, eph::to_abi("unknown/1")), nullptr);
}

struct NameList : eph_name_list {
  NameList() : eph_name_list{&kApi} {}
  static int32_t add(eph_name_list* list, eph_string name, eph_error*) noexcept {
    static_cast<NameList*>(list)->names.emplace_back(eph::view(name));
    return EPH_OK;
  }
  static constexpr eph_name_list_api kApi = {sizeof(eph_name_list_api), &NameList::add};
  std::vector<std::string> names;
};

TEST_F(Wrapper, ListsThePartitionsOfASharedContext) {
  const auto* shared = static_cast<const eph_shared_contexts_api*>(
      full().get_provider_extension(provider_, EPH_STRING(EPH_EXT_SHARED_CONTEXTS)));
  ASSERT_NE(shared, nullptr);
  EXPECT_EQ(shared->struct_size, sizeof(eph_shared_contexts_api));
  NameList list;
  EXPECT_EQ(shared->list_partitions(provider_, {"two", 3}, &list, &error_), EPH_OK);
  EXPECT_EQ(list.names, (std::vector<std::string>{"one", "two"}));
  throws = Throws::kFailure;
  EXPECT_NE(shared->list_partitions(provider_, {"two", 3}, &list, &error_), EPH_OK);
  EXPECT_EQ(bare().get_provider_extension, nullptr);
}

}  // namespace
