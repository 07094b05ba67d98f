// Writing and restoring EP contexts, through the C ABI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "plugins/dnnl/context/container.h"
#include "plugins/dnnl/library/defects.h"
#include "tests/unit/plugins/dnnl/net.h"
#include "tests/unit/plugins/dnnl/open_net.h"
#include "tests/unit/plugins/dnnl/sample_recipes.h"

namespace ephost::test::context_test {
namespace {

using ::testing::HasSubstr;
using Ints = std::vector<int64_t>;

// Two partitions around a node that the provider does not take; the second has the weights of the
// first.
void build_two_partitions(Net& net) {
  const uint32_t weights = net.weights({8, 8, 3, 3});
  const FakeAttributes same = {{"pads", Ints{1, 1, 1, 1}}};
  uint32_t x = net.conv(net.input({1, 3, 12, 12}), 8, 3);
  const uint32_t shortcut = x;
  x = net.add("Relu", {net.batch_norm(net.add("Conv", {x, weights}, same))});
  x = net.add("Add", {x, shortcut});
  x = net.add("Erf", {x});
  x = net.add("Conv", {x, weights}, same);
  x = net.add("Flatten", {net.add("GlobalAveragePool", {x})});
  net.output(
      net.add("Gemm", {x, net.weights({10, 8}), net.weights({10})}, {{"transB", int64_t{1}}}));
}

class DnnlContext : public ::testing::Test {
 protected:
  DnnlContext() {
    build_two_partitions(net_);
    compiled_ = session_.compile(net_.graph());
    written_ = session_.write(compiled_);
  }

