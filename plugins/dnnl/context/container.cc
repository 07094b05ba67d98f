#include "plugins/dnnl/context/container.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include "plugins/dnnl/context/recipe_codec.h"
#include "plugins/dnnl/executor/workspace_plan.h"
#include "plugins/dnnl/library/threads.h"
#include "plugins/dnnl/recipe/row_products.h"
#include "plugins/dnnl/recipe/shape_rules.h"

namespace ephost_dnnl {
namespace {

constexpr std::string_view kMagic("EPHDNNL\0", 8);
constexpr std::size_t kHeaderSize = 192;
constexpr std::size_t kLibraryFieldSize = 64;
constexpr std::size_t kInstructionSetFieldSize = 32;
constexpr uint64_t kBlobAlignment = 64;
constexpr uint64_t kWeightsAlignment = 4096;

struct Header {
  uint64_t payload_size = 0;
  uint64_t index_size = 0;
  uint64_t index_checksum = 0;
  uint64_t weights_offset = 0;
  uint32_t threads = 0;
  std::string library;
  std::string instruction_set;
};

// FNV-1a over eight bytes at a time: detects damage, not forgery.
uint64_t checksum_of(std::string_view bytes) {
  constexpr uint64_t kPrime = 0x100000001b3;
  uint64_t checksum = 0xcbf29ce484222325 ^ bytes.size();
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof(word), bytes.size() - at));
    checksum = (checksum ^ word) * kPrime;
    checksum ^= checksum >> 32;
  }
  return checksum;
}

std::string padded(std::string text, std::size_t size) {
  text.resize(size, '\0');
  return text;
}

std::string encode_header(const Header& header) {
  ByteWriter writer;
  writer.number(kContextFormat);
  writer.number(static_cast<uint32_t>(kHeaderSize));
  writer.number(header.payload_size);
  writer.number(header.index_size);
  writer.number(header.index_checksum);
  writer.number(header.weights_offset);
  writer.number(header.threads);
  std::string bytes = std::string(kMagic) + writer.bytes();
  bytes += padded(header.library, kLibraryFieldSize);
  bytes += padded(header.instruction_set, kInstructionSetFieldSize);
  return padded(std::move(bytes), kHeaderSize);
}

// Text in a field of fixed size, up to its first zero.
std::string field_text(std::string_view field) {
  return std::string(field.substr(0, std::min(field.find('\0'), field.size())));
}

Header decode_header(std::string_view payload) {
  if (payload.substr(0, kMagic.size()) != kMagic) {
    throw Malformed("it is not a context of this provider");
  }
  ByteReader reader(payload.substr(kMagic.size()));
  const auto format = reader.number<uint32_t>();
  if (format != kContextFormat) {
    throw Malformed("it has format revision " + std::to_string(format) +
                    ", and this provider reads " + std::to_string(kContextFormat));
  }
  if (reader.number<uint32_t>() != kHeaderSize || payload.size() < kHeaderSize) {
    throw Malformed("its header is damaged");
  }
  Header header;
  header.payload_size = reader.number<uint64_t>();
  header.index_size = reader.number<uint64_t>();
  header.index_checksum = reader.number<uint64_t>();
  header.weights_offset = reader.number<uint64_t>();
  header.threads = reader.number<uint32_t>();
  const std::size_t texts_at = payload.size() - reader.left();
  header.library = field_text(payload.substr(texts_at, kLibraryFieldSize));
  header.instruction_set =
      field_text(payload.substr(texts_at + kLibraryFieldSize, kInstructionSetFieldSize));
  return header;
}

void check_header(const Header& header, std::string_view payload, const BuildId& current) {
  if (header.library != current.library) {
    throw Malformed("it was made with oneDNN " + header.library + ", and this is " +
                    current.library);
  }
  if (header.instruction_set != current.instruction_set) {
    throw Malformed("it was made for " + header.instruction_set + ", and this machine has " +
                    current.instruction_set);
  }
  if (header.payload_size != payload.size()) {
    throw Malformed("it has " + std::to_string(payload.size()) + " bytes instead of " +
                    std::to_string(header.payload_size));
  }
  if (header.index_size > payload.size() - kHeaderSize ||
      header.weights_offset != aligned(kHeaderSize + header.index_size, kWeightsAlignment) ||
      header.weights_offset > payload.size() || header.threads < 1 ||
      header.threads > static_cast<uint32_t>(kMaxThreads)) {
    throw Malformed("its header is damaged");
  }
  if (checksum_of(payload.substr(kHeaderSize, header.index_size)) != header.index_checksum) {
    throw Malformed("its index is damaged");
  }
}

// Constants by content. Blobs are numbered in the order of their first use.
class BlobTable {
 public:
  uint32_t add(const PackedConstant& constant) {
    const std::string_view bytes(static_cast<const char*>(constant.data), constant.size);
    // The beginning distinguishes nearly all blobs; the rest is compared if it does not.
    std::vector<uint32_t>& candidates =
        by_checksum_[checksum_of(bytes.substr(0, 4096)) ^ bytes.size()];
    for (const uint32_t candidate : candidates) {
      if (blobs_[candidate] == bytes) return candidate;
    }
    candidates.push_back(static_cast<uint32_t>(blobs_.size()));
    blobs_.push_back(bytes);
    return candidates.back();
  }
  [[nodiscard]] const std::vector<std::string_view>& blobs() const { return blobs_; }

 private:
  std::vector<std::string_view> blobs_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> by_checksum_;
};

