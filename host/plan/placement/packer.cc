#include "host/plan/placement/packer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "host/plan/placement/valley_search.h"

namespace ephost::plan {
namespace {

// Above this, the tree is too deep to be searched with any success.
constexpr size_t kMaxItemsToSearch = 2'000;

class Packer {
 public:
  Packer(const Problem& problem, std::optional<uint64_t> capacity, uint64_t search_work)
      : problem_(problem),
        bound_(lower_bound_of(problem)),
        target_(std::max(bound_, capacity.value_or(bound_))),
        has_capacity_(capacity.has_value()),
        work_left_(search_work) {}

  [[nodiscard]] PackResult run() && {
    const bool is_done = try_orders();
    const size_t items = problem_.items.size();
    if (!is_done && work_left_ > 0 && items <= kMaxItemsToSearch) search();
    return {std::move(best_), bound_};
  }

 private:
  // Keeps a packing if it is better; returns true if it is good enough.
  bool offer(std::optional<Packing> packing) {
    if (packing && packing->peak < best_.peak) best_ = *std::move(packing);
    return best_.peak <= target_;
  }
  bool try_orders();
  void search();
  SearchResult search_within(uint64_t capacity, uint64_t work, ValleySearch& search);

  const Problem& problem_;
  uint64_t bound_;
  uint64_t target_;
  bool has_capacity_;
  uint64_t work_left_;
  Packing best_{{}, std::numeric_limits<uint64_t>::max()};
};

// Applies the quick rules first. Their work limit keeps 20,000 items below half a second.
bool Packer::try_orders() {
  const std::vector<std::vector<uint32_t>> orders = placement_orders(problem_);
  const auto try_all = [&](auto place) {
    return std::ranges::any_of(orders,
                               [&](const auto& order) { return offer(place(std::span(order))); });
  };
  const GapPlacer gaps(problem_);
  uint64_t gap_work = 200'000'000;
  uint64_t skyline_work = 100'000'000;
  const auto into_gaps = [&](Fit fit) {
    return try_all([&](auto order) { return gaps.place(order, fit, best_.peak, gap_work); });
  };
  return try_all([&](auto order) { return place_on_top(problem_, order); }) ||
         into_gaps(Fit::kFirst) || into_gaps(Fit::kBest) || try_all([&](auto order) {
           return place_by_skyline(problem_, order, best_.peak, skyline_work);
         });
}

// Spends half of the work on the target. Then bisects the range up to the best known peak as far as
// the remaining work allows, and spends the rest on an improvement by one, or on the proof that
// there is none.
void Packer::search() {
  ValleySearch search(problem_);
  const SearchResult first =
      search_within(target_, has_capacity_ ? work_left_ : work_left_ / 2, search);
  if (first == SearchResult::kFound || has_capacity_) return;
  for (uint64_t failed = target_; failed + 1 < best_.peak && work_left_ > 0;) {
    const uint64_t middle = failed + (best_.peak - failed) / 2;
    const SearchResult result = search_within(middle, work_left_ / 8 + 1, search);
    if (result != SearchResult::kFound) failed = middle;
  }
  while (bound_ < best_.peak && work_left_ > 0) {
    if (search_within(best_.peak - 1, work_left_, search) != SearchResult::kFound) return;
  }
}

SearchResult Packer::search_within(uint64_t capacity, uint64_t work, ValleySearch& search) {
  uint64_t left = std::min(work, work_left_);
  work_left_ -= left;
  const SearchResult result = search.run(capacity, left);
  work_left_ += left;
  if (result == SearchResult::kImpossible) bound_ = capacity + 1;
  if (result == SearchResult::kFound) offer(packing_of(problem_, search.offsets()));
  return result;
}

}  // namespace

PackResult pack(const Problem& problem, std::optional<uint64_t> capacity, uint64_t search_work) {
  return Packer(problem, capacity, search_work).run();
}

}  // namespace ephost::plan
