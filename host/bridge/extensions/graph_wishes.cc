#include "host/bridge/extensions/graph_wishes.h"

#include <algorithm>

#include "host/bridge/abi_text.h"
#include "host/bridge/slot_call.h"
#include "host/plugin/adopt.h"

namespace ephost::bridge {
namespace {

// More than any provider has, and longer than any name; one that reports more is broken.
constexpr uint64_t kMaxKeptOperators = uint64_t{1} << 16;
constexpr uint64_t kMaxKeptName = 1024;

}  // namespace

Result<GraphWishes> GraphWishes::create(const eph_graph_wishes_api& api, eph_provider* provider,
                                        std::string_view owner) {
  const plugin::CallSite site{owner, "get_kept_operators"};
  const eph_kept_operator* operators = nullptr;
  uint64_t stride = 0;
  uint64_t count = 0;
  EPHOST_RETURN_IF_ERROR(call_slot(site, "listing the operators that it wants unchanged",
                                   api.get_kept_operators, provider, &operators, &stride, &count));
  EPHOST_ASSIGN_OR_RETURN(const auto list,
                          plugin::adopt_records(operators, stride, count, kMaxKeptOperators, site));
  GraphWishes wishes;
  for (const auto& [given, record] : list) {
    const bool is_sound = !view(given.op_type).empty() && given.op_type.size <= kMaxKeptName &&
                          given.domain.size <= kMaxKeptName;
    if (!is_sound) {
      return Status(StatusCode::kEpFail,
                    std::string(owner) + " lists an operator without a name, or with one of more " +
                        "than " + std::to_string(kMaxKeptName) + " bytes, in " +
                        EPH_EXT_GRAPH_WISHES + "; report this to the plugin's vendor");
    }
    const std::string_view domain = view(given.domain);
    wishes.by_operator_[std::string(view(given.op_type))].push_back(
        {std::string(domain == "ai.onnx" ? "" : domain), given.since_version, given.until_version});
  }
  return wishes;
}

bool GraphWishes::keeps(const graph::Node& node) const {
  if (by_operator_.empty()) return false;
  const auto entries = by_operator_.find(node.op_type);
  return entries != by_operator_.end() &&
         std::ranges::any_of(entries->second, [&](const Entry& entry) {
           return entry.domain == node.domain && entry.since_version <= node.since_version &&
                  node.since_version <= entry.until_version;
         });
}

}  // namespace ephost::bridge
