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
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&CompiledFile::path, &C::path);
    visit(&CompiledFile::bytes, &C::bytes);
  }
};

template <>
struct RecordOf<CompiledPartition> {
  using C = ephost_compiled_partition;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&CompiledPartition::name, &C::name);
    visit(&CompiledPartition::provider, &C::provider);
    visit(&CompiledPartition::nodes, &C::nodes);
  }
};

template <>
struct RecordOf<CompileReport> {
  using C = ephost_compile_report;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&CompileReport::output_path, &C::output_path);
    visit(&CompileReport::files, &C::files, &C::file_count);
    visit(&CompileReport::partitions, &C::partitions, &C::partition_count);
    visit(&CompileReport::fallbacks, &C::fallbacks, &C::fallback_count);
    visit(&CompileReport::remaining_nodes, &C::remaining_nodes);
    visit(&CompileReport::deterministic_providers, &C::deterministic_providers,
          &C::deterministic_provider_count);
    visit(&CompileReport::cache_use, &C::cache_use);
    visit(&CompileReport::providers, &C::providers, &C::provider_count);
  }
};

template <>
struct RecordOf<PartitionedNode> {
  using C = ephost_partitioned_node;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&PartitionedNode::id, &C::id);
    visit(&PartitionedNode::name, &C::name);
    visit(&PartitionedNode::op, &C::op);
    visit(&PartitionedNode::since_version, &C::since_version);
    visit(&PartitionedNode::description, &C::description);
    visit(&PartitionedNode::provider, &C::provider);
    visit(&PartitionedNode::partition, &C::partition);
    visit(&PartitionedNode::refusals, &C::refusals, &C::refusal_count);
    visit(&PartitionedNode::successors, &C::successors, &C::successor_count);
  }
};

template <>
struct RecordOf<PartitionReport> {
  using C = ephost_partition;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&PartitionReport::name, &C::name);
    visit(&PartitionReport::provider, &C::provider);
    visit(&PartitionReport::nodes, &C::nodes, &C::node_count);
    visit(&PartitionReport::inputs, &C::inputs, &C::input_count);
    visit(&PartitionReport::outputs, &C::outputs, &C::output_count);
  }
};

template <>
struct RecordOf<PartitioningSummary> {
  using C = ephost_partitioning_summary;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&PartitioningSummary::provider, &C::provider);
    visit(&PartitioningSummary::kernel_nodes, &C::kernel_nodes);
    visit(&PartitioningSummary::fused_nodes, &C::fused_nodes);
    visit(&PartitioningSummary::partitions, &C::partitions);
    visit(&PartitioningSummary::refused_claims, &C::refused_claims);
  }
};

template <>
struct RecordOf<RefusedClaim> {
  using C = ephost_refused_claim;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&RefusedClaim::provider, &C::provider);
    visit(&RefusedClaim::nodes, &C::nodes, &C::node_count);
    visit(&RefusedClaim::fused, &C::fused);
    visit(&RefusedClaim::reason, &C::reason);
  }
};

template <>
struct RecordOf<DeclinedNode> {
  using C = ephost_declined_node;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&DeclinedNode::provider, &C::provider);
    visit(&DeclinedNode::node, &C::node);
    visit(&DeclinedNode::reason, &C::reason);
  }
};

template <>
struct RecordOf<GraphPartitioning> {
  using C = ephost_graph_partitioning;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&GraphPartitioning::path, &C::path);
    visit(&GraphPartitioning::name, &C::name);
    visit(&GraphPartitioning::providers, &C::providers, &C::provider_count);
    visit(&GraphPartitioning::nodes, &C::nodes, &C::node_count);
    visit(&GraphPartitioning::partitions, &C::partitions, &C::partition_count);
    visit(&GraphPartitioning::refused_claims, &C::refused_claims, &C::refused_claim_count);
    visit(&GraphPartitioning::declined_nodes, &C::declined_nodes, &C::declined_node_count);
    visit(&GraphPartitioning::unassigned_nodes, &C::unassigned_nodes);
  }
};

template <>
struct RecordOf<InlinedFunction> {
  using C = ephost_inlined_function;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&InlinedFunction::path, &C::path);
    visit(&InlinedFunction::call, &C::call);
    visit(&InlinedFunction::domain, &C::domain);
    visit(&InlinedFunction::nodes, &C::nodes);
  }
};

template <>
struct RecordOf<PluginOperator> {
  using C = ephost_plugin_operator;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&PluginOperator::op_type, &C::op_type);
    visit(&PluginOperator::domain, &C::domain);
    visit(&PluginOperator::since_version, &C::since_version);
    visit(&PluginOperator::provider, &C::provider);
    visit(&PluginOperator::nodes, &C::nodes);
  }
};

template <>
struct RecordOf<ModelPartitioning> {
  using C = ephost_model_partitioning;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&ModelPartitioning::graphs, &C::graphs, &C::graph_count);
    visit(&ModelPartitioning::is_context_model, &C::is_context_model);
    visit(&ModelPartitioning::folded_nodes, &C::folded_nodes);
    visit(&ModelPartitioning::removed_identities, &C::removed_identities);
    visit(&ModelPartitioning::inlined, &C::inlined, &C::inlined_count);
    visit(&ModelPartitioning::plugin_operators, &C::plugin_operators, &C::plugin_operator_count);
    visit(&ModelPartitioning::notes, &C::notes, &C::note_count);
    visit(&ModelPartitioning::coverage, &C::coverage);
  }
};

