#include "host/layers/validate/guarded_run.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "host/base/format.h"

namespace ephost::layers {
namespace {

constexpr size_t kScratchAlignment = 64;
constexpr int kOutputRule = 25;

// Whether its bytes may be copied: a tensor of numbers in host memory.
bool is_plain(const eph_value* value) {
  return value != nullptr && value->kind == EPH_KIND_TENSOR && value->memory == 0 &&
         value->data != nullptr && value->byte_size > 0 &&
         value->element_type != EPH_ELEMENT_STRING;
}

// 0 for elements of less than a byte.
size_t element_size(const eph_value& value) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < value.rank; ++i) count *= static_cast<uint64_t>(value.shape[i]);
  return count == 0 ? 0 : static_cast<size_t>(value.byte_size / count);
}

std::span<const std::byte> bytes_of(const eph_value& value) {
  return {static_cast<const std::byte*>(value.data), static_cast<size_t>(value.byte_size)};
}

void add_damage(const GuardedMemory& memory, const std::string& what,
                std::vector<RunFault>& faults) {
  const GuardedMemory::Damage damage = memory.damage();
  const auto add = [&](size_t bytes, std::string_view where) {
    if (bytes == 0) return;
    faults.push_back({kOutputRule,
                      formatted("wrote up to {} {} {} {}, which has {} bytes", bytes,
                                bytes == 1 ? "byte" : "bytes", where, what, memory.size()),
                      "check the sizes that its loops are made for; a sanitizer shows the place"});
  };
  add(damage.before, "before");
  add(damage.behind, "behind");
}

}  // namespace

// The functions that a computation calls. Values that it passes are the host's own again.
struct GuardedRun::Function {
  static int32_t allocate_output(eph_run* run, uint32_t index, int32_t type, const int64_t* shape,
                                 uint32_t rank, eph_error* error) noexcept {
    GuardedRun& own = of(run);
    const int32_t code =
        own.inner_->api->allocate_output(own.inner_, index, type, shape, rank, error);
    if (code == EPH_OK && index < own.outputs_.size()) own.adopt_output(index);
    return code;
  }
  static int32_t set_string(eph_run* run, uint32_t index, uint64_t element, eph_string text,
                            eph_error* error) noexcept {
    return of(run).inner_->api->set_string(of(run).inner_, index, element, text, error);
  }
  static void* allocate_scratch(eph_run* run, uint64_t size) noexcept {
    GuardedRun& own = of(run);
    try {
      own.scratch_.emplace_back(size, kScratchAlignment, own.guard_, own.fill_);
      return own.scratch_.back().data();
    } catch (...) {
      return nullptr;
    }
  }
  static int32_t is_cancelled(const eph_run* run) noexcept {
    return of(run).inner_->api->is_cancelled(of(run).inner_);
  }
  static int32_t make_tensor(eph_run* run, int32_t type, const int64_t* shape, uint32_t rank,
                             eph_value** out_value, eph_error* error) noexcept {
    return of(run).inner_->api->make_tensor(of(run).inner_, type, shape, rank, out_value, error);
  }
  static int32_t set_element(eph_run* run, eph_value* tensor, uint64_t element, eph_string text,
                             eph_error* error) noexcept {
    return of(run).inner_->api->set_element(of(run).inner_, tensor, element, text, error);
  }
  static int32_t make_sequence(eph_run* run, const eph_value* base, uint64_t position,
                               uint64_t removed, const eph_value* const* inserted, uint64_t count,
                               const eph_value** out_value, eph_error* error) noexcept {
    const GuardedRun& own = of(run);
    try {
      std::vector<const eph_value*> originals;
      for (uint64_t i = 0; inserted != nullptr && i < count; ++i) {
        originals.push_back(own.original(inserted[i]));
      }
      return own.inner_->api->make_sequence(own.inner_, own.original(base), position, removed,
                                            inserted == nullptr ? nullptr : originals.data(), count,
                                            out_value, error);
    } catch (...) {
      return EPH_FAIL;
    }
  }
  static int32_t make_map(eph_run* run, const eph_value* keys, const eph_value* values,
                          const eph_value** out_value, eph_error* error) noexcept {
    const GuardedRun& own = of(run);
    return own.inner_->api->make_map(own.inner_, own.original(keys), own.original(values),
                                     out_value, error);
  }
  static int32_t set_output(eph_run* run, uint32_t index, const eph_value* value,
                            eph_error* error) noexcept {
    GuardedRun& own = of(run);
    // The host copies a tensor into the memory that it has for the output.
    const bool is_output = index < own.output_count && is_plain(own.inner_->outputs[index]);
    if (is_output) own.settle(own.inner_->outputs[index]->data);
    return own.inner_->api->set_output(own.inner_, index, own.original(value), error);
  }

