// Keys, signatures and manifests for the tests of signatures.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/files/file.h"
#include "host/base/hash.h"
#include "host/trust/secret_key.h"
#include "host/trust/signed_facts.h"
#include "host/trust/verifier.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_directory.h"

namespace ephost::trust::testing {

inline SecretKey make_key() { return std::move(SecretKey::generate()).value(); }

inline constexpr std::string_view kManifest =
    "schema: 1\nprovider: AcmeExecutionProvider\nname: acme\nvendor: Acme\nversion: 1.2.3\n"
    "abi: { major: 1, minor: [0, 0] }\nlibrary: { linux-x86_64: libacme.so }\n";

// A folder with a plugin's manifest and library, and folders of trusted keys.
struct Plugin {
  Plugin() {
    folder.write("plugin/acme.yaml", kManifest);
    folder.write("plugin/libacme.so", "library");
    add_folder("user");
  }

  void add_folder(std::string_view name) const {
    std::filesystem::create_directories(folder / name);
    std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
  }

  [[nodiscard]] std::filesystem::path manifest_file() const { return folder / "plugin/acme.yaml"; }
  [[nodiscard]] std::string manifest_text() const {
    return ephost::read_file(manifest_file()).value();
  }

  // Writes the signature of the manifest.
  void sign(const SecretKey& key, const SignedFacts& facts = {}) const {
    const std::string text = manifest_text();
    write_signature(key.sign(as_bytes(text), to_text(facts)));
  }
  void write_signature(const Signature& signature) const {
    folder.write("plugin/acme.yaml.minisig", trust::to_text(signature));
  }

  void trust(TrustedKey key) const {
    ASSERT_THAT(add_trusted_key(folder / "user", key), test::IsOk());
  }
  void trust(const SecretKey& key) const { trust(TrustedKey{.key = key.public_key()}); }

  [[nodiscard]] Verifier verifier() const {
    return {SignaturePolicy::kRequire,
            {.places = {.machine = folder / "machine", .user = folder / "user"},
             .clock = [now = now] { return now; }}};
  }
  [[nodiscard]] SignatureState examine() const {
    const std::string text = manifest_text();
    return verifier().examine_plugin(manifest::parse_manifest(text, manifest_file()).value(), text);
  }

  ephost::test::TempDirectory folder;
  int64_t now = 1'800'000'000;  // 15 January 2027
};

}  // namespace ephost::trust::testing
