"""Cases of the pages that `ephost plan --html` and `partition --format html` write, looked at by headless
Chromium."""

import json
import re
import statistics
import unittest

import html_page
import onnx
from command_line import CommandLineTest, tiny
from onnx import TensorProto, helper

HOSTILE = "</title></script><script>document.title='owned'</script><img src=x onerror=alert(1)><!--&\"'"


def save(path, nodes, inputs, outputs, constants=(), name="graph"):
    values = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in part]
              for part in (inputs, outputs)]
    graph = helper.make_graph(nodes, name, *values, initializer=list(constants))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))


def save_hostile(path):
    nodes = [helper.make_node("Relu", ["x"], [HOSTILE], name=HOSTILE),
             helper.make_node("Concat", ["x", HOSTILE], ["y"], axis=0, name="\u202egnp.exe")]
    save(path, nodes, [("x", [2])], [("y", [4])], name=HOSTILE)


def save_chain(path, count, name="/model/layers.{0}/attention/self/query/{1}_{0}", shape=(1, 8)):
    """Nodes one after the other, some of which only the CPU provider takes."""
    kinds = ["Relu", "Neg", "Abs", "Sigmoid", "Sign"]
    nodes, before = [], "x"
    for i in range(count):
        after = "y" if i + 1 == count else f"value_{i}"
        kind = kinds[i * i % 7 % len(kinds)]
        nodes.append(helper.make_node(kind, [before], [after], name=name.format(i, kind)))
        before = after
    save(path, nodes, [("x", shape)], [("y", shape)])


class HtmlTest(CommandLineTest):
    def page(self, file, script=""):
        return html_page.page(self.folder, file, script)

    def plan(self, model, *flags):
        self.ephost("plan", model, *flags, "--html", "plan.html")
        return self.page("plan.html")

    def partition(self, model, *flags):
        self.ephost("partition", model, *flags, "--format", "html", "-o", "partition.html")
        return self.page("partition.html")


