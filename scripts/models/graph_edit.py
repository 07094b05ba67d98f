"""Rewriting a finished graph: its constants, readers and producers, and a list of new nodes.

Used by folding.py and the quantisers. All work on a copy of a model.
"""

from onnx import ModelProto, helper, numpy_helper

from models.four_bits import to_array


class GraphEdit:
    """The main graph of a copy of `model`, whose nodes are replaced by those that were added."""

    def __init__(self, model):
        self.model = ModelProto()
        self.model.CopyFrom(model)
        self.graph = self.model.graph
        self.nodes = list(self.graph.node)  # as they were
        self.constants = {tensor.name: tensor for tensor in self.graph.initializer}
        self.outputs = {declared.name for declared in self.graph.output}
        self.producers = {name: node for node in self.nodes for name in node.output}
        self.readers = {}
        for node in self.nodes:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)
        self._added, self._names = [], set()

    def only_reader(self, value):
        """The node that alone reads a value, unless that is an output of the graph."""
        readers = self.readers.get(value, [])
        return readers[0] if len(readers) == 1 and value not in self.outputs else None

    def constant(self, name):
        """The array of an initializer, None for any other value."""
        tensor = self.constants.get(name)
        return None if tensor is None else to_array(tensor)

    def keep(self, node):
        self._added.append(node)
        self._names.add(node.name)

    def add(self, op_type, inputs, output, domain="", **attributes):
        """Adds a node named after its first output; `output` is a name or a list. Returns it."""
        outputs = [output] if isinstance(output, str) else output
        name = outputs[0]
        if name in self._names:  # of a node whose output was renamed
            name = f"{name}.{op_type.lower()}"
        self.keep(helper.make_node(op_type, inputs, outputs, name=name, domain=domain,
                                   **attributes))
        return output

    def store(self, name, array):
        """Adds an initializer, unless there is one of that name. Returns the name."""
        if name not in self.constants:
            self.store_tensor(numpy_helper.from_array(array, name))
        return name

    def store_tensor(self, tensor):
        self.constants[tensor.name] = tensor
        return tensor.name

    def finish(self):
        """The model with the new nodes and the initializers that something reads."""
        del self.graph.node[:]
        self.graph.node.extend(self._added)
        read = {name for node in self._added for name in node.input} | self.outputs
        del self.graph.initializer[:]
        self.graph.initializer.extend(
            tensor for name, tensor in self.constants.items() if name in read)
        return self.model


def attribute(node, name, default):
    for candidate in node.attribute:
        if candidate.name == name:
            return helper.get_attribute_value(candidate)
    return default
