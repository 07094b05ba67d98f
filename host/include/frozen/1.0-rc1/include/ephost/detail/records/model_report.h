// Fields of records and of the plain values that they become: reports on models: compilation,
// partitioning, plan, context.
#pragma once

#include <ephost/detail/fields.h>
#include <ephost/detail/records/session.h>
#include <ephost/types/compilation.h>
#include <ephost/types/context_report.h>
#include <ephost/types/partitioning.h>
#include <ephost/types/plan.h>

namespace ephost::detail {

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
                 field(&PlannedStep::workspace_bytes, &C::workspace_bytes),
                 field(&PlannedStep::constant_bytes, &C::constant_bytes),
                 field(&PlannedStep::inner_values, &C::inner_values),
                 field(&PlannedStep::inner_bytes, &C::inner_bytes),
                 field(&PlannedStep::inner_live_bytes, &C::inner_live_bytes));
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
                 field(&ContextReport::needs_checksums, &C::needs_checksums),
                 field(&ContextReport::signature, &C::signature),
                 field(&ContextReport::signature_problem, &C::signature_problem),
                 field(&ContextReport::files, &C::files, &C::file_count),
                 field(&ContextReport::specialized_models, &C::specialized_models,
                       &C::specialized_model_count));
};

}  // namespace ephost::detail