class PlanPageTest(HtmlTest):
    def check_boxes(self, root, report):
        """Each placed value of the plan has a box that says its name, size and lifetime."""
        placed = [one for part in [report, *report["bodies"]] for one in part["values"]
                  if one["offset"] is not None]
        self.assertTrue(placed)
        texts = sorted(box.first("title").text.split("\n") for box in root.all("rect", kind="box")
                       if "workspace" not in box.classes)
        self.assertEqual([lines[0] for lines in texts], sorted(one["name"] for one in placed))
        said = {tuple(lines[-2:]) for lines in texts}
        for one in placed:
            first, last = one["lifetime"]
            match = [lines for lines in said if lines[1] == f"steps {first} to {last}" and
                     lines[0].startswith(f"{one['bytes']} byte") and lines[0].endswith(f" at offset {one['offset']}")]
            self.assertTrue(match, one)

    def test_each_placed_value_has_a_box(self):
        for model, flags in [("tiny_residual", ()), ("tiny_bert", ("--ep", "dnnl")), ("tiny_loop", ())]:
            with self.subTest(model):
                root = self.plan(tiny(model), *flags)
                report = self.json("plan", tiny(model), *flags)
                graphs = [report, *report["bodies"]]
                self.check_boxes(root, report)
                blocks = [block["peak_bytes"] for part in graphs for block in part["blocks"]]
                peaks = [line.first("title").text for line in root.all("line", kind="peak")]
                self.assertEqual([int(text.split()[1]) for text in peaks], blocks)
                self.assertEqual(len(list(root.all("path", kind="live"))), len(blocks))
                html_page.check_is_self_contained(self, "plan.html")
                html_page.check_is_named(self, root)
                steps = [step for part in graphs for step in part["steps"]]
                rows = root.rows()
                self.assertEqual([row[1] for row in rows], [step["provider"] for step in steps])
                self.assertEqual([int(row[5]) for row in rows], [step["workspace_bytes"] for step in steps])
                self.assertEqual([int(row[6]) for row in rows], [step["constant_bytes"] for step in steps])
                self.assertTrue(all(int(row[4]) <= max(blocks, default=0) for row in rows))

    def test_has_an_axis_of_bytes_and_one_of_steps(self):
        root = self.plan(tiny("tiny_residual"))
        for kind in ("bytes", "steps"):
            ticks = [text.text for text in root.all("text", kind=kind)]
            self.assertGreaterEqual(len(ticks), 3, kind)
            self.assertTrue(ticks[0].startswith("0"), ticks)
        self.assertTrue(any(text.text.endswith("KiB") for text in root.all("text", kind="bytes")))
        self.assertTrue(any(root.all("text", kind="name")))

    def test_shows_workspaces_weights_and_the_inside_of_partitions(self):
        root = self.plan(tiny("tiny_cnn"))
        boxes = [box for box in root.all("rect", kind="workspace")]
        self.assertTrue(boxes)
        self.assertTrue(all(box.first("title").text.startswith("workspace of ") for box in boxes))
        report = self.json("plan", tiny("tiny_cnn"), "--ep", "dnnl")
        fused = [step for step in report["steps"] if step["partition"]]
        self.assertTrue(all(step["inner_values"] > 0 for step in fused))
        self.assertTrue(all(0 < step["inner_live_bytes"] <= step["inner_bytes"] for step in fused))
        root = self.plan(tiny("tiny_cnn"), "--ep", "dnnl")
        told = [row[7] for row in root.rows()]
        self.assertEqual([bool(text) for text in told], [bool(step["partition"]) for step in report["steps"]])
        self.assertTrue(any("weights: constants" in path.text for path in root.all("path", kind="weights"))
                        or not report["blocks"])

    def test_a_static_chain_is_not_called_unknown(self):
        """One partition, or kernels that need no memory between them: nothing is left to the run."""
        save(self.folder / "one.onnx", [helper.make_node("Relu", ["x"], ["y"])], [("x", [4])], [("y", [4])])
        shape = helper.make_tensor("shape", TensorProto.INT64, [2], [2, 2])
        save(self.folder / "view.onnx", [helper.make_node("Reshape", ["x", "shape"], ["v"]),
                                         helper.make_node("Relu", ["v"], ["y"])],
             [("x", [4])], [("y", [2, 2])], [shape])
        for model, flags in [("one.onnx", ()), ("view.onnx", ()), (tiny("tiny_cnn"), ("--ep", "dnnl"))]:
            with self.subTest(str(model)):
                root = self.plan(model, *flags)
                text = self.ephost("plan", model, *flags).stdout
                for shown in (root.first("main").text, text):
                    self.assertNotIn("run time", shown)
                    self.assertIn("outputs, in memory of the caller", shown)
        self.assertIn("none is needed", self.ephost("plan", "view.onnx").stdout)

    def test_says_why_something_has_no_place(self):
        node = [helper.make_node("Relu", ["x"], ["v"]), helper.make_node("Exp", ["v"], ["w"]),
                helper.make_node("Neg", ["w"], ["y"])]
        save(self.folder / "open.onnx", node, [("x", ["n"])], [("y", ["n"])])
        self.assertIn("known at run time only", self.plan("open.onnx").first("main").text)
        save(self.folder / "fixed.onnx", node, [("x", [3])], [("y", [3])])
        self.assertIn("memory is not planned",
                      self.plan("fixed.onnx", "--no-mem-pattern", "--no-mem-reuse").first("main").text)

    def test_names_are_only_text(self):
        save_hostile(self.folder / "hostile.onnx")
        root = self.plan("hostile.onnx")
        self.assertEqual(root.first("title").text, "Plan of hostile.onnx")
        self.assertEqual(list(root.all("img")), [])
        self.assertEqual([box.first("title").text.split("\n")[0] for box in root.all("rect", kind="box")], [HOSTILE])
        self.assertIn(HOSTILE, [cell for row in root.rows() for cell in row])
        self.assertNotIn("\u202e", root.text)

    def test_is_used_by_pointer_and_keyboard(self):
        self.ephost("plan", tiny("tiny_residual"), "--html", "plan.html")
        script = """
            const press = key => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
            const told = () => document.querySelector(".hover").textContent, log = {};
            const boxes = [...document.querySelectorAll("rect.box")];
            boxes[2].dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
            log.pointed = [boxes[2].querySelector("title").textContent, told()];
            log.reachable = boxes.filter(box => box.tabIndex === 0).length;
            boxes[0].focus();
            log.focused = [document.activeElement.querySelector("title").textContent, told()];
            press("ArrowRight");
            log.next = [boxes[1].querySelector("title").textContent, told(), boxes.indexOf(document.activeElement), boxes[1].tabIndex, boxes[0].tabIndex];
            press("End");
            log.last = boxes.indexOf(document.activeElement) === boxes.length - 1;
            press("ArrowRight");
            log.stays = boxes.indexOf(document.activeElement) === boxes.length - 1;
            press("Home");
            const before = document.querySelector("svg.map g[transform]").getAttribute("transform");
            const width = () => document.activeElement.getBoundingClientRect().width;
            const narrow = width();
            press("+");
            log.zoomed = width() > narrow;
            press("0");
            log.restored = Math.abs(width() - narrow) < 0.01;
            const below = document.activeElement;
            press("ArrowUp");
            log.up = document.activeElement.getBoundingClientRect().top < below.getBoundingClientRect().top;
            document.body.dataset.log = JSON.stringify(log);"""
        log = json.loads(self.page("plan.html", script).first("body")["data-log"])
        for name in ("pointed", "focused", "next"):
            title, told = log[name][:2]
            self.assertEqual(told, title.replace("\n", " \u00b7 "))
        self.assertEqual(log["next"][2:], [1, 0, -1])
        self.assertEqual(log["reachable"], 1)
        for name in ("last", "stays", "zoomed", "restored", "up"):
            self.assertTrue(log[name], name)

    def test_draws_ten_thousand_buffers(self):
        rows = ["id,lower,upper,size"] + [f"b{i},{i},{i + 1 + i % 7},{1 + i * 37 % 4096}"
                                          for i in range(10000)]
        self.write("buffers.csv", "\n".join(rows) + "\n")
        self.ephost("plan", "--buffers", "buffers.csv", "-o", "placed.csv", "--html", "plan.html")
        boxes = [box.first("title").text for box in self.page("plan.html").all("rect", kind="box")]
        self.assertEqual(len(boxes), 10000)
        self.assertEqual({text.split("\n")[0] for text in boxes}, {f"b{i}" for i in range(10000)})
        html_page.check_is_self_contained(self, "plan.html")
        self.assertLess((self.folder / "plan.html").stat().st_size, 400_000)

    def columns(self, root):
        """Number of a step -> where its column begins and how wide it is, in the lane of its provider."""
        columns = {}
        for step in root.all("rect", kind="step"):
            if number := re.match(r"step (\d+): ", step.first("title").text):
                columns[int(number[1])] = float(step["x"]), float(step["width"])
        return columns

    def test_the_number_of_a_step_stands_under_the_middle_of_its_column(self):
        root = self.plan(tiny("tiny_residual"))
        columns = self.columns(root)
        ticks = {int(text.text): float(text["x"]) for text in root.all("text", kind="steps")}
        self.assertGreater(len(ticks), 2)
        self.assertLess(max(ticks), len(list(root.rows())))
        for number, x in ticks.items():
            begin, width = columns[number]
            self.assertAlmostEqual(x, begin + width / 2, delta=1.5)

    def test_names_are_written_whole_or_not_at_all(self):
        # Nothing here is computed in place, and the output is too small to lend its memory.
        names = [f"/model/encoder/layers.{i}/self_attention/value_of_the_layer_number_{i}" for i in range(7)]
        nodes = [helper.make_node("Transpose", [before], [after], perm=[1, 0])
                 for before, after in zip(["x", *names], names)]
        nodes.append(helper.make_node("ReduceMax", [names[-1]], ["y"], axes=[1], keepdims=1))
        save(self.folder / "chain.onnx", nodes, [("x", (64, 64))], [("y", (64, 1))])
        root = self.plan("chain.onnx")
        names = {box.first("title").text.split("\n")[0] for box in root.all("rect", kind="box")}
        shown = [text for text in root.all("text", kind="name") if "size" not in text.classes]
        self.assertTrue(shown)
        for text in shown:
            self.assertIn(text.text, names)
        self.assertTrue(any(len(list(text.all("tspan"))) > 1 for text in shown))
        for text in root.all("text"):
            self.assertNotIn("\u2026", text.text)

    def test_steps_can_be_as_wide_as_they_took_long(self):
        model = tiny("tiny_residual")
        self.ephost("run", model, "--repeat", 5, "--profile", "trace.json")
        self.ephost("plan", model, "--times", "trace.json", "--html", "plan.html")
        seconds = {}
        for event in json.loads((self.folder / "trace.json").read_text())["traceEvents"]:
            if event["cat"] == "step":
                seconds.setdefault(int(event["args"]["step"]), []).append(event["dur"] * 1e-6)
        seconds = {step: statistics.median(times) for step, times in seconds.items()}
        root = self.page("plan.html")
        columns = self.columns(root)
        self.assertTrue(columns)
        scale = max(width for _, width in columns.values()) / max(seconds[step] for step in columns)
        for step, (_, width) in columns.items():
            self.assertAlmostEqual(width, seconds[step] * scale, delta=3)
        begins = [columns[step][0] for step in sorted(columns)]
        self.assertEqual(begins, sorted(begins))
        self.assertTrue(any(re.search(r"[mn\u00b5]?s$", text.text) for text in root.all("text", kind="times")))
        self.assertEqual(list(root.all("text", kind="steps")), [])
        html_page.check_is_named(self, root)
        # The page can go back to steps of equal width.
        script = """
            const choice = document.querySelector("select");
            choice.value = "steps";
            choice.dispatchEvent(new Event("change"));"""
        widths = {round(width) for _, width in self.columns(self.page("plan.html", script)).values()}
        self.assertLessEqual(max(widths) - min(widths), 2)

    def test_times_of_another_model_are_refused(self):
        self.ephost("run", tiny("tiny_mlp"), "--profile", "trace.json")
        arguments = ("plan", tiny("tiny_residual"), "--html", "plan.html", "--times")
        self.assertIn("has no step", self.refusal("INVALID_ARGUMENT", *arguments, "trace.json"))
        self.write("other.json", "[1, 2]")
        self.assertIn("is not a profile", self.refusal("INVALID_ARGUMENT", *arguments, "other.json"))
        self.refusal("NO_SUCHFILE", *arguments, "absent.json")
        self.assertFalse((self.folder / "plan.html").exists())

    def test_is_drawn_in_light_and_dark(self):
        self.ephost("plan", tiny("tiny_residual"), "--html", "plan.html")
        html_page.check_follows_the_colour_scheme(self, "plan.html")


