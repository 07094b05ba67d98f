#include "tests/unit/plugins/cpu/microsoft/definitions.h"

#include <dlfcn.h>

#include <stdexcept>

#include "tests/support/fake_host.h"

namespace ephost::test {
namespace {

const eph_operators_api& operators_api() {
  static const eph_operators_api* const api = [] {
    void* library = dlopen(CPU_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    const auto entry = reinterpret_cast<eph_plugin_v1_function>(dlsym(library, EPH_PLUGIN_SYMBOL));
    const eph_plugin_api* plugin = get_api(entry());
    const void* table = plugin->get_extension(plugin, EPH_STRING(EPH_EXT_OPERATORS));
    if (table == nullptr) throw std::runtime_error("the plugin defines no operators");
    return static_cast<const eph_operators_api*>(table);
  }();
  return *api;
}

}  // namespace

const eph_operator_def* find_definition(const std::string& op_type) {
  const eph_operator_def* all = nullptr;
  uint64_t stride = 0;
  uint64_t count = 0;
  FakeError error;
  if (operators_api().get_operators(&operators_api(), &all, &stride, &count, &error) != EPH_OK) {
    throw std::runtime_error(error.message);
  }
  for (uint64_t i = 0; i < count; ++i) {
    const auto* one =
        reinterpret_cast<const eph_operator_def*>(reinterpret_cast<const char*>(all) + i * stride);
    if (eph::view(one->op_type) == op_type) return one;
  }
  return nullptr;
}

}  // namespace ephost::test
