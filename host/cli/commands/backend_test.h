// One ONNX backend test: a folder with `model.onnx` and folders `test_data_set_*` of `input_N.pb`
// and `output_N.pb`. Finds and runs them; test.cc reports.
#pragma once

#include <ephost/environment.h>
#include <ephost/session_options.h>
#include <ephost/status.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "host/cli/commands/compare.h"

namespace ephost::cli {

struct BackendTest {
  std::string name;  // the folder's path below the root it was found in, or the root's own name
  std::filesystem::path folder;
};

// All tests below the roots, by root and then by name. Links to folders are not followed.
// NO_SUCHFILE for a root that is not a folder, NOT_FOUND for one without tests.
[[nodiscard]] Result<std::vector<BackendTest>> find_backend_tests(
    std::span<const std::filesystem::path> roots);

// OK if every data set gives the expected outputs. NOT_IMPLEMENTED for operators that no
// provider takes.
[[nodiscard]] Status run_backend_test(const Environment& environment, const SessionOptions& options,
                                      const BackendTest& test, const Tolerance& tolerance);

}  // namespace ephost::cli
