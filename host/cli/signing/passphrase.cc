#include "host/cli/signing/passphrase.h"

#include <cerrno>
#include <string_view>
#include <system_error>

#include "host/base/format.h"
#include "host/base/terminal.h"

namespace ephost::cli {
namespace {

constexpr size_t kMaxBytes = 1024;

Result<std::string> read_line(int descriptor, std::string_view source) {
  std::string line;
  for (;;) {
    char one = 0;
    const ptrdiff_t count = read_some(descriptor, {&one, 1});
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
