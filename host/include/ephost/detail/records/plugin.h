// Fields of records and of the plain values that they become: descriptions of plugins.
#pragma once

#include <ephost/detail/fields.h>
#include <ephost/types/plugin_description.h>

namespace ephost::detail {

template <>
struct RecordOf<OptionDescription> {
  using C = ephost_option_description;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&OptionDescription::name, &C::name);
    visit(&OptionDescription::type, &C::type);
    visit(&OptionDescription::scope, &C::scope);
    visit(&OptionDescription::default_value, &C::default_value);
    visit(&OptionDescription::range, &C::range);
    visit(&OptionDescription::choices, &C::choices, &C::choice_count);
    visit(&OptionDescription::help, &C::help);
  }
};

template <>
struct RecordOf<KernelTypeRule> {
  using C = ephost_kernel_type_rule;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&KernelTypeRule::is_output, &C::is_output);
    visit(&KernelTypeRule::slot, &C::slot);
    visit(&KernelTypeRule::is_variadic, &C::is_variadic);
    visit(&KernelTypeRule::kinds, &C::kinds, &C::kind_count);
    visit(&KernelTypeRule::element_types, &C::element_types, &C::element_type_count);
  }
};

template <>
struct RecordOf<KernelDescription> {
  using C = ephost_kernel_description;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&KernelDescription::op_type, &C::op_type);
    visit(&KernelDescription::domain, &C::domain);
    visit(&KernelDescription::since_version, &C::since_version);
    visit(&KernelDescription::until_version, &C::until_version);
    visit(&KernelDescription::types, &C::types, &C::type_count);
  }
};

template <>
struct RecordOf<ParameterDescription> {
  using C = ephost_parameter_description;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&ParameterDescription::name, &C::name);
    visit(&ParameterDescription::description, &C::description);
    visit(&ParameterDescription::type_name, &C::type_name);
    visit(&ParameterDescription::element_types, &C::element_types, &C::element_type_count);
    visit(&ParameterDescription::is_optional, &C::is_optional);
    visit(&ParameterDescription::is_variadic, &C::is_variadic);
  }
};

template <>
struct RecordOf<AttributeDescription> {
  using C = ephost_attribute_description;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&AttributeDescription::name, &C::name);
    visit(&AttributeDescription::description, &C::description);
    visit(&AttributeDescription::type, &C::type);
    visit(&AttributeDescription::is_required, &C::is_required);
    visit(&AttributeDescription::default_value, &C::default_value);
  }
};

template <>
struct RecordOf<OperatorDescription> {
  using C = ephost_operator_description;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&OperatorDescription::op_type, &C::op_type);
    visit(&OperatorDescription::domain, &C::domain);
    visit(&OperatorDescription::description, &C::description);
    visit(&OperatorDescription::since_version, &C::since_version);
    visit(&OperatorDescription::is_deprecated, &C::is_deprecated);
    visit(&OperatorDescription::infers_types, &C::infers_types);
    visit(&OperatorDescription::inputs, &C::inputs, &C::input_count);
    visit(&OperatorDescription::outputs, &C::outputs, &C::output_count);
    visit(&OperatorDescription::attributes, &C::attributes, &C::attribute_count);
  }
};

template <>
struct RecordOf<PluginDescription> {
  using C = ephost_plugin_description;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&PluginDescription::plugin, &C::plugin);
    visit(&PluginDescription::abi_minor, &C::abi_minor);
    visit(&PluginDescription::options, &C::options, &C::option_count);
    visit(&PluginDescription::options_open, &C::options_open);
    visit(&PluginDescription::device_status, &C::device_status);
    visit(&PluginDescription::devices, &C::devices, &C::device_count);
    visit(&PluginDescription::operators_status, &C::operators_status);
    visit(&PluginDescription::operators, &C::operators, &C::operator_count);
    visit(&PluginDescription::provider_status, &C::provider_status);
    visit(&PluginDescription::compiles, &C::compiles);
    visit(&PluginDescription::writes_context, &C::writes_context);
    visit(&PluginDescription::kernels, &C::kernels, &C::kernel_count);
    visit(&PluginDescription::extensions, &C::extensions, &C::extension_count);
    visit(&PluginDescription::isolation, &C::isolation);
    visit(&PluginDescription::sandbox_gaps, &C::sandbox_gaps, &C::sandbox_gap_count);
    visit(&PluginDescription::recorded_time, &C::recorded_time);
  }
};

}  // namespace ephost::detail