template <>
struct RecordOf<PlannedStep> {
  using C = ephost_planned_step;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&PlannedStep::provider, &C::provider);
    visit(&PlannedStep::node, &C::node);
    visit(&PlannedStep::name, &C::name);
    visit(&PlannedStep::op, &C::op);
    visit(&PlannedStep::description, &C::description);
    visit(&PlannedStep::partition, &C::partition);
    visit(&PlannedStep::inputs, &C::inputs, &C::input_count);
    visit(&PlannedStep::outputs, &C::outputs, &C::output_count);
    visit(&PlannedStep::workspace_bytes, &C::workspace_bytes);
    visit(&PlannedStep::constant_bytes, &C::constant_bytes);
    visit(&PlannedStep::inner_values, &C::inner_values);
    visit(&PlannedStep::inner_bytes, &C::inner_bytes);
    visit(&PlannedStep::inner_live_bytes, &C::inner_live_bytes);
    visit(&PlannedStep::stream, &C::stream);
    visit(&PlannedStep::waits, &C::waits, &C::wait_count);
    visit(&PlannedStep::host_waits, &C::host_waits, &C::host_wait_count);
  }
};

template <>
struct RecordOf<PlannedValue> {
  using C = ephost_planned_value;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&PlannedValue::name, &C::name);
    visit(&PlannedValue::type, &C::type);
    visit(&PlannedValue::kind, &C::kind);
    visit(&PlannedValue::location, &C::location);
    visit(&PlannedValue::buffer, &C::buffer);
    visit(&PlannedValue::owns_buffer, &C::owns_buffer);
    visit(&PlannedValue::first_step, &C::first_step);
    visit(&PlannedValue::last_step, &C::last_step);
    visit(&PlannedValue::use_count, &C::use_count);
    visit(&PlannedValue::bytes, &C::bytes);
    visit(&PlannedValue::buffer_bytes, &C::buffer_bytes);
    visit(&PlannedValue::offset, &C::offset);
    visit(&PlannedValue::is_allocated_by_runs, &C::is_allocated_by_runs);
  }
};

template <>
struct RecordOf<PlannedBuffer> {
  using C = ephost_planned_buffer;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&PlannedBuffer::location, &C::location);
    visit(&PlannedBuffer::first_step, &C::first_step);
    visit(&PlannedBuffer::last_step, &C::last_step);
    visit(&PlannedBuffer::bytes, &C::bytes);
    visit(&PlannedBuffer::offset, &C::offset);
    visit(&PlannedBuffer::is_workspace, &C::is_workspace);
  }
};

template <>
struct RecordOf<PlannedBlock> {
  using C = ephost_planned_block;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&PlannedBlock::location, &C::location);
    visit(&PlannedBlock::memory, &C::memory);
    visit(&PlannedBlock::peak_bytes, &C::peak_bytes);
    visit(&PlannedBlock::lower_bound_bytes, &C::lower_bound_bytes);
    visit(&PlannedBlock::proved_optimal, &C::proved_optimal);
    visit(&PlannedBlock::alignment, &C::alignment);
  }
};

template <>
struct RecordOf<GraphPlan> {
  using C = ephost_graph_plan;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&GraphPlan::path, &C::path);
    visit(&GraphPlan::name, &C::name);
    visit(&GraphPlan::providers, &C::providers, &C::provider_count);
    visit(&GraphPlan::steps, &C::steps, &C::step_count);
    visit(&GraphPlan::values, &C::values, &C::value_count);
    visit(&GraphPlan::buffers, &C::buffers, &C::buffer_count);
    visit(&GraphPlan::blocks, &C::blocks, &C::block_count);
    visit(&GraphPlan::order_rule, &C::order_rule);
    visit(&GraphPlan::order_bytes, &C::order_bytes);
    visit(&GraphPlan::given_order_bytes, &C::given_order_bytes);
  }
};

template <>
struct RecordOf<ContextNodeReport> {
  using C = ephost_context_node;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&ContextNodeReport::description, &C::description);
    visit(&ContextNodeReport::partition_name, &C::partition_name);
    visit(&ContextNodeReport::source, &C::source);
    visit(&ContextNodeReport::main_context, &C::main_context);
    visit(&ContextNodeReport::embedded, &C::embedded);
    visit(&ContextNodeReport::primary, &C::primary);
    visit(&ContextNodeReport::file, &C::file);
    visit(&ContextNodeReport::payload_bytes, &C::payload_bytes);
    visit(&ContextNodeReport::checksum, &C::checksum);
    visit(&ContextNodeReport::sdk_version, &C::sdk_version);
    visit(&ContextNodeReport::hardware_architecture, &C::hardware_architecture);
  }
};

template <>
struct RecordOf<ContextSourceReport> {
  using C = ephost_context_source;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&ContextSourceReport::source, &C::source);
    visit(&ContextSourceReport::compatibility, &C::compatibility);
    visit(&ContextSourceReport::provider, &C::provider);
    visit(&ContextSourceReport::verdict, &C::verdict);
  }
};

template <>
struct RecordOf<ContextReport> {
  using C = ephost_context_report;
  template <class Visitor>
  static void visit_fields(const Visitor& visit) {
    visit(&ContextReport::nodes, &C::nodes, &C::node_count);
    visit(&ContextReport::sources, &C::sources, &C::source_count);
    visit(&ContextReport::problems, &C::problems, &C::problem_count);
    visit(&ContextReport::unchecked, &C::unchecked, &C::unchecked_count);
    visit(&ContextReport::needs_checksums, &C::needs_checksums);
    visit(&ContextReport::signature, &C::signature);
    visit(&ContextReport::signature_problem, &C::signature_problem);
    visit(&ContextReport::files, &C::files, &C::file_count);
    visit(&ContextReport::specialized_models, &C::specialized_models, &C::specialized_model_count);
  }
};

}  // namespace ephost::detail
