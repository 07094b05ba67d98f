#include "host/cli/signing/passphrase.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include "host/base/format.h"

namespace ephost::cli {
namespace {

constexpr size_t kMaxBytes = 1024;

Result<std::string> read_line(int descriptor, std::string_view source) {
  std::string line;
  for (;;) {
    char one = 0;
    const ssize_t count = ::read(descriptor, &one, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("the passphrase cannot be read from {}: {}", source,
                              std::generic_category().message(errno)));
    }
    if (count == 0 || one == '\n') return line;
    if (line.size() == kMaxBytes) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("the passphrase has more than {} bytes", kMaxBytes));
    }
    line += one;
  }
}

// The terminal of the process, which shows nothing of what is typed while this lives.
class QuietTerminal {
 public:
  QuietTerminal() : descriptor_(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    if (descriptor_ < 0 || ::tcgetattr(descriptor_, &before_) != 0) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    is_quiet_ = ::tcsetattr(descriptor_, TCSAFLUSH, &quiet) == 0;
  }
  QuietTerminal(const QuietTerminal&) = delete;
  QuietTerminal& operator=(const QuietTerminal&) = delete;
  ~QuietTerminal() {
    if (is_quiet_) ::tcsetattr(descriptor_, TCSAFLUSH, &before_);
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  [[nodiscard]] bool is_quiet() const { return is_quiet_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  void show(std::string_view text) const {
    // A prompt that cannot be shown does not prevent typing.
    [[maybe_unused]] const ssize_t written = ::write(descriptor_, text.data(), text.size());
  }

 private:
  int descriptor_;
  termios before_ = {};
  bool is_quiet_ = false;
};

}  // namespace

Result<std::string> read_passphrase(std::optional<uint32_t> descriptor, const std::string& prompt) {
  if (descriptor) {
    return read_line(static_cast<int>(*descriptor), formatted("descriptor {}", *descriptor));
  }
  const QuietTerminal terminal;
  if (!terminal.is_quiet()) {
    return Status(StatusCode::kInvalidArgument,
                  "cannot ask for the passphrase without a terminal; give it with --passphrase-fd");
  }
  terminal.show(prompt);
  auto line = read_line(terminal.descriptor(), "the terminal");
  terminal.show("\n");
  return line;
}

}  // namespace ephost::cli
