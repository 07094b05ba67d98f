"""ModelCompiler, and what partition and plan report."""

import html.parser
import pathlib
import shutil
import unittest

import numpy as np

import ephost as ort
from support import PackageTest, data_of, tiny


class Compilations(PackageTest):
    def setUp(self):
        super().setUp()
        self.model = self.folder / "model.onnx"
        shutil.copy(tiny("tiny_cnn"), self.model)

    def check(self, model, **arguments):
        inputs, expected = data_of("tiny_cnn")
        options = ort.SessionOptions()
        options.add_session_config_entry("session.disable_model_compile", "1")
        session = ort.InferenceSession(model, options, providers=["dnnl"], **arguments)
        self.assert_close(dict(zip([one.name for one in session.get_outputs()], session.run(None, inputs))), expected)

    def compiler(self, options=None, model=None, **arguments):
        return ort.ModelCompiler(options or ort.SessionOptions(), model or self.model, providers=["dnnl"], **arguments)

    def test_compiles_to_a_file_which_sessions_load(self):
        report = self.compiler().compile_to_file(self.folder / "ctx.onnx")
        self.assertEqual(pathlib.Path(report.output_path), self.folder / "ctx.onnx")
        self.assertEqual([one.provider for one in report.partitions], ["DnnlExecutionProvider"])
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"model.onnx", "ctx.onnx", "ctx_dnnl.bin"})
        self.check(self.folder / "ctx.onnx")
        with self.assertRaises(ort.ModelRequiresCompilation):
            self.check(self.model)

    def test_compiles_beside_the_model_by_default(self):
        self.compiler(embed_compiled_data_into_model=True).compile_to_file()
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"model.onnx", "model_ctx.onnx"})
        self.check(self.folder / "model_ctx.onnx")

    def test_compiles_to_bytes_and_to_a_function(self):
        compiled = self.compiler(model=self.model.read_bytes()).compile_to_bytes()
        self.assertIsInstance(compiled, bytes)
        self.check(compiled)
        pieces = []
        self.compiler().compile_to_stream(pieces.append)
        self.check(b"".join(pieces))

    def test_providers_may_be_those_of_the_options(self):
        options = ort.SessionOptions()
        options.add_provider("dnnl", {})
        report = ort.ModelCompiler(options, str(self.model)).compile_to_file()
        self.assertEqual(len(report.partitions), 1)

    def test_functions_take_binaries_and_place_initializers(self):
        stored, seen = {}, {}

        def place(name, value, external):
            seen[name] = value.numpy().copy()
            return None
        self.compiler(embed_compiled_data_into_model=False, write_data_func=stored.__setitem__,
                      get_initializer_location_func=place).compile_to_file(self.folder / "ctx.onnx")
        self.assertEqual(list(stored), ["ctx_dnnl.bin"])
        self.assertFalse((self.folder / "ctx_dnnl.bin").exists())
        (self.folder / "ctx_dnnl.bin").write_bytes(stored["ctx_dnnl.bin"])
        self.check(self.folder / "ctx.onnx")
        for name, array in seen.items():
            self.assertIsInstance(array, np.ndarray, name)

    def test_places_initializers_of_external_data(self):
        folder = self.folder / "external"
        shutil.copytree(tiny("tiny_external").parent, folder)
        seen = []

        def place(name, value, external):
            seen.append((name, external))
            return external or ort.InitializerLocation.EXTERNAL_FILE
        ort.ModelCompiler(ort.SessionOptions(), folder / "model.onnx", external_initializers_file_path="others.bin",
                          get_initializer_location_func=place).compile_to_file(folder / "ctx.onnx")
        self.assertTrue(any(external is not None for _, external in seen))
        ort.InferenceSession(folder / "ctx.onnx").run(None, data_of("tiny_external")[0])
        compiler = ort.ModelCompiler(
            ort.SessionOptions(), folder / "model.onnx", force_overwrite=True,
            get_initializer_location_func=lambda *_: ort.OrtExternalInitializerInfo("elsewhere", 0, 4))
        self.assertIn("of its own choice", self.refusal(ort.InvalidArgument, compiler.compile_to_file,
                                                        folder / "ctx.onnx"))

    def test_what_a_function_raises_ends_the_compilation(self):
        def fail(*_):
            raise KeyError("of the program")
        with self.assertRaisesRegex(KeyError, "of the program"):
            self.compiler().compile_to_stream(fail)
        with self.assertRaisesRegex(KeyError, "of the program"):
            self.compiler(embed_compiled_data_into_model=False, write_data_func=fail).compile_to_file(
                self.folder / "ctx.onnx")
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"model.onnx"})

    def test_flags_make_a_compilation_fail(self):
        self.compiler().compile_to_file(self.folder / "ctx.onnx")
        flags = ort.OrtCompileApiFlags
        self.refusal(ort.Fail, self.compiler(flags=flags.ERROR_IF_OUTPUT_FILE_EXISTS).compile_to_file,
                     self.folder / "ctx.onnx")
        none = ort.ModelCompiler(ort.SessionOptions(), self.model, flags=flags.ERROR_IF_NO_NODES_COMPILED)
        self.refusal(ort.Fail, none.compile_to_file, self.folder / "other.onnx")
        self.refusal(ort.InvalidArgument, self.compiler(target="no such device").compile_to_file)
        self.refusal(ort.InvalidGraph, ort.ModelCompiler(ort.SessionOptions(),
                                                         self.folder / "ctx.onnx").compile_to_file)

    def test_promises_of_providers_are_checked(self):
        self.compiler(check_deterministic=True,
                      graph_optimization_level=ort.GraphOptimizationLevel.ORT_DISABLE_ALL).compile_to_file()


