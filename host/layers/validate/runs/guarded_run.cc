#include "host/layers/validate/runs/guarded_run.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/base/format.h"
#include "host/layers/validate/runs/run_functions.h"

namespace ephost::layers {
namespace {

constexpr int kOutputRule = 25;

// 0 for elements of less than a byte.
size_t element_size(const eph_value& value) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < value.rank; ++i) count *= static_cast<uint64_t>(value.shape[i]);
  return count == 0 ? 0 : static_cast<size_t>(value.byte_size / count);
}

std::span<const std::byte> bytes_of(const eph_value& value) {
  return {static_cast<const std::byte*>(value.data), static_cast<size_t>(value.byte_size)};
}

void add_damage(const GuardedMemory& memory, const std::string& what, std::vector<Finding>& found) {
  const GuardedMemory::Damage damage = memory.damage();
  const auto add = [&](size_t bytes, std::string_view where) {
    if (bytes == 0) return;
    found.push_back({kOutputRule,
                     formatted("wrote up to {} {} {} {}, which has {} bytes", bytes,
                               bytes == 1 ? "byte" : "bytes", where, what, memory.size()),
                     "check the sizes that its loops are made for; a sanitizer shows the place"});
  };
  add(damage.before, "before");
  add(damage.behind, "behind");
}

// Also an output of which nothing is known before it is allocated.
bool may_be_plain(const eph_value* value) {
  if (value == nullptr) return false;
  return value->data == nullptr ||
         (value->kind == EPH_KIND_TENSOR && value->element_type != EPH_ELEMENT_STRING);
}

}  // namespace

GuardedRun::GuardedRun(eph_run* inner, const Declared& declared, Memory memory)
    : eph_run(*inner),
      inner_(inner),
      declared_(declared),
      memory_(std::move(memory)),
      is_repetition_(false),
      places_(as_planned(*inner)) {
  make_regions();
  bind_inputs();
  bind_outputs({});
}

GuardedRun::GuardedRun(eph_run* inner, const Declared& declared, Memory memory,
                       Repetition repetition)
    : eph_run(*inner),
      inner_(inner),
      declared_(declared),
      memory_(std::move(memory)),
      is_repetition_(true),
      places_(std::move(repetition.arrangement)) {
  make_regions();
  bind_inputs();
  bind_outputs(repetition.is_hidden);
}

GuardedMemory GuardedRun::make_memory(size_t size, const std::string& name) const {
  const auto alignment = static_cast<size_t>(declared_.alignment);
  // The memory of the run lies next to the page behind, and that of its repetitions next to the one
  // before.
  const auto side = is_repetition_ ? GuardedMemory::Side::kBefore : GuardedMemory::Side::kBehind;
  return {size, alignment, memory_.guard, memory_.fill, name + " of " + memory_.call, side};
}

// Tensors that share memory have it in common here, too.
void GuardedRun::make_regions() {
  struct Extent {
    std::byte* begin = nullptr;
    size_t size = 0;
    std::string name;
    bool is_written = false;
    bool is_read = false;
  };
  std::vector<Extent> extents(places_.region_count);
  const auto add = [&](const eph_value& value, const Place& place) -> Extent& {
    Extent& extent = extents[place.region];
    if (!is_repetition_) extent.begin = static_cast<std::byte*>(value.data) - place.offset;
    extent.size = std::max(extent.size, place.offset + static_cast<size_t>(value.byte_size));
    return extent;
  };
  for (uint32_t i = 0; i < output_count; ++i) {
    if (!places_.outputs[i].is_set()) continue;
    Extent& extent = add(*inner_->outputs[i], places_.outputs[i]);
    extent.is_written = true;
    if (extent.name.empty()) extent.name = formatted("output {}", i);
  }
  for (uint32_t i = 0; i < input_count; ++i) {
    if (!places_.inputs[i].is_set()) continue;
    Extent& extent = add(*inner_->inputs[i], places_.inputs[i]);
    extent.is_read = true;
    if (extent.name.empty()) extent.name = formatted("input {}", i);
  }
  for (Extent& extent : extents) {
    GuardedMemory memory = make_memory(extent.size, extent.name);
    regions_.push_back({extent.begin, extent.size, std::move(extent.name), extent.is_written,
                        extent.is_read, false, std::move(memory)});
  }
}

std::byte* GuardedRun::address_of(const Place& place) const {
  return regions_[place.region].memory.data() + place.offset;
}

// Pointers to values stay as they are from here on.
void GuardedRun::bind_inputs() {
  struct_size = sizeof(eph_run);
  api = &Function::kApi;
  input_values_.resize(input_count);
  for (uint32_t i = 0; i < input_count; ++i) {
    const eph_value* const given = inner_->inputs[i];
    const Place& place = places_.inputs[i];
    if (place.is_set()) {
      input_values_[i] = *given;
      input_values_[i].data = address_of(place);
      std::memcpy(input_values_[i].data, given->data, static_cast<size_t>(given->byte_size));
    }
    inputs_.push_back(place.is_set() ? &input_values_[i] : given);
  }
  inputs = inputs_.data();
  if (workspace != nullptr && declared_.workspace_bytes > 0) {
    workspace_.emplace(
        make_memory(static_cast<size_t>(declared_.workspace_bytes), "the workspace"));
    workspace = workspace_->data();
  }
}

