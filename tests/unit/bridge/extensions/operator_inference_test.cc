#include "host/bridge/extensions/operator_inference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "host/bridge/abi_text.h"
#include "tests/support/fake_host.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/bridge/extensions/defining_plugin.h"
#include "tests/unit/graph/graph_builder.h"

namespace ephost::bridge::operator_inference_test {
namespace {

using ephost::test::FakeError;
using graph::testing::GraphBuilder;
using test::IsOk;
using testing::DefiningPlugin;
using ::testing::ElementsAre;
using testing::float_parameter;
using ::testing::HasSubstr;
using testing::plain_definition;

// What the plugin's function does; a slot cannot capture.
std::function<int32_t(eph_inference&, eph_error*)> act;
const eph_operator_def* self_seen = nullptr;

int32_t infer(const eph_operator_def* self, eph_inference* inference, eph_error* error) noexcept {
  self_seen = self;
  return act(*inference, error);
}

class OperatorInference : public ::testing::Test {
 protected:
  OperatorInference() {
    model_.symbols = {"rows"};
    model_.graph =
        GraphBuilder()
            .input("x", graph::testing::tensor_type(ElementType::kFloat,
                                                    graph::Shape{graph::symbolic_dim(0), 3}))
            .constant("k", graph::testing::int64_tensor({5}))
            .node("Crop", {"x", "", "k"}, {"y"})
            .attribute("n", int64_t{7})
            .build();
  }

  // Calls the function of a definition with two outputs for a node that has one.
  Status run(std::function<int32_t(eph_inference&, eph_error*)> function) {
    act = std::move(function);
    const std::vector<eph_parameter> outputs = {float_parameter(), float_parameter()};
    eph_operator_def definition = plain_definition();
    definition.outputs = outputs.data();
    definition.output_count = outputs.size();
    definition.infer = &infer;
    DefiningPlugin plugin{.records = {definition}};
    auto read = plugin.read();
    EXPECT_THAT(read, IsOk());
    stated_ = onnx_io::StatedTypes(1);
    const Status status = read->front().infer(model_.graph, model_, stated_);
    EXPECT_EQ(self_seen, plugin.records.data());
    return status;
  }
  // The message that set_output refuses these with.
  std::string refusal(uint32_t output, int32_t type, const int64_t* shape, const eph_string* names,
                      int32_t rank) {
    FakeError error;
    const Status status = run([&](eph_inference& inference, eph_error*) {
      EXPECT_EQ(inference.api->set_output(&inference, output, type, shape, names, rank, &error),
                EPH_INVALID_ARGUMENT);
      return int32_t{EPH_OK};
    });
    EXPECT_THAT(status, IsOk());
    EXPECT_FALSE(stated_[0]);
    return error.message;
  }

