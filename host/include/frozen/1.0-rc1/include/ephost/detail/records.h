// The fields of the C API's records and of the plain values that they become, pair by pair.
#pragma once

#include <ephost/detail/fields.h>
#include <ephost/types/cache_use.h>
#include <ephost/types/compilation.h>
#include <ephost/types/context_report.h>
#include <ephost/types/environment.h>
#include <ephost/types/ep_device.h>
#include <ephost/types/fallback.h>
#include <ephost/types/memory_info.h>
#include <ephost/types/model_metadata.h>
#include <ephost/types/partitioning.h>
#include <ephost/types/placement.h>
#include <ephost/types/plan.h>
#include <ephost/types/plugin_description.h>
#include <ephost/types/session.h>

namespace ephost::detail {

template <>
struct RecordOf<DeviceKind> {
  using C = ephost_device_kind;
  static constexpr auto kFields =
      std::tuple(field(&DeviceKind::type, &C::type), field(&DeviceKind::vendor, &C::vendor),
                 field(&DeviceKind::id, &C::id));
};

template <>
struct RecordOf<InstalledPlugin> {
  using C = ephost_plugin;
  static constexpr auto kFields = std::tuple(
      field(&InstalledPlugin::provider, &C::provider), field(&InstalledPlugin::name, &C::name),
      field(&InstalledPlugin::vendor, &C::vendor), field(&InstalledPlugin::version, &C::version),
      field(&InstalledPlugin::manifest, &C::manifest),
      field(&InstalledPlugin::library, &C::library), field(&InstalledPlugin::abi, &C::abi),
      field(&InstalledPlugin::devices, &C::devices, &C::device_count),
      field(&InstalledPlugin::context_sources, &C::context_sources, &C::context_source_count));
};

template <>
struct RecordOf<SkippedPlugin> {
  using C = ephost_skipped_plugin;
  static constexpr auto kFields = std::tuple(field(&SkippedPlugin::manifest, &C::manifest),
                                             field(&SkippedPlugin::reason, &C::reason));
};

template <>
struct RecordOf<SearchedDirectory> {
  using C = ephost_searched_directory;
  static constexpr auto kFields = std::tuple(field(&SearchedDirectory::path, &C::path),
                                             field(&SearchedDirectory::origin, &C::origin));
};

template <>
struct RecordOf<EpDevice> {
  using C = ephost_device;
  static constexpr auto kFields = std::tuple(
      field(&EpDevice::provider, &C::provider), field(&EpDevice::provider_name, &C::provider_name),
      field(&EpDevice::provider_vendor, &C::provider_vendor), field(&EpDevice::id, &C::id),
      field(&EpDevice::type, &C::type), field(&EpDevice::name, &C::name),
      field(&EpDevice::vendor, &C::vendor), field(&EpDevice::vendor_id, &C::vendor_id),
      field(&EpDevice::device_id, &C::device_id), field(&EpDevice::architecture, &C::architecture),
      field(&EpDevice::driver_version, &C::driver_version),
      field(&EpDevice::memory_bytes, &C::memory_bytes),
      field(&EpDevice::is_virtual, &C::is_virtual),
      field(&EpDevice::metadata, &C::metadata, &C::metadata_count));
};

template <>
struct RecordOf<UnlistedProvider> {
  using C = ephost_unlisted_provider;
  static constexpr auto kFields = std::tuple(field(&UnlistedProvider::provider, &C::provider),
                                             field(&UnlistedProvider::reason, &C::reason));
};

template <>
struct RecordOf<EpDeviceList> {
  using C = ephost_device_list;
  static constexpr auto kFields =
      std::tuple(field(&EpDeviceList::devices, &C::devices, &C::device_count),
                 field(&EpDeviceList::failed, &C::failed, &C::failed_count));
};

template <>
struct RecordOf<SessionGroupInfo> {
  using C = ephost_session_group;
  static constexpr auto kFields = std::tuple(
      field(&SessionGroupInfo::name, &C::name),
      field(&SessionGroupInfo::waiting_partitions, &C::waiting_partitions,
            &C::waiting_partition_count),
      field(&SessionGroupInfo::unwritten_models, &C::unwritten_models, &C::unwritten_model_count));
};

template <>
struct RecordOf<ProviderRequest> {
  using C = ephost_provider_request;
  static constexpr auto kFields =
      std::tuple(field(&ProviderRequest::name, &C::name),
                 field(&ProviderRequest::version_range, &C::version_range),
                 field(&ProviderRequest::options, &C::options, &C::option_count),
                 field(&ProviderRequest::devices, &C::devices, &C::device_count));
};

template <>
struct RecordOf<ValueDescription> {
  using C = ephost_value_description;
  static constexpr auto kFields =
      std::tuple(field(&ValueDescription::name, &C::name), field(&ValueDescription::type, &C::type),
                 field(&ValueDescription::kind, &C::kind),
                 field(&ValueDescription::is_optional, &C::is_optional),
                 field(&ValueDescription::has_default, &C::has_default),
                 field(&ValueDescription::element_type, &C::element_type),
                 field(&ValueDescription::has_shape, &C::has_shape),
                 field(&ValueDescription::shape, &C::shape, &C::rank),
                 field(&ValueDescription::dim_names, &C::dim_names, &C::rank));
};

template <>
struct RecordOf<Phase> {
  using C = ephost_phase;
  static constexpr auto kFields =
      std::tuple(field(&Phase::name, &C::name), field(&Phase::seconds, &C::seconds));
};

template <>
struct RecordOf<Fallback> {
  using C = ephost_fallback;
  static constexpr auto kFields = std::tuple(
      field(&Fallback::provider, &C::provider), field(&Fallback::partition, &C::partition),
      field(&Fallback::nodes, &C::nodes), field(&Fallback::reason, &C::reason));
};

template <>
struct RecordOf<CacheUse> {
  using C = ephost_cache_use;
  static constexpr auto kFields = std::tuple(
      field(&CacheUse::outcome, &C::outcome), field(&CacheUse::key, &C::key),
      field(&CacheUse::reused_contexts, &C::reused_contexts), field(&CacheUse::reason, &C::reason));
};

template <>
struct RecordOf<SessionProvider> {
  using C = ephost_session_provider;
  static constexpr auto kFields = std::tuple(field(&SessionProvider::name, &C::name),
                                             field(&SessionProvider::library, &C::library));
};

template <>
struct RecordOf<PlannedMemory> {
  using C = ephost_planned_memory;
  static constexpr auto kFields =
      std::tuple(field(&PlannedMemory::location, &C::location),
                 field(&PlannedMemory::peak_bytes, &C::peak_bytes),
                 field(&PlannedMemory::lower_bound_bytes, &C::lower_bound_bytes));
};

template <>
struct RecordOf<CompiledFile> {
  using C = ephost_compiled_file;
  static constexpr auto kFields =
      std::tuple(field(&CompiledFile::path, &C::path), field(&CompiledFile::bytes, &C::bytes));
};

template <>
struct RecordOf<CompiledPartition> {
  using C = ephost_compiled_partition;
  static constexpr auto kFields = std::tuple(field(&CompiledPartition::name, &C::name),
                                             field(&CompiledPartition::provider, &C::provider),
                                             field(&CompiledPartition::nodes, &C::nodes));
};

template <>
struct RecordOf<CompileReport> {
  using C = ephost_compile_report;
  static constexpr auto kFields =
      std::tuple(field(&CompileReport::output_path, &C::output_path),
                 field(&CompileReport::files, &C::files, &C::file_count),
                 field(&CompileReport::partitions, &C::partitions, &C::partition_count),
                 field(&CompileReport::fallbacks, &C::fallbacks, &C::fallback_count),
                 field(&CompileReport::remaining_nodes, &C::remaining_nodes),
                 field(&CompileReport::deterministic_providers, &C::deterministic_providers,
                       &C::deterministic_provider_count),
                 field(&CompileReport::cache_use, &C::cache_use));
};

template <>
struct RecordOf<PartitionedNode> {
  using C = ephost_partitioned_node;
  static constexpr auto kFields =
      std::tuple(field(&PartitionedNode::id, &C::id), field(&PartitionedNode::name, &C::name),
                 field(&PartitionedNode::op, &C::op),
                 field(&PartitionedNode::since_version, &C::since_version),
                 field(&PartitionedNode::description, &C::description),
                 field(&PartitionedNode::provider, &C::provider),
                 field(&PartitionedNode::partition, &C::partition),
                 field(&PartitionedNode::refusals, &C::refusals, &C::refusal_count),
                 field(&PartitionedNode::successors, &C::successors, &C::successor_count));
};

template <>
struct RecordOf<PartitionReport> {
  using C = ephost_partition;
  static constexpr auto kFields = std::tuple(
      field(&PartitionReport::name, &C::name), field(&PartitionReport::provider, &C::provider),
      field(&PartitionReport::nodes, &C::nodes, &C::node_count),
      field(&PartitionReport::inputs, &C::inputs, &C::input_count),
      field(&PartitionReport::outputs, &C::outputs, &C::output_count));
};

template <>
struct RecordOf<PartitioningSummary> {
  using C = ephost_partitioning_summary;
  static constexpr auto kFields =
      std::tuple(field(&PartitioningSummary::provider, &C::provider),
                 field(&PartitioningSummary::kernel_nodes, &C::kernel_nodes),
                 field(&PartitioningSummary::fused_nodes, &C::fused_nodes),
                 field(&PartitioningSummary::partitions, &C::partitions),
                 field(&PartitioningSummary::refused_claims, &C::refused_claims));
};

template <>
struct RecordOf<RefusedClaim> {
  using C = ephost_refused_claim;
  static constexpr auto kFields =
      std::tuple(field(&RefusedClaim::provider, &C::provider),
                 field(&RefusedClaim::nodes, &C::nodes, &C::node_count),
                 field(&RefusedClaim::fused, &C::fused), field(&RefusedClaim::reason, &C::reason));
};

template <>
struct RecordOf<DeclinedNode> {
  using C = ephost_declined_node;
  static constexpr auto kFields =
      std::tuple(field(&DeclinedNode::provider, &C::provider), field(&DeclinedNode::node, &C::node),
                 field(&DeclinedNode::reason, &C::reason));
};

template <>
struct RecordOf<GraphPartitioning> {
  using C = ephost_graph_partitioning;
  static constexpr auto kFields = std::tuple(
      field(&GraphPartitioning::path, &C::path), field(&GraphPartitioning::name, &C::name),
      field(&GraphPartitioning::providers, &C::providers, &C::provider_count),
      field(&GraphPartitioning::nodes, &C::nodes, &C::node_count),
      field(&GraphPartitioning::partitions, &C::partitions, &C::partition_count),
      field(&GraphPartitioning::refused_claims, &C::refused_claims, &C::refused_claim_count),
      field(&GraphPartitioning::declined_nodes, &C::declined_nodes, &C::declined_node_count),
      field(&GraphPartitioning::unassigned_nodes, &C::unassigned_nodes));
};

template <>
struct RecordOf<InlinedFunction> {
  using C = ephost_inlined_function;
  static constexpr auto kFields = std::tuple(
      field(&InlinedFunction::path, &C::path), field(&InlinedFunction::call, &C::call),
      field(&InlinedFunction::domain, &C::domain), field(&InlinedFunction::nodes, &C::nodes));
};

template <>
struct RecordOf<PluginOperator> {
  using C = ephost_plugin_operator;
  static constexpr auto kFields = std::tuple(
      field(&PluginOperator::op_type, &C::op_type), field(&PluginOperator::domain, &C::domain),
      field(&PluginOperator::since_version, &C::since_version),
      field(&PluginOperator::provider, &C::provider), field(&PluginOperator::nodes, &C::nodes));
};

template <>
struct RecordOf<ModelPartitioning> {
  using C = ephost_model_partitioning;
  static constexpr auto kFields = std::tuple(
      field(&ModelPartitioning::graphs, &C::graphs, &C::graph_count),
      field(&ModelPartitioning::is_context_model, &C::is_context_model),
      field(&ModelPartitioning::folded_nodes, &C::folded_nodes),
      field(&ModelPartitioning::removed_identities, &C::removed_identities),
      field(&ModelPartitioning::inlined, &C::inlined, &C::inlined_count),
      field(&ModelPartitioning::plugin_operators, &C::plugin_operators, &C::plugin_operator_count),
      field(&ModelPartitioning::notes, &C::notes, &C::note_count),
      field(&ModelPartitioning::coverage, &C::coverage));
};

template <>
struct RecordOf<PlannedStep> {
  using C = ephost_planned_step;
  static constexpr auto kFields =
      std::tuple(field(&PlannedStep::provider, &C::provider), field(&PlannedStep::node, &C::node),
                 field(&PlannedStep::name, &C::name), field(&PlannedStep::op, &C::op),
                 field(&PlannedStep::description, &C::description),
                 field(&PlannedStep::partition, &C::partition),
                 field(&PlannedStep::inputs, &C::inputs, &C::input_count),
                 field(&PlannedStep::outputs, &C::outputs, &C::output_count),
                 field(&PlannedStep::workspace_bytes, &C::workspace_bytes));
};

template <>
struct RecordOf<PlannedValue> {
  using C = ephost_planned_value;
  static constexpr auto kFields = std::tuple(
      field(&PlannedValue::name, &C::name), field(&PlannedValue::type, &C::type),
      field(&PlannedValue::kind, &C::kind), field(&PlannedValue::location, &C::location),
      field(&PlannedValue::buffer, &C::buffer), field(&PlannedValue::owns_buffer, &C::owns_buffer),
      field(&PlannedValue::first_step, &C::first_step),
      field(&PlannedValue::last_step, &C::last_step),
      field(&PlannedValue::use_count, &C::use_count), field(&PlannedValue::bytes, &C::bytes),
      field(&PlannedValue::buffer_bytes, &C::buffer_bytes),
      field(&PlannedValue::offset, &C::offset),
      field(&PlannedValue::is_allocated_by_runs, &C::is_allocated_by_runs));
};

template <>
struct RecordOf<PlannedBuffer> {
  using C = ephost_planned_buffer;
  static constexpr auto kFields =
      std::tuple(field(&PlannedBuffer::location, &C::location),
                 field(&PlannedBuffer::first_step, &C::first_step),
                 field(&PlannedBuffer::last_step, &C::last_step),
                 field(&PlannedBuffer::bytes, &C::bytes), field(&PlannedBuffer::offset, &C::offset),
                 field(&PlannedBuffer::is_workspace, &C::is_workspace));
};

template <>
struct RecordOf<PlannedBlock> {
  using C = ephost_planned_block;
  static constexpr auto kFields = std::tuple(
      field(&PlannedBlock::location, &C::location), field(&PlannedBlock::memory, &C::memory),
      field(&PlannedBlock::peak_bytes, &C::peak_bytes),
      field(&PlannedBlock::lower_bound_bytes, &C::lower_bound_bytes),
      field(&PlannedBlock::proved_optimal, &C::proved_optimal),
      field(&PlannedBlock::alignment, &C::alignment));
};

template <>
struct RecordOf<GraphPlan> {
  using C = ephost_graph_plan;
  static constexpr auto kFields =
      std::tuple(field(&GraphPlan::path, &C::path), field(&GraphPlan::name, &C::name),
                 field(&GraphPlan::providers, &C::providers, &C::provider_count),
                 field(&GraphPlan::steps, &C::steps, &C::step_count),
                 field(&GraphPlan::values, &C::values, &C::value_count),
                 field(&GraphPlan::buffers, &C::buffers, &C::buffer_count),
                 field(&GraphPlan::blocks, &C::blocks, &C::block_count),
                 field(&GraphPlan::order_rule, &C::order_rule),
                 field(&GraphPlan::order_bytes, &C::order_bytes),
                 field(&GraphPlan::given_order_bytes, &C::given_order_bytes));
};

template <>
struct RecordOf<ContextNodeReport> {
  using C = ephost_context_node;
  static constexpr auto kFields = std::tuple(
      field(&ContextNodeReport::description, &C::description),
      field(&ContextNodeReport::partition_name, &C::partition_name),
      field(&ContextNodeReport::source, &C::source),
      field(&ContextNodeReport::main_context, &C::main_context),
      field(&ContextNodeReport::embedded, &C::embedded),
      field(&ContextNodeReport::primary, &C::primary), field(&ContextNodeReport::file, &C::file),
      field(&ContextNodeReport::payload_bytes, &C::payload_bytes),
      field(&ContextNodeReport::checksum, &C::checksum),
      field(&ContextNodeReport::sdk_version, &C::sdk_version),
      field(&ContextNodeReport::hardware_architecture, &C::hardware_architecture));
};

template <>
struct RecordOf<ContextSourceReport> {
  using C = ephost_context_source;
  static constexpr auto kFields =
      std::tuple(field(&ContextSourceReport::source, &C::source),
                 field(&ContextSourceReport::compatibility, &C::compatibility),
                 field(&ContextSourceReport::provider, &C::provider),
                 field(&ContextSourceReport::verdict, &C::verdict));
};

template <>
struct RecordOf<ContextReport> {
  using C = ephost_context_report;
  static constexpr auto kFields =
      std::tuple(field(&ContextReport::nodes, &C::nodes, &C::node_count),
                 field(&ContextReport::sources, &C::sources, &C::source_count),
                 field(&ContextReport::problems, &C::problems, &C::problem_count),
                 field(&ContextReport::unchecked, &C::unchecked, &C::unchecked_count),
                 field(&ContextReport::needs_checksums, &C::needs_checksums));
};

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
                 field(&PluginDescription::kernels, &C::kernels, &C::kernel_count));
};

