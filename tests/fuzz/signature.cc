// Any bytes as a signature file, a public key, a secret key without a passphrase and a trusted
// comment. What is read comes back as it is written, and never verifies: nobody signed the content.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "host/base/files/file.h"
#include "host/trust/minisign.h"
#include "host/trust/secret_key.h"
#include "host/trust/signed_facts.h"

namespace {

using namespace ephost;

void read_signature(std::string_view text) {
  const auto signature = trust::parse_signature(text);
  if (!signature.ok()) return;
  const auto again = trust::parse_signature(trust::to_text(*signature));
  if (!again.ok() || again->bytes != signature->bytes) std::abort();
  const auto facts = trust::parse_signed_facts(signature->trusted_comment);
  if (facts.ok() && !trust::parse_signed_facts(trust::to_text(*facts)).ok()) std::abort();
  const auto key =
      trust::decode_public_key("RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3");
  trust::Signature claimed = *signature;
  claimed.key = key->id;
  if (trust::verify(claimed, *key, as_bytes("content of the fuzz target")).ok()) std::abort();
}

void read_keys(std::string_view text) {
  if (const auto key = trust::parse_public_key(text); key.ok()) {
    if (trust::parse_public_key(trust::to_text(*key)).value() != *key) std::abort();
  }
  const auto needs_passphrase = trust::needs_passphrase(text);
  if (!needs_passphrase.ok() || *needs_passphrase) return;
  const auto key = trust::open_secret_key(text, "");
  if (!key.ok()) return;
  const trust::Signature made = key->sign(as_bytes("content"), "");
  if (!trust::verify(made, key->public_key(), as_bytes("content")).ok()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_signature(text);
  read_keys(text);
  return 0;
}
