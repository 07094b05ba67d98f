"""How a model is divided among providers, and how it is planned; in notebooks as tables."""
from __future__ import annotations

import collections
import html
import os
from typing import Any, Iterable, Mapping, Sequence

from . import _environment, _ephost
from ._environment import Provider
from ._options import SessionOptions

MOST_ROWS = 200


class Partitioning:
    """Which provider takes which node of a model, and why another one does not."""

    def __init__(self, report: _ephost.ModelPartitioning):
        self._report = report

    def __getattr__(self, name: str) -> Any:
        return getattr(self._report, name)

    def __repr__(self) -> str:
        lines = []
        for graph in self._report.graphs:
            lines += [f"{_title(graph)}{one.provider}: {one.fused_nodes} nodes in {one.partitions} partitions, "
                      f"{one.kernel_nodes} single nodes" for one in graph.providers]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [_paragraphs(self._report.notes)]
        if self._report.coverage != "OK":
            parts.append(_paragraphs([self._report.coverage]))
        for graph in self._report.graphs:
            parts += [_caption(graph), _summary_table(graph), _node_table(graph), _refusal_table(graph)]
        return "".join(parts)


class ModelPlan(list):
    """The plans of a model's own graph and of the bodies in it, as a list: order of steps, place of values."""

    def __repr__(self) -> str:
        return "\n".join(f"{_title(plan)}{len(plan.steps)} steps, {len(plan.values)} values"
                         + "".join(f"; {block.memory}: peak {block.peak_bytes} bytes, lower bound "
                                   f"{block.lower_bound_bytes}" for block in plan.blocks) for plan in self)

    def _repr_html_(self) -> str:
        parts = []
        for plan in self:
            parts += [_caption(plan), _block_table(plan), _step_table(plan), _value_table(plan)]
        return "".join(parts)


def partition(model: str | os.PathLike, providers: Sequence[Provider] | None = None,
              sess_options: SessionOptions | None = None,
              provider_options: Sequence[Mapping[str, Any]] | None = None, *, compile: bool = False) -> Partitioning:
    """Divides a model among providers as a session would. With `compile` they compile too, so that nodes which a
    provider fails to compile go to the next one."""
    asked = _environment.normalized(providers, provider_options)
    with (sess_options or SessionOptions())._in_use(asked) as options:
        return Partitioning(_ephost.partition(_environment.environment(), os.fspath(model), options, compile))


def plan(model: str | os.PathLike, providers: Sequence[Provider] | None = None,
         sess_options: SessionOptions | None = None,
         provider_options: Sequence[Mapping[str, Any]] | None = None) -> ModelPlan:
    """Plans a model as a session would."""
    asked = _environment.normalized(providers, provider_options)
    with (sess_options or SessionOptions())._in_use(asked) as options:
        return ModelPlan(_ephost.plan(_environment.environment(), os.fspath(model), options))


def _title(graph: Any) -> str:
    return f"{graph.path}: " if graph.path else ""


def _caption(graph: Any) -> str:
    return f"<p><b>{html.escape(graph.path or graph.name or 'the main graph')}</b></p>"


def _paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{html.escape(text)}</p>" for text in texts)


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table of at most MOST_ROWS rows; numbers are aligned to the right."""
    if not rows:
        return ""
    cells = "".join(f"<th>{html.escape(text)}</th>" for text in head)
    lines = [f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[:MOST_ROWS]]
    left = len(rows) - MOST_ROWS
    if left > 0:
        lines.append(f"<tr><td colspan=\"{len(head)}\">and {left} more</td></tr>")
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, int):
        return f"<td style=\"text-align:right\">{value:,}</td>"
    return f"<td style=\"text-align:left\">{html.escape('' if value is None else str(value))}</td>"


def _summary_table(graph: _ephost.GraphPartitioning) -> str:
    rows = [(one.provider, one.partitions, one.fused_nodes, one.kernel_nodes, one.refused_claims)
            for one in graph.providers]
    if graph.unassigned_nodes:
        rows.append(("no provider", 0, 0, graph.unassigned_nodes, 0))
    return _table(("provider", "partitions", "nodes in them", "single nodes", "refused claims"), rows)


def _node_table(graph: _ephost.GraphPartitioning) -> str:
    reasons = collections.defaultdict(list)
    for one in graph.declined_nodes:
        reasons[one.node].append(f"{one.provider}: {one.reason}")
    rows = [(node.id, node.op, node.name, node.provider or "none", node.partition, "; ".join(reasons[node.id]))
            for node in graph.nodes]
    return _table(("node", "operator", "name", "provider", "partition", "why not another"), rows)


def _refusal_table(graph: _ephost.GraphPartitioning) -> str:
    rows = [(one.provider, len(one.nodes), one.reason) for one in graph.refused_claims]
    return _table(("refused claim of", "nodes", "reason"), rows)


def _block_table(plan: _ephost.GraphPlan) -> str:
    rows = [(block.memory, block.peak_bytes, block.lower_bound_bytes, "yes" if block.proved_optimal else "not known")
            for block in plan.blocks]
    return _table(("memory", "peak bytes", "lower bound", "as low as possible"), rows)


def _step_table(plan: _ephost.GraphPlan) -> str:
    rows = [(index, step.name, step.op, plan.providers[step.provider], step.workspace_bytes, ", ".join(step.outputs))
            for index, step in enumerate(plan.steps)]
    return _table(("step", "name", "runs", "on", "workspace bytes", "outputs"), rows)


def _value_table(plan: _ephost.GraphPlan) -> str:
    rows = [(one.name, one.type, one.kind, f"{one.first_step} to {one.last_step}", one.bytes, one.offset,
             "" if one.owns_buffer else one.buffer) for one in plan.values]
    return _table(("value", "type", "kind", "steps", "bytes", "offset", "in the buffer of"), rows)
