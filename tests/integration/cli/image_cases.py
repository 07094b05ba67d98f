"""Cases of the commands with ImageDecoder, which the provider `image` serves."""

import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

from command_line import CommandLineTest

PIXELS = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
PPM = b"P6 4 2 255\n" + PIXELS.tobytes()


class ImageTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        nodes = [helper.make_node("ImageDecoder", ["file"], ["image"], pixel_format="BGR"),
                 helper.make_node("Cast", ["image"], ["floats"], to=TensorProto.FLOAT)]
        graph = helper.make_graph(nodes, "images", [helper.make_tensor_value_info("file", TensorProto.UINT8, [None])],
                                  [helper.make_tensor_value_info("floats", TensorProto.FLOAT, [None, None, 3])])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9),
                  str(self.folder / "images.onnx"))

    def arguments(self, data, *more):
        np.save(str(self.folder / "file.npy"), np.frombuffer(data, np.uint8))
        return ("run", "images.onnx", "--ep", "image", "--input", "file=file.npy",
                "--output", "floats=floats.npy", *more)

    def floats(self):
        return np.load(str(self.folder / "floats.npy"))

    def test_decodes_a_file_before_the_cpu_provider_goes_on(self):
        self.ephost(*self.arguments(PPM))
        np.testing.assert_array_equal(self.floats(), PIXELS[:, :, ::-1].astype(np.float32))

    def test_fails_with_the_reason_for_a_damaged_file(self):
        error = self.refusal("INVALID_ARGUMENT", *self.arguments(PPM[:-1]))
        self.assertIn("the PNM image is truncated", error)

    def test_gives_an_empty_image_for_a_damaged_file_on_request(self):
        self.ephost(*self.arguments(PPM[:-1], "--ep-option", "image:undecodable=empty"))
        self.assertEqual(self.floats().shape, (0, 0, 3))
        self.ephost(*self.arguments(PPM, "--ep-option", "image:undecodable=empty"))
        np.testing.assert_array_equal(self.floats(), PIXELS[:, :, ::-1].astype(np.float32))

    def test_limits_the_pixels(self):
        error = self.refusal("INVALID_ARGUMENT", *self.arguments(PPM, "--ep-option", "image:max_pixels=7",
                                                                 "--ep-option", "image:undecodable=empty"))
        self.assertIn("has 4 x 2 pixels, more than the 7 of option max_pixels", error)

    def test_is_not_offered_without_the_provider(self):
        self.assertIn("ImageDecoder", self.refusal("NOT_IMPLEMENTED", "run", "images.onnx"))


if __name__ == "__main__":
    unittest.main()