void GuardedRun::bind_outputs(const std::vector<bool>& is_hidden) {
  output_values_.resize(output_count);
  for (uint32_t i = 0; i < output_count; ++i) {
    eph_value* const given = inner_->outputs[i];
    const Place& place = places_.outputs[i];
    if (may_be_plain(given)) {
      output_values_[i] = *given;
      if (place.is_set()) output_values_[i].data = address_of(place);
      if (i < is_hidden.size() && is_hidden[i]) {
        output_values_[i].data = nullptr;
        output_values_[i].shape = nullptr;
        output_values_[i].byte_size = 0;
        output_values_[i].rank = 0;
      }
    }
    outputs_.push_back(may_be_plain(given) ? &output_values_[i] : given);
    was_prepared_.push_back(outputs_[i] != nullptr && outputs_[i]->data != nullptr);
  }
  outputs = outputs_.data();
}

// The host has given an output its memory while the computation runs.
void GuardedRun::adopt_output(uint32_t index) {
  eph_value* const given = inner_->outputs[index];
  if (outputs_[index] == given) return;
  output_values_[index] = *given;
  places_.outputs[index] = {};
  if (!is_plain(given)) return;
  auto* const begin = static_cast<std::byte*>(given->data);
  const auto size = static_cast<size_t>(given->byte_size);
  const auto has = [&](const Region& region) { return region.has(begin); };
  auto region = std::ranges::find_if(regions_, has);
  const bool fits = region != regions_.end() && begin + size <= region->begin + region->size;
  if (!fits) {
    const std::string name = formatted("output {}", index);
    regions_.push_back({begin, size, name, true, false, false, make_memory(size, name)});
    region = regions_.end() - 1;
    places_.region_count = static_cast<uint32_t>(regions_.size());
  }
  region->is_written = true;
  places_.outputs[index] = {static_cast<uint32_t>(region - regions_.begin()),
                            static_cast<size_t>(begin - region->begin)};
  output_values_[index].data = address_of(places_.outputs[index]);
}

// In a repetition: the output has the type and shape of the first run.
int32_t GuardedRun::show_output(uint32_t index, int32_t type, std::span<const int64_t> shape,
                                eph_error* error) {
  const auto fail = [&](std::string_view text) {
    if (error != nullptr) error->api->set_message(error, {text.data(), text.size()});
    return EPH_INVALID_ARGUMENT;
  };
  if (index >= outputs_.size() || outputs_[index] != &output_values_[index]) {
    return fail("allocate_output: there is no such output");
  }
  const eph_value& given = *inner_->outputs[index];
  const bool is_same = (type == EPH_ELEMENT_UNDEFINED || type == given.element_type) &&
                       std::ranges::equal(shape, std::span(given.shape, given.rank));
  if (!is_same) return fail("allocate_output: with the same inputs, it had another type or shape");
  output_values_[index] = given;
  if (places_.outputs[index].is_set()) {
    output_values_[index].data = address_of(places_.outputs[index]);
  }
  return EPH_OK;
}

void GuardedRun::settle(uint32_t output) {
  if (output >= places_.outputs.size() || !places_.outputs[output].is_set()) return;
  regions_[places_.outputs[output].region].is_settled = true;
}

const eph_value* GuardedRun::original(const eph_value* value) const {
  for (uint32_t i = 0; i < input_count; ++i) {
    if (value == inputs_[i]) return inner_->inputs[i];
  }
  return value;
}

// But for the bytes that an output was allowed to overwrite.
void GuardedRun::add_changed_inputs(std::vector<Finding>& found) const {
  for (uint32_t i = 0; i < input_count; ++i) {
    const Place& place = places_.inputs[i];
    if (!place.is_set() || regions_[place.region].is_settled) continue;
    const std::span<const std::byte> before = bytes_of(*inner_->inputs[i]);
    const std::byte* const now = address_of(place);
    std::vector<std::pair<size_t, size_t>> overwritten;  // begin and end within the region, sorted
    for (uint32_t o = 0; o < output_count; ++o) {
      const Place& output = places_.outputs[o];
      if (output.region != place.region || declared_.sharing.keeps_bytes(i, o)) continue;
      overwritten.emplace_back(output.offset,
                               output.offset + static_cast<size_t>(output_values_[o].byte_size));
    }
    std::ranges::sort(overwritten);
    overwritten.emplace_back(place.offset + before.size(), SIZE_MAX);
    size_t at = place.offset;
    bool has_changed = false;
    for (const auto& [begin, end] : overwritten) {
      if (begin > at) {
        const size_t size = std::min(begin, place.offset + before.size()) - at;
        has_changed = has_changed || std::memcmp(now + (at - place.offset),
                                                 before.data() + (at - place.offset), size) != 0;
      }
      at = std::max(at, end);
      if (at >= place.offset + before.size()) break;
    }
    if (!has_changed) continue;
    found.push_back({kOutputRule, formatted("changed input {}", i),
                     "inputs belong to others: list the pair in may_inplace of `describe`, or "
                     "write elsewhere"});
  }
}