  static constexpr eph_run_api kApi = {
      sizeof(eph_run_api), &allocate_output, &set_string,    &allocate_scratch, &is_cancelled,
      &make_tensor,        &set_element,     &make_sequence, &make_map,         &set_output};
};

GuardedRun::GuardedRun(eph_run* inner, const Sizes& sizes, Guard guard, std::byte fill)
    : eph_run(*inner),
      inner_(inner),
      alignment_(static_cast<size_t>(sizes.alignment)),
      guard_(guard),
      fill_(fill) {
  struct_size = sizeof(eph_run);
  api = &Function::kApi;
  collect();
  // Pointers to values stay as they are from here on.
  input_values_.resize(input_count);
  output_values_.resize(output_count);
  for (uint32_t i = 0; i < input_count; ++i) {
    const eph_value* const given = inner->inputs[i];
    if (is_plain(given)) {
      input_values_[i] = *given;
      input_values_[i].data = translated(given->data);
    }
    inputs_.push_back(is_plain(given) ? &input_values_[i] : given);
  }
  for (uint32_t i = 0; i < output_count; ++i) {
    eph_value* const given = inner->outputs[i];
    const bool may_be_plain = given != nullptr && given->kind == EPH_KIND_TENSOR &&
                              given->element_type != EPH_ELEMENT_STRING;
    if (may_be_plain) {
      output_values_[i] = *given;
      if (is_plain(given)) output_values_[i].data = translated(given->data);
    }
    outputs_.push_back(may_be_plain ? &output_values_[i] : given);
  }
  inputs = inputs_.data();
  outputs = outputs_.data();
  if (workspace != nullptr && sizes.workspace_bytes > 0) {
    workspace_.emplace(static_cast<size_t>(sizes.workspace_bytes), alignment_, guard, fill);
    workspace = workspace_->data();
  }
}

// Tensors that share memory have it in common here, too.
void GuardedRun::collect() {
  struct Part {
    std::byte* begin;
    size_t size;
    bool is_output;
  };
  std::vector<Part> parts;
  const auto add = [&](const eph_value* value, bool is_output) {
    if (!is_plain(value)) return;
    parts.push_back(
        {static_cast<std::byte*>(value->data), static_cast<size_t>(value->byte_size), is_output});
  };
  for (uint32_t i = 0; i < inner_->input_count; ++i) add(inner_->inputs[i], false);
  for (uint32_t i = 0; i < inner_->output_count; ++i) add(inner_->outputs[i], true);
  std::ranges::sort(parts, {}, &Part::begin);
  struct Range {
    std::byte* begin;
    std::byte* end;
    bool is_written;
    bool is_read;
  };
  std::vector<Range> ranges;
  for (const Part& part : parts) {
    std::byte* const end = part.begin + part.size;
    if (ranges.empty() || part.begin >= ranges.back().end) {
      ranges.push_back({part.begin, end, part.is_output, !part.is_output});
      continue;
    }
    Range& last = ranges.back();
    last.end = std::max(last.end, end);
    last.is_written = last.is_written || part.is_output;
    last.is_read = last.is_read || !part.is_output;
  }
  for (const Range& range : ranges) {
    const auto size = static_cast<size_t>(range.end - range.begin);
    GuardedMemory memory(size, alignment_, guard_, fill_);
    if (range.is_read) std::memcpy(memory.data(), range.begin, size);
    regions_.push_back(
        {range.begin, size, range.is_written, range.is_read, false, std::move(memory)});
  }
}

