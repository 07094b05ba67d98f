// What the layer "validate" finds by comparing results with those of the CPU provider, for which a
// function stands here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/layers/raw_plugin.h"

namespace ephost::layers::validate_results_test {
namespace {

using test::Behaviour;
using test::RawPlugin;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Function = std::function<float(float)>;

const Function kDouble = [](float x) { return 2 * x; };
const Function kDoubleAndMore = [](float x) { return x == 2 ? 5 : 2 * x; };

std::span<const float> floats(const eph_value& value) {
  return {static_cast<const float*>(value.data), value.byte_size / sizeof(float)};
}

// One output, "y", of the type and shape of the first input.
class FakeReference : public Reference {
 public:
  explicit FakeReference(Function function) : function_(std::move(function)) {}
  Result<std::vector<Output>> run(std::span<const eph_value* const> inputs) override {
    if (!function_) return Status(StatusCode::kFail, "it fails");
    const auto result = std::make_shared<std::vector<float>>();
    for (const float x : floats(*inputs[0])) result->push_back(function_(x));
    ValueView view;
    view.kind = ValueKind::kTensor;
    view.type = ElementType::kFloat;
    view.bits = 32;
    view.count = result->size();
    view.shape = {static_cast<int64_t>(result->size())};
    view.bytes = std::as_bytes(std::span(*result));
    std::vector<Output> outputs;
    outputs.push_back({"y", std::move(view), result});
    return outputs;
  }

 private:
  const Function function_;
};

class ValidateResults : public ::testing::Test {
 protected:
  ValidateResults() {
    api_.get_onnx = [](const eph_graph*, uint64_t, eph_bytes* out, eph_error*) noexcept -> int32_t {
      *out = {"onnx", 4};
      return EPH_OK;
    };
    graph.api = &api_;
  }
  // The message of a run of a computation that is `function` of three floats; empty where it
  // succeeds.
  std::string message_of(const Function& function, const eph_ep_context* context = nullptr) {
    Behaviour behaviour;
    behaviour.describe = [this](eph_computation_info* info) {
      info->may_inplace = &kPair;
      info->may_inplace_count = is_in_place ? 1 : 0;
    };
    behaviour.compute = [&](eph_run* run, eph_error*) {
      const std::span<const float> x = floats(*run->inputs[0]);
      auto* const y = static_cast<float*>(run->outputs[0]->data);
      for (size_t i = 0; i < x.size(); ++i) y[i] = function(x[i]);
      return EPH_OK;
    };
    RawPlugin plugin(behaviour, {}, false, make_reference);
    eph_computation* const computation = plugin.compile(&graph, "conv1", context);
    test::FakeRun run({&input}, {is_in_place ? &input : &output}, 0);
    plugin.compute(computation, &run);
    plugin.destroy(computation);
    return plugin.error.message;
  }

  static constexpr eph_slot_pair kPair = {0, 0};
  test::FloatTensor input{{3}, {1, 2, 3}};
  test::FloatTensor output{{3}, {0, 0, 0}};
  test::FakeGraph graph;
  bool is_in_place = false;  // the host has given the output the memory of the input
  MakeReference make_reference = [](std::span<const std::byte>) {
    return Result<std::shared_ptr<Reference>>(std::make_shared<FakeReference>(kDouble));
  };

 private:
  eph_graph_api api_ = *graph.api;
};

TEST_F(ValidateResults, FindNothingInOnesThatAgree) {
  EXPECT_EQ(message_of(kDouble), "");
  EXPECT_EQ(message_of([](float x) { return 2.0001F * x; }), "");
}

TEST_F(ValidateResults, FindOnesThatDiffer) {
  EXPECT_THAT(message_of(kDoubleAndMore),
              AllOf(HasSubstr("compute of RawExecutionProvider of \"conv1\" gives another result "
                              "than the CPU provider in output 0 (\"y\"): 1 of 3 numbers differ"),
                    HasSubstr("5, expected 4"), HasSubstr("(rule 25); compare what it computes")));
  EXPECT_THAT(output.values(), ElementsAre(0, 0, 0));
}

TEST_F(ValidateResults, AreOfTheInputsAsTheyWereBefore) {
  is_in_place = true;
  EXPECT_EQ(message_of(kDouble), "");
  EXPECT_THAT(input.values(), ElementsAre(2, 4, 6));
  input = test::FloatTensor({3}, {1, 2, 3});
  EXPECT_THAT(message_of(kDoubleAndMore), HasSubstr("5, expected 4"));
}

TEST_F(ValidateResults, AreNotComparedIfTheyAreRandom) {
  float next = 0;
  EXPECT_EQ(message_of([&](float) { return ++next; }), "");
}

TEST_F(ValidateResults, AreNotComparedIfTheReferenceFails) {
  make_reference = [](std::span<const std::byte>) {
    return Result<std::shared_ptr<Reference>>(std::make_shared<FakeReference>(nullptr));
  };
  EXPECT_EQ(message_of(kDoubleAndMore), "");
}

TEST_F(ValidateResults, AreNotComparedWithoutAReference) {
  make_reference = [](std::span<const std::byte>) {
    return Result<std::shared_ptr<Reference>>(Status(StatusCode::kFail, "there is no kernel"));
  };
  EXPECT_EQ(message_of(kDoubleAndMore), "");
  make_reference = {};
  EXPECT_EQ(message_of(kDoubleAndMore), "");
}

TEST_F(ValidateResults, AreThoseOfTheGraph) {
  std::string given;
  make_reference = [&](std::span<const std::byte> onnx) {
    given.assign(reinterpret_cast<const char*>(onnx.data()), onnx.size());
    return Result<std::shared_ptr<Reference>>(std::make_shared<FakeReference>(kDouble));
  };
  EXPECT_EQ(message_of(kDouble), "");
  EXPECT_EQ(given, "onnx");
}

TEST_F(ValidateResults, OfContextsAreNotCompared) {
  eph_ep_context context = {};
  context.struct_size = sizeof(context);
  EXPECT_EQ(message_of(kDoubleAndMore, &context), "");
}

}  // namespace
}  // namespace ephost::layers::validate_results_test
