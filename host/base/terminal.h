// The terminal of the process.
#pragma once

#include <memory>
#include <string_view>

#include "host/base/files/file_descriptor.h"

namespace ephost {

[[nodiscard]] bool is_terminal(int descriptor);

// The terminal of the process, whatever its streams are. It shows nothing of what is typed while
// this lives.
class QuietTerminal {
 public:
  QuietTerminal();
  QuietTerminal(const QuietTerminal&) = delete;
  QuietTerminal& operator=(const QuietTerminal&) = delete;
  ~QuietTerminal();

  // False if there is none.
  [[nodiscard]] bool is_quiet() const { return is_quiet_; }
  // To read from.
  [[nodiscard]] int descriptor() const { return terminal_.get(); }
  void show(std::string_view text) const;

 private:
  struct Settings;

  FileDescriptor terminal_;
  std::unique_ptr<Settings> before_;
  bool is_quiet_ = false;
};

}  // namespace ephost
