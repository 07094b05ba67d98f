// Every ONNX backend test of one node whose operator this provider has, in each way in which a host
// may present the node.
#include <gtest/gtest.h>

#include <set>

#include "tests/support/status_matchers.h"
#include "tests/unit/plugins/cpu/onnx/onnx_node_test.h"
#include "tests/unit/plugins/cpu/tensor_matcher.h"

namespace ephost::test::onnx_conformance_test {
namespace {

// What cannot pass, for the reasons in tests/conformance/exceptions*.txt: those of all versions of
// the tests that apply to one node here.
const std::set<std::string>& exceptions() {
  static const std::set<std::string> kNames = {
      "test_averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True",
      "test_bernoulli",
      "test_bernoulli_double",
      "test_bernoulli_seed",
      "test_optional_get_element_tensor",  // its kernel takes values, which these graphs have not
      "test_qlinearmatmul_2D_int8_float16",
      "test_qlinearmatmul_2D_int8_float32",
      "test_qlinearmatmul_3D_int8_float16",
      "test_qlinearmatmul_3D_int8_float32"};
  return kNames;
}

class OnnxConformance : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    session_ = new PluginSession(CPU_PLUGIN);
    tests_ = new std::vector<OnnxNodeTest>();
    const eph_kernel_def* kernels = nullptr;
    uint64_t count = 0;
    FakeError error;
    ASSERT_EQ(session_->api().get_kernels(session_->provider(), &kernels, &count, &error), EPH_OK);
    std::set<std::string> operators;
    for (uint64_t i = 0; i < count; ++i) operators.emplace(eph::view(kernels[i].op_type));
    for (OnnxNodeTest& test : read_onnx_node_tests(std::string(ONNX_TESTDATA) + "/node")) {
      if (operators.count(test.op_type) != 0 && exceptions().count(test.name) == 0) {
        tests_->push_back(std::move(test));
      }
    }
  }
  static void TearDownTestSuite() {
    delete tests_;
    delete session_;
  }

  static void expect_outputs(const OnnxNodeTest& test, const Outcome& outcome) {
    ASSERT_THAT(outcome, IsOk()) << test.name;
    for (std::size_t i = 0; i < test.expected.size(); ++i) {
      if (!test.expected[i]) continue;
      EXPECT_EQ(difference(outcome.outputs[i], *test.expected[i]), "")
          << test.name << ", output " << i;
    }
  }

  static void run_all(Stated stated, bool with_constants) {
    EXPECT_GT(tests_->size(), 400U);
    for (const OnnxNodeTest& test : *tests_) {
      const std::unique_ptr<SingleNodeGraph> graph = test.graph(stated, with_constants);
      expect_outputs(test, session_->run(*graph));
    }
  }

  static PluginSession* session_;
  static std::vector<OnnxNodeTest>* tests_;
};

PluginSession* OnnxConformance::session_ = nullptr;
std::vector<OnnxNodeTest>* OnnxConformance::tests_ = nullptr;

TEST_F(OnnxConformance, HoldsWithTypesAndShapesStated) { run_all(Stated::kTypesAndShapes, false); }

TEST_F(OnnxConformance, HoldsWithShapesKnownOnlyAtTheRun) { run_all(Stated::kTypes, false); }

TEST_F(OnnxConformance, HoldsWithNothingStated) { run_all(Stated::kNothing, false); }

TEST_F(OnnxConformance, HoldsWithConstantInputs) { run_all(Stated::kTypesAndShapes, true); }

TEST_F(OnnxConformance, HoldsWithConstantInputsAndAnOpenFirstShape) {
  run_all(Stated::kTypes, true);
}

TEST_F(OnnxConformance, HoldsInPlaceWhereAKernelAllowsIt) {
  int pairs = 0;
  for (const OnnxNodeTest& test : *tests_) {
    const std::unique_ptr<SingleNodeGraph> graph = test.graph(Stated::kTypesAndShapes, false);
    Outcome outcome;
    const std::unique_ptr<KernelSession> kernel = session_->create(*graph, &outcome);
    ASSERT_NE(kernel, nullptr) << test.name << ": " << outcome.message;
    std::vector<eph_slot_pair> shared(
        kernel->info().may_inplace, kernel->info().may_inplace + kernel->info().may_inplace_count);
    shared.insert(shared.end(), kernel->info().aliases,
                  kernel->info().aliases + kernel->info().alias_count);
    shared.insert(shared.end(), kernel->info().must_share,
                  kernel->info().must_share + kernel->info().must_share_count);
    for (const eph_slot_pair pair : shared) {
      const auto& input = test.inputs.at(pair.input);
      const auto& output = test.expected.at(pair.output);
      if (!input || !output || input->bytes.size() != output->bytes.size()) continue;
      if (!input->strings.empty()) continue;
      ++pairs;
      expect_outputs(test, kernel->run(pair));
    }
  }
  EXPECT_GT(pairs, 100);
}

}  // namespace
}  // namespace ephost::test::onnx_conformance_test
