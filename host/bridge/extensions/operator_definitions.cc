#include "host/bridge/extensions/operator_definitions.h"

#include <ephost/ext/operators.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "host/base/format.h"
#include "host/base/text.h"
#include "host/bridge/abi_text.h"
#include "host/bridge/extensions/operator_inference.h"
#include "host/bridge/slot_call.h"
#include "host/plugin/adopt.h"

namespace ephost::bridge {
namespace {

using onnx_io::FormalAttribute;
using onnx_io::FormalParameter;
using onnx_io::OperatorDefinition;

// More than any plugin has, and longer than any text; one that reports more is broken.
constexpr uint64_t kMaxDefinitions = uint64_t{1} << 16;
constexpr uint64_t kMaxItems = 1024;  // parameters, attributes, elements of a default
constexpr uint64_t kMaxOperatorName = 1024;
constexpr uint64_t kMaxDescription = 65536;

// Reads one definition. Failures name what is wrong, not where: the caller adds that.
class DefinitionReader {
 public:
  // `name` is that of the provider; `record` a copy, at most of the plugin's own.
  DefinitionReader(const plugin::CallSite& site, const eph_operator_def& record)
      : site_(site), record_(record) {}

  Result<OperatorDefinition> read() {
    OperatorDefinition definition;
    definition.plugin = site_.provider;
    EPHOST_ASSIGN_OR_RETURN(definition.op_type, name(record_.op_type, "name"));
    EPHOST_ASSIGN_OR_RETURN(definition.domain, name(record_.domain, "domain"));
    EPHOST_ASSIGN_OR_RETURN(definition.description, description(record_.description));
    EPHOST_RETURN_IF_ERROR(check_domain(definition));
    if (record_.since_version < 1) {
      return broken(formatted("has version {}, and versions begin at 1", record_.since_version));
    }
    definition.since_version = record_.since_version;
    definition.is_deprecated = record_.is_deprecated != 0;
    EPHOST_ASSIGN_OR_RETURN(definition.inputs,
                            parameters(record_.inputs, record_.input_count, "inputs"));
    EPHOST_ASSIGN_OR_RETURN(definition.outputs,
                            parameters(record_.outputs, record_.output_count, "outputs"));
    EPHOST_ASSIGN_OR_RETURN(definition.attributes, attributes());
    return definition;
  }

 private:
  [[nodiscard]] Status broken(const std::string& how) const {
    return Status(
        StatusCode::kEpFail,
        formatted("{}: the definition of operator {} of domain {} in {} {}; report this "
                  "to the plugin's vendor",
                  site_.provider, quote(view(record_.op_type).substr(0, kMaxOperatorName)),
                  quote(view(record_.domain).substr(0, kMaxOperatorName)), EPH_EXT_OPERATORS, how));
  }

  [[nodiscard]] Result<std::string> text(eph_string given, uint64_t max_size,
                                         const std::string& what) const {
    const bool is_sound = given.size <= max_size && (given.data != nullptr || given.size == 0) &&
                          is_valid_utf8(view(given));
    if (is_sound) return std::string(view(given));
    return broken(formatted("has a {} that is not valid text (null, over {} bytes, or not UTF-8)",
                            what, max_size));
  }
  [[nodiscard]] Result<std::string> name(eph_string given, const std::string& what) const {
    EPHOST_ASSIGN_OR_RETURN(std::string checked, text(given, kMaxOperatorName, what));
    if (checked.empty()) return broken("has an empty " + what);
    return checked;
  }
  [[nodiscard]] Result<std::string> description(eph_string given) const {
    return text(given, kMaxDescription, "description");
  }

  [[nodiscard]] Status check_domain(const OperatorDefinition& definition) const {
    if (!onnx_io::is_plugin_domain(definition.domain)) {
      return broken("is in a domain of ONNX or of the host, where plugins define nothing");
    }
    if (definition.domain == "com.microsoft" && definition.op_type == "EPContext") {
      return broken("is of an operator whose meaning the host defines");
    }
    return {};
  }

