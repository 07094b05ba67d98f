"""Cases of the commands with ImageDecoder, which the provider `image` serves."""

import shutil
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

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

    def save_test(self):
        """A backend test that decodes an image; returns its folder."""
        data = self.folder / "decode" / "test_data_set_0"
        data.mkdir(parents=True)
        shutil.copy(self.folder / "images.onnx", data.parent / "model.onnx")
        for name, array in (("input_0", np.frombuffer(PPM, np.uint8)),
                            ("output_0", PIXELS[:, :, ::-1].astype(np.float32))):
            (data / f"{name}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())
        return data.parent

    def test_tests_use_it_where_it_is_installed(self):
        folder = self.save_test()
        self.assertEqual(self.json("test", folder)["nodes"],
                         {"ImageExecutionProvider": 1, "CPUExecutionProvider": 1})
        # A command that lists its providers gets these alone.
        for arguments in (("--ep", "cpu"), ("--ep", "dnnl")):
            with self.subTest(arguments):
                report = self.json("test", folder, *arguments, status=1)
                self.assertIn("NOT_IMPLEMENTED", report["tests"][0]["reason"])
        self.write("selection.yaml", "selection: 1\nproviders: [cpu]\n")
        self.json("test", folder, "--selection", "selection.yaml", status=1)
        self.assertEqual(self.json("test", folder, "--ep-option", "cpu:num_threads=1")["passed"], 1)

    def test_is_not_offered_without_the_provider(self):
        self.assertIn("ImageDecoder", self.refusal("NOT_IMPLEMENTED", "run", "images.onnx"))


if __name__ == "__main__":
    unittest.main()
