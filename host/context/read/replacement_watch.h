// Detection of a model that may have been replaced while it was read. A context model consists of
// several files, and a reader that opens them during a publication may combine the model of one
// publication with a binary of the next. That is not damage, and reading again helps.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace ephost::context {

// How often a model is read at most while its files keep being replaced.
inline constexpr int kMaxReadings = 5;

class ReplacementWatch {
 public:
  // Notes the state of the model and its folder. With an empty path, nothing ever changes.
  explicit ReplacementWatch(std::filesystem::path model_path);

  // Whether the model, or any file in its folder, has been replaced since then.
  [[nodiscard]] bool has_changed() const;

 private:
  // Device, inode, modification time, and change time of the inode.
  using State = std::array<int64_t, 4>;

  static std::optional<State> state_of(const std::filesystem::path& path);

  std::filesystem::path model_path_;
  std::filesystem::path folder_;
  std::optional<State> model_;
  std::optional<State> folder_state_;
};

}  // namespace ephost::context
