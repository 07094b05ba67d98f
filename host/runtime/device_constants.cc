#include "host/runtime/device_constants.h"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "host/base/checked_math.h"
#include "host/base/format.h"
#include "host/base/hash.h"
#include "host/base/text.h"
#include "host/runtime/values/tensor_memory.h"

namespace ephost::runtime {
namespace {

// Smaller ones are not worth a block and a digest of their own.
constexpr uint64_t kLeastShared = 4096;

using SharedBlock = std::shared_ptr<const bridge::DeviceBlock>;

// The large constants of this process, by place and content. A model must not be able to replace
// the weights of another one, so the digest is one that nobody can make collide.
class SharedConstants {
 public:
  // Another device cannot have the address of this one while a block keeps this one open.
  struct Key {
    const bridge::Device* device = nullptr;
    uint32_t memory = 0;
    uint64_t size = 0;
    std::string digest;

    [[nodiscard]] auto fields() const { return std::tie(device, memory, size, digest); }
    friend bool operator<(const Key& a, const Key& b) { return a.fields() < b.fields(); }
  };

  // The digest of a constant; specialisations have the bytes of their session's model.
  Result<std::string> digest_of(const graph::Blob& constant) {
    {
      const std::lock_guard lock(mutex_);
      const auto known = digests_.find(constant.bytes.data());
      if (known != digests_.end() && known->second.size == constant.bytes.size() &&
          constant.owner != nullptr && known->second.owner.lock() == constant.owner) {
        return known->second.digest;
      }
    }
    EPHOST_ASSIGN_OR_RETURN(std::string digest, sha256_of(constant.bytes));
    if (constant.owner == nullptr) return digest;
    const std::lock_guard lock(mutex_);
    std::erase_if(digests_, [](const auto& known) { return known.second.owner.expired(); });
    digests_[constant.bytes.data()] = {constant.bytes.size(), digest, constant.owner};
    return digest;
  }
  // Null if it is not there.
  SharedBlock find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(key);
    return found == blocks_.end() ? nullptr : found->second.lock();
  }
  // The block that stays: that of another thread, if it was first.
  SharedBlock add(const Key& key, SharedBlock block) {
    const std::lock_guard lock(mutex_);
    std::erase_if(blocks_, [](const auto& known) { return known.second.expired(); });
    std::weak_ptr<const bridge::DeviceBlock>& known = blocks_[key];
    if (SharedBlock first = known.lock()) return first;
    known = block;
    return block;
  }

 private:
  struct Digest {
    uint64_t size = 0;
    std::string digest;
    std::weak_ptr<const void> owner;
  };

  std::mutex mutex_;
  std::map<Key, std::weak_ptr<const bridge::DeviceBlock>> blocks_;
  std::map<const std::byte*, Digest> digests_;  // by address in host memory
};

SharedConstants& shared_constants() {
  static SharedConstants* const constants = new SharedConstants;
  return *constants;
}

struct Constant {
  graph::ValueId id = graph::kNoValue;
  uint64_t offset = 0;  // in the block of its location
};

// The constants of one location, and the size of the block of the small ones.
struct Layout {
  std::vector<Constant> small;
  std::vector<graph::ValueId> large;
  uint64_t bytes = 0;
};

const graph::Blob& blob_of(const graph::Graph& graph, graph::ValueId id) {
  return graph.initializers[graph.values[id].initializer].data;
}

Result<std::map<uint32_t, Layout>> lay_out(const graph::Graph& graph,
                                           const plan::AllocationPlan& allocation,
                                           std::span<const DeviceLocation> devices) {
  std::map<uint32_t, Layout> layouts;
  for (graph::ValueId id = 0; id < allocation.values.size(); ++id) {
    const plan::ValuePlan& planned = allocation.values[id];
    const bool is_ours = planned.kind == plan::AllocKind::kAllocateStatically &&
                         planned.location != plan::kHostLocation;
    if (!is_ours) continue;
    Layout& layout = layouts[planned.location];
    const uint64_t size = blob_of(graph, id).bytes.size();
    if (size >= kLeastShared) {
      layout.large.push_back(id);
      continue;
    }
    const uint64_t alignment = devices[planned.location - 1].memory.info().alignment;
    const auto offset = checked_align_up(layout.bytes, alignment);
    const auto end = offset ? checked_add(*offset, size) : std::nullopt;
    if (!end) {
      return Status(StatusCode::kInvalidGraph,
                    formatted("the constants up to {} take more than 64 bits of bytes",
                              quote(graph.values[id].name)));
    }
    layout.small.push_back({id, *offset});
    layout.bytes = *end;
  }
  return layouts;
}

Status copy_to_device(const bridge::DeviceMemory& memory, std::byte* to,
                      std::span<const std::byte> bytes, const std::string& name) {
  return memory.device->copy(memory.number, to, bridge::kHostMemory, bytes.data(), bytes.size(),
                             "constant " + quote(name));
}

Result<SharedBlock> share(const bridge::DeviceMemory& memory, const graph::Blob& constant,
                          const std::string& name) {
  SharedConstants& all = shared_constants();
  EPHOST_ASSIGN_OR_RETURN(std::string digest, all.digest_of(constant));
  const SharedConstants::Key key{memory.device.get(), memory.number, constant.bytes.size(),
                                 std::move(digest)};
  if (SharedBlock block = all.find(key)) return block;
  EPHOST_ASSIGN_OR_RETURN(
      bridge::DeviceBlock block,
      bridge::DeviceBlock::allocate(memory, key.size, "constant " + quote(name)));
  EPHOST_RETURN_IF_ERROR(copy_to_device(memory, block.data(), constant.bytes, name));
  return all.add(key, std::make_shared<const bridge::DeviceBlock>(std::move(block)));
}

}  // namespace

Result<DeviceConstants> DeviceConstants::create(const graph::Graph& graph,
                                                const plan::AllocationPlan& allocation,
                                                std::span<const DeviceLocation> devices) {
  DeviceConstants made;
  if (devices.empty()) return made;
  EPHOST_ASSIGN_OR_RETURN(const auto layouts, lay_out(graph, allocation, devices));
  for (const auto& [location, layout] : layouts) {
    const bridge::DeviceMemory& memory = devices[location - 1].memory;
    if (layout.bytes != 0) {
      EPHOST_ASSIGN_OR_RETURN(
          made.blocks_.emplace_back(),
          bridge::DeviceBlock::allocate(memory, layout.bytes,
                                        "the constants of graph " + quote(graph.name)));
    }
    for (const auto& [id, offset] : layout.small) {
      const std::span<const std::byte> bytes = blob_of(graph, id).bytes;
      if (bytes.empty()) {
        made.data_[id] = static_cast<std::byte*>(empty_tensor_memory());
        continue;
      }
      std::byte* const to = made.blocks_.back().data() + offset;
      EPHOST_RETURN_IF_ERROR(copy_to_device(memory, to, bytes, graph.values[id].name));
      made.data_[id] = to;
    }
    for (const graph::ValueId id : layout.large) {
      EPHOST_ASSIGN_OR_RETURN(SharedBlock block,
                              share(memory, blob_of(graph, id), graph.values[id].name));
      made.data_[id] = block->data();
      made.shared_.push_back(std::move(block));
    }
  }
  return made;
}

}  // namespace ephost::runtime
