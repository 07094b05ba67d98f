// Any bytes as a context model: import, the loader and `ephost verify`'s report, which must agree.
#include <stdlib.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "host/context/read/loader.h"
#include "host/context/read/verify.h"
#include "host/onnx_io/import/import.h"

namespace {

using ephost::graph::Blob;

// An empty folder for the paths that models state; removed at exit.
const std::filesystem::path& empty_folder() {
  static const struct Folder {
    Folder() {
      std::string pattern = std::filesystem::temp_directory_path() / "ephost-fuzz-XXXXXX";
      if (::mkdtemp(pattern.data()) == nullptr) std::abort();
      path = pattern;
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove(path, ignored);
    }
    std::filesystem::path path;
  } folder;
  return folder.path;
}

// Reads all bytes, so that a payload that exceeds its memory is detected.
void read_all(const Blob& blob) {
  [[maybe_unused]] volatile std::byte sink{};
  for (const std::byte byte : blob.bytes) sink = byte;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ephost;
  const Blob bytes{.bytes = std::as_bytes(std::span(data, size))};
  const Result<graph::Model> model = onnx_io::import_model(bytes, {.infer_shapes = false});
  if (!model.ok()) return 0;

  static constexpr std::string_view kBinary = "the content of a binary";
  context::LoadOptions options{.folder = empty_folder()};
  options.files["model_dnnl.bin"] = {.bytes = std::as_bytes(std::span(kBinary))};
  // With checksums nearly every change to a payload is refused before it is looked at.
  for (const bool verify_checksums : {true, false}) {
    options.verify_checksums = verify_checksums;
    static_cast<void>(context::find_superseded_initializers(bytes.bytes, options));
    const Result<context::LoadedContext> loaded = context::load_context(*model, options);
    const context::VerifyReport report = context::verify_context_model(*model, options);
    const bool lacks_checksums = report.needs_checksums && !report.unchecked.empty();
    if (loaded.ok() != (report.ok() && !lacks_checksums)) {
      std::cerr << "the loader and verification disagree: " << loaded.status().to_string() << "\n";
      std::abort();
    }
    if (!loaded.ok()) continue;
    for (const context::CachedPayload& payload : loaded->payloads) read_all(payload.bytes);
    for (const context::CachedPartition& partition : loaded->partitions) {
      if (partition.payload >= loaded->payloads.size()) std::abort();
    }
  }
  return 0;
}
