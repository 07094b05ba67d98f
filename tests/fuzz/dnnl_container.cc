// Any bytes as the dnnl provider's context binary: as they are, and once more with corrected sizes
// and checksum, so that changes after the header are read too. What loads must survive being
// written and read again.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/dnnl/context/container.h"

namespace {

using namespace ephost_dnnl;

// Offsets in the header; plugins/dnnl/CONTEXT_FORMAT.md.
constexpr std::size_t kHeaderSize = 192;
constexpr std::size_t kPayloadSizeAt = 16;
constexpr std::size_t kIndexSizeAt = 24;
constexpr std::size_t kIndexChecksumAt = 32;
constexpr std::size_t kWeightsOffsetAt = 40;
constexpr std::size_t kLibraryAt = 52;
constexpr std::size_t kInstructionSetAt = 116;
constexpr std::size_t kInstructionSetSize = 32;
constexpr std::size_t kWeightsAlignment = 4096;

uint64_t checksum_of(std::string_view bytes) {
  uint64_t checksum = 0xcbf29ce484222325 ^ bytes.size();
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
    checksum = (checksum ^ word) * 0x100000001b3;
    checksum ^= checksum >> 32;
  }
  return checksum;
}

void put(std::string& bytes, std::size_t at, uint64_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

// The text of a header field, as the container reads it.
std::string text_at(std::string_view payload, std::size_t at, std::size_t size) {
  const std::string_view field = payload.substr(at, size);
  return std::string(field.substr(0, std::min(field.find('\0'), field.size())));
}

// Sets the sizes, offset and checksum that match the bytes.
std::string repaired(std::string payload) {
  uint64_t index_size = 0;
  std::memcpy(&index_size, payload.data() + kIndexSizeAt, sizeof(index_size));
  index_size = std::min<uint64_t>(index_size, payload.size() - kHeaderSize);
  const uint64_t index_end = kHeaderSize + index_size;
  const uint64_t weights_at =
      (index_end + kWeightsAlignment - 1) / kWeightsAlignment * kWeightsAlignment;
  payload.resize(std::max<uint64_t>(payload.size(), weights_at), '\0');
  put(payload, kPayloadSizeAt, payload.size());
  put(payload, kIndexSizeAt, index_size);
  put(payload, kIndexChecksumAt,
      checksum_of(std::string_view(payload).substr(kHeaderSize, index_size)));
  put(payload, kWeightsOffsetAt, weights_at);
  return payload;
}

std::string written_again(const std::vector<std::string>& names,
                          const std::vector<LoadedPartition>& loaded, const BuildId& id) {
  std::vector<StoredPartition> stored;
  for (std::size_t i = 0; i < names.size(); ++i) {
    stored.push_back({names[i], &loaded[i].recipe, &loaded[i].constants, loaded[i].has_open_rows});
  }
  std::string bytes;
  write_container(stored, id, [&](const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
  });
  return bytes;
}

// Loads all partitions of a payload; empty if one is damaged. If all are sound, what they are
// written as must be sound too.
void load_all(const std::string& payload, bool again) {
  BuildId id{.library = text_at(payload, kLibraryAt, 64),
             .instruction_set = text_at(payload, kInstructionSetAt, kInstructionSetSize)};
  std::vector<std::string> names;
  std::vector<LoadedPartition> loaded;
  try {
    const Container container(payload, id);
    id.threads = container.threads();
    names = container.partition_names();
    for (const std::string& name : names) loaded.push_back(container.load(name));
  } catch (const Malformed& refusal) {
    if (!again) return;
    std::cerr << "a payload that was loaded and written again is refused: " << refusal.what()
              << "\n";
    std::abort();
  }
  if (!again) load_all(written_again(names, loaded, id), true);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string payload(reinterpret_cast<const char*>(data), size);
  if (size < kHeaderSize) {
    try {
      static_cast<void>(Container(payload, BuildId()));
    } catch (const Malformed&) {
    }
    return 0;
  }
  load_all(payload, false);
  load_all(repaired(payload), false);
  return 0;
}
