#include "host/onnx_io/wire/lift_payloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "host/base/files/file.h"
#include "host/onnx_io/wire/wire.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/onnx_io/model_protos.h"

namespace ephost::onnx_io::lift_payloads_test {
namespace {

using test::IsOk;
using ::testing::HasSubstr;

onnx::ModelProto parse(const Skeleton& skeleton) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(skeleton.bytes));
  return model;
}

std::string_view as_text(std::span<const std::byte> bytes) {
  const void* data = bytes.data();
  return {static_cast<const char*>(data), bytes.size()};
}

TEST(LiftPayloads, LeavesSmallModelsAsTheyAre) {
  const std::string bytes = testing::small_model().SerializeAsString();
  const auto skeleton = lift_payloads(as_bytes(bytes));
  ASSERT_THAT(skeleton, IsOk());
  EXPECT_TRUE(skeleton->payloads.empty());
  EXPECT_EQ(parse(*skeleton).SerializeAsString(), bytes);
}

TEST(LiftPayloads, LiftsLargeRawDataByReference) {
  onnx::ModelProto model = testing::empty_model();
  testing::add_initializer(*model.mutable_graph(), "small", {255}, std::vector<float>(255, 1));
  testing::add_initializer(*model.mutable_graph(), "large", {256}, std::vector<float>(256, 2));
  const std::string bytes = model.SerializeAsString();
  const auto skeleton = lift_payloads(as_bytes(bytes));
  ASSERT_THAT(skeleton, IsOk());
  ASSERT_EQ(skeleton->payloads.size(), 1u);
  EXPECT_EQ(skeleton->payloads[0].size(), 1024u);
  EXPECT_GE(skeleton->payloads[0].data(), as_bytes(bytes).data());
  EXPECT_LT(skeleton->payloads[0].data(), as_bytes(bytes).data() + bytes.size());
  EXPECT_LT(skeleton->bytes.size(), 1300u);

  const onnx::ModelProto parsed = parse(*skeleton);
  EXPECT_EQ(parsed.graph().initializer(0).raw_data().size(), 1020u);
  EXPECT_FALSE(skeleton->resolve(parsed.graph().initializer(0).raw_data()));
  const auto payload = skeleton->resolve(parsed.graph().initializer(1).raw_data());
  ASSERT_TRUE(payload);
  EXPECT_EQ(as_text(*payload), model.graph().initializer(1).raw_data());
  EXPECT_EQ(parsed.graph().initializer(1).name(), "large");
}

// Every place where a payload may lie, each with its own content.
TEST(LiftPayloads, FindsPayloadsEverywhere) {
  onnx::ModelProto model = testing::empty_model();
  onnx::GraphProto& graph = *model.mutable_graph();
  char mark = 'a';
  std::vector<std::string> expected;
  const auto content = [&] { return expected.emplace_back(kLiftThreshold, mark++); };
  onnx::NodeProto& node = testing::add_node(graph, "Any", {}, {"y"});
  const auto attribute = [&](onnx::NodeProto& owner) -> onnx::AttributeProto& {
    return *owner.add_attribute();
  };
  attribute(node).set_s(content());
  attribute(node).mutable_t()->set_raw_data(content());
  attribute(node).add_tensors()->set_raw_data(content());
  onnx::NodeProto& inner = *attribute(node).mutable_g()->add_node();
  attribute(inner).set_s(content());
  attribute(node).add_graphs()->add_initializer()->set_raw_data(content());
  onnx::SparseTensorProto& sparse = *attribute(node).mutable_sparse_tensor();
  sparse.mutable_values()->set_raw_data(content());
  sparse.mutable_indices()->set_raw_data(content());
  attribute(node).add_sparse_tensors()->mutable_values()->set_raw_data(content());
  graph.add_sparse_initializer()->mutable_values()->set_raw_data(content());

  const std::string bytes = model.SerializeAsString();
  const auto skeleton = lift_payloads(as_bytes(bytes));
  ASSERT_THAT(skeleton, IsOk());
  std::vector<std::string> found;
  for (const auto payload : skeleton->payloads) found.emplace_back(as_text(payload));
  EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(expected));
  EXPECT_LT(skeleton->bytes.size(), 1000u);
  parse(*skeleton);
}