  Result<std::vector<FormalParameter>> parameters(const eph_parameter* given, uint64_t count,
                                                  std::string_view what) {
    EPHOST_ASSIGN_OR_RETURN(const auto list,
                            plugin::adopt_array(given, count, kMaxItems, site_, what));
    std::vector<FormalParameter> read;
    for (const eph_parameter& one : list) {
      EPHOST_ASSIGN_OR_RETURN(FormalParameter parameter, this->parameter(one));
      if (parameter.is_variadic && &one != &list.back()) {
        return broken(formatted("has a variadic parameter {} that is not the last one",
                                quote(parameter.name)));
      }
      read.push_back(std::move(parameter));
    }
    return read;
  }

  Result<FormalParameter> parameter(const eph_parameter& given) {
    FormalParameter read;
    EPHOST_ASSIGN_OR_RETURN(read.name, name(given.name, "name of a parameter"));
    EPHOST_ASSIGN_OR_RETURN(read.description, description(given.description));
    EPHOST_ASSIGN_OR_RETURN(read.type_name, text(given.type_name, kMaxOperatorName, "type name"));
    read.element_types = given.element_types;
    read.is_optional = (given.flags & EPH_PARAMETER_OPTIONAL) != 0;
    read.is_variadic = (given.flags & EPH_PARAMETER_VARIADIC) != 0;
    read.is_heterogeneous = read.is_variadic && (given.flags & EPH_PARAMETER_HETEROGENEOUS) != 0;
    if (read.element_types == 0) {
      return broken(formatted("has a parameter {} that allows no element type", quote(read.name)));
    }
    if (!read.type_name.empty()) {
      const auto [known, is_new] = types_.try_emplace(read.type_name, read.element_types);
      if (!is_new && known->second != read.element_types) {
        return broken(formatted("has parameters of type {} that allow different element types",
                                quote(read.type_name)));
      }
    }
    return read;
  }

  Result<std::vector<FormalAttribute>> attributes() {
    EPHOST_ASSIGN_OR_RETURN(
        const auto list, plugin::adopt_array(record_.attributes, record_.attribute_count, kMaxItems,
                                             site_, "attributes"));
    std::vector<FormalAttribute> read;
    for (const eph_attribute_def& given : list) {
      FormalAttribute one;
      EPHOST_ASSIGN_OR_RETURN(one.name, name(given.name, "name of an attribute"));
      EPHOST_ASSIGN_OR_RETURN(one.description, description(given.description));
      one.kind = given.kind;
      one.is_required = given.is_required != 0;
      if (one.kind < EPH_ATTRIBUTE_FLOAT || one.kind > EPH_ATTRIBUTE_TYPE_PROTOS) {
        return broken(
            formatted("has an attribute {} of unknown kind {}", quote(one.name), one.kind));
      }
      if (std::ranges::find(read, one.name, &FormalAttribute::name) != read.end()) {
        return broken(formatted("has two attributes {}", quote(one.name)));
      }
      if (given.default_value != nullptr) {
        if (one.is_required) {
          return broken(
              formatted("has an attribute {} that is required and has a default", quote(one.name)));
        }
        EPHOST_ASSIGN_OR_RETURN(one.default_value, default_value(one, *given.default_value));
      }
      read.push_back(std::move(one));
    }
    return read;
  }

  Result<onnx_io::DefaultValue> default_value(const FormalAttribute& attribute,
                                              const eph_attribute& given) const {
    const bool is_single = given.kind == EPH_ATTRIBUTE_FLOAT || given.kind == EPH_ATTRIBUTE_INT ||
                           given.kind == EPH_ATTRIBUTE_STRING;
    const bool is_list = given.kind == EPH_ATTRIBUTE_FLOATS || given.kind == EPH_ATTRIBUTE_INTS ||
                         given.kind == EPH_ATTRIBUTE_STRINGS;
    if (given.kind != attribute.kind || !(is_single || is_list)) {
      return broken(
          formatted("has a default of kind {} for its attribute {}, which is {}, and only "
                    "numbers, texts and lists of them can have one",
                    onnx_io::attribute_kind_name(given.kind), quote(attribute.name),
                    onnx_io::attribute_kind_name(attribute.kind)));
    }
    EPHOST_RETURN_IF_ERROR(
        plugin::check_array(given.values, given.count, kMaxItems, site_, "default_value"));
    if (is_single && given.count != 1) {
      return broken(formatted("has a default with {} values for its attribute {}, which takes one",
                              given.count, quote(attribute.name)));
    }
    return convert(given);
  }

