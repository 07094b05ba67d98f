#include "host/layers/validate/validate.h"

#include <string>
#include <utility>

#include "host/layers/validate/validator_calls.h"

namespace ephost::layers {
namespace {

struct ValidatedTable {
  ValidatedTable(ValidateOptions options, const MakeReference& make_reference,
                 const plugin::LoadedPlugin& plugin)
      : validator(options, make_reference, plugin.manifest),
        table(validator, plugin.provider, plugin.provider_self) {}

  Validator validator;
  ProviderTable<Validator> table;
};

class ValidateLayer : public Layer {
 public:
  ValidateLayer(ValidateOptions options, MakeReference make_reference)
      : options_(options), make_reference_(std::move(make_reference)) {}

  [[nodiscard]] std::string_view name() const override { return "validate"; }
  [[nodiscard]] Result<std::shared_ptr<const eph_provider_api>> decorate(
      const plugin::LoadedPlugin& plugin) override {
    auto validated = std::make_shared<ValidatedTable>(options_, make_reference_, plugin);
    return std::shared_ptr<const eph_provider_api>(validated, &validated->table);
  }

 private:
  const ValidateOptions options_;
  const MakeReference make_reference_;
};

}  // namespace

std::shared_ptr<Layer> make_validate(ValidateOptions options, MakeReference make_reference) {
  return std::make_shared<ValidateLayer>(options, std::move(make_reference));
}

}  // namespace ephost::layers
