#include "host/bridge/extensions/shape_extension.h"

#include <algorithm>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/callback.h"
#include "host/bridge/slot_call.h"
#include "host/plugin/adopt.h"

namespace ephost::bridge {
namespace {

constexpr uint64_t kMaxSymbols = uint64_t{1} << 16;
constexpr uint64_t kMaxSymbolName = 65536;

// The eph_shape_wishes of one get_wishes call.
class WishCollector : public eph_shape_wishes {
 public:
  WishCollector(std::string_view provider, const graph::Graph& graph, const graph::Model& model)
      : eph_shape_wishes{&kApi}, provider_(provider), graph_(graph), model_(model) {}

  // The first refusal, which stands even if the provider continues.
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] std::vector<ShapeWish> take() { return std::move(wishes_); }

 private:
  static int32_t add(eph_shape_wishes* handle, const uint32_t* nodes, uint64_t node_count,
                     const eph_string* symbols, uint64_t symbol_count, eph_error* error) noexcept {
    return run_callback(error, [&]() -> Status {
      auto& self = *static_cast<WishCollector*>(handle);
      Status added = self.try_add(nodes, node_count, symbols, symbol_count);
      if (!added.ok() && self.status_.ok()) self.status_ = added;
      return added;
    });
  }

  Status try_add(const uint32_t* nodes, uint64_t node_count, const eph_string* symbols,
                 uint64_t symbol_count) {
    const plugin::CallSite site{provider_, "add"};
    EPHOST_ASSIGN_OR_RETURN(
        const auto given,
        plugin::adopt_array(nodes, node_count, graph_.nodes.size(), site, "nodes"));
    EPHOST_ASSIGN_OR_RETURN(
        const auto names, plugin::adopt_array(symbols, symbol_count, kMaxSymbols, site, "symbols"));
    ShapeWish wish;
    for (const uint32_t node : given) {
      if (node >= graph_.nodes.size()) {
        return refusal(formatted("node {}, of {} nodes", node, graph_.nodes.size()));
      }
      wish.nodes.push_back(node);
    }
    for (const eph_string& name : names) {
      EPHOST_ASSIGN_OR_RETURN(const std::string_view text,
                              plugin::adopt_text(name, kMaxSymbolName, site, "symbols"));
      const auto symbol = std::ranges::find(model_.symbols, text);
      if (symbol == model_.symbols.end()) {
        return refusal(formatted("the symbol {}, which the model does not have", quote(text)));
      }
      wish.symbols.push_back(static_cast<uint32_t>(symbol - model_.symbols.begin()));
    }
    wishes_.push_back(std::move(wish));
    return Status::ok_status();
  }

  [[nodiscard]] Status refusal(const std::string& what) const {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} wishes in {} for extents of {}; report this to the plugin's vendor",
                            provider_, EPH_EXT_SHAPES, what));
  }

  static const eph_shape_wishes_api kApi;
  std::string_view provider_;
  const graph::Graph& graph_;
  const graph::Model& model_;
  std::vector<ShapeWish> wishes_;
  Status status_;
};

const eph_shape_wishes_api WishCollector::kApi = {sizeof(eph_shape_wishes_api),
                                                  &WishCollector::add};

}  // namespace

Status ShapeExtension::set_profiles(std::span<const ShapeProfile> profiles) const {
  if (!takes_profiles() || profiles.empty()) return Status::ok_status();
  struct Ranges {
    std::vector<eph_extent_range> extents;
    std::vector<eph_value_range> values;
  };
  std::vector<Ranges> ranges;
  std::vector<eph_shape_profile> records;
  for (const ShapeProfile& profile : profiles) {
    Ranges& of_profile = ranges.emplace_back();
    for (const ExtentRange& range : profile) {
      if (range.is_value) {
        of_profile.values.push_back(
            {to_abi(range.input), range.axis, range.least, range.best, range.greatest});
      } else {
        of_profile.extents.push_back({to_abi(range.input), to_abi(range.symbol), range.axis, 0,
                                      range.least, range.best, range.greatest});
      }
    }
  }
  for (const auto& [extents, values] : ranges) {
    records.push_back(
        {sizeof(eph_shape_profile), extents.data(), extents.size(), values.data(), values.size()});
  }
  return call_slot({owner_, "set_profiles"}, "taking the profiles of the session's shapes",
                   api_->set_profiles, provider_, records.data(),
                   uint64_t{sizeof(eph_shape_profile)}, records.size());
}

Result<std::vector<ShapeWish>> ShapeExtension::wishes(const GraphView& graph,
                                                      const graph::Model& model) const {
  if (!api_ || !has_open_extents(graph.graph())) return std::vector<ShapeWish>();
  const std::string& name = graph.graph().name;
  WishCollector collector(owner_, graph.graph(), model);
  const Status asked =
      call_slot({owner_, "get_wishes", "graph", name},
                "telling which extents of graph " + quote(name) + " it wants fixed",
                api_->get_wishes, provider_, &graph, &collector);
  EPHOST_RETURN_IF_ERROR(collector.status());
  EPHOST_RETURN_IF_ERROR(asked);
  return collector.take();
}

bool has_open_extents(const graph::Graph& graph) {
  return std::ranges::any_of(graph.values, [](const graph::Value& value) {
    return value.type.kind == graph::ValueKind::kTensor &&
           (!value.type.shape || !graph::is_static(*value.type.shape));
  });
}

}  // namespace ephost::bridge
