#include "host/plan/placement/place_buffers.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "host/base/checked_math.h"
#include "host/base/format.h"
#include "host/plan/placement/packer.h"
#include "host/plan/placement/placement.h"

namespace ephost::plan {
namespace {

Status refuse(const std::string& what) {
  return {StatusCode::kInvalidArgument, "cannot place buffers: " + what};
}

// The problem in units that divide all aligned sizes, without empty buffers, and in a canonical
// order, so that the result does not depend on the order of the buffers.
struct Reduced {
  std::vector<Item> items;
  std::vector<size_t> buffers;  // the buffer of each item
  uint64_t unit = 0;
};

Result<Reduced> reduce(std::span<const Buffer> buffers, uint64_t alignment) {
  Reduced reduced;
  std::vector<uint64_t> sizes;
  std::optional<uint64_t> total = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const auto& [lower, upper, size] = buffers[i];
    if (lower >= upper) {
      return refuse(formatted("buffer #{} lives from {} to {}; its end must be after its start", i,
                              lower, upper));
    }
    const std::optional<uint64_t> aligned = checked_align_up(size, alignment);
    if (total && aligned) total = checked_add(*total, *aligned);
    if (!total || !aligned) {
      return refuse(formatted("the sizes up to buffer #{} add up to more than 2^64 - 1 bytes", i));
    }
    sizes.push_back(*aligned);
    reduced.unit = std::gcd(reduced.unit, *aligned);
    if (*aligned > 0) reduced.buffers.push_back(i);
  }
  std::ranges::stable_sort(reduced.buffers, {}, [&](size_t i) {
    return std::tuple(buffers[i].lower, buffers[i].upper, sizes[i]);
  });
  for (const size_t i : reduced.buffers) {
    reduced.items.push_back({buffers[i].lower, buffers[i].upper, sizes[i] / reduced.unit});
  }
  return reduced;
}

}  // namespace

Result<Placement> place_buffers(std::span<const Buffer> buffers, const PlacementOptions& options) {
  if (!std::has_single_bit(options.alignment)) {
    return refuse(formatted("the alignment {} is not a power of two", options.alignment));
  }
  EPHOST_ASSIGN_OR_RETURN(Reduced reduced, reduce(buffers, options.alignment));
  Placement placement;
  placement.offsets.assign(buffers.size(), 0);
  placement.proved_optimal = true;
  if (reduced.items.empty()) return placement;
  std::optional<uint64_t> capacity;
  if (options.capacity) capacity = *options.capacity / reduced.unit;
  const Problem problem = make_problem(std::move(reduced.items));
  const PackResult result = pack(problem, capacity, options.search_work);
  for (size_t i = 0; i < reduced.buffers.size(); ++i) {
    placement.offsets[reduced.buffers[i]] = result.packing.offsets[i] * reduced.unit;
  }
  placement.peak = result.packing.peak * reduced.unit;
  placement.lower_bound = lower_bound_of(problem) * reduced.unit;
  placement.proved_bound = result.bound * reduced.unit;
  placement.proved_optimal = placement.peak == placement.proved_bound;
  return placement;
}

}  // namespace ephost::plan
