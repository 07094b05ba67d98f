#include "host/worker/program/call_state.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "host/worker/protocol/records.h"
#include "host/worker/protocol/serialized.h"

namespace ephost::worker {
namespace {

// Each constant is noted whenever a plugin reads it, and hardly ever looked for.
struct Constants {
  struct Range {
    const std::byte* begin = nullptr;
    uint64_t size = 0;
    uint64_t region = 0;
    uint64_t offset = 0;

    bool operator==(const Range&) const = default;
    auto key() const { return std::tie(begin, size, region, offset); }
  };

  void sort() {
    std::ranges::sort(ranges, {}, &Range::key);
    ranges.erase(std::unique(ranges.begin(), ranges.end()), ranges.end());
    sorted = ranges.size();
  }

  std::mutex mutex;
  std::vector<Range> ranges;
  size_t sorted = 0;  // so many at the beginning, each of them once
};

Constants& constants() {
  static auto* const all = new Constants;  // threads of the plugin may outlive main
  return *all;
}

}  // namespace

MappedRegions& mapped_regions() {
  static auto* const regions = new MappedRegions;
  return *regions;
}

void* no_bytes() {
  alignas(64) static std::byte memory[64];
  return memory;
}

void note_constant(std::span<const std::byte> data, uint64_t region, uint64_t offset) {
  constexpr size_t kFew = 1024;
  Constants& all = constants();
  const std::lock_guard lock(all.mutex);
  all.ranges.push_back({data.data(), data.size(), region, offset});
  if (all.ranges.size() > 2 * all.sorted + kFew) all.sort();
}

void remove_region(uint64_t id) {
  mapped_regions().remove(id);
  Constants& all = constants();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.ranges, [&](const auto& range) { return range.region == id; });
  all.sort();
}

bool find_constant(const void* data, uint64_t size, wire::Shared& place) {
  Constants& all = constants();
  const std::lock_guard lock(all.mutex);
  if (all.sorted != all.ranges.size()) all.sort();
  const auto* const begin = static_cast<const std::byte*>(data);
  auto found = std::ranges::upper_bound(all.ranges, begin, {}, &Constants::Range::begin);
  if (found == all.ranges.begin()) return false;
  --found;
  const auto offset = static_cast<uint64_t>(begin - found->begin);
  if (offset > found->size || size > found->size - offset) return false;
  place.set_region(found->region);
  place.set_offset(found->offset + offset);
  return true;
}

Result<std::span<std::byte>> shared_bytes(const wire::Shared& place, uint64_t size) {
  return mapped_regions().translate(place.region(), place.offset(), static_cast<size_t>(size));
}

Status map_regions(const google::protobuf::RepeatedPtrField<wire::NewRegion>& regions,
                   const Message& message) {
  for (const wire::NewRegion& region : regions) {
    EPHOST_RETURN_IF_ERROR(mapped_regions().add(
        region.id(), message.descriptors.at(region.descriptor()), region.offset(),
        static_cast<size_t>(region.size()),
        region.is_writable() ? SharedAccess::kReadWrite : SharedAccess::kRead));
  }
  return {};
}

Result<wire::Answer> ask(WorkerChannel& channel, const wire::Callback& callback,
                         SealedMapping* sealed) {
  EPHOST_ASSIGN_OR_RETURN(std::string bytes, serialized(callback, "a callback", kMaxFromWorker));
  EPHOST_ASSIGN_OR_RETURN(const Message message, channel.call_back({std::move(bytes), {}}));
  wire::Answer answer;
  if (!answer.ParseFromString(message.bytes)) {
    return Status(StatusCode::kFail, "the host's answer cannot be read");
  }
  EPHOST_RETURN_IF_ERROR(map_regions(answer.regions(), message));
  if (sealed != nullptr && answer.has_sealed()) {
    EPHOST_ASSIGN_OR_RETURN(*sealed, SealedMapping::map(message.descriptors.at(0),
                                                        static_cast<size_t>(answer.sealed_size())));
  }
  return answer;
}

Status CallState::receive(const Message& message) {
  if (!request_->ParseFromString(message.bytes)) {
    return Status(StatusCode::kFail, "the host's request cannot be read");
  }
  if (request_->plain_size() != 0) {
    EPHOST_ASSIGN_OR_RETURN(
        plain_,
        SealedMapping::map(message.descriptors.at(0), static_cast<size_t>(request_->plain_size())));
  }
  for (const uint64_t id : request_->removed_regions()) remove_region(id);
  return map_regions(request_->regions(), message);
}