class PartitionPageTest(HtmlTest):
    def test_shows_groups_and_their_nodes(self):
        root = self.partition(tiny("tiny_diamond"), "--ep", "dnnl")
        report = self.json("partition", tiny("tiny_diamond"), "--ep", "dnnl", "--explain")
        groups = [group for group in root.all("details", kind="group")]
        named = [group.first("b").text for group in groups]
        for partition in report["partitions"]:
            self.assertIn(partition["name"], named)
        counts = [group.first("span").text for group in groups]
        self.assertEqual(sum(int(text.split(", ")[1].split()[0]) for text in counts), len(report["nodes"]))
        levels = [[group.first("b").text for group in level.all("details")] for level in root.all("div", kind="level")]
        self.assertGreater(len(levels), 2)  # one partition, Gather, the other partition
        self.assertRegex(root.first("div", kind="graph").first("path")["d"], r"^M[\d.]+ [\d.]+C.*M")
        rows = [row for row in root.rows() if len(row) == 7]
        self.assertEqual([row[:6] for row in rows],
                         [[str(node["id"]), node["name"], node["op"], str(node["since_version"]), node["provider"],
                           node["partition"] or ""] for node in report["nodes"]])
        html_page.check_is_self_contained(self, "partition.html")
        html_page.check_is_named(self, root)

    def test_gives_the_reasons_of_refused_and_declined_nodes(self):
        root = self.partition(tiny("tiny_diamond"), "--ep", "dnnl")
        report = self.json("partition", tiny("tiny_diamond"), "--ep", "dnnl", "--explain")
        reasons = {(one["provider"], one["reason"]) for one in report["declines"] + report["refused_claims"]}
        self.assertTrue(report["declines"])
        shown = {(row[0], row[4]) for row in root.rows() if len(row) == 5}
        self.assertEqual(shown, reasons)
        for declined in report["declines"]:
            row = next(row for row in root.rows() if row[0] == str(declined["node"]) and len(row) == 7)
            self.assertIn(f"{declined['provider']} declined: {declined['reason']}", row[6])

    def test_gives_many_reasons_that_differ_in_names_without_these(self):
        save_chain(self.folder / "open.onnx", 1000, shape=["batch", 8])
        root = self.partition("open.onnx", "--ep", "dnnl")
        report = self.json("partition", "open.onnx", "--ep", "dnnl", "--explain")
        texts = {one["reason"] for one in report["declines"]}
        self.assertGreater(len(texts), 500)
        declined = {one["node"] for one in report["declines"]}
        shown = [row for row in root.rows() if len(row) == 5]
        self.assertEqual(sum(int(row[2].replace(",", "")) for row in shown), len(report["declines"]))
        self.assertIn("\u2026", shown[0][4])
        for row in root.rows():
            if len(row) == 7 and "\u2013" not in row[0]:
                self.assertEqual("declined" in row[6], int(row[0]) in declined, row)

    def test_shows_bodies(self):
        root = self.partition(tiny("tiny_if"))
        headings = [heading.text for heading in root.all("h2")]
        self.assertEqual(len(headings), 5)
        self.assertEqual(headings[1], "Body if/else_branch")

    def test_is_used_by_keyboard_and_filtered(self):
        self.ephost("partition", tiny("tiny_diamond"), "--ep", "dnnl", "--format", "html", "-o", "partition.html")
        script = """
            const log = {}, summaries = [...document.querySelectorAll("summary")];
            const press = key => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
            summaries[0].focus();
            press("ArrowDown");
            log.down = summaries.indexOf(document.activeElement) > 0;
            press("ArrowUp");
            log.up = summaries.indexOf(document.activeElement) === 0;
            press("ArrowRight");
            log.right = summaries.indexOf(document.activeElement) === 1;
            document.querySelector("details.group").open = true;
            const [text] = document.querySelectorAll("input"), selects = document.querySelectorAll("select");
            const enter = (input, value) => { input.value = value; input.dispatchEvent(new Event("input")); };
            const ops = () => [...document.querySelectorAll("table[aria-label=Nodes] tbody tr")].map(row => row.cells[2].textContent);
            enter(text, "GATHER");
            log.gather = [ops(), document.querySelector("[role=status]").textContent, document.querySelectorAll(".group.dim").length];
            enter(text, "");
            enter(selects[0], "Conv");
            log.conv = ops();
            enter(selects[1], "1");
            log.none = ops();
            setTimeout(() => {
              log.inside = document.querySelector("details.group div").textContent;
              document.body.dataset.log = JSON.stringify(log);
            }, 500);"""
        log = json.loads(self.page("partition.html", script).first("body")["data-log"])
        for name in ("down", "up", "right"):
            self.assertTrue(log[name], name)
        self.assertEqual(log["gather"][0], ["Gather"])
        self.assertRegex(log["gather"][1], r"^1 of \d+ nodes$")
        self.assertGreater(log["gather"][2], 0)
        self.assertGreater(len(log["conv"]), 1)
        self.assertEqual(set(log["conv"]), {"Conv"})
        self.assertEqual(log["none"], [])
        self.assertIn("Conv", log["inside"])

    def test_stays_small_for_ten_thousand_nodes(self):
        for name in ("/model/layers.{0}/attention/self/query/{1}_{0}", "", "{1}" + 200 * "n" + "{0}",
                     "{0}" + 300 * "\u00e9"):
            with self.subTest(name):
                save_chain(self.folder / "chain.onnx", 10000, name)
                root = self.partition("chain.onnx", "--ep", "dnnl")
                self.assertLess((self.folder / "partition.html").stat().st_size, 300_000)
                self.assertEqual(root.first("span", role="status").text, "10,000 of 10,000 nodes")
                if name == "":  # rows of equal nodes
                    self.assertTrue(any("\u2013" in row[0] for row in root.rows()))

    def test_names_are_only_text(self):
        save_hostile(self.folder / "hostile.onnx")
        root = self.partition("hostile.onnx")
        self.assertTrue(root.first("title").text.startswith("Partitioning of </title>"))
        self.assertEqual(list(root.all("img")), [])
        self.assertIn(HOSTILE, [row[1] for row in root.rows()])
        self.assertNotIn("\u202e", root.text)

    def test_is_drawn_in_light_and_dark(self):
        self.partition(tiny("tiny_residual"), "--ep", "dnnl")
        html_page.check_follows_the_colour_scheme(self, "partition.html")


if __name__ == "__main__":
    unittest.main()
