#include "host/worker/tables/remote_run.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "host/worker/protocol/calls.h"
#include "host/worker/protocol/records.h"
#include "host/worker/protocol/tensor_bytes.h"
#include "host/worker/tables/host_graphs.h"
#include "host/worker/tables/incoming.h"

namespace ephost::worker {
namespace {

// A region of a worker begins on a page; what has to be aligned to more than that is staged.
constexpr uint64_t kPage = 4096;

bool contains(std::span<const std::byte> outer, std::span<const std::byte> inner) {
  return inner.data() >= outer.data() && inner.data() + inner.size() <= outer.data() + outer.size();
}

}  // namespace

PlainValue RemoteRun::frame(const eph_value& value, std::vector<int64_t>& extents) const {
  PlainValue plain;
  plain.rank = value.rank;
  plain.byte_size = value.byte_size;
  plain.first_extent = extents.size();
  plain.element_type = value.element_type;
  plain.kind = value.kind;
  plain.memory = value.memory;
  if (value.shape != nullptr) {
    extents.insert(extents.end(), value.shape, value.shape + value.rank);
  } else {
    plain.rank = 0;
  }
  return plain;
}

void RemoteRun::add_structured(const eph_value& value, wire::Value& out) {
  numbered_.push_back(&value);
  made_.push_back(nullptr);
  const auto number = static_cast<uint32_t>(numbered_.size());
  const bool has_parts = value.kind == EPH_KIND_SEQUENCE || value.kind == EPH_KIND_MAP ||
                         value.kind == EPH_KIND_SPARSE_TENSOR;
  if (!has_parts) {
    write(value, outgoing_, out);
    out.set_number(number);
    return;
  }
  eph_value frame = value;
  frame.data = nullptr;
  write(frame, outgoing_, out);
  out.set_number(number);
  const uint64_t count = value.kind == EPH_KIND_SEQUENCE
                             ? (value.rank == 0 ? 0 : static_cast<uint64_t>(value.shape[0]))
                             : 2;
  const auto* const parts = static_cast<const eph_value*>(value.data);
  for (uint64_t i = 0; i < count; ++i) add_structured(parts[i], *out.add_parts());
}

void RemoteRun::add_input(const eph_value* value, uint32_t index) {
  numbered_[index] = value;
  if (value == nullptr) {
    values_.emplace_back();
    return;
  }
  PlainValue plain = frame(*value, extents_);
  plain.number = index + 1;
  if (value->kind == EPH_KIND_NONE) {
    plain.form = PlainForm::kNone;
  } else if (value->memory != 0) {
    plain.form = PlainForm::kAddress;
    plain.offset = reinterpret_cast<uint64_t>(value->data);
  } else if (!is_numeric(*value)) {
    plain.form = PlainForm::kStructured;
    plain.offset = structured_.size();
    structured_.emplace_back();
    add_structured(*value, structured_.back());
  } else {
    plain.form = PlainForm::kShared;
    if (value->byte_size != 0) {
      const auto* const begin = static_cast<const std::byte*>(value->data);
      ranges_.push_back({begin, begin + value->byte_size, values_.size()});
    }
  }
  values_.push_back(plain);
}

// An output that has the bytes of an input by definition is not written, and may lie in memory that
// cannot be.
bool RemoteRun::shares_by_definition(uint32_t output, const eph_value& value) const {
  return std::ranges::any_of(facts_.aliases, [&](const auto& pair) {
    if (pair.second != output || pair.first >= run_.input_count) return false;
    const eph_value* const input = run_.inputs[pair.first];
    return input != nullptr && contains(bytes_of(*input), bytes_of(value));
  });
}

void RemoteRun::add_output(eph_value* value, uint32_t index) {
  if (value == nullptr) {
    values_.emplace_back();
    return;
  }
  PlainValue plain = frame(*value, extents_);
  if (value->data == nullptr || value->kind != EPH_KIND_TENSOR) {
    plain.form = PlainForm::kUnallocated;
  } else if (value->memory != 0) {
    plain.form = PlainForm::kAddress;
    plain.offset = reinterpret_cast<uint64_t>(value->data);
  } else {
    plain.form = PlainForm::kShared;  // strings: by set_string; the worker has an array of its own
    if (value->byte_size != 0 && is_numeric(*value)) {
      const auto* const begin = static_cast<const std::byte*>(value->data);
      ranges_.push_back(
          {begin, begin + value->byte_size, values_.size(), !shares_by_definition(index, *value)});
    }
  }
  values_.push_back(plain);
}

// Whether all lie in regions, where the worker may read them and needs to do no more.
bool RemoteRun::place_in_regions(std::span<const Range> group) {
  if (facts_.alignment > kPage) return false;
  for (const Range& range : group) {
    if (range.is_written) return false;
    const auto place = outgoing_.place({range.begin, range.end});
    if (!place) return false;
    values_[range.value].region = place->region->id;
    values_[range.value].offset = place->offset;
  }
  return true;
}

uint64_t RemoteRun::staging_alignment() const {
  return std::clamp<uint64_t>(facts_.alignment, 64, kLargeRegion);
}

// Returns how much is used now.
size_t RemoteRun::add_staged(std::span<Range> group, size_t used) const {
  const uint64_t alignment = staging_alignment();
  const std::byte* const base = group.front().begin;
  const size_t start = (used + alignment - 1) / alignment * alignment +
                       reinterpret_cast<uintptr_t>(base) % alignment;
  for (Range& range : group) {
    range.is_staged = true;
    range.offset = start + static_cast<size_t>(range.begin - base);
    used = std::max(used, range.offset + static_cast<size_t>(range.end - range.begin));
  }
  return used;
}

// Ranges that overlap are staged as one, so that addresses are as far apart as the host's.
Status RemoteRun::place_ranges() {
  std::ranges::sort(ranges_, std::ranges::less(), &Range::begin);
  size_t used = 0;
  for (size_t first = 0, last = 0; first < ranges_.size(); first = last) {
    const std::byte* end = ranges_[first].end;
    for (last = first + 1; last < ranges_.size() && ranges_[last].begin < end; ++last) {
      end = std::max(end, ranges_[last].end);
    }
    const std::span group = std::span(ranges_).subspan(first, last - first);
    if (!place_in_regions(group)) used = add_staged(group, used);
  }
  return used == 0 ? Status() : stage(used);
}

Status RemoteRun::stage(size_t size) {
  EPHOST_ASSIGN_OR_RETURN(const SharedPlace place,
                          channel_.staging().take(size, staging_alignment()));
  if (!outgoing_.refer(place.region)) return worker_fault("too many regions");
  std::byte* const memory = place.region->bytes.data() + place.offset;
  for (const Range& range : ranges_) {
    if (!range.is_staged) continue;
    values_[range.value].region = place.region->id;
    values_[range.value].offset = place.offset + range.offset;
    const auto bytes = static_cast<size_t>(range.end - range.begin);
    if (range.value < run_.input_count) {
      std::memcpy(memory + range.offset, range.begin, bytes);
    } else if (range.is_written) {
      eph_value* const to = run_.outputs[range.value - run_.input_count];
      copies_.push_back({memory + range.offset, to, static_cast<std::byte*>(to->data), bytes});
    }
  }
  return {};
}

Status RemoteRun::prepare() {
  channel_.staging().reset();
  numbered_.resize(run_.input_count);
  made_.resize(run_.input_count);
  values_.reserve(size_t{run_.input_count} + run_.output_count);
  for (uint32_t i = 0; i < run_.input_count; ++i) add_input(run_.inputs[i], i);
  for (uint32_t i = 0; i < run_.output_count; ++i) add_output(run_.outputs[i], i);
  return place_ranges();
}

size_t RemoteRun::plain_size() const {
  return sizeof(PlainRun) + values_.size() * sizeof(PlainValue) + extents_.size() * sizeof(int64_t);
}

bool RemoteRun::is_hot() const {
  return structured_.empty() && !outgoing_.has_news() && plain_size() <= kHotAreaBytes;
}

void RemoteRun::write_plain(std::span<std::byte> out) const {
  PlainRun plain;
  plain.computation = facts_.computation;
  plain.state = reinterpret_cast<uint64_t>(state_);
  plain.run_id = run_.run_id;
  if (run_.workspace != nullptr) {
    if (facts_.workspace_is_remote)
      plain.workspace = reinterpret_cast<uint64_t>(run_.workspace);
    else
      plain.workspace_bytes = facts_.workspace_bytes;
  }
  plain.workspace_alignment = facts_.alignment;
  plain.inputs = run_.input_count;
  plain.outputs = run_.output_count;
  plain.extents = extents_.size();
  std::byte* to = out.data();
  std::memcpy(to, &plain, sizeof(plain));
  to += sizeof(plain);
  if (!values_.empty()) std::memcpy(to, values_.data(), values_.size() * sizeof(PlainValue));
  to += values_.size() * sizeof(PlainValue);
  if (!extents_.empty()) std::memcpy(to, extents_.data(), extents_.size() * sizeof(int64_t));
}

void RemoteRun::write_request(wire::Request& out) {
  out.set_call(kCall<&eph_computation_api::compute>);
  out.set_computation(facts_.computation);
  std::string& plain = *out.mutable_plain_run();
  plain.resize(plain_size());
  write_plain(std::as_writable_bytes(std::span(plain)));
  for (wire::Value& value : structured_) out.add_values()->Swap(&value);
}

// An output that was allocated or set meanwhile has other memory by now: the worker's is that of
// before.
void RemoteRun::finish() {
  for (const CopyBack& copy : copies_) {
    if (copy.to->data != copy.data || copy.to->byte_size != copy.size) continue;
    std::memcpy(copy.data, copy.from, copy.size);
  }
}

}  // namespace ephost::worker
