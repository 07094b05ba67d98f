#include "host/layers/validate/validate.h"

#include <string>

#include "host/layers/validate/validator_calls.h"

namespace ephost::layers {
namespace {

struct ValidatedTable {
  ValidatedTable(ValidateOptions options, const plugin::LoadedPlugin& plugin)
      : validator(options, plugin.manifest),
        table(validator, plugin.provider, plugin.provider_self) {}

  Validator validator;
  ProviderTable<Validator> table;
};

class ValidateLayer : public Layer {
 public:
  explicit ValidateLayer(ValidateOptions options) : options_(options) {}

  [[nodiscard]] std::string_view name() const override { return "validate"; }
  [[nodiscard]] Result<std::shared_ptr<const eph_provider_api>> decorate(
      const plugin::LoadedPlugin& plugin) override {
    auto validated = std::make_shared<ValidatedTable>(options_, plugin);
    return std::shared_ptr<const eph_provider_api>(validated, &validated->table);
  }

 private:
  const ValidateOptions options_;
};

}  // namespace

std::shared_ptr<Layer> make_validate(ValidateOptions options) {
  return std::make_shared<ValidateLayer>(options);
}

}  // namespace ephost::layers
