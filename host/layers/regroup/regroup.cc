#include "host/layers/regroup/regroup.h"

#include <algorithm>
#include <cstdint>

#include "host/layers/decorate/decorator.h"

namespace ephost::layers {
namespace {

class Regrouper {
 public:
  struct ProviderState {
    explicit ProviderState(const Call<Regrouper>&) {}
  };
  using ComputationState = ProviderState;
  using DeviceState = ProviderState;
  struct ObjectState {};
  template <class T>
  using Lent = LentOnStack<T>;
  using Error = ErrorObject;

  template <auto Member, class Next, class... A>
  auto to_plugin(const Call<Regrouper>&, Next next, A... arguments) {
    if constexpr (kIsSame<Member, &eph_provider_api::compile>) {
      return compile(next, arguments...);
    } else {
      return next(arguments...);
    }
  }

  template <auto Member, class Object, class Next, class... A>
  auto from_plugin(const Object&, Next next, A... arguments) noexcept {
    return next(arguments...);
  }

 private:
  // `partitions` is the decorator's copy, whose stride is the size of its records.
  template <class Next>
  static int32_t compile(Next next, const eph_partition* partitions, uint64_t stride,
                         uint64_t count, eph_computation** out_computations, ErrorObject* error) {
    std::fill_n(out_computations, count, nullptr);
    uint64_t size = 1;
    for (uint64_t end = count; end > 0; end -= size, size = 3 - size) {
      size = std::min(size, end);
      const uint64_t begin = end - size;
      const int32_t code = next(partitions + begin, stride, size, out_computations + begin, error);
      if (code != EPH_OK) return code;
    }
    return EPH_OK;
  }
};

struct RegroupedTable {
  explicit RegroupedTable(const plugin::LoadedPlugin& plugin)
      : table(regrouper, plugin.provider, plugin.provider_self) {}

  Regrouper regrouper;
  ProviderTable<Regrouper> table;
};

class RegroupLayer : public Layer {
 public:
  [[nodiscard]] std::string_view name() const override { return "regroup"; }
  [[nodiscard]] Result<std::shared_ptr<const eph_provider_api>> decorate(
      const plugin::LoadedPlugin& plugin) override {
    auto regrouped = std::make_shared<RegroupedTable>(plugin);
    return std::shared_ptr<const eph_provider_api>(regrouped, &regrouped->table);
  }
};

}  // namespace

std::shared_ptr<Layer> make_regroup() { return std::make_shared<RegroupLayer>(); }

}  // namespace ephost::layers