class Page(html.parser.HTMLParser):
    """Counts elements, and checks that they are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.counts, self.texts = [], {}, []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.counts[tag] = self.counts.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.texts.append(data)


class Reports(PackageTest):
    def test_partition_tells_who_takes_which_node(self):
        report = ort.partition(tiny("tiny_diamond"), ["dnnl"])
        graph, = report.graphs
        owners = {node.provider for node in graph.nodes}
        self.assertEqual(owners, {"DnnlExecutionProvider", "CPUExecutionProvider"})
        self.assertEqual((report.coverage, report.is_context_model), ("OK", False))
        self.assertIn("DnnlExecutionProvider: 11 nodes in 2 partitions", repr(report))
        compiled = ort.partition(tiny("tiny_diamond"), ["dnnl"], compile=True)
        self.assertEqual([one.name for one in compiled.graphs[0].partitions], ["dnnl", "dnnl_2"])
        with self.assertRaises(AttributeError):
            report.no_such_name  # noqa: B018

    def test_partition_is_a_table_in_a_notebook(self):
        report = ort.partition(tiny("tiny_diamond"), ["dnnl"])
        page = Page(report._repr_html_())
        nodes = len(report.graphs[0].nodes)
        self.assertGreaterEqual(page.counts["tr"], nodes + 2)
        for text in ("Gather", "dnnl_2", "CPUExecutionProvider"):
            self.assertIn(text, page.texts)

    def test_plan_tells_order_and_memory(self):
        plans = ort.plan(tiny("tiny_diamond"), ["dnnl"])
        plan, = plans
        self.assertEqual([step.op for step in plan.steps], ["5 nodes", "Gather", "6 nodes"])
        self.assertGreaterEqual(plan.blocks[0].peak_bytes, plan.blocks[0].lower_bound_bytes)
        self.assertIn(f"peak {plan.blocks[0].peak_bytes} bytes", repr(plans))

    def test_plan_is_a_table_in_a_notebook(self):
        plans = ort.plan(tiny("tiny_loop"))
        self.assertGreater(len(plans), 1)
        page = Page(plans._repr_html_())
        for plan in plans:
            for step in plan.steps:
                self.assertIn(step.op, page.texts)
        self.assertIn(f"{plans[0].blocks[0].peak_bytes:,}" if plans[0].blocks else plans[0].steps[0].op, page.texts)

    def test_long_tables_are_cut_and_names_are_text(self):
        from ephost import _reports
        rows = [(index, "<script>") for index in range(_reports.MOST_ROWS + 5)]
        text = _reports._table(("number", "name"), rows)
        self.assertIn("and 5 more", Page(text).texts)
        self.assertNotIn("<script>", text)

    def test_failures_are_those_of_a_session(self):
        self.refusal(ort.NoSuchFile, ort.partition, self.folder / "absent.onnx")
        self.refusal(ort.NoSuchFile, ort.plan, self.folder / "absent.onnx")


if __name__ == "__main__":
    unittest.main()