  Result<onnx_io::DefaultValue> convert(const eph_attribute& given) const {
    switch (given.kind) {
      case EPH_ATTRIBUTE_FLOAT:
        return onnx_io::DefaultValue(*static_cast<const float*>(given.values));
      case EPH_ATTRIBUTE_INT:
        return onnx_io::DefaultValue(*static_cast<const int64_t*>(given.values));
      case EPH_ATTRIBUTE_FLOATS:
        return onnx_io::DefaultValue(list<float>(given));
      case EPH_ATTRIBUTE_INTS:
        return onnx_io::DefaultValue(list<int64_t>(given));
      default:
        break;
    }
    std::vector<std::string> texts;
    for (const eph_string one : list<eph_string>(given)) {
      EPHOST_ASSIGN_OR_RETURN(std::string checked, text(one, kMaxDescription, "default"));
      texts.push_back(std::move(checked));
    }
    if (given.kind == EPH_ATTRIBUTE_STRINGS) return onnx_io::DefaultValue(std::move(texts));
    return onnx_io::DefaultValue(std::move(texts.front()));
  }

  template <class Element>
  static std::vector<Element> list(const eph_attribute& given) {
    const auto* const values = static_cast<const Element*>(given.values);
    return {values, values + given.count};
  }

  const plugin::CallSite& site_;
  const eph_operator_def& record_;
  std::map<std::string, uint64_t> types_;  // element types, by type name
};

Result<std::vector<OperatorDefinition>> read_table(
    const std::shared_ptr<const plugin::LoadedPlugin>& plugin, const void* table) {
  const std::string& owner = plugin->manifest.provider;
  EPHOST_ASSIGN_OR_RETURN(
      const auto api,
      plugin::adopt<eph_operators_api>(table, CallSite{owner, "get_extension", EPH_EXT_OPERATORS}));
  const CallSite site{owner, "get_operators"};
  const eph_operator_def* records = nullptr;
  uint64_t stride = 0;
  uint64_t count = 0;
  EPHOST_RETURN_IF_ERROR(call_slot(site, "listing the operators that it defines", api.get_operators,
                                   static_cast<const eph_operators_api*>(table), &records, &stride,
                                   &count));
  EPHOST_ASSIGN_OR_RETURN(const auto list,
                          plugin::adopt_records(records, stride, count, kMaxDefinitions, site));
  std::vector<OperatorDefinition> definitions;
  std::set<std::tuple<std::string, std::string, int32_t>> known;
  for (const auto& [copy, given] : list) {
    EPHOST_ASSIGN_OR_RETURN(OperatorDefinition one, DefinitionReader(site, copy).read());
    if (!known.emplace(one.domain, one.op_type, one.since_version).second) {
      return Status(StatusCode::kEpFail,
                    formatted("{} defines version {} of operator {} of domain {} twice; report "
                              "this to the plugin's vendor",
                              owner, one.since_version, quote(one.op_type), quote(one.domain)));
    }
    if (copy.infer != nullptr) one.infer = inference_of(plugin, copy, given);
    definitions.push_back(std::move(one));
  }
  return definitions;
}

}  // namespace

Result<std::vector<OperatorDefinition>> read_operators(
    const std::shared_ptr<const plugin::LoadedPlugin>& plugin) {
  if (plugin->api.get_extension == nullptr) return std::vector<OperatorDefinition>();
  EPHOST_ASSIGN_OR_RETURN(
      const void* const table,
      plugin::call(CallSite{plugin->manifest.provider, "get_extension"}, plugin->api.get_extension,
                   plugin->api_self, to_abi(EPH_EXT_OPERATORS)));
  if (table == nullptr) return std::vector<OperatorDefinition>();
  return read_table(plugin, table);
}

}  // namespace ephost::bridge
