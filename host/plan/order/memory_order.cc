#include "host/plan/order/memory_order.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "host/base/format.h"
#include "host/plan/order/live_bytes.h"
#include "host/plan/order/order_problem.h"
#include "host/plan/order/order_rules.h"

namespace ephost::plan {
namespace {

constexpr size_t kBeamWidth = 30;
constexpr uint64_t kMaxBeamWork = 100'000'000;
// Orders with a lower estimated peak are planned until one is really better; each attempt costs a
// plan.
constexpr size_t kMaxPlans = 3;

using Sizes = std::vector<std::optional<uint64_t>>;

// The sizes of values if every dynamic extent is `extent`.
Sizes sizes_with(const Graph& graph, int64_t extent) {
  Sizes sizes;
  sizes.reserve(graph.values.size());
  for (const graph::Value& value : graph.values) {
    std::optional<uint64_t>& size = sizes.emplace_back();
    if (value.type.kind != graph::ValueKind::kTensor || !value.type.shape) continue;
    const auto is_open = [](int64_t dim) { return !graph::is_static_dim(dim); };
    if (std::ranges::none_of(*value.type.shape, is_open)) {
      size = graph::byte_size(value.type.element, *value.type.shape);
      continue;
    }
    graph::Shape shape = *value.type.shape;
    std::ranges::replace_if(shape, is_open, extent);
    size = graph::byte_size(value.type.element, shape);
  }
  return sizes;
}

bool has_open_extent(const Graph& graph) {
  return std::ranges::any_of(graph.values, [](const graph::Value& value) {
    return value.type.shape && !graph::is_static(*value.type.shape);
  });
}

struct Candidate {
  Order order;
  std::string_view rule;
  uint64_t peak = 0;  // estimated
};

class Chooser {
 public:
  Chooser(const Graph& graph, const ExecutionPlan& plan, std::span<const StepTraits> traits,
          const MemoryOrderOptions& options)
      : graph_(graph), plan_(plan), traits_(traits), options_(options) {
    constexpr std::array<int64_t, 2> kExtents = {16, 1024};
    for (const int64_t extent : kExtents) {
      sizes_.push_back(sizes_with(graph, extent));
      if (!has_open_extent(graph)) break;
    }
  }

  [[nodiscard]] Result<MemoryOrder> run() && {
    Order given(plan_.steps.size());
    std::iota(given.begin(), given.end(), 0U);
    EPHOST_ASSIGN_OR_RETURN(best_.allocation,
                            plan_allocation(graph_, plan_, traits_, options_.allocation));
    best_cost_ = costs_of(best_.allocation);
    best_.order = std::move(given);
    best_.rule = "given";
    best_.given_bytes = best_.bytes = best_cost_[0];
    EPHOST_RETURN_IF_ERROR(options_.cancellation.check());
    if (is_only_order()) return std::move(best_);
    const bool shares = options_.allocation.enable_mem_reuse;
    const bool has_parts = shares && options_.allocation.enable_parts &&
                           std::ranges::any_of(traits_, [](const StepTraits& step) {
                             return !step.input_parts.empty() || !step.output_parts.empty();
                           });
    problems_.push_back(make_order_problem(graph_, plan_, traits_, sizes_[0], false));
    if (has_parts) {
      problems_.push_back(make_order_problem(graph_, plan_, traits_, sizes_[0], true));
    }
    if (is_optimal()) return std::move(best_);
    EPHOST_RETURN_IF_ERROR(apply_rules());
    EPHOST_RETURN_IF_ERROR(take_best());
    if (options_.search && !is_optimal()) {
      search();
      EPHOST_RETURN_IF_ERROR(take_best());
    }
    return std::move(best_);
  }

 private:
  [[nodiscard]] Result<AllocationPlan> allocate(const Order& order) const {
    ExecutionPlan plan;
    std::vector<StepTraits> traits;
    plan.steps.reserve(order.size());
    traits.reserve(order.size());
    for (const uint32_t step : order) {
      plan.steps.push_back(plan_.steps[step]);
      traits.push_back(traits_[step]);
    }
    return plan_allocation(graph_, plan, traits, options_.allocation);
  }

  // By set of sizes.
  [[nodiscard]] std::vector<uint64_t> costs_of(const AllocationPlan& allocation) const {
    std::vector<uint64_t> costs;
    for (const Sizes& sizes : sizes_) {
      costs.push_back(find_live_bytes(allocation.values, allocation.buffers, allocation.workspaces,
                                      allocation.steps, sizes)
                          .sum_of_peaks());
    }
    return costs;
  }