// The host has those that were set.
void GuardedRun::add_missing_outputs(std::vector<Finding>& found) const {
  if (is_repetition_ && has_assembled_) return;
  for (uint32_t i = 0; i < output_count; ++i) {
    const eph_value* const output = is_repetition_ ? outputs_[i] : inner_->outputs[i];
    if (output == nullptr || output->kind != EPH_KIND_TENSOR || output->data != nullptr) continue;
    found.push_back({kOutputRule, formatted("succeeded and gave output {} no memory", i),
                     "call allocate_output for each output whose data is null"});
  }
}

std::vector<Finding> GuardedRun::findings(bool has_succeeded) const {
  std::vector<Finding> found;
  for (const Region& region : regions_) add_damage(region.memory, region.name, found);
  add_changed_inputs(found);
  if (workspace_) add_damage(*workspace_, "the workspace", found);
  for (const GuardedMemory& scratch : scratch_) add_damage(scratch, "scratch memory", found);
  if (has_succeeded) add_missing_outputs(found);
  return found;
}

std::vector<GuardedRun::Untouched> GuardedRun::untouched() const {
  std::vector<Untouched> found;
  for (uint32_t i = 0; i < output_count; ++i) {
    if (!places_.outputs[i].is_set()) continue;
    const Region& region = regions_[places_.outputs[i].region];
    if (region.is_read || region.is_settled) continue;
    const size_t size = std::max<size_t>(element_size(*outputs_[i]), 1);
    const std::span<const std::byte> bytes = result(i);
    for (size_t at = 0; at + size <= bytes.size(); at += size) {
      const auto element = bytes.subspan(at, size);
      if (std::ranges::all_of(element, [&](std::byte byte) { return byte == memory_.fill; })) {
        found.push_back({i, at / size});
        break;
      }
    }
  }
  return found;
}

bool GuardedRun::can_be_repeated() const {
  const auto is_tensor = [](const eph_value* value) {
    return value == nullptr || (value->kind == EPH_KIND_TENSOR && value->memory == 0);
  };
  const auto is_of_numbers = [&](const eph_value* value) {
    return is_tensor(value) &&
           (value == nullptr || (value->element_type != EPH_ELEMENT_STRING && value->data));
  };
  return !has_assembled_ && std::all_of(inputs_.begin(), inputs_.end(), is_tensor) &&
         std::all_of(outputs_.begin(), outputs_.end(), is_of_numbers);
}

std::span<const std::byte> GuardedRun::result(uint32_t output) const {
  if (!places_.outputs[output].is_set()) return {};
  const auto size = static_cast<size_t>(inner_->outputs[output]->byte_size);
  return {address_of(places_.outputs[output]), size};
}

void GuardedRun::finish() const {
  for (uint32_t i = 0; i < output_count; ++i) {
    const std::span<const std::byte> bytes = result(i);
    if (bytes.empty() || regions_[places_.outputs[i].region].is_settled) continue;
    std::memcpy(inner_->outputs[i]->data, bytes.data(), bytes.size());
  }
}

void GuardedRun::retire() noexcept {
  loan_.end();
  const auto retire_one = [&](GuardedMemory& memory, const std::string& name) {
    memory.retire(name + " of " + memory_.call + ", which had returned (rule 20)");
  };
  for (Region& region : regions_) retire_one(region.memory, region.name);
  if (workspace_) retire_one(*workspace_, "the workspace");
  for (GuardedMemory& scratch : scratch_) retire_one(scratch, "scratch memory");
}

std::vector<std::string> GuardedRun::late_writes() const {
  std::vector<std::string> found;
  const auto look = [&](const GuardedMemory& memory, const std::string& name) {
    if (memory.was_written_late()) found.push_back(name);
  };
  for (const Region& region : regions_) look(region.memory, region.name);
  if (workspace_) look(*workspace_, "the workspace");
  for (const GuardedMemory& scratch : scratch_) look(scratch, "scratch memory");
  return found;
}

size_t GuardedRun::footprint() const {
  size_t bytes = sizeof(*this);
  for (const Region& region : regions_) bytes += region.memory.footprint();
  if (workspace_) bytes += workspace_->footprint();
  for (const GuardedMemory& scratch : scratch_) bytes += scratch.footprint();
  return bytes;
}

}  // namespace ephost::layers