  Net net_;
  ProviderSession session_{1};
  std::vector<std::unique_ptr<Partition>> compiled_;
  FakeContextWriter written_;
};

TEST_F(DnnlContext, HasOnePayloadAndOneNodeForEachPartition) {
  ASSERT_EQ(compiled_.size(), 2U);
  ASSERT_EQ(written_.payloads.size(), 1U);
  ASSERT_EQ(written_.nodes.size(), 2U);
  for (uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(written_.nodes[i].computation, i);
    EXPECT_EQ(written_.nodes[i].payload, 0U);
    EXPECT_EQ(written_.nodes[i].source, "ephost.dnnl");
    EXPECT_EQ(written_.nodes[i].sdk_version.substr(0, 7), "oneDNN ");
    EXPECT_FALSE(written_.nodes[i].hardware_architecture.empty());
  }
}

TEST_F(DnnlContext, RestoresPartitionsThatGiveTheSameBits) {
  const AlignedBytes payload(written_.payloads[0]);
  ProviderSession later(1);
  for (std::size_t i = 0; i < compiled_.size(); ++i) {
    FakeError error;
    int32_t code = EPH_OK;
    const auto restored =
        later.restore(payload, "part" + std::to_string(i), *compiled_[i]->graph, error, code);
    ASSERT_NE(restored, nullptr) << error.message;
    EXPECT_EQ(restored->run(net_), compiled_[i]->run(net_));
    EXPECT_EQ(restored->info.workspace_bytes, compiled_[i]->info.workspace_bytes);
    expect_reference(net_, *restored);
  }
}

TEST_F(DnnlContext, IsTheSameForTheSameModel) {
  Net again;
  build_two_partitions(again);
  ProviderSession other(1);
  EXPECT_EQ(other.write(other.compile(again.graph())).payloads, written_.payloads);
}

TEST_F(DnnlContext, CanBeWrittenFromRestoredPartitions) {
  const AlignedBytes payload(written_.payloads[0]);
  ProviderSession later(1);
  std::vector<std::unique_ptr<Partition>> restored;
  for (std::size_t i = 0; i < compiled_.size(); ++i) {
    FakeError error;
    int32_t code = EPH_OK;
    restored.push_back(
        later.restore(payload, "part" + std::to_string(i), *compiled_[i]->graph, error, code));
    ASSERT_NE(restored.back(), nullptr) << error.message;
  }
  EXPECT_EQ(later.write(restored).payloads, written_.payloads);
}

TEST_F(DnnlContext, IsRestoredWithAnotherNumberOfThreads) {
  const AlignedBytes payload(written_.payloads[0]);
  ProviderSession later(3);
  FakeError error;
  int32_t code = EPH_OK;
  const auto restored = later.restore(payload, "part0", *compiled_[0]->graph, error, code);
  ASSERT_NE(restored, nullptr) << error.message;
  expect_reference(net_, *restored);
}

TEST_F(DnnlContext, NamesAnUnknownPartition) {
  FakeError error;
  int32_t code = EPH_OK;
  ProviderSession later(1);
  EXPECT_EQ(
      later.restore(AlignedBytes(written_.payloads[0]), "part7", *compiled_[0]->graph, error, code),
      nullptr);
  EXPECT_EQ(code, EPH_INVALID_GRAPH);
  EXPECT_EQ(
      error.message,
      "the context of partition 'part7' cannot be used: it holds no partition 'part7'; compile "
      "the model again");
}

TEST_F(DnnlContext, RefusesANodeWithOtherInputsOrShapes) {
  FakeError error;
  int32_t code = EPH_OK;
  ProviderSession later(1);
  EXPECT_EQ(
      later.restore(AlignedBytes(written_.payloads[0]), "part0", *compiled_[1]->graph, error, code),
      nullptr);
  EXPECT_EQ(code, EPH_INVALID_GRAPH);
  EXPECT_THAT(error.message, HasSubstr("inputs and outputs are not those that were compiled"));
}

// The bytes that this library's provider writes for one partition, "part0".
std::string payload_of(const ephost_dnnl::Recipe& recipe) {
  const std::vector<ephost_dnnl::PackedConstant> none;
  std::string bytes;
  ephost_dnnl::write_container({{"part0", &recipe, &none}}, ephost_dnnl::current_build_id(1),
                               [&](const void* data, std::size_t size) {
                                 bytes.append(static_cast<const char*>(data), size);
                               });
  return bytes;
}

TEST(DnnlContexts, AreRefusedWhereTheyAskForWhatTheLibraryComputesWrongly) {
  if (!ephost_dnnl::mixes_up_equal_post_ops()) GTEST_SKIP() << "this oneDNN has no such defect";
  Net net;
  net.output(net.add("MatMul", {net.input({4, 4}), net.input({4, 4})}));
  ephost_dnnl::test::SampleBuilder builder;
  builder.output(
      builder.add(ephost_dnnl::MatMul{}, {builder.input({4, 4}), builder.input({4, 4})}));
  ephost_dnnl::Recipe recipe = builder.finish().recipe;
  recipe.ops[0].post_ops.resize(2);
  recipe.ops[0].post_ops[0].eltwise.alpha = 0.5F;
  FakeError error;
  int32_t code = EPH_OK;
  ProviderSession session(1);
  EXPECT_EQ(session.restore(AlignedBytes(payload_of(recipe)), "part0", net.graph(), error, code),
            nullptr);
  EXPECT_EQ(code, EPH_INVALID_GRAPH);
  EXPECT_THAT(error.message, HasSubstr("two of its post-ops are the same function"));
  EXPECT_THAT(error.message, HasSubstr("compile the model again"));
}

TEST_F(DnnlContext, RefusesPayloadsOfAnEarlierFormat) {
  std::string bytes = written_.payloads[0];
  bytes[8] = 1;
  FakeError error;
  int32_t code = EPH_OK;
  ProviderSession later(1);
  EXPECT_EQ(later.restore(AlignedBytes(bytes), "part0", *compiled_[0]->graph, error, code),
            nullptr);
  EXPECT_EQ(code, EPH_INVALID_GRAPH);
  EXPECT_THAT(error.message, HasSubstr("it has format revision 1, and this provider reads"));
  EXPECT_THAT(error.message, HasSubstr("compile the model again"));
}

TEST_F(DnnlContext, RefusesTruncatedPayloads) {
  const std::string& bytes = written_.payloads[0];
  for (std::size_t size = 0; size < bytes.size(); size += 97) {
    FakeError error;
    int32_t code = EPH_OK;
    ProviderSession later(1);
    ASSERT_EQ(later.restore(AlignedBytes(bytes.substr(0, size)), "part0", *compiled_[0]->graph,
                            error, code),
              nullptr)
        << size;
    ASSERT_EQ(code, EPH_INVALID_GRAPH) << error.message;
  }
}

TEST_F(DnnlContext, SurvivesRandomFlips) {
  std::mt19937 random(11);
  const std::string& bytes = written_.payloads[0];
  for (int round = 0; round < 1500; ++round) {
    std::string damaged = bytes;
    // Half of the flips go to the header and the index, which a uniform choice would rarely meet.
    const std::size_t range = round % 2 == 0 ? 4096 : damaged.size();
    const std::size_t at = random() % range;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    FakeError error;
    int32_t code = EPH_OK;
    ProviderSession later(1);
    const auto restored =
        later.restore(AlignedBytes(damaged), "part0", *compiled_[0]->graph, error, code);
    if (restored == nullptr) {
      ASSERT_EQ(code, EPH_INVALID_GRAPH) << error.message;
    } else {
      static_cast<void>(
          restored->run(net_));  // a weight may have changed, which the host's checksum finds
    }
  }
}

// A partition with any number of rows, and one run of it.
class RowContext : public ::testing::Test {
 protected:
  RowContext() {
    uint32_t x =
        net_.add("Gemm", {net_.input({-1, 12}), net_.weights({20, 12}), net_.weights({20})},
                 {{"transB", int64_t{1}}});
    x = net_.add("Relu", {x});
    net_.output(net_.add("MatMul", {x, net_.weights({20, 7})}));
    compiled_ = session_.compile(net_.graph());
    written_ = session_.write(compiled_);
  }
  std::unique_ptr<Partition> restore(ProviderSession& later, const std::string& bytes,
                                     const FakeGraph& graph) {
    return later.restore(AlignedBytes(bytes), "part0", graph, error_, code_);
  }
  static std::vector<float> run(const Partition& partition) {
    ComputationState state(partition.computation);
    const RunResult result = state.run(OpenNet::random_input({5, 12}, 3));
    EXPECT_EQ(result.code, EPH_OK) << result.message;
    return result.data;
  }

