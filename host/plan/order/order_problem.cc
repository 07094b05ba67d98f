#include "host/plan/order/order_problem.h"

#include <algorithm>
#include <limits>

namespace ephost::plan {
namespace {

constexpr uint32_t kNoNumber = std::numeric_limits<uint32_t>::max();

uint64_t part_aligned(uint64_t bytes) {
  return (bytes + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
}

// Merges storages. Values without an owner in the plan (inputs, constants) have no storage.
class StorageSets {
 public:
  uint32_t add(uint64_t bytes) {
    parents_.push_back(static_cast<uint32_t>(parents_.size()));
    bytes_.push_back(bytes);
    return parents_.back();
  }
  [[nodiscard]] uint32_t find(uint32_t storage) {
    while (parents_[storage] != storage) {
      parents_[storage] = parents_[parents_[storage]];
      storage = parents_[storage];
    }
    return storage;
  }
  // Merges both storages into one with the size of `whole`.
  void merge(uint32_t whole, uint32_t part) { parents_[find(part)] = find(whole); }
  [[nodiscard]] uint64_t& bytes(uint32_t storage) { return bytes_[find(storage)]; }
  [[nodiscard]] size_t size() const { return parents_.size(); }

 private:
  std::vector<uint32_t> parents_;
  std::vector<uint64_t> bytes_;
};

class Builder {
 public:
  Builder(const Graph& graph, const ExecutionPlan& plan, std::span<const StepTraits> traits,
          std::span<const std::optional<uint64_t>> sizes, bool use_parts)
      : graph_(graph),
        plan_(plan),
        traits_(traits),
        sizes_(sizes),
        use_parts_(use_parts),
        storage_(graph.values.size(), kNoNumber),
        producer_(graph.values.size(), kNoNumber) {}

  OrderProblem run() && {
    make_storages();
    count_readers();
    for (uint32_t step = 0; step < plan_.steps.size(); ++step) merge_inplace(step);
    if (use_parts_) {
      for (uint32_t step = 0; step < plan_.steps.size(); ++step) merge_input_parts(step);
    }
    number_storages();
    for (uint32_t step = 0; step < plan_.steps.size(); ++step) finish_step(step);
    problem_.successors = problem_.predecessors.inverse(plan_.steps.size());
    problem_.touching = problem_.touched.inverse(problem_.bytes.size());
    return std::move(problem_);
  }

 private:
  template <class Visit>
  void for_each_read(uint32_t step, Visit visit) const {
    const Step& planned = plan_.steps[step];
    for (const auto* list : {&planned.inputs, &planned.implicit_inputs}) {
      for (const ValueId id : *list) {
        if (id != kNoValue) visit(id);
      }
    }
  }
  [[nodiscard]] ValueId slot(const std::vector<ValueId>& slots, uint32_t index) const {
    return index < slots.size() ? slots[index] : kNoValue;
  }
  [[nodiscard]] uint64_t size_of(ValueId id) const { return sizes_[id].value_or(0); }

  void make_storages() {
    for (uint32_t step = 0; step < plan_.steps.size(); ++step) {
      for (const ValueId id : plan_.steps[step].outputs) {
        if (id != kNoValue) producer_[id] = step;
      }
      for (const SlotPair pair : traits_[step].aliases) make_view(step, pair.input, pair.output);
      if (use_parts_) {
        for (const SlotPart& part : traits_[step].output_parts) {
          make_view(step, part.input, part.output);
        }
      }
      for (const ValueId id : plan_.steps[step].outputs) {
        if (id == kNoValue || storage_[id] != kNoNumber || is_view_[id]) continue;
        storage_[id] = sets_.add(graph_.values[id].is_graph_output ? 0 : part_aligned(size_of(id)));
      }
    }
  }
  void make_view(uint32_t step, uint32_t input_slot, uint32_t output_slot) {
    const ValueId input = slot(plan_.steps[step].inputs, input_slot);
    const ValueId output = slot(plan_.steps[step].outputs, output_slot);
    if (input == kNoValue || output == kNoValue || is_view_[output]) return;
    if (!is_plain(graph_.values[input].type) || !is_plain(graph_.values[output].type)) return;
    if (graph_.values[output].is_graph_output || size_of(output) > size_of(input)) return;
    is_view_[output] = true;
    storage_[output] = storage_[input];
  }

  // The steps that read a storage, before any storages are merged.
  void count_readers() {
    readers_.assign(sets_.size(), 0);
    std::vector<uint32_t> last(sets_.size(), kNoNumber);
    for (uint32_t step = 0; step < plan_.steps.size(); ++step) {
      for_each_read(step, [&](ValueId id) {
        const uint32_t storage = storage_[id];
        if (storage == kNoNumber || last[storage] == step) return;
        last[storage] = step;
        ++readers_[storage];
      });
    }
    for (const ValueId id : graph_.outputs) {
      if (storage_[id] != kNoNumber) readers_[storage_[id]] = kNoNumber;
    }
  }

  void merge_inplace(uint32_t step) {
    std::vector<StoragePair> open;
    for (const SlotPair pair : traits_[step].may_inplace) {
      const ValueId input = slot(plan_.steps[step].inputs, pair.input);
      const ValueId output = slot(plan_.steps[step].outputs, pair.output);
      if (input == kNoValue || output == kNoValue) continue;
      const uint32_t from = storage_[input];
      const uint32_t to = storage_[output];
      if (from == kNoNumber || to == kNoNumber || readers_[from] == kNoNumber) continue;
      if (sets_.find(from) == sets_.find(to) || producer_[output] != step) continue;
      if (!provably_equal_bytes(graph_.values[input].type, graph_.values[output].type)) continue;
      if (readers_[from] > 1) {
        open.push_back({from, to});
      } else if (sets_.find(to) == to) {
        // A graph output removes the chain before it from the block.
        if (graph_.values[output].is_graph_output) sets_.bytes(from) = 0;
        sets_.merge(from, to);
        readers_[from] = kNoNumber;  // only one output can take it
      }
    }
    if (open.empty()) return;
    pairs_.resize(plan_.steps.size());
    pairs_[step] = std::move(open);
  }
  void merge_input_parts(uint32_t step) {
    for (const SlotPart& part : traits_[step].input_parts) {
      const ValueId input = slot(plan_.steps[step].inputs, part.input);
      const ValueId output = slot(plan_.steps[step].outputs, part.output);
      if (input == kNoValue || output == kNoValue) continue;
      const uint32_t from = storage_[input];
      const uint32_t to = storage_[output];
      if (from == kNoNumber || to == kNoNumber || graph_.values[input].is_graph_output) continue;
      if (sets_.bytes(from) != part_aligned(size_of(input)) || sets_.find(from) == sets_.find(to))
        continue;
      sets_.merge(to, from);
    }
  }

  void number_storages() {
    numbers_.assign(sets_.size(), kNoNumber);
    for (uint32_t storage = 0; storage < sets_.size(); ++storage) {
      if (sets_.find(storage) != storage || sets_.bytes(storage) == 0) continue;
      numbers_[storage] = static_cast<uint32_t>(problem_.bytes.size());
      problem_.bytes.push_back(sets_.bytes(storage));
    }
  }
  [[nodiscard]] uint32_t number_of(uint32_t storage) {
    return storage == kNoNumber ? kNoNumber : numbers_[sets_.find(storage)];
  }

  void finish_step(uint32_t step) {
    const auto touch = [&](ValueId id) {
      const uint32_t number = number_of(storage_[id]);
      if (number != kNoNumber) problem_.touched.add(number);
    };
    for_each_read(step, [&](ValueId id) {
      touch(id);
      if (producer_[id] != kNoNumber) problem_.predecessors.add(producer_[id]);
    });
    for (const ValueId id : plan_.steps[step].outputs) {
      if (id != kNoValue) touch(id);
    }
    problem_.predecessors.end_set();
    problem_.touched.end_set();
    problem_.workspace.push_back(part_aligned(traits_[step].workspace_bytes));
    if (pairs_.empty()) return;
    std::vector<StoragePair>& pairs = problem_.pairs.emplace_back();
    for (const StoragePair pair : pairs_[step]) {
      const StoragePair numbered = {number_of(pair.from), number_of(pair.to)};
      const bool counts = numbered.from != kNoNumber && numbered.to != kNoNumber &&
                          numbered.from != numbered.to &&
                          problem_.bytes[numbered.from] == problem_.bytes[numbered.to];
      if (counts) pairs.push_back(numbered);
    }
  }

  const Graph& graph_;
  const ExecutionPlan& plan_;
  std::span<const StepTraits> traits_;
  std::span<const std::optional<uint64_t>> sizes_;
  bool use_parts_;
  StorageSets sets_;
  std::vector<uint32_t> storage_;   // by value
  std::vector<uint32_t> producer_;  // by value: its producer step
  std::vector<bool> is_view_ = std::vector<bool>(storage_.size(), false);
  std::vector<uint32_t> readers_;  // by storage
  std::vector<std::vector<StoragePair>> pairs_;
  std::vector<uint32_t> numbers_;  // by storage
  OrderProblem problem_;
};

}  // namespace

void Lists::end_set() {
  const auto begin = items_.begin() + begins_.back();
  std::sort(begin, items_.end());
  items_.erase(std::unique(begin, items_.end()), items_.end());
  end_list();
}

Lists Lists::inverse(size_t count) const {
  Lists inverse;
  inverse.begins_.assign(count + 1, 0);
  inverse.items_.resize(items_.size());
  for (const uint32_t item : items_) ++inverse.begins_[item + 1];
  for (size_t i = 0; i < count; ++i) inverse.begins_[i + 1] += inverse.begins_[i];
  std::vector<uint32_t> next(inverse.begins_.begin(), inverse.begins_.end() - 1);
  for (uint32_t i = 0; i < size(); ++i) {
    for (const uint32_t item : (*this)[i]) inverse.items_[next[item]++] = i;
  }
  return inverse;
}

OrderProblem make_order_problem(const Graph& graph, const ExecutionPlan& plan,
                                std::span<const StepTraits> traits,
                                std::span<const std::optional<uint64_t>> sizes, bool use_parts) {
  return Builder(graph, plan, traits, sizes, use_parts).run();
}

OrderProblem reversed(const OrderProblem& problem) {
  OrderProblem back = problem;
  std::swap(back.predecessors, back.successors);
  for (std::vector<StoragePair>& pairs : back.pairs) {
    for (StoragePair& pair : pairs) std::swap(pair.from, pair.to);
  }
  return back;
}

LiveState::LiveState(const OrderProblem& problem)
    : problem_(&problem), remaining_(problem.bytes.size()) {
  for (size_t storage = 0; storage < remaining_.size(); ++storage) {
    remaining_[storage] = static_cast<uint32_t>(problem.touching[storage].size());
  }
}

LiveState::Effect LiveState::effect_of(uint32_t step) const {
  Effect effect = {live_ + problem_->workspace[step], live_};
  for (const uint32_t storage : problem_->touched[step]) {
    const uint64_t bytes = problem_->bytes[storage];
    if (!is_live(storage)) {
      effect.during += bytes;
      effect.after += bytes;
    }
    if (remaining_[storage] == 1) effect.after -= bytes;
  }
  if (problem_->pairs.empty()) return effect;
  // Takes the first possible pair; a step rarely has more.
  for (const StoragePair pair : problem_->pairs[step]) {
    if (is_live(pair.from) && remaining_[pair.from] == 1 && !is_live(pair.to)) {
      effect.during -= problem_->bytes[pair.to];
      break;
    }
  }
  return effect;
}

LiveState::Effect LiveState::take(uint32_t step) {
  const Effect effect = effect_of(step);
  for (const uint32_t storage : problem_->touched[step]) --remaining_[storage];
  live_ = effect.after;
  return effect;
}

void LiveState::undo(uint32_t step, uint64_t live) {
  for (const uint32_t storage : problem_->touched[step]) ++remaining_[storage];
  live_ = live;
}

uint64_t peak_of(const OrderProblem& problem, std::span<const uint32_t> order) {
  LiveState state(problem);
  uint64_t peak = 0;
  for (const uint32_t step : order) peak = std::max(peak, state.take(step).during);
  return peak;
}

uint64_t least_peak(const OrderProblem& problem) {
  uint64_t peak = 0;
  for (uint32_t step = 0; step < problem.steps(); ++step) {
    uint64_t need = problem.workspace[step];
    uint64_t saved = 0;
    for (const uint32_t storage : problem.touched[step]) need += problem.bytes[storage];
    if (!problem.pairs.empty()) {
      for (const StoragePair pair : problem.pairs[step]) {
        saved = std::max(saved, problem.bytes[pair.to]);
      }
    }
    peak = std::max(peak, need - saved);
  }
  return peak;
}

}  // namespace ephost::plan
