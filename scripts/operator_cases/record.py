"""Recorded results of cases as lines of JSON: {"case", "checksum", "outputs": {name: {"type", "dims", "values"}}}.
Numbers have as many digits as a comparison can use."""

import json

import numpy as np
from onnx import TensorProto, mapping


def dtype_of(element_type):
    if element_type == TensorProto.STRING:
        return np.dtype(object)
    return mapping.TENSOR_TYPE_TO_NP_TYPE[element_type]


def numbers(array):
    flat = array.flatten()
    if array.dtype.kind == "f":
        return [float(f"{number:.6g}") for number in flat]
    return flat.astype(int).tolist() if array.dtype.kind == "b" else flat.tolist()


def line(case, outputs):
    described = {name: {"type": element_type, "dims": list(value.shape), "values": numbers(value)}
                 for name, (element_type, value) in outputs.items()}
    return json.dumps({"case": case.name, "checksum": case.checksum(), "outputs": described},
                      separators=(",", ":"))


def read(path):
    """{case: (checksum, {output: array})}"""
    made = {}
    for text in path.read_text().splitlines():
        entry = json.loads(text)
        made[entry["case"]] = entry["checksum"], {
            name: np.array(output["values"], dtype_of(output["type"])).reshape(output["dims"])
            for name, output in entry["outputs"].items()}
    return made