  OpenNet net_;
  ProviderSession session_{1};
  std::vector<std::unique_ptr<Partition>> compiled_;
  FakeContextWriter written_;
  FakeError error_;
  int32_t code_ = EPH_OK;
};

TEST_F(RowContext, IsRestoredWithTheSameBitsAndWrittenAgain) {
  ProviderSession later(1);
  std::vector<std::unique_ptr<Partition>> restored;
  restored.push_back(restore(later, written_.payloads[0], *compiled_[0]->graph));
  ASSERT_NE(restored[0], nullptr) << error_.message;
  EXPECT_EQ(run(*restored[0]), run(*compiled_[0]));
  EXPECT_EQ(later.write(restored).payloads, written_.payloads);
}

TEST_F(RowContext, RefusesANodeWithOtherRows) {
  OpenNet other;
  other.output(other.add("MatMul", {other.input({-1, 13}), other.weights({13, 7})}));
  ProviderSession later(1);
  EXPECT_EQ(restore(later, written_.payloads[0], other.graph()), nullptr);
  EXPECT_EQ(code_, EPH_INVALID_GRAPH);
  EXPECT_THAT(error_.message, HasSubstr("inputs and outputs are not those that were compiled"));
}

TEST_F(RowContext, SurvivesRandomFlips) {
  std::mt19937 random(12);
  for (int round = 0; round < 600; ++round) {
    std::string damaged = written_.payloads[0];
    const std::size_t at = random() % 1024;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    ProviderSession later(1);
    const auto restored = restore(later, damaged, *compiled_[0]->graph);
    if (restored == nullptr) {
      ASSERT_EQ(code_, EPH_INVALID_GRAPH) << error_.message;
    } else {
      static_cast<void>(run(*restored));
    }
  }
}

TEST_F(DnnlContext, HasACompatibilityTextThatJudgesItself) {
  eph_string text = {};
  FakeError error;
  ASSERT_EQ(session_.api->get_compatibility(session_.provider, &text, &error), EPH_OK);
  const FakeHost host;
  const eph_device device = {sizeof(device), EPH_STRING("cpu")};
  int32_t verdict = -1;
  ASSERT_EQ(session_.api->validate(session_.api, &host, &device, text, &verdict, &error), EPH_OK);
  EXPECT_EQ(verdict, EPH_COMPATIBILITY_OPTIMAL);
}

}  // namespace
}  // namespace ephost::test::context_test
