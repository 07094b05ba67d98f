// The mutator of the targets that read ONNX: half of the changes are made to the message, the other
// half to its bytes.
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/message_mutator.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

// Names of operators, their attributes and domains.
const std::vector<std::string>& onnx_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> names = {"EPContext", "com.microsoft", "ai.onnx.ml", ""};
    for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas()) {
      names.push_back(schema.Name());
      for (const auto& [name, attribute] : schema.attributes()) names.push_back(name);
    }
    return names;
  }();
  return words;
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  onnx::ModelProto model;
  if (seed % 2 == 0 || !model.ParseFromArray(data, static_cast<int>(size))) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  ephost::fuzz::MessageMutator mutator(seed, onnx_words());
  for (unsigned int i = 0; i <= seed / 2 % 3; ++i) mutator.mutate(model);
  const size_t changed = model.ByteSizeLong();
  if (changed > max_size || !model.SerializeToArray(data, static_cast<int>(changed))) return size;
  return changed;
}
