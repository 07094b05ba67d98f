// One ONNX backend test: a folder with `model.onnx` and folders `test_data_set_*` of `input_N.pb`
// and `output_N.pb`. Finds them, and says which file belongs to which input or output.
#pragma once

#include <ephost/status.h>
#include <ephost/types/session.h>
#include <ephost/types/value_file.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "host/base/format.h"

namespace ephost {

struct BackendTest {
  std::string name;  // the folder's path below the root it was found in, or the root's own name
  std::filesystem::path folder;

  [[nodiscard]] std::filesystem::path model() const { return folder / "model.onnx"; }
};

// All tests below the roots, by root and then by name. Links to folders are not followed.
// NO_SUCHFILE for a root that is not a folder, NOT_FOUND for one without tests.
[[nodiscard]] Result<std::vector<BackendTest>> find_backend_tests(
    std::span<const std::filesystem::path> roots);

// The folders test_data_set_0, test_data_set_1, ... up to the first that is missing.
[[nodiscard]] std::vector<std::filesystem::path> data_sets(const std::filesystem::path& folder);

// A file does not say what kind of value it holds; the input or output at its position does.
[[nodiscard]] ValueForm form_of(std::span<const ValueDescription> descriptions, size_t index);

// The values in the files PREFIX0.pb, PREFIX1.pb, ... up to the first that is missing. `read` takes
// a path and a ValueForm and returns Result<Named>.
template <class Named, class Read>
[[nodiscard]] Result<std::vector<Named>> read_data(const std::filesystem::path& set,
                                                   std::string_view prefix,
                                                   std::span<const ValueDescription> descriptions,
                                                   const Read& read) {
  std::vector<Named> values;
  std::error_code ignored;
  for (size_t i = 0;; ++i) {
    const std::filesystem::path file = set / formatted("{}{}.pb", prefix, i);
    if (!std::filesystem::exists(file, ignored)) return values;
    EPHOST_ASSIGN_OR_RETURN(Named value, read(file, form_of(descriptions, i)));
    values.push_back(std::move(value));
  }
}

// The input or output of each value: by the names in the files if all of them are known and
// different, otherwise by position. INVALID_ARGUMENT for more files than there are descriptions;
// `what` is "input" or "output".
[[nodiscard]] Result<std::vector<size_t>> match_data(std::span<const std::string> names,
                                                     std::span<const ValueDescription> descriptions,
                                                     std::string_view what);

// Before version 1.13 onnx wrote bfloat16 values as uint16 with the same bits.
template <class Value>
[[nodiscard]] Result<Value> as_stated(Value value, ElementType stated) {
  if (stated != ElementType::kBfloat16 || value.element_type() != ElementType::kUint16) {
    return value;
  }
  EPHOST_ASSIGN_OR_RETURN(
      Value typed,
      Value::allocate(stated, std::vector<int64_t>(value.shape().begin(), value.shape().end())));
  std::ranges::copy(value.bytes(), typed.mutable_bytes().begin());
  return typed;
}

}  // namespace ephost