  // Each step waits for the one before it.
  [[nodiscard]] bool is_only_order() const {
    const auto waits = [&](const Step& before, const Step& step) {
      return std::ranges::any_of(step.inputs, [&](ValueId id) {
        return id != kNoValue && std::ranges::find(before.outputs, id) != before.outputs.end();
      });
    };
    return std::ranges::adjacent_find(plan_.steps, [&](const Step& before, const Step& step) {
             return !waits(before, step);
           }) == plan_.steps.end();
  }

  // With dynamic extents there may be better orders for other sizes.
  [[nodiscard]] bool is_optimal() const {
    return std::ranges::all_of(
        problems_, [&](const OrderProblem& problem) { return best_.bytes <= least_peak(problem); });
  }

  [[nodiscard]] Status apply_rules() {
    const auto backwards = [](const OrderProblem& problem) {
      Order order = order_greedily(reversed(problem), GreedyRule::kGrowth);
      std::ranges::reverse(order);
      return order;
    };
    const auto greedily = [](GreedyRule rule) {
      return [rule](const OrderProblem& problem) { return order_greedily(problem, rule); };
    };
    for (const OrderProblem& problem : problems_) {
      const auto apply = [&](auto rule, std::string_view name) {
        EPHOST_RETURN_IF_ERROR(options_.cancellation.check());
        offer(rule(problem), name);
        return Status::ok_status();
      };
      EPHOST_RETURN_IF_ERROR(apply(&order_depth_first, "depth first"));
      EPHOST_RETURN_IF_ERROR(apply(&order_by_need, "by need"));
      EPHOST_RETURN_IF_ERROR(apply(greedily(GreedyRule::kGrowth), "least growth"));
      EPHOST_RETURN_IF_ERROR(apply(greedily(GreedyRule::kChains), "chains"));
      EPHOST_RETURN_IF_ERROR(apply(backwards, "least growth backwards"));
    }
    return Status::ok_status();
  }

  void search() {
    for (const OrderProblem& problem : problems_) {
      const uint64_t limit = std::min(peak_of(problem, best_.order), best_.bytes);
      Order order = search_order(problem, limit, kBeamWidth, kMaxBeamWork);
      if (!order.empty()) offer(std::move(order), "search");
    }
  }

  void offer(Order order, std::string_view rule) {
    uint64_t peak = peak_of(problems_[0], order);
    for (const OrderProblem& problem : problems_) peak = std::min(peak, peak_of(problem, order));
    if (peak < best_.bytes) candidates_.push_back({std::move(order), rule, peak});
  }

  // Among the most promising candidates, the first that is better than the best known.
  [[nodiscard]] Status take_best() {
    std::ranges::stable_sort(candidates_, {}, &Candidate::peak);
    size_t plans = 0;
    for (Candidate& candidate : candidates_) {
      if (candidate.peak >= best_.bytes || ++plans > kMaxPlans) break;
      EPHOST_RETURN_IF_ERROR(options_.cancellation.check());
      EPHOST_ASSIGN_OR_RETURN(AllocationPlan allocation, allocate(candidate.order));
      const std::vector<uint64_t> cost = costs_of(allocation);
      bool is_worse = false;
      for (size_t i = 0; i < cost.size(); ++i) is_worse = is_worse || cost[i] > best_cost_[i];
      if (is_worse || cost == best_cost_) continue;
      best_.order = std::move(candidate.order);
      best_.rule = candidate.rule;
      best_.allocation = std::move(allocation);
      best_.bytes = cost[0];
      best_cost_ = cost;
    }
    candidates_.clear();
    return Status::ok_status();
  }

  const Graph& graph_;
  const ExecutionPlan& plan_;
  std::span<const StepTraits> traits_;
  const MemoryOrderOptions& options_;
  std::vector<Sizes> sizes_;
  std::vector<OrderProblem> problems_;  // without parts, with parts
  std::vector<Candidate> candidates_;
  MemoryOrder best_;
  std::vector<uint64_t> best_cost_;
};

}  // namespace

Result<MemoryOrder> order_for_memory(const Graph& graph, const ExecutionPlan& plan,
                                     std::span<const StepTraits> traits,
                                     const MemoryOrderOptions& options) {
  if (traits.size() != plan.steps.size()) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("cannot order steps for memory: there are {} steps but traits of {}",
                            plan.steps.size(), traits.size()));
  }
  return Chooser(graph, plan, traits, options).run();
}

}  // namespace ephost::plan
