"""Which provider runs which nodes of a session, where the session was asked to record it."""
from __future__ import annotations

import os
import tempfile

from . import _environment, _ephost
from ._options import RECORD_ENTRY, SessionOptions


class OrtEpAssignedNode:
    def __init__(self, node: _ephost.PartitionedNode):
        domain, _, self.op_type = node.op.rpartition(":")
        self.domain, self.name = domain, node.name


class OrtEpAssignedSubgraph:
    """Nodes that a provider runs as one; a single node where it has a kernel for that."""

    def __init__(self, ep_name: str, nodes: list[OrtEpAssignedNode]):
        self.ep_name, self._nodes = ep_name, nodes

    def get_nodes(self) -> list[OrtEpAssignedNode]:
        return list(self._nodes)


def recorded_assignment(given: SessionOptions, model: str | bytes, options: _ephost.SessionOptions
                        ) -> list[OrtEpAssignedSubgraph] | None:
    """Found as `partition` finds it, by compiling the model."""
    if given._entries.get(RECORD_ENTRY) != "1":
        return None
    if isinstance(model, str):
        return _subgraphs(model, options)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        with open(path, "wb") as file:
            file.write(model)
        return _subgraphs(path, options)


def _subgraphs(model: str, options: _ephost.SessionOptions) -> list[OrtEpAssignedSubgraph]:
    found = []
    for graph in _ephost.partition(_environment.environment(), model, options, True).graphs:
        by_id = {node.id: node for node in graph.nodes}
        within = {number for one in graph.partitions for number in one.nodes}
        found += [OrtEpAssignedSubgraph(one.provider, [OrtEpAssignedNode(by_id[number]) for number in one.nodes])
                  for one in graph.partitions]
        found += [OrtEpAssignedSubgraph(node.provider, [OrtEpAssignedNode(node)])
                  for node in graph.nodes if node.id not in within and node.provider]
    return found
