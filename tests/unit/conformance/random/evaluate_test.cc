// The evaluation against ONNX's own tests of single nodes.
#include "host/conformance/random/evaluate/evaluate.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace ephost::conformance::evaluate_test {
namespace {

namespace fs = std::filesystem;

template <class Message>
Message read_message(const fs::path& file) {
  Message message;
  std::ifstream stream(file, std::ios::binary);
  if (!message.ParseFromIstream(&stream)) throw std::runtime_error("cannot read " + file.string());
  return message;
}

// Inputs or outputs in their order. Throws NotEvaluable if one is neither float nor int64.
std::vector<BoundedTensor> read_tensors(const fs::path& folder, const std::string& prefix) {
  std::vector<BoundedTensor> tensors;
  for (int i = 0;; ++i) {
    const fs::path file = folder / (prefix + std::to_string(i) + ".pb");
    if (!fs::exists(file)) return tensors;
    tensors.push_back(to_bounded(read_message<onnx::TensorProto>(file)));
  }
}

bool is_allowed(const BoundedTensor& result, const BoundedTensor& expected) {
  if (result.dims != expected.dims) return false;
  for (std::size_t i = 0; i < expected.numbers.size(); ++i) {
    if (!result.numbers[i].allows(static_cast<float>(expected.numbers[i].value))) return false;
  }
  return true;
}

// It counts positions beyond the padding (tests/conformance/exceptions_1.17.txt).
constexpr const char* kWrong =
    "test_averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True";

// What one test expects; nothing if the evaluation does not know the operator or a type.
void check(const fs::path& folder, std::set<std::string>& checked) {
  const auto model = read_message<onnx::ModelProto>(folder / "model.onnx");
  if (model.opset_import_size() != 1 || model.graph().node_size() != 1) return;
  BoundedValues values;
  std::vector<BoundedTensor> expected;
  try {
    const std::vector<BoundedTensor> inputs = read_tensors(folder / "test_data_set_0", "input_");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      values[model.graph().input(static_cast<int>(i)).name()] = inputs[i];
    }
    expected = read_tensors(folder / "test_data_set_0", "output_");
    values = evaluate_model(model, values);
  } catch (const NotEvaluable&) {
    return;
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto found = values.find(model.graph().output(static_cast<int>(i)).name());
    if (found == values.end()) continue;
    EXPECT_TRUE(is_allowed(found->second, expected[i])) << folder;
    checked.insert(model.graph().node(0).op_type());
  }
}

TEST(Evaluation, AgreesWithOnnxsTestsOfSingleNodes) {
  std::set<std::string> checked;
  for (const auto& entry : fs::directory_iterator(ONNX_TESTDATA "/node")) {
    if (entry.path().filename() == kWrong) continue;
    if (fs::exists(entry.path() / "model.onnx")) check(entry.path(), checked);
  }
  EXPECT_GT(checked.size(), 45U);
}

TEST(Evaluation, RefusesInvalidNodes) {
  onnx::NodeProto node;
  node.set_op_type("MatMul");
  const BoundedTensor a = zeros({2, 3}), b = zeros({4, 2});
  EXPECT_THROW(static_cast<void>(evaluate(Invocation(node, 13, {&a, &b}))), NotEvaluable);
  node.set_op_type("NoSuchOperator");
  EXPECT_THROW(static_cast<void>(evaluate(Invocation(node, 13, {&a}))), NotEvaluable);
}

}  // namespace
}  // namespace ephost::conformance::evaluate_test
