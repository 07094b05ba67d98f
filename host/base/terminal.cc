#include "host/base/terminal.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

namespace ephost {

bool is_terminal(int descriptor) { return ::isatty(descriptor) != 0; }

struct QuietTerminal::Settings {
  termios values = {};
};

QuietTerminal::QuietTerminal()
    : terminal_(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)),
      before_(std::make_unique<Settings>()) {
  if (!terminal_.is_open() || ::tcgetattr(terminal_.get(), &before_->values) != 0) return;
  termios quiet = before_->values;
  quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  is_quiet_ = ::tcsetattr(terminal_.get(), TCSAFLUSH, &quiet) == 0;
}

QuietTerminal::~QuietTerminal() {
  if (is_quiet_) ::tcsetattr(terminal_.get(), TCSAFLUSH, &before_->values);
}

void QuietTerminal::show(std::string_view text) const {
  // A prompt that cannot be shown does not prevent typing.
  static_cast<void>(write_all(terminal_.get(), text));
}

}  // namespace ephost
