// Tells whether a model may have been replaced while it was being read. A context model consists of
// several files, and a reader that opens them during a publication may combine the model of one
// publication with a binary of the next. That is not damage: reading again helps.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace ephost::context {

// The most times that a model is read whose files keep being replaced.
inline constexpr int kMostReadings = 5;

class ReplacementWatch {
 public:
  // Begins to watch the model and its folder; with an empty path nothing ever changes.
  explicit ReplacementWatch(std::filesystem::path model_path);

  // Whether the model has been replaced since then, or any file in its folder.
  [[nodiscard]] bool has_changed() const;

 private:
  // Device, inode, and the times of the last changes of content and inode.
  using State = std::array<int64_t, 4>;

  static std::optional<State> state_of(const std::filesystem::path& path);

  std::filesystem::path model_path_;
  std::filesystem::path folder_;
  std::optional<State> model_;
  std::optional<State> folder_state_;
};

}  // namespace ephost::context
