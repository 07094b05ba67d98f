// Passphrases of secret keys, from a descriptor or from the terminal.
#pragma once

#include <ephost/status.h>

#include <optional>
#include <string>

namespace ephost::cli {

// The first line that can be read from `descriptor`; without one, what is typed at the terminal
// after `prompt`, which is not shown. INVALID_ARGUMENT without a terminal, or for more than 1024
// bytes.
[[nodiscard]] Result<std::string> read_passphrase(std::optional<uint32_t> descriptor,
                                                  const std::string& prompt);

}  // namespace ephost::cli
