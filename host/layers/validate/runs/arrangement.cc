#include "host/layers/validate/runs/arrangement.h"

#include <algorithm>

namespace ephost::layers {
namespace {

Arrangement without_places(const eph_run& run) {
  Arrangement made;
  made.inputs.resize(run.input_count);
  made.outputs.resize(run.output_count);
  return made;
}

// Moves what the computation allows from places of its own to shared ones.
class Sharer {
 public:
  Sharer(const eph_run& run, Arrangement& arrangement, size_t alignment)
      : run_(run),
        places_(arrangement),
        alignment_(alignment),
        is_input_used_(run.input_count),
        is_output_used_(run.output_count) {}

  void add(const eph_slot_pair& pair) {
    if (!is_free(pair.input, pair.output)) return;
    if (run_.inputs[pair.input]->byte_size != run_.outputs[pair.output]->byte_size) return;
    places_.inputs[pair.input] = places_.outputs[pair.output];
    use(pair.input, pair.output);
  }
  void add_input(const eph_slot_part& part) {
    if (!is_part(part, *run_.inputs[part.input], *run_.outputs[part.output])) return;
    places_.inputs[part.input] = at(places_.outputs[part.output], part.offset);
    is_input_used_[part.input] = true;
  }
  void add_output(const eph_slot_part& part) {
    if (!is_part(part, *run_.outputs[part.output], *run_.inputs[part.input])) return;
    places_.outputs[part.output] = at(places_.inputs[part.input], part.offset);
    is_output_used_[part.output] = true;
  }
  // Whether both are tensors that share nothing yet.
  [[nodiscard]] bool is_free(uint32_t input, uint32_t output) const {
    return input < run_.input_count && output < run_.output_count && !is_input_used_[input] &&
           !is_output_used_[output] && places_.inputs[input].is_set() &&
           places_.outputs[output].is_set();
  }
  void use(uint32_t input, uint32_t output) {
    is_input_used_[input] = true;
    is_output_used_[output] = true;
  }

 private:
  [[nodiscard]] bool is_part(const eph_slot_part& part, const eph_value& small,
                             const eph_value& large) const {
    return part.offset % alignment_ == 0 && small.byte_size <= large.byte_size &&
           part.offset <= large.byte_size - small.byte_size;
  }
  static Place at(const Place& place, uint64_t offset) {
    return {place.region, place.offset + static_cast<size_t>(offset)};
  }

  const eph_run& run_;
  Arrangement& places_;
  const size_t alignment_;
  std::vector<bool> is_input_used_, is_output_used_;
};

}  // namespace

bool Sharing::allows(uint32_t output) const {
  const auto has = [&](const auto& list) {
    return std::ranges::any_of(list, [&](const auto& one) { return one.output == output; });
  };
  return has(may_inplace) || has(aliases) || has(input_parts) || has(output_parts) ||
         has(must_share);
}

bool Sharing::keeps_bytes(uint32_t input, uint32_t output) const {
  const auto has = [&](const auto& list) {
    return std::ranges::any_of(
        list, [&](const auto& one) { return one.input == input && one.output == output; });
  };
  return has(aliases) || has(output_parts);
}

bool is_plain(const eph_value* value) {
  return value != nullptr && value->kind == EPH_KIND_TENSOR && value->memory == 0 &&
         value->data != nullptr && value->byte_size > 0 &&
         value->element_type != EPH_ELEMENT_STRING;
}

Arrangement as_planned(const eph_run& run) {
  struct Range {
    const std::byte* begin;
    size_t size;
    Place* place;
  };
  Arrangement made = without_places(run);
  std::vector<Range> ranges;
  const auto add = [&](const eph_value* value, Place& place) {
    if (!is_plain(value)) return;
    ranges.push_back({static_cast<const std::byte*>(value->data),
                      static_cast<size_t>(value->byte_size), &place});
  };
  for (uint32_t i = 0; i < run.input_count; ++i) add(run.inputs[i], made.inputs[i]);
  for (uint32_t i = 0; i < run.output_count; ++i) add(run.outputs[i], made.outputs[i]);
  std::ranges::sort(ranges, {}, &Range::begin);
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;
  for (const Range& range : ranges) {
    if (made.region_count == 0 || range.begin >= end) {
      ++made.region_count;
      begin = range.begin;
      end = begin;
    }
    end = std::max(end, range.begin + range.size);
    *range.place = {made.region_count - 1, static_cast<size_t>(range.begin - begin)};
  }
  return made;
}

Arrangement as_separate(const eph_run& run, const Sharing& sharing) {
  Arrangement made = without_places(run);
  for (uint32_t i = 0; i < run.input_count; ++i) {
    if (is_plain(run.inputs[i])) made.inputs[i] = {made.region_count++, 0};
  }
  for (uint32_t i = 0; i < run.output_count; ++i) {
    if (is_plain(run.outputs[i])) made.outputs[i] = {made.region_count++, 0};
  }
  for (const eph_slot_pair& pair : sharing.must_share) {
    const bool exist = pair.input < run.input_count && pair.output < run.output_count;
    if (!exist || !made.inputs[pair.input].is_set() || !made.outputs[pair.output].is_set())
      continue;
    made.inputs[pair.input] = made.outputs[pair.output];
  }
  return made;
}

Arrangement as_shared(const eph_run& run, const Sharing& sharing, size_t alignment) {
  Arrangement made = as_separate(run, sharing);
  Sharer sharer(run, made, alignment);
  for (const eph_slot_pair& pair : sharing.must_share) {
    if (sharer.is_free(pair.input, pair.output)) sharer.use(pair.input, pair.output);
  }
  for (const eph_slot_pair& pair : sharing.may_inplace) sharer.add(pair);
  for (const eph_slot_pair& pair : sharing.aliases) sharer.add(pair);
  // The parts of one output are placed together, those of one input likewise.
  std::vector<eph_slot_part> parts;
  for (const eph_slot_part& part : sharing.input_parts) {
    if (sharer.is_free(part.input, part.output)) parts.push_back(part);
  }
  for (const eph_slot_part& part : parts) {
    if (sharer.is_free(part.input, part.output)) sharer.add_input(part);
  }
  for (const eph_slot_part& part : parts) sharer.use(part.input, part.output);
  parts.clear();
  for (const eph_slot_part& part : sharing.output_parts) {
    if (sharer.is_free(part.input, part.output)) parts.push_back(part);
  }
  for (const eph_slot_part& part : parts) {
    if (sharer.is_free(part.input, part.output)) sharer.add_output(part);
  }
  return made;
}

bool shares_memory(const Arrangement& arrangement) {
  return std::ranges::any_of(arrangement.outputs, [&](const Place& output) {
    return output.is_set() && std::ranges::any_of(arrangement.inputs, [&](const Place& input) {
             return input.region == output.region;
           });
  });
}

}  // namespace ephost::layers