  graph::Model model_;
  onnx_io::StatedTypes stated_;
};

TEST_F(OperatorInference, ShowsTheNodeAndItsInputs) {
  const Status status = run([](eph_inference& inference, eph_error* error) {
    eph_node_info node = {};
    node.struct_size = sizeof(node);
    EXPECT_EQ(inference.api->get_node(&inference, &node, error), EPH_OK);
    EXPECT_EQ(view(node.op_type), "Crop");
    EXPECT_EQ(node.attribute_count, 1U);
    eph_value_info x = {};
    x.struct_size = sizeof(x);
    EXPECT_EQ(inference.api->get_input(&inference, 0, &x, error), EPH_OK);
    EXPECT_EQ(x.element_type, EPH_ELEMENT_FLOAT);
    EXPECT_EQ(x.shape[0], -1);
    EXPECT_EQ(view(x.dim_names[0]), "rows");
    EXPECT_EQ(x.constant, nullptr);
    eph_value_info k = {};
    k.struct_size = sizeof(k);
    EXPECT_EQ(inference.api->get_input(&inference, 2, &k, error), EPH_OK);
    EXPECT_EQ(*static_cast<const int64_t*>(k.constant->data), 5);
    EXPECT_EQ(inference.api->get_input(&inference, 1, &k, error), EPH_NOT_FOUND);
    EXPECT_EQ(inference.api->get_input(&inference, 3, &k, error), EPH_NOT_FOUND);
    EXPECT_EQ(inference.api->get_input(&inference, 0, nullptr, error), EPH_INVALID_ARGUMENT);
    EXPECT_EQ(inference.api->get_node(&inference, nullptr, error), EPH_INVALID_ARGUMENT);
    return int32_t{EPH_OK};
  });
  EXPECT_THAT(status, IsOk());
}

TEST_F(OperatorInference, TakesWhatThePluginStates) {
  const Status status = run([](eph_inference& inference, eph_error* error) {
    const int64_t shape[] = {-1, 4};
    const eph_string names[] = {EPH_STRING("rows"), {}};
    EXPECT_EQ(inference.api->set_output(&inference, 0, EPH_ELEMENT_INT8, shape, names, 2, error),
              EPH_OK);
    // The operator has a second output, the node does not.
    EXPECT_EQ(inference.api->set_output(&inference, 1, EPH_ELEMENT_INT8, shape, names, 2, error),
              EPH_OK);
    return int32_t{EPH_OK};
  });
  EXPECT_THAT(status, IsOk());
  ASSERT_TRUE(stated_[0]);
  EXPECT_EQ(stated_[0]->element, ElementType::kInt8);
  EXPECT_THAT(*stated_[0]->shape, ElementsAre(-1, 4));
  EXPECT_THAT(stated_[0]->dim_names, ElementsAre("rows", ""));
}

TEST_F(OperatorInference, TakesAnUnknownShape) {
  ASSERT_THAT(run([](eph_inference& inference, eph_error* error) {
                return inference.api->set_output(&inference, 0, EPH_ELEMENT_UNDEFINED, nullptr,
                                                 nullptr, -1, error);
              }),
              IsOk());
  ASSERT_TRUE(stated_[0]);
  EXPECT_EQ(stated_[0]->element, ElementType::kUndefined);
  EXPECT_FALSE(stated_[0]->shape);
}

TEST_F(OperatorInference, RefusesWhatMakesNoSense) {
  const int64_t shape[] = {-2};
  const eph_string name[] = {EPH_STRING("\xff")};
  const int64_t good[] = {3};
  EXPECT_THAT(refusal(2, EPH_ELEMENT_FLOAT, good, nullptr, 1),
              HasSubstr("got output 2, and the operator has 2"));
  EXPECT_THAT(refusal(0, 99, good, nullptr, 1), HasSubstr("element type 99, which does not exist"));
  EXPECT_THAT(refusal(0, EPH_ELEMENT_FLOAT, nullptr, nullptr, 1), HasSubstr("null shape"));
  EXPECT_THAT(refusal(0, EPH_ELEMENT_FLOAT, good, nullptr, 65), HasSubstr("got a rank of 65"));
  EXPECT_THAT(refusal(0, EPH_ELEMENT_FLOAT, good, nullptr, -2), HasSubstr("got a rank of -2"));
  EXPECT_THAT(refusal(0, EPH_ELEMENT_FLOAT, shape, nullptr, 1), HasSubstr("a negative extent"));
  EXPECT_THAT(refusal(0, EPH_ELEMENT_FLOAT, good, name, 1), HasSubstr("name of a dimension"));
}

TEST_F(OperatorInference, BlamesTheModelForAFailure) {
  const Status status = run([](eph_inference&, eph_error* error) {
    error->api->set_message(error, EPH_STRING("no such border"));
    return int32_t{EPH_FAIL};
  });
  EXPECT_EQ(status.code(), StatusCode::kInvalidGraph);
  EXPECT_THAT(status.message(),
              HasSubstr("AcmeExecutionProvider failed inferring the types of its outputs: no such "
                        "border"));
}

}  // namespace
}  // namespace ephost::bridge::operator_inference_test