TEST(LiftPayloads, AFileCannotForgeAReference) {
  const Skeleton other = *lift_payloads(as_bytes(std::string_view()));
  Skeleton skeleton = *lift_payloads(as_bytes(std::string_view()));
  EXPECT_NE(other.marker, skeleton.marker) << "drawn for each call";
  const std::string secret = "secret";
  skeleton.payloads.push_back(as_bytes(secret));
  const std::string marker(skeleton.marker.data(), skeleton.marker.size());
  EXPECT_TRUE(skeleton.resolve(marker + std::string(8, '\0')));
  EXPECT_FALSE(skeleton.resolve(marker + std::string(8, '\1'))) << "no such payload";
  EXPECT_FALSE(skeleton.resolve(marker + std::string(7, '\0')));
  EXPECT_FALSE(skeleton.resolve(marker + std::string(9, '\0')));
  EXPECT_FALSE(skeleton.resolve(std::string(24, '\0')));
  EXPECT_FALSE(skeleton.resolve(""));
}

TEST(LiftPayloads, NamesMessageAndOffsetOfDamage) {
  std::string bytes = testing::small_model().SerializeAsString();
  bytes.resize(bytes.size() - 20);
  const auto skeleton = lift_payloads(as_bytes(bytes));
  ASSERT_FALSE(skeleton.ok());
  EXPECT_EQ(skeleton.status().code(), StatusCode::kInvalidProtobuf);
  EXPECT_THAT(skeleton.status().message(), HasSubstr("the ModelProto has no valid field at byte"));

  onnx::ModelProto model = testing::empty_model();
  testing::add_initializer(*model.mutable_graph(), "w", {2}, {1, 2}).set_raw_data("abc");
  bytes = model.SerializeAsString();
  bytes[bytes.find("abc") - 1] = 9;  // the length of raw_data
  EXPECT_THAT(lift_payloads(as_bytes(bytes)).status().message(), HasSubstr("the TensorProto has"));
}

// The innermost graph has a name that is longer than the minimum size of a payload.
std::string nested_graphs(uint32_t depth) {
  std::string graph = "\x12";  // graph.name
  append_varint(graph, kLiftThreshold);
  graph.append(kLiftThreshold, 'g');
  for (uint32_t i = 1; i < depth; ++i) {
    for (const char tag : {'\x32', '\x2a', '\x0a'}) {  // attribute.g, node.attribute, graph.node
      std::string outer(1, tag);
      append_varint(outer, graph.size());
      graph = outer + graph;
    }
  }
  std::string model = "\x3a";  // model.graph
  append_varint(model, graph.size());
  return model + graph;
}

TEST(LiftPayloads, LimitsNesting) {
  EXPECT_THAT(lift_payloads(as_bytes(nested_graphs(64))), IsOk());
  const auto refused = lift_payloads(as_bytes(nested_graphs(65)));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(refused.status().message(), HasSubstr("nested more than 64 levels deep"));
}

TEST(LiftPayloads, LeavesNodesAloneThatAreTooShortForAPayload) {
  std::string bytes = "\x3a\x04\x0a\x02\xff\xff";  // model.graph, graph.node, not a field
  EXPECT_EQ(lift_payloads(as_bytes(bytes))->bytes.substr(1 + kWideLength), "\x0a\x02\xff\xff");
}

TEST(LiftPayloads, SurvivesVeryDeepNesting) {
  EXPECT_FALSE(lift_payloads(as_bytes(nested_graphs(20'000))).ok());
}

TEST(LiftPayloads, TheLastOfRepeatedPayloadsCounts) {
  // raw_data twice in one tensor, which protobuf allows.
  onnx::TensorProto first;
  first.set_raw_data(std::string(2000, 'a'));
  onnx::TensorProto second;
  second.set_raw_data(std::string(3000, 'b'));
  const std::string tensor = first.SerializeAsString() + second.SerializeAsString();
  std::string graph = "\x2a";
  append_varint(graph, tensor.size());
  graph += tensor;
  std::string bytes = "\x3a";
  append_varint(bytes, graph.size());
  bytes += graph;
  const auto skeleton = lift_payloads(as_bytes(bytes));
  ASSERT_THAT(skeleton, IsOk());
  const onnx::ModelProto parsed = parse(*skeleton);
  const auto payload = skeleton->resolve(parsed.graph().initializer(0).raw_data());
  ASSERT_TRUE(payload);
  EXPECT_EQ(payload->size(), 3000u);
}

}  // namespace
}  // namespace ephost::onnx_io::lift_payloads_test
