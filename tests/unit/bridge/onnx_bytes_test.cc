#include "host/bridge/onnx_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <ephost/plugin.hpp>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "host/bridge/graph_view.h"
#include "tests/support/fake_host.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::bridge::onnx_bytes_test {
namespace {

using graph::testing::float_tensor;
using graph::testing::GraphBuilder;
using graph::testing::tensor_type;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

graph::Tensor floats(size_t count, float first) {
  std::vector<float> elements(count);
  for (size_t i = 0; i < count; ++i) elements[i] = first + static_cast<float>(i);
  return float_tensor(elements);
}

// x + small (8 bytes) + medium (64 bytes) + large (256 bytes)
graph::Model sample() {
  const graph::ValueType row = tensor_type(ElementType::kFloat, graph::Shape{64});
  graph::Model model;
  model.graph = GraphBuilder()
                    .input("x", row)
                    .constant("small", floats(2, 1))
                    .constant("medium", floats(16, 2))
                    .constant("large", floats(64, 3))
                    .node("Add", {"x", "large"}, {"a"})
                    .node("Concat", {"small", "medium"}, {"b"})
                    .attribute("axis", int64_t{0})
                    .output("a")
                    .output("b")
                    .build();
  model.graph.values[model.graph.find_value("a")].type = row;
  model.graph.values[model.graph.find_value("b")].type =
      tensor_type(ElementType::kFloat, graph::Shape{18});
  model.graph.name = "g";
  model.ir_version = 8;
  model.opset_imports = {{"", 13}};
  return model;
}

onnx::ModelProto parsed(std::string_view bytes) {
  onnx::ModelProto proto;
  EXPECT_TRUE(proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return proto;
}

std::map<std::string, std::string> entries_of(const onnx::TensorProto& tensor) {
  std::map<std::string, std::string> entries;
  for (const auto& entry : tensor.external_data()) entries[entry.key()] = entry.value();
  return entries;
}

std::vector<std::string> outside(const onnx::GraphProto& graph) {
  std::vector<std::string> names;
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL) names.push_back(tensor.name());
  }
  return names;
}

// Puts the data that `graph` gives into the place of each reference, as a back end does.
void fill_in(onnx::ModelProto& proto, const eph::GraphView& graph) {
  for (onnx::TensorProto& tensor : *proto.mutable_graph()->mutable_initializer()) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) continue;
    const std::map<std::string, std::string> entries = entries_of(tensor);
    constexpr std::string_view kPrefix = "eph:value/";
    ASSERT_TRUE(entries.at("location").starts_with(kPrefix));
    const auto id = std::stoul(entries.at("location").substr(kPrefix.size()));
    const eph::ValueView value = graph.value(static_cast<uint32_t>(id));
    EXPECT_EQ(value.name(), tensor.name());
    ASSERT_NE(value.constant(), nullptr);
    EXPECT_EQ(entries.at("length"), std::to_string(value.constant()->byte_size));
    tensor.set_raw_data(value.constant()->data, value.constant()->byte_size);
    tensor.clear_external_data();
    tensor.clear_data_location();
  }
}

TEST(OnnxBytes, LeaveConstantsFromTheThresholdOnOutside) {
  const graph::Model model = sample();
  const GraphView view(model.graph, model);
  const eph::GraphView seen(&view);
  EXPECT_THAT(outside(parsed(seen.onnx()).graph()), IsEmpty());
  EXPECT_THAT(outside(parsed(seen.onnx(1)).graph()), ElementsAre("small", "medium", "large"));
  EXPECT_THAT(outside(parsed(seen.onnx(64)).graph()), ElementsAre("medium", "large"));
  EXPECT_THAT(outside(parsed(seen.onnx(65)).graph()), ElementsAre("large"));
  EXPECT_THAT(outside(parsed(seen.onnx(257)).graph()), IsEmpty());
}

TEST(OnnxBytes, PassTheCheckerOnceTheReferencesAreReplaced) {
  const graph::Model model = sample();
  const GraphView view(model.graph, model);
  const eph::GraphView seen(&view);
  const onnx::ModelProto inside = parsed(seen.onnx());
  EXPECT_NO_THROW(onnx::checker::check_model(inside));
  onnx::ModelProto proto = parsed(seen.onnx(64));
  EXPECT_THROW(onnx::checker::check_model(proto), onnx::checker::ValidationError);
  fill_in(proto, seen);
  EXPECT_NO_THROW(onnx::checker::check_model(proto));
  EXPECT_EQ(proto.SerializeAsString(), inside.SerializeAsString());
}