const GuardedRun::Region* GuardedRun::region_of(const void* data) const {
  const auto has = [&](const Region& region) { return region.has(data); };
  const auto found = std::ranges::find_if(regions_, has);
  return found == regions_.end() ? nullptr : &*found;
}

void* GuardedRun::translated(void* data) const {
  const Region* const region = region_of(data);
  return region->memory.data() + (static_cast<std::byte*>(data) - region->begin);
}

// The host has given an output its memory while the computation runs.
void GuardedRun::adopt_output(uint32_t index) {
  eph_value* const given = inner_->outputs[index];
  if (outputs_[index] == given) return;
  output_values_[index] = *given;
  if (!is_plain(given)) return;
  const auto size = static_cast<size_t>(given->byte_size);
  if (region_of(given->data) == nullptr) {
    regions_.push_back({static_cast<std::byte*>(given->data), size, true, false, false,
                        GuardedMemory(size, alignment_, guard_, fill_)});
  }
  output_values_[index].data = translated(given->data);
}

void GuardedRun::settle(const void* data) {
  for (Region& region : regions_) region.is_settled = region.is_settled || region.has(data);
}

const eph_value* GuardedRun::original(const eph_value* value) const {
  for (uint32_t i = 0; i < input_count; ++i) {
    if (value == inputs_[i]) return inner_->inputs[i];
  }
  return value;
}

std::vector<RunFault> GuardedRun::faults(bool has_succeeded) const {
  std::vector<RunFault> found;
  const auto name_of = [&](const Region& region) -> std::string {
    for (uint32_t i = 0; i < output_count; ++i) {
      if (is_plain(inner_->outputs[i]) && region_of(inner_->outputs[i]->data) == &region) {
        return formatted("output {}", i);
      }
    }
    for (uint32_t i = 0; i < input_count; ++i) {
      if (is_plain(inner_->inputs[i]) && region_of(inner_->inputs[i]->data) == &region) {
        return formatted("input {}", i);
      }
    }
    return "a value";
  };
  for (const Region& region : regions_) {
    add_damage(region.memory, name_of(region), found);
    const bool has_changed =
        !region.is_written && std::memcmp(region.memory.data(), region.begin, region.size) != 0;
    if (has_changed) {
      found.push_back({kOutputRule, formatted("changed {}", name_of(region)),
                       "inputs belong to others: state the pair in may_inplace of `describe`, or "
                       "write elsewhere"});
    }
  }
  if (workspace_) add_damage(*workspace_, "the workspace", found);
  for (const GuardedMemory& scratch : scratch_) add_damage(scratch, "scratch memory", found);
  if (!has_succeeded) return found;
  for (uint32_t i = 0; i < output_count; ++i) {
    const eph_value* const output = inner_->outputs[i];
    if (output == nullptr || output->kind != EPH_KIND_TENSOR || output->data != nullptr) continue;
    found.push_back({kOutputRule, formatted("succeeded and gave output {} no memory", i),
                     "call allocate_output for each output whose data is null"});
  }
  return found;
}

std::vector<GuardedRun::Untouched> GuardedRun::untouched() const {
  std::vector<Untouched> found;
  for (uint32_t i = 0; i < output_count; ++i) {
    const eph_value* const output = outputs_[i];
    if (!is_plain(output) || output == inner_->outputs[i]) continue;
    const Region* const region = region_of(inner_->outputs[i]->data);
    if (region == nullptr || region->is_read || region->is_settled) continue;
    const size_t size = std::max<size_t>(element_size(*output), 1);
    const std::span<const std::byte> bytes = bytes_of(*output);
    for (size_t at = 0; at + size <= bytes.size(); at += size) {
      const auto element = bytes.subspan(at, size);
      if (std::ranges::all_of(element, [&](std::byte byte) { return byte == fill_; })) {
        found.push_back({i, at / size});
        break;
      }
    }
  }
  return found;
}

void GuardedRun::finish() const {
  for (const Region& region : regions_) {
    if (region.is_written && !region.is_settled)
      std::memcpy(region.begin, region.memory.data(), region.size);
  }
}

}  // namespace ephost::layers
