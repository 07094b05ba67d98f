// The options of the commands that sign.
#pragma once

#include "host/cli/arguments/argument_parser.h"
#include "host/cli/signing/signer.h"

namespace ephost::cli {

// --passphrase-fd, --expires; `key_name` is how the command calls the option of the key.
[[nodiscard]] Argument add_signing_flags(ArgumentParser& app, SigningFlags& flags,
                                         const std::string& key_name);

}  // namespace ephost::cli