std::string encode_partition(const StoredPartition& partition, BlobTable& blobs) {
  ByteWriter writer;
  writer.number(static_cast<uint8_t>(partition.has_open_rows));
  encode(*partition.recipe, writer);
  writer.number(static_cast<uint32_t>(partition.constants->size()));
  for (const PackedConstant& constant : *partition.constants) {
    writer.number(constant.tensor);
    writer.number(blobs.add(constant));
    writer.text(constant.layout);
  }
  return writer.bytes();
}

std::string encode_index(const std::vector<StoredPartition>& partitions, BlobTable& blobs) {
  std::vector<std::string> encoded;
  for (const StoredPartition& partition : partitions) {
    encoded.push_back(encode_partition(partition, blobs));
  }
  ByteWriter writer;
  writer.number(static_cast<uint32_t>(blobs.blobs().size()));
  uint64_t offset = 0;
  for (const std::string_view blob : blobs.blobs()) {
    writer.number(offset);
    writer.number(static_cast<uint64_t>(blob.size()));
    offset = aligned(offset + blob.size(), kBlobAlignment);
  }
  writer.number(static_cast<uint32_t>(partitions.size()));
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    writer.text(partitions[i].name);
    writer.text(encoded[i]);
  }
  return writer.bytes();
}

// Forwards bytes and counts them.
class CountingSink {
 public:
  explicit CountingSink(const ByteSink& sink) : sink_(sink) {}
  void write(std::string_view bytes) {
    if (!bytes.empty()) sink_(bytes.data(), bytes.size());
    written_ += bytes.size();
  }
  void pad_to(uint64_t offset) {
    static constexpr std::array<char, kWeightsAlignment> kZeros = {};
    write({kZeros.data(), static_cast<std::size_t>(offset - written_)});
  }

 private:
  const ByteSink& sink_;
  uint64_t written_ = 0;
};

uint64_t weights_size(const std::vector<std::string_view>& blobs) {
  uint64_t size = 0;
  for (const std::string_view blob : blobs) size = aligned(size, kBlobAlignment) + blob.size();
  return size;
}

std::vector<std::string_view> decode_blobs(ByteReader& reader, std::string_view weights) {
  std::vector<std::string_view> blobs(reader.count(2 * sizeof(uint64_t)));
  for (std::string_view& blob : blobs) {
    const auto offset = reader.number<uint64_t>(), size = reader.number<uint64_t>();
    if (offset > weights.size() || size > weights.size() - offset || offset % kBlobAlignment != 0) {
      reader.fail("a packed constant outside of the payload");
    }
    blob = weights.substr(offset, size);
  }
  return blobs;
}

void check_rows(const Recipe& recipe) {
  try {
    static_cast<void>(row_products(recipe));
  } catch (const InvalidRecipe& error) {
    throw Malformed(error.what());
  }
}

}  // namespace

void write_container(const std::vector<StoredPartition>& partitions, const BuildId& build_id,
                     const ByteSink& sink) {
  BlobTable blobs;
  const std::string index = encode_index(partitions, blobs);
  Header header;
  header.index_size = index.size();
  header.index_checksum = checksum_of(index);
  header.weights_offset = aligned(kHeaderSize + index.size(), kWeightsAlignment);
  header.payload_size = header.weights_offset + weights_size(blobs.blobs());
  header.threads = static_cast<uint32_t>(build_id.threads);
  header.library = build_id.library;
  header.instruction_set = build_id.instruction_set;

  CountingSink out(sink);
  out.write(encode_header(header));
  out.write(index);
  out.pad_to(header.weights_offset);
  uint64_t offset = header.weights_offset;
  for (const std::string_view blob : blobs.blobs()) {
    offset = aligned(offset, kBlobAlignment);
    out.pad_to(offset);
    out.write(blob);
    offset += blob.size();
  }
}

Container::Container(std::string_view payload, const BuildId& current) {
  const Header header = decode_header(payload);
  check_header(header, payload, current);
  threads_ = static_cast<int>(header.threads);
  ByteReader reader(payload.substr(kHeaderSize, header.index_size));
  blobs_ = decode_blobs(reader, payload.substr(header.weights_offset));
  partitions_.resize(reader.count(2 * sizeof(uint32_t)));
  for (Entry& entry : partitions_) {
    entry.name = reader.text();
    entry.bytes = reader.text();
  }
  reader.finish();
}

PackedConstant Container::decode_constant(ByteReader& reader) const {
  PackedConstant constant;
  constant.tensor = reader.number<TensorId>();
  const auto blob = reader.number<uint32_t>();
  if (blob >= blobs_.size()) reader.fail("an unknown packed constant");
  constant.layout = reader.text();
  constant.data = blobs_[blob].data();
  constant.size = blobs_[blob].size();
  return constant;
}

std::vector<std::string> Container::partition_names() const {
  std::vector<std::string> names;
  for (const Entry& entry : partitions_) names.emplace_back(entry.name);
  return names;
}

LoadedPartition Container::load(std::string_view name) const {
  const auto entry = std::find_if(partitions_.begin(), partitions_.end(),
                                  [&](const Entry& candidate) { return candidate.name == name; });
  if (entry == partitions_.end()) {
    throw Malformed("it holds no partition '" + std::string(name) + "'");
  }
  ByteReader reader(entry->bytes);
  LoadedPartition loaded;
  const auto mark = reader.number<uint8_t>();
  if (mark > 1) reader.fail("a flag " + std::to_string(mark));
  loaded.has_open_rows = mark == 1;
  loaded.recipe = decode_recipe(reader);
  if (loaded.has_open_rows) check_rows(loaded.recipe);
  loaded.constants.resize(reader.count(3 * sizeof(uint32_t)));
  for (PackedConstant& constant : loaded.constants) constant = decode_constant(reader);
  reader.finish();
  return loaded;
}

}  // namespace ephost_dnnl
