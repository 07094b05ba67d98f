#!/usr/bin/python3
"""Writes the tests of the plugin `image` (plugins/image/tests) as backend tests of ONNX: a model, a file, its pixels.

Needs numpy and onnx. The files are of formats without loss, whose pixels are known.
"""
import pathlib
import struct
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "plugins/image/tests"
HEIGHT, WIDTH = 5, 7


def picture():
    """RGB pixels of which no two rows, columns or channels are equal."""
    y, x, channel = np.indices((HEIGHT, WIDTH, 3))
    return ((37 * y + 11 * x + 83 * channel) % 256).astype(np.uint8)


def pnm(pixels):
    return f"P6 {WIDTH} {HEIGHT} 255\n".encode() + pixels.tobytes()


def pgm(gray):
    return f"P5 {WIDTH} {HEIGHT} 255\n".encode() + gray.tobytes()


def bmp(pixels):
    rows = [row[:, ::-1].tobytes() for row in pixels[::-1]]  # bottom-up, BGR
    body = b"".join(row + b"\0" * (-len(row) % 4) for row in rows)
    info = struct.pack("<IiiHHIIiiII", 40, WIDTH, HEIGHT, 1, 24, 0, len(body), 2835, 2835, 0, 0)
    return b"BM" + struct.pack("<IHHI", 14 + len(info) + len(body), 0, 0, 14 + len(info)) + info + body


def png(pixels):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    kind_of_colour = 2 if pixels.ndim == 3 else 0
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, kind_of_colour, 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) +
            chunk(b"IEND", b""))


def write(name, data, pixels, **attributes):
    node = helper.make_node("ImageDecoder", ["file"], ["image"], **attributes)
    graph = helper.make_graph([node], name, [helper.make_tensor_value_info("file", TensorProto.UINT8, [None])],
                              [helper.make_tensor_value_info("image", TensorProto.UINT8, [None, None, None])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    folder = FOLDER / f"test_image_{name}"
    (folder / "test_data_set_0").mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(folder / "model.onnx"))
    for file, value_name, value in (("input_0.pb", "file", np.frombuffer(data, np.uint8)),
                                    ("output_0.pb", "image", np.ascontiguousarray(pixels))):
        tensor = numpy_helper.from_array(value, value_name)
        (folder / "test_data_set_0" / file).write_bytes(tensor.SerializeToString())


def main():
    pixels = picture()
    gray = pixels[:, :, 0]
    write("pnm_rgb", pnm(pixels), pixels)
    write("pnm_bgr", pnm(pixels), pixels[:, :, ::-1], pixel_format="BGR")
    write("pnm_grayscale", pgm(gray), gray[:, :, None], pixel_format="Grayscale")
    write("bmp_rgb", bmp(pixels), pixels, pixel_format="RGB")
    write("png_rgb", png(pixels), pixels)
    write("png_bgr", png(pixels), pixels[:, :, ::-1], pixel_format="BGR")
    write("png_of_gray", png(gray), np.repeat(gray[:, :, None], 3, axis=2))


if __name__ == "__main__":
    main()
