// random_node.h: random nodes of one operator, as models. They start from a valid node
// (valid_nodes.txt) and change in a few places, so that most of them get past the first checks; the
// same dice give the same node. Only used by every_kernel_test.cc.
#pragma once

#include <ephost/value.h>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "host/conformance/random/numbers/dice.h"

namespace onnx {
class OpSchema;
}

namespace ephost::test {

using conformance::Dice;

// Type and shape of a random input, before its elements are drawn.
struct RandomInput {
  enum class Elements { kGiven, kSmall, kLimits, kAnyBytes };
  enum class Stated { kShape, kSymbols, kNoShape, kConstant };

  bool is_given = true;
  onnx::TypeProto type;
  // Repeated to the number of elements; none: small random ones.
  std::vector<double> numbers;
  std::vector<std::string> texts;
  Elements elements = Elements::kGiven;
  Stated stated = Stated::kShape;
};

struct RandomNode {
  onnx::NodeProto node;  // without the names of its inputs
  std::vector<RandomInput> inputs;
};

// "Conv", or "com.microsoft.FusedConv" outside of ai.onnx and ai.onnx.ml.
std::string full_name(const std::string& domain, const std::string& op_type);

// The valid nodes of a file, by full name of the operator. Throws if the file breaks its format.
std::map<std::string, std::vector<RandomNode>> read_valid_nodes(const std::filesystem::path& file);

// A node of an operator that the file lacks, with as many tensors as it needs.
RandomNode plain_node(const onnx::OpSchema& schema);

// Drops what this version of the operator does not have.
void fit(RandomNode& node, const onnx::OpSchema& schema);

// Changes one thing of the node. `types` are the element types to choose from, one list for each
// input; the last list is for all further inputs.
void change(RandomNode& node, const onnx::OpSchema& schema,
            const std::vector<std::vector<int32_t>>& types, Dice& dice);

// A model of the node alone, whose name is "tested", and what to run it on.
struct RandomModel {
  onnx::ModelProto model;
  std::vector<NamedValue> inputs;
};
RandomModel make_model(const RandomNode& node, const onnx::OpSchema& schema, int opset, Dice& dice);

}  // namespace ephost::test
