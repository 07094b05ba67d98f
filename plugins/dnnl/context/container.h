// container.h: the payload of the provider's EPContext nodes: the recipes of all partitions and
// their packed constants. CONTEXT_FORMAT.md has the byte layout; encoding and decoding both live in
// container.cc. It knows nothing of the host or of files.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/dnnl/context/bytes.h"
#include "plugins/dnnl/executor/constants.h"
#include "plugins/dnnl/library/build_id.h"
#include "plugins/dnnl/recipe/recipe.h"

namespace ephost_dnnl {

// A partition to be stored. Everything is borrowed.
struct StoredPartition {
  std::string_view name;
  const Recipe* recipe = nullptr;
  const std::vector<PackedConstant>* constants = nullptr;
  bool has_open_rows = false;  // the recipe obeys recipe/row_products.h
};

using ByteSink = std::function<void(const void* data, std::size_t size)>;

// Writes a payload piece by piece. The same partitions give the same bytes; constants with equal
// bytes are stored once.
void write_container(const std::vector<StoredPartition>& partitions, const BuildId& build_id,
                     const ByteSink& sink);

// The packed constants point into the payload.
struct LoadedPartition {
  Recipe recipe;
  std::vector<PackedConstant> constants;
  bool has_open_rows = false;
};

// A payload that has been checked as far as its directory. The bytes may be anything: every offset,
// count and extent is verified before it is used.
class Container {
 public:
  // Throws Malformed if the payload is damaged, of another format revision, or made by another
  // library version or for another instruction set than `current`.
  Container(std::string_view payload, const BuildId& current);

  // The number of threads for which the layouts were chosen.
  [[nodiscard]] int threads() const { return threads_; }

  // The partitions' names in the order of writing.
  [[nodiscard]] std::vector<std::string> partition_names() const;

  // Throws Malformed if the payload has no such partition, or a damaged one.
  [[nodiscard]] LoadedPartition load(std::string_view name) const;

 private:
  struct Entry {
    std::string_view name;
    std::string_view bytes;
  };
  [[nodiscard]] PackedConstant decode_constant(ByteReader& reader) const;

  std::vector<std::string_view> blobs_;  // bytes of the packed constants
  std::vector<Entry> partitions_;
  int threads_ = 1;
};

}  // namespace ephost_dnnl
