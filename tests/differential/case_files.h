// case_files.h: cases as text, and as folders that `ephost test` runs.
#pragma once

#include <filesystem>
#include <string>

#include "host/conformance/random/generate/random_graph.h"

namespace ephost::test {

using conformance::Case;

// The nodes with the dimensions of their inputs, one per line.
[[nodiscard]] std::string describe(const Case& described);

// Writes model.onnx and, for each set of inputs, test_data_set_N with inputs and expected outputs,
// like ONNX's backend tests. Throws if the folder cannot be written.
void write_case(const Case& written, const std::filesystem::path& folder);

}  // namespace ephost::test