TEST(OnnxBytes, CarryTheMetadataOfTheModel) {
  graph::Model model = sample();
  model.metadata = {{"author", "a vendor"}};
  const GraphView view(model.graph, model);
  const onnx::ModelProto proto = parsed(eph::GraphView(&view).onnx());
  ASSERT_EQ(proto.metadata_props_size(), 1);
  EXPECT_EQ(proto.metadata_props(0).key(), "author");
  EXPECT_EQ(proto.metadata_props(0).value(), "a vendor");
}

TEST(OnnxBytes, StayAsLongAsTheGraphForEachThreshold) {
  const graph::Model model = sample();
  const GraphView view(model.graph, model);
  const eph::GraphView seen(&view);
  std::map<uint64_t, std::string_view> given;
  std::map<uint64_t, std::string> copies;
  for (const uint64_t threshold : {0, 1, 8, 9, 64, 65, 256, 257, 1 << 30}) {
    given[threshold] = seen.onnx(threshold);
    copies[threshold] = std::string(given[threshold]);
  }
  for (const auto& [threshold, bytes] : given) {
    EXPECT_EQ(bytes, copies[threshold]);
    EXPECT_EQ(seen.onnx(threshold).data(), bytes.data());
  }
  EXPECT_EQ(given[1].data(), given[8].data());
  EXPECT_EQ(given[9].data(), given[64].data());
  EXPECT_EQ(given[257].data(), given[0].data());
}

TEST(OnnxBytes, AreMadeForSeveralThreadsAtOnce) {
  const graph::Model model = sample();
  const GraphView view(model.graph, model);
  const size_t expected[] = {0, 3, 2, 1};
  std::vector<std::thread> threads;
  std::vector<size_t> found(8);
  for (size_t t = 0; t < found.size(); ++t) {
    threads.emplace_back([&view, t, &result = found[t]] {
      const uint64_t thresholds[] = {0, 1, 64, 65};
      result = outside(parsed(eph::GraphView(&view).onnx(thresholds[t % 4])).graph()).size();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < found.size(); ++t) EXPECT_EQ(found[t], expected[t % 4]);
}

TEST(OnnxBytes, KeepConstantsOfBodiesInside) {
  GraphBuilder inner;
  inner.constant("own", floats(64, 1)).node("Identity", {"own"}, {"o"}).output("o");
  graph::Graph body = inner.build();
  body.name = "body";
  graph::Model model = sample();
  GraphBuilder builder;
  builder.input("condition", tensor_type(ElementType::kBool, graph::Shape{}));
  builder.constant("large", floats(64, 3)).node("If", {"condition"}, {"y"}).output("y");
  builder.subgraph("then_branch", graph::Graph()).subgraph("else_branch", std::move(body));
  graph::Graph other;
  other.name = "other";
  other.values.push_back({.name = "captured", .type = {}, .outer = 1});
  other.values.push_back({.name = "o"});
  other.nodes.push_back({.op_type = "Identity", .inputs = {0}, .outputs = {1}});
  other.outputs = {1};
  model.graph = builder.build();
  model.graph.name = "g";
  model.graph.nodes[0].attributes[0].value = std::make_unique<graph::Graph>(std::move(other));
  graph::connect(model.graph);
  const GraphView view(model.graph, model);
  const onnx::ModelProto proto = parsed(eph::GraphView(&view).onnx(1));
  EXPECT_THAT(outside(proto.graph()), ElementsAre("large"));
  for (const onnx::AttributeProto& attribute : proto.graph().node(0).attribute()) {
    EXPECT_THAT(outside(attribute.g()), IsEmpty());
  }
  EXPECT_EQ(proto.graph().node(0).attribute(1).g().initializer(0).raw_data().size(), 256U);
}

TEST(OnnxBytes, HaveNoLimitForConstantsOutside) {
  constexpr size_t kSize = size_t{3} << 30;
  void* memory =
      mmap(nullptr, kSize, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  graph::Model model = sample();
  graph::Tensor huge;
  huge.type = ElementType::kInt8;
  huge.shape = {static_cast<int64_t>(kSize)};
  huge.data.bytes = {static_cast<const std::byte*>(memory), kSize};
  model.graph = GraphBuilder().constant("huge", huge).node("Relu", {"huge"}, {"y"}).build();
  model.graph.name = "g";
  const GraphView view(model.graph, model);
  const std::string_view bytes = eph::GraphView(&view).onnx(1024);
  EXPECT_LT(bytes.size(), 1024U);
  EXPECT_EQ(entries_of(parsed(bytes).graph().initializer(0)).at("length"), std::to_string(kSize));
  eph_bytes inside = {};
  test::FakeError error;
  EXPECT_EQ(view.api->get_onnx(&view, 0, &inside, &error), EPH_INVALID_GRAPH);
  EXPECT_THAT(error.message, HasSubstr("2 GiB"));
  EXPECT_EQ(inside.data, nullptr);
  munmap(memory, kSize);
}

}  // namespace
}  // namespace ephost::bridge::onnx_bytes_test
