// How a model is divided among providers, and how it is planned.
#include <ephost/partition_model.h>
#include <ephost/plan_model.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>

#include "host/python/extension/options.h"

namespace ephost::python {
namespace {

void bind_partitioning(py::module_& module) {
  py::class_<PartitionedNode>(module, "PartitionedNode")
      .def_readonly("id", &PartitionedNode::id)
      .def_readonly("name", &PartitionedNode::name)
      .def_readonly("op", &PartitionedNode::op)
      .def_readonly("since_version", &PartitionedNode::since_version)
      .def_readonly("description", &PartitionedNode::description)
      .def_readonly("provider", &PartitionedNode::provider)
      .def_readonly("partition", &PartitionedNode::partition)
      .def_readonly("refusals", &PartitionedNode::refusals)
      .def_readonly("successors", &PartitionedNode::successors);
  py::class_<PartitionReport>(module, "Partition")
      .def_readonly("name", &PartitionReport::name)
      .def_readonly("provider", &PartitionReport::provider)
      .def_readonly("nodes", &PartitionReport::nodes)
      .def_readonly("inputs", &PartitionReport::inputs)
      .def_readonly("outputs", &PartitionReport::outputs);
  py::class_<PartitioningSummary>(module, "PartitioningSummary")
      .def_readonly("provider", &PartitioningSummary::provider)
      .def_readonly("kernel_nodes", &PartitioningSummary::kernel_nodes)
      .def_readonly("fused_nodes", &PartitioningSummary::fused_nodes)
      .def_readonly("partitions", &PartitioningSummary::partitions)
      .def_readonly("refused_claims", &PartitioningSummary::refused_claims);
  py::class_<RefusedClaim>(module, "RefusedClaim")
      .def_readonly("provider", &RefusedClaim::provider)
      .def_readonly("nodes", &RefusedClaim::nodes)
      .def_readonly("fused", &RefusedClaim::fused)
      .def_readonly("reason", &RefusedClaim::reason);
  py::class_<DeclinedNode>(module, "DeclinedNode")
      .def_readonly("provider", &DeclinedNode::provider)
      .def_readonly("node", &DeclinedNode::node)
      .def_readonly("reason", &DeclinedNode::reason);
  py::class_<GraphPartitioning>(module, "GraphPartitioning")
      .def_readonly("path", &GraphPartitioning::path)
      .def_readonly("name", &GraphPartitioning::name)
      .def_readonly("providers", &GraphPartitioning::providers)
      .def_readonly("nodes", &GraphPartitioning::nodes)
      .def_readonly("partitions", &GraphPartitioning::partitions)
      .def_readonly("refused_claims", &GraphPartitioning::refused_claims)
      .def_readonly("declined_nodes", &GraphPartitioning::declined_nodes)
      .def_readonly("unassigned_nodes", &GraphPartitioning::unassigned_nodes);
  py::class_<ModelPartitioning>(module, "ModelPartitioning")
      .def_readonly("graphs", &ModelPartitioning::graphs)
      .def_readonly("is_context_model", &ModelPartitioning::is_context_model)
      .def_readonly("folded_nodes", &ModelPartitioning::folded_nodes)
      .def_readonly("removed_identities", &ModelPartitioning::removed_identities)
      .def_readonly("notes", &ModelPartitioning::notes)
      .def_property_readonly(
          "coverage", [](const ModelPartitioning& self) { return self.coverage.to_string(); });
}

void bind_plan(py::module_& module) {
  py::class_<PlannedStep>(module, "PlannedStep")
      .def_readonly("provider", &PlannedStep::provider)
      .def_readonly("node", &PlannedStep::node)
      .def_readonly("name", &PlannedStep::name)
      .def_readonly("op", &PlannedStep::op)
      .def_readonly("description", &PlannedStep::description)
      .def_readonly("partition", &PlannedStep::partition)
      .def_readonly("inputs", &PlannedStep::inputs)
      .def_readonly("outputs", &PlannedStep::outputs)
      .def_readonly("workspace_bytes", &PlannedStep::workspace_bytes)
      .def_readonly("stream", &PlannedStep::stream)
      .def_readonly("waits", &PlannedStep::waits)
      .def_readonly("host_waits", &PlannedStep::host_waits);
  py::class_<PlannedValue>(module, "PlannedValue")
      .def_readonly("name", &PlannedValue::name)
      .def_readonly("type", &PlannedValue::type)
      .def_readonly("kind", &PlannedValue::kind)
      .def_readonly("location", &PlannedValue::location)
      .def_readonly("buffer", &PlannedValue::buffer)
      .def_readonly("owns_buffer", &PlannedValue::owns_buffer)
      .def_readonly("first_step", &PlannedValue::first_step)
      .def_readonly("last_step", &PlannedValue::last_step)
      .def_readonly("bytes", &PlannedValue::bytes)
      .def_readonly("offset", &PlannedValue::offset);
  py::class_<PlannedBlock>(module, "PlannedBlock")
      .def_readonly("location", &PlannedBlock::location)
      .def_readonly("memory", &PlannedBlock::memory)
      .def_readonly("peak_bytes", &PlannedBlock::peak_bytes)
      .def_readonly("lower_bound_bytes", &PlannedBlock::lower_bound_bytes)
      .def_readonly("proved_optimal", &PlannedBlock::proved_optimal);
  py::class_<GraphPlan>(module, "GraphPlan")
      .def_readonly("path", &GraphPlan::path)
      .def_readonly("name", &GraphPlan::name)
      .def_readonly("providers", &GraphPlan::providers)
      .def_readonly("steps", &GraphPlan::steps)
      .def_readonly("values", &GraphPlan::values)
      .def_readonly("blocks", &GraphPlan::blocks)
      .def_readonly("order_rule", &GraphPlan::order_rule)
      .def_readonly("order_bytes", &GraphPlan::order_bytes)
      .def_readonly("given_order_bytes", &GraphPlan::given_order_bytes);
}

ModelPartitioning partition(const Environment& environment, const std::filesystem::path& model,
                            const SessionOptionsObject& options, bool compile) {
  const auto stage = compile ? PartitionStage::kCompilation : PartitionStage::kClaims;
  return value_of(interruptible(*options.cancellation, *options.error, [&] {
    return partition_model(environment, model, options.values, stage);
  }));
}

std::vector<GraphPlan> plan(const Environment& environment, const std::filesystem::path& model,
                            const SessionOptionsObject& options) {
  return value_of(interruptible(*options.cancellation, *options.error,
                                [&] { return plan_model(environment, model, options.values); }));
}

}  // namespace

void bind_reports(py::module_& module) {
  bind_partitioning(module);
  bind_plan(module);
  module.def("partition", &partition, py::arg("environment"), py::arg("model"), py::arg("options"),
             py::arg("compile"));
  module.def("plan", &plan, py::arg("environment"), py::arg("model"), py::arg("options"));
}

}  // namespace ephost::python
