// Fields of records and of the plain values that they become: descriptions of plugins.
#pragma once

#include <ephost/detail/fields.h>
#include <ephost/types/plugin_description.h>

namespace ephost::detail {

template <>
struct RecordOf<OptionDescription> {
  using C = ephost_option_description;
  static constexpr auto kFields = std::tuple(
      field(&OptionDescription::name, &C::name), field(&OptionDescription::type, &C::type),
      field(&OptionDescription::scope, &C::scope),
      field(&OptionDescription::default_value, &C::default_value),
      field(&OptionDescription::range, &C::range),
      field(&OptionDescription::choices, &C::choices, &C::choice_count),
      field(&OptionDescription::help, &C::help));
};

template <>
struct RecordOf<KernelTypeRule> {
  using C = ephost_kernel_type_rule;
  static constexpr auto kFields = std::tuple(
      field(&KernelTypeRule::is_output, &C::is_output), field(&KernelTypeRule::slot, &C::slot),
      field(&KernelTypeRule::is_variadic, &C::is_variadic),
      field(&KernelTypeRule::kinds, &C::kinds, &C::kind_count),
      field(&KernelTypeRule::element_types, &C::element_types, &C::element_type_count));
};

template <>
struct RecordOf<KernelDescription> {
  using C = ephost_kernel_description;
  static constexpr auto kFields =
      std::tuple(field(&KernelDescription::op_type, &C::op_type),
                 field(&KernelDescription::domain, &C::domain),
                 field(&KernelDescription::since_version, &C::since_version),
                 field(&KernelDescription::until_version, &C::until_version),
                 field(&KernelDescription::types, &C::types, &C::type_count));
};

template <>
struct RecordOf<ParameterDescription> {
  using C = ephost_parameter_description;
  static constexpr auto kFields = std::tuple(
      field(&ParameterDescription::name, &C::name),
      field(&ParameterDescription::description, &C::description),
      field(&ParameterDescription::type_name, &C::type_name),
      field(&ParameterDescription::element_types, &C::element_types, &C::element_type_count),
      field(&ParameterDescription::is_optional, &C::is_optional),
      field(&ParameterDescription::is_variadic, &C::is_variadic));
};

template <>
struct RecordOf<AttributeDescription> {
  using C = ephost_attribute_description;
  static constexpr auto kFields =
      std::tuple(field(&AttributeDescription::name, &C::name),
                 field(&AttributeDescription::description, &C::description),
                 field(&AttributeDescription::type, &C::type),
                 field(&AttributeDescription::is_required, &C::is_required),
                 field(&AttributeDescription::default_value, &C::default_value));
};

template <>
struct RecordOf<OperatorDescription> {
  using C = ephost_operator_description;
  static constexpr auto kFields =
      std::tuple(field(&OperatorDescription::op_type, &C::op_type),
                 field(&OperatorDescription::domain, &C::domain),
                 field(&OperatorDescription::description, &C::description),
                 field(&OperatorDescription::since_version, &C::since_version),
                 field(&OperatorDescription::is_deprecated, &C::is_deprecated),
                 field(&OperatorDescription::infers_types, &C::infers_types),
                 field(&OperatorDescription::inputs, &C::inputs, &C::input_count),
                 field(&OperatorDescription::outputs, &C::outputs, &C::output_count),
                 field(&OperatorDescription::attributes, &C::attributes, &C::attribute_count));
};

template <>
struct RecordOf<PluginDescription> {
  using C = ephost_plugin_description;
  static constexpr auto kFields =
      std::tuple(field(&PluginDescription::plugin, &C::plugin),
                 field(&PluginDescription::abi_minor, &C::abi_minor),
                 field(&PluginDescription::options, &C::options, &C::option_count),
                 field(&PluginDescription::options_open, &C::options_open),
                 field(&PluginDescription::device_status, &C::device_status),
                 field(&PluginDescription::devices, &C::devices, &C::device_count),
                 field(&PluginDescription::operators_status, &C::operators_status),
                 field(&PluginDescription::operators, &C::operators, &C::operator_count),
                 field(&PluginDescription::provider_status, &C::provider_status),
                 field(&PluginDescription::compiles, &C::compiles),
                 field(&PluginDescription::writes_context, &C::writes_context),
                 field(&PluginDescription::kernels, &C::kernels, &C::kernel_count),
                 field(&PluginDescription::extensions, &C::extensions, &C::extension_count),
                 field(&PluginDescription::isolation, &C::isolation),
                 field(&PluginDescription::sandbox_gaps, &C::sandbox_gaps, &C::sandbox_gap_count),
                 field(&PluginDescription::recorded_time, &C::recorded_time));
};

}  // namespace ephost::detail
