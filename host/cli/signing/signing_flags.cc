#include "host/cli/signing/signing_flags.h"

namespace ephost::cli {

Argument add_signing_flags(ArgumentParser& app, SigningFlags& flags, const std::string& key_name) {
  constexpr const char* kGroup = "Signing";
  Argument key = app.add(key_name, flags.key, "Sign with this secret key (see \"ephost keygen\")")
                     .type_name("FILE")
                     .group(kGroup);
  app.add("--passphrase-fd", flags.passphrase_fd,
          "Read the passphrase of the key from this descriptor [the terminal]")
      .type_name("N")
      .group(kGroup)
      .needs(key);
  app.add("--expires", flags.expires, "The signature does not count from this day or time on, UTC")
      .type_name("TIME")
      .group(kGroup)
      .needs(key);
  return key;
}

}  // namespace ephost::cli
