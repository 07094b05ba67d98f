// A plugin that defines the operators which a test hands it, right or wrong.
#pragma once

#include <ephost/ext/operators.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "host/bridge/extensions/operator_definitions.h"

namespace ephost::bridge::testing {

struct DefiningPlugin {
  std::vector<eph_operator_def> records;
  uint64_t stride = sizeof(eph_operator_def);
  int32_t code = EPH_OK;
  bool is_offered = true;

  // The table of the plugin that is asked. A function of the ABI gets no other context.
  static DefiningPlugin*& asked() {
    static DefiningPlugin* plugin = nullptr;
    return plugin;
  }

  Result<std::vector<onnx_io::OperatorDefinition>> read() {
    asked() = this;
    auto loaded = std::make_shared<plugin::LoadedPlugin>();
    loaded->manifest.provider = "AcmeExecutionProvider";
    loaded->api.get_extension = &get_extension;
    loaded->api_self = &kTable;
    return read_operators(loaded);
  }

 private:
  static const void* get_extension(const eph_plugin_api* self, eph_string) noexcept {
    return self == &kTable && asked()->is_offered ? &kOperators : nullptr;
  }
  static int32_t get_operators(const eph_operators_api* self, const eph_operator_def** out,
                               uint64_t* stride, uint64_t* count, eph_error*) noexcept {
    if (self != &kOperators) return EPH_FAIL;
    *out = asked()->records.data();
    *stride = asked()->stride;
    *count = asked()->records.size();
    return asked()->code;
  }
  static constexpr eph_operators_api kOperators = {sizeof(eph_operators_api), &get_operators};
  static constexpr eph_plugin_api kTable = {};
};

// A definition without parameters and attributes.
inline eph_operator_def plain_definition() {
  eph_operator_def definition = {};
  definition.struct_size = sizeof(definition);
  definition.op_type = EPH_STRING("Crop");
  definition.domain = EPH_STRING("com.acme");
  definition.since_version = 1;
  return definition;
}

// A parameter without a type name that takes floats.
inline eph_parameter float_parameter(uint32_t flags = 0) {
  return {EPH_STRING("X"), {}, {}, uint64_t{1} << EPH_ELEMENT_FLOAT, flags, 0};
}

}  // namespace ephost::bridge::testing
