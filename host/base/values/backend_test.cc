#include "host/base/values/backend_test.h"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include "host/base/files/folders/directory.h"
#include "host/base/format.h"
#include "host/base/text.h"

namespace ephost {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModelFile = "model.onnx";

// Adds the folders below `folder`, and that itself, which hold a model. Links are not followed.
std::error_code find_models(const fs::path& folder, std::vector<fs::path>& found) {
  std::error_code failure;
  for (const std::string& name : list_directory(folder, failure)) {
    const fs::path path = folder / name;
    std::error_code ignored;
    if (name == kModelFile) found.push_back(folder);
    if (fs::symlink_status(path, ignored).type() != fs::file_type::directory) continue;
    if (const std::error_code inner = find_models(path, found)) return inner;
  }
  return failure;
}

Status search(const fs::path& root, std::vector<BackendTest>& tests) {
  std::error_code failure;
  if (!fs::is_directory(root, failure)) {
    return Status(StatusCode::kNoSuchFile,
                  formatted("{} is not a folder; give one that holds ONNX backend tests",
                            quote(root.native())));
  }
  std::vector<fs::path> folders;
  failure = find_models(root, folders);
  if (failure) {
    return Status(StatusCode::kFail, formatted("cannot read the folder {}: {}",
                                               quote(root.native()), failure.message()));
  }
  if (folders.empty()) {
    return Status(StatusCode::kNoSuchFile,
                  formatted("no folder below {} has a {}", quote(root.native()), kModelFile));
  }
  std::vector<BackendTest> found;
  for (const fs::path& folder : folders) {
    const fs::path relative = folder.lexically_relative(root);
    const fs::path name = relative == "." ? fs::weakly_canonical(root).filename() : relative;
    found.push_back({name.generic_string(), folder});
  }
  std::ranges::sort(found, {}, &BackendTest::name);
  std::ranges::move(found, std::back_inserter(tests));
  return Status::ok_status();
}

}  // namespace

Result<std::vector<BackendTest>> find_backend_tests(std::span<const fs::path> roots) {
  std::vector<BackendTest> tests;
  for (const fs::path& root : roots) EPHOST_RETURN_IF_ERROR(search(root, tests));
  return tests;
}

std::vector<fs::path> data_sets(const fs::path& folder) {
  std::vector<fs::path> sets;
  std::error_code ignored;
  for (size_t i = 0;; ++i) {
    fs::path set = folder / formatted("test_data_set_{}", i);
    if (!fs::is_directory(set, ignored)) return sets;
    sets.push_back(std::move(set));
  }
}

ValueForm form_of(std::span<const ValueDescription> descriptions, size_t index) {
  if (index >= descriptions.size()) return {};
  const ValueDescription& description = descriptions[index];
  return {description.kind, description.is_optional, description.element_type};
}

Result<std::vector<size_t>> match_data(std::span<const std::string> names,
                                       std::span<const ValueDescription> descriptions,
                                       std::string_view what) {
  if (names.size() > descriptions.size()) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("there are {} {} files, and the model has {}", names.size(), what,
                            descriptions.size()));
  }
  std::vector<size_t> by_name;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(descriptions, name, &ValueDescription::name);
    const auto index = static_cast<size_t>(found - descriptions.begin());
    if (found == descriptions.end() || std::ranges::count(by_name, index) != 0) break;
    by_name.push_back(index);
  }
  if (by_name.size() == names.size()) return by_name;
  std::vector<size_t> by_position(names.size());
  for (size_t i = 0; i < names.size(); ++i) by_position[i] = i;
  return by_position;
}

}  // namespace ephost
