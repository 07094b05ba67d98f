// Imports every model of Debian's libonnx-testdata, which contains onnx's own backend tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "host/graph/checks.h"
#include "host/onnx_io/export/export.h"
#include "host/onnx_io/import/import.h"

namespace ephost::onnx_io::import_testdata_test {
namespace {

constexpr const char* kTestData = "/usr/share/libonnx-testdata/data";

std::vector<std::filesystem::path> models() {
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kTestData, ignored)) {
    if (entry.path().filename() == "model.onnx") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The reason why a model cannot be read, written and read again; empty if it can.
std::string failure_of(const std::filesystem::path& path) {
  const Result<graph::Model> model = import_model(path);
  if (!model.ok()) return model.status().to_string();
  if (const Status status = check_graph(model->graph); !status.ok()) return status.message();
  const Result<ExportedModel> exported = export_model(*model);
  if (!exported.ok()) return "export: " + exported.status().to_string();
  const auto again = import_model(graph::make_blob(exported->model.to_bytes()));
  return again.ok() ? "" : "second import: " + again.status().to_string();
}

TEST(ImportTestData, ReadsAndWritesEveryModel) {
  const std::vector<std::filesystem::path> paths = models();
  if (paths.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  EXPECT_GT(paths.size(), 1000u);
  for (const std::filesystem::path& path : paths) {
    EXPECT_EQ(failure_of(path), "") << path.parent_path().filename();
  }
}

}  // namespace
}  // namespace ephost::onnx_io::import_testdata_test
