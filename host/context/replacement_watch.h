// Tells whether a model may have been replaced while it was read. A context model and its files are
// several: who reads them while they are published may find the model of one publication and a
// binary of the next. What was read then is no damage, and reading it again helps.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace ephost::context {

// How often a model is read at most whose files are replaced again and again.
inline constexpr int kMostReadings = 5;

class ReplacementWatch {
 public:
  // Begins to watch the model and its folder; nothing for an empty path.
  explicit ReplacementWatch(std::filesystem::path model_path);

  // Whether another file has been put in the model's place since, or any into its folder.
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
