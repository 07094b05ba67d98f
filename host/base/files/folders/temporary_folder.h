// A new folder, removed with its content by the destructor unless it was kept.
#pragma once

#include <ephost/status.h>

#include <filesystem>

namespace ephost {

class TemporaryFolder {
 public:
  // In the system's temporary folder. FAIL where the folder cannot be made.
  [[nodiscard]] static Result<TemporaryFolder> create();
  // In the folder of `path`, under a hidden name, so that keep_as(path) can rename it.
  [[nodiscard]] static Result<TemporaryFolder> create_beside(const std::filesystem::path& path);
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  // What cannot be removed stays.
  ~TemporaryFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Gives the folder this name and the permissions of a folder that the user makes, as one step.
  // INVALID_ARGUMENT where something has that name.
  [[nodiscard]] Status keep_as(const std::filesystem::path& path);

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;  // empty: moved away
};

}  // namespace ephost
