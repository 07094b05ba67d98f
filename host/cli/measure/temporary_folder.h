// A new folder in the system's temporary folder, removed with its content by the destructor.
#pragma once

#include <ephost/status.h>

#include <filesystem>

namespace ephost::cli {

class TemporaryFolder {
 public:
  // FAIL where the folder cannot be made.
  [[nodiscard]] static Result<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  // What cannot be removed stays.
  ~TemporaryFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;  // empty: moved away
};

}  // namespace ephost::cli
