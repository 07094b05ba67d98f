// A valid manifest and the ways in which tests change it.
#pragma once

#include <string>
#include <string_view>

namespace ephost::manifest::testing {

inline constexpr std::string_view kSample = R"(schema: 1
provider: AcmeExecutionProvider
name: acme
vendor: Acme Corp.
version: 2.1.0
abi: { major: 1, minor: [0, 2] }
library:
  linux-x86_64: lib/libacme.so
  windows-x86_64: acme.dll
sha256:
  linux-x86_64: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
context_sources: [acme, acme.v1]
validates_contexts: true
deterministic: true
devices:
  - type: npu
    vendor: Acme Corp.
    id: "0x1e60"
requires: [ephost.progress/1]
options:
  - name: cores
    type: int
    default: 4
    range: [0, 16]
    help: Cores to use.
  - name: mode
    type: enum
    default: fast
    choices: [fast, exact]
  - name: scale
    type: float
    default: 0.5
    range: [0, .inf]
  - name: verbose
    type: bool
    default: false
  - name: cache_folder
    type: string
    default: ""
)";

// The sample with the first occurrence of `from`, which must exist, replaced.
inline std::string sample_with(std::string_view from, std::string_view to) {
  std::string text(kSample);
  return text.replace(text.find(from), from.size(), to);
}

// A manifest with the required keys only.
inline std::string small_manifest(std::string_view provider, std::string_view name,
                                  std::string_view version, std::string_view libraries) {
  return "schema: 1\nprovider: " + std::string(provider) + "\nname: " + std::string(name) +
         "\nvendor: Acme\nversion: " + std::string(version) +
         "\nabi: { major: 1, minor: [0, 0] }\nlibrary: { " + std::string(libraries) + " }\n";
}

}  // namespace ephost::manifest::testing
