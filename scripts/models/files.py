"""Writes a model in the form of an ONNX backend test: model.onnx and, in test_data_set_*, the
tensors input_*.pb and output_*.pb in the order of the graph's inputs and outputs."""

import os
import shutil

import onnx
from onnx import TensorProto, numpy_helper

from models import reference

EXTERNAL_FILE = "weights.bin"
EXTERNAL_ALIGNMENT = 64
EXTERNAL_THRESHOLD = 128  # bytes; smaller tensors stay in the model


def write(model, folder, with_outputs=True):
    """Replaces the folder and checks the model; with_outputs adds the expected outputs."""
    os.makedirs(folder, exist_ok=True)
    for old in os.listdir(folder):
        if old.startswith("test_data_set_"):
            shutil.rmtree(os.path.join(folder, old))
    for index, inputs in enumerate(model.data_sets):
        data_set = os.path.join(folder, f"test_data_set_{index}")
        os.makedirs(data_set)
        names = [declared.name for declared in model.proto.graph.input]
        write_tensors(data_set, "input", names, [inputs[name] for name in names])
        if with_outputs:
            names = [declared.name for declared in model.proto.graph.output]
            write_tensors(data_set, "output", names, reference.run(model.proto, inputs))
    if model.external_data:
        move_weights(model.proto.graph, os.path.join(folder, EXTERNAL_FILE))
    path = os.path.join(folder, "model.onnx")
    replace(path, model.proto.SerializeToString(deterministic=True))
    if is_known_to_checker(model.proto):
        onnx.checker.check_model(path)  # full_check would write inferred shapes into the file


def is_known_to_checker(proto):
    """Whether the installed onnx package has the standard operators of the model's version."""
    versions = {opset.domain: opset.version for opset in proto.opset_import}
    return versions[""] <= onnx.defs.onnx_opset_version()


def write_tensors(folder, prefix, names, arrays):
    for index, (name, array) in enumerate(zip(names, arrays)):
        data = numpy_helper.from_array(array, name).SerializeToString(deterministic=True)
        replace(os.path.join(folder, f"{prefix}_{index}.pb"), data)


def move_weights(graph, path):
    """Moves the larger initializers to a file, one by one, and leaves references to it."""
    with open(path + ".part", "wb") as file:
        for tensor in graph.initializer:
            if len(tensor.raw_data) < EXTERNAL_THRESHOLD:
                continue
            file.write(bytes(-file.tell() % EXTERNAL_ALIGNMENT))
            location = dict(location=EXTERNAL_FILE, offset=file.tell(), length=len(tensor.raw_data))
            file.write(tensor.raw_data)
            for key, value in location.items():
                tensor.external_data.add(key=key, value=str(value))
            tensor.data_location = TensorProto.EXTERNAL
            tensor.ClearField("raw_data")
    os.replace(path + ".part", path)


def replace(path, data):
    """Writes a file atomically: a reader never sees a part of it."""
    with open(path + ".part", "wb") as file:
        file.write(data)
    os.replace(path + ".part", path)