Result<CallState::Asked> CallState::ask_and_keep(const wire::Callback& callback) {
  SealedMapping sealed;
  EPHOST_ASSIGN_OR_RETURN(wire::Answer answer, ask(channel_, callback, &sealed));
  if (answer.code() != EPH_OK) {
    return Status(static_cast<StatusCode>(answer.code()), answer.message());
  }
  const std::lock_guard lock(mutex_);
  const wire::Answer& kept = answers_.emplace_back(std::move(answer));
  if (!kept.has_sealed()) return Asked{&kept, kept.plain().data()};
  const std::span<const std::byte> bytes = sealed_.emplace_back(std::move(sealed)).bytes();
  return Asked{&kept, reinterpret_cast<const char*>(bytes.data())};
}

Result<std::span<const std::byte>> CallState::ask_for_bytes(const wire::Callback& callback) {
  SealedMapping sealed;
  EPHOST_ASSIGN_OR_RETURN(const wire::Answer answer, ask(channel_, callback, &sealed));
  if (answer.code() != EPH_OK) {
    return Status(static_cast<StatusCode>(answer.code()), answer.message());
  }
  const std::lock_guard lock(mutex_);
  return sealed_.emplace_back(std::move(sealed)).bytes();
}

Result<void*> CallState::data_of(const wire::Value& value, const GraphValue* constant) {
  if (value.data().has_shared()) {
    if (value.byte_size() == 0) return no_bytes();
    const wire::Shared& shared = value.data().shared();
    EPHOST_ASSIGN_OR_RETURN(const auto bytes,
                            mapped_regions().translate(shared.region(), shared.offset(),
                                                       static_cast<size_t>(value.byte_size())));
    note_constant(bytes, shared.region(), shared.offset());
    return static_cast<void*>(bytes.data());
  }
  if (value.data().on_request()) {
    if (constant == nullptr) return Status(StatusCode::kFail, "the host left out a value's data");
    wire::Callback callback;
    callback.set_asked(wire::READ_CONSTANT);
    callback.set_graph(constant->graph);
    callback.set_index(constant->index);
    callback.set_is_value(true);
    EPHOST_ASSIGN_OR_RETURN(const auto bytes, ask_for_bytes(callback));
    return static_cast<void*>(const_cast<std::byte*>(bytes.data()));
  }
  const std::string& content = value.data().content();
  if (content.empty()) return no_bytes();
  void* const copied = storage_.bytes(content.size());
  std::memcpy(copied, content.data(), content.size());
  return copied;
}

Result<eph_value> CallState::read(const wire::Value& value, const GraphValue* constant) {
  const std::lock_guard lock(mutex_);
  eph_value out = {};
  out.shape = value.shape().data();
  out.byte_size = value.byte_size();
  out.rank = static_cast<uint32_t>(value.shape_size());
  out.element_type = value.element_type();
  out.kind = value.kind();
  out.memory = value.memory();
  if (value.kind() == EPH_KIND_NONE) {
    out.data = no_bytes();
  } else if (value.memory() != 0) {
    out.data = reinterpret_cast<void*>(value.address());
  } else if (value.kind() == EPH_KIND_TENSOR && value.element_type() == EPH_ELEMENT_STRING) {
    out.data = value.texts().empty()
                   ? no_bytes()
                   : const_cast<eph_string*>(worker::read(value.texts(), storage_));
  } else if (value.kind() == EPH_KIND_TENSOR) {
    EPHOST_ASSIGN_OR_RETURN(out.data, data_of(value, constant));
  } else {
    auto* const parts = storage_.array<eph_value>(static_cast<size_t>(value.parts_size()));
    for (int i = 0; i < value.parts_size(); ++i) {
      EPHOST_ASSIGN_OR_RETURN(parts[i], read(value.parts(i)));
    }
    out.data = parts == nullptr ? no_bytes() : parts;
  }
  return out;
}

Result<eph_value> CallState::read(const PlainConstant& constant, const int64_t* shape) {
  EPHOST_ASSIGN_OR_RETURN(const auto bytes,
                          mapped_regions().translate(constant.region, constant.offset,
                                                     static_cast<size_t>(constant.byte_size)));
  note_constant(bytes, constant.region, constant.offset);
  eph_value out = {};
  out.data = bytes.data();
  out.byte_size = constant.byte_size;
  out.rank = constant.shape.count;
  out.element_type = constant.element_type;
  out.kind = EPH_KIND_TENSOR;
  // Lives as long as the data, unlike the graph.
  const std::lock_guard lock(mutex_);
  auto* const kept = storage_.array<int64_t>(out.rank);
  std::copy_n(shape, out.rank, kept);
  out.shape = kept;
  return out;
}

}  // namespace ephost::worker