template <>
struct RecordOf<BufferRequest> {
  using C = ephost_buffer_request;
  static constexpr auto kFields =
      std::tuple(field(&BufferRequest::id, &C::id), field(&BufferRequest::lower, &C::lower),
                 field(&BufferRequest::upper, &C::upper), field(&BufferRequest::size, &C::size));
};

template <>
struct RecordOf<BufferPlacement> {
  using C = ephost_placement;
  static constexpr auto kFields =
      std::tuple(field(&BufferPlacement::offsets, &C::offsets, &C::offset_count),
                 field(&BufferPlacement::peak_bytes, &C::peak_bytes),
                 field(&BufferPlacement::lower_bound_bytes, &C::lower_bound_bytes),
                 field(&BufferPlacement::proved_bound_bytes, &C::proved_bound_bytes),
                 field(&BufferPlacement::proved_optimal, &C::proved_optimal));
};

template <>
struct RecordOf<MemoryInfo> {
  using C = ephost_memory_info;
  static constexpr auto kFields = std::tuple(field(&MemoryInfo::name, &C::name),
                                             field(&MemoryInfo::device_type, &C::device_type),
                                             field(&MemoryInfo::device_id, &C::device_id),
                                             field(&MemoryInfo::memory_type, &C::memory_type));
};

template <>
struct RecordOf<ModelMetadata> {
  using C = ephost_model_metadata;
  static constexpr auto kFields = std::tuple(
      field(&ModelMetadata::producer_name, &C::producer_name),
      field(&ModelMetadata::graph_name, &C::graph_name), field(&ModelMetadata::domain, &C::domain),
      field(&ModelMetadata::description, &C::description),
      field(&ModelMetadata::graph_description, &C::graph_description),
      field(&ModelMetadata::version, &C::version),
      field(&ModelMetadata::custom_metadata_map, &C::custom_metadata_map,
            &C::custom_metadata_count));
};

}  // namespace ephost::detail
