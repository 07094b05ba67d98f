"""Cases of the pages that `ephost plan --html` writes, looked at by headless Chromium."""

import html.parser
import os
import re
import subprocess
import unittest

import onnx
from onnx import TensorProto, helper

from command_line import CommandLineTest, tiny

CHROMIUM = os.environ.get("CHROMIUM", "chromium")  # scripts/setup.sh installs it
HOSTILE = "</title></script><script>document.title='owned'</script><img src=x onerror=alert(1)>&\"'"


class Page(html.parser.HTMLParser):
    """Boxes with their texts, rows of tables, and everything that refers to something."""

    def __init__(self, text):
        super().__init__()
        self.boxes, self.lines, self.rows, self.references, self.tags = [], [], [], [], set()
        self.title, self.hover, self.path, self.live = "", "", [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.path.append(tag)
        attributes = dict(attributes)
        self.references += [attributes[name] for name in ("src", "href", "xlink:href", "data", "action")
                            if name in attributes]
        if tag == "rect":
            self.boxes.append({**attributes, "text": ""})
        if tag == "line":
            self.lines.append({**attributes, "text": ""})
        if tag == "path":
            self.live += 1
            self.path.pop()
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")
        if tag in ("meta", "link", "br", "img"):
            self.path.pop()

    def handle_endtag(self, tag):
        if tag in self.path:
            while self.path.pop() != tag:
                pass

    def handle_data(self, text):
        if self.path[-2:] == ["rect", "title"]:
            self.boxes[-1]["text"] += text
        elif self.path[-2:] == ["line", "title"]:
            self.lines[-1]["text"] += text
        elif self.path[-2:] == ["head", "title"]:
            self.title += text
        elif "td" in self.path:
            self.rows[-1][-1] += text


class HtmlTest(CommandLineTest):
    def browse(self, file, *flags):
        return subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             f"--user-data-dir={self.folder}/profile", "--virtual-time-budget=10000", *flags,
             (self.folder / file).as_uri()],
            capture_output=True, text=True, timeout=300, check=True).stdout

    def page(self, file):
        return Page(self.browse(file, "--dump-dom"))

    def check_is_self_contained(self, file):
        text = (self.folder / file).read_text()
        self.assertEqual(re.findall(r"https?:|//[a-z]|@import|url\(", text), [])
        self.assertEqual(self.page(file).references, [])
        self.assertIn("default-src 'none'", text)

    def check_boxes(self, page, report, blocks):
        """Each placed value of the plan has a box that says its name, size and lifetime."""
        placed = [one for part in [report, *report["bodies"]] for one in part["values"]
                  if one["offset"] is not None]
        self.assertTrue(placed)
        texts = [box["text"].split("\n") for box in page.boxes if "workspace" not in box["class"]]
        self.assertEqual(len(texts), len(placed))
        for one, lines in zip(placed, texts):
            self.assertEqual(lines[0], one["name"])
            first, last = one["lifetime"]
            self.assertEqual(lines[-1], f"steps {first} to {last}")
            self.assertRegex(lines[-2], rf"^{one['bytes']} bytes?( \(.*\))? at offset {one['offset']}$")
        peaks = [line["text"] for line in page.lines if line["class"] == "peak"]
        self.assertEqual([int(re.match(r"peak: (\d+)", text)[1]) for text in peaks], blocks)
        self.assertEqual(page.live, len(blocks))

    def test_each_placed_value_has_a_box(self):
        for model, flags in [("tiny_residual", ()), ("tiny_bert", ("--ep", "dnnl")), ("tiny_loop", ())]:
            with self.subTest(model):
                self.ephost("plan", tiny(model), *flags, "--html", "plan.html")
                report = self.json("plan", tiny(model), *flags)
                page = self.page("plan.html")
                blocks = [block["peak_bytes"] for part in [report, *report["bodies"]]
                          for block in part["blocks"]]
                self.check_boxes(page, report, blocks)
                self.check_is_self_contained("plan.html")
                steps = [step for part in [report, *report["bodies"]] for step in part["steps"]]
                rows = [row for row in page.rows if row]
                self.assertEqual([row[1] for row in rows], [step["provider"] for step in steps])
                self.assertTrue(all(int(row[4]) <= max(blocks, default=0) for row in rows))

    def test_workspaces_have_boxes_too(self):
        self.ephost("plan", tiny("tiny_cnn"), "--html", "plan.html")
        boxes = [box for box in self.page("plan.html").boxes if "workspace" in box["class"]]
        self.assertTrue(boxes)
        self.assertTrue(all(box["text"].startswith("workspace of ") for box in boxes))

    def test_names_are_only_text(self):
        node = helper.make_node("Relu", ["x"], [HOSTILE], name=HOSTILE)
        then = helper.make_node("Concat", ["x", HOSTILE], ["y"], axis=0)
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [size])
                  for name, size in (("x", 2), ("y", 4))]
        graph = helper.make_graph([node, then], HOSTILE, values[:1], values[1:])
        opsets = [helper.make_opsetid("", 13)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8),
                  str(self.folder / "hostile.onnx"))
        self.ephost("plan", "hostile.onnx", "--html", "plan.html")
        page = self.page("plan.html")
        self.assertEqual(page.title, "Plan of hostile.onnx")
        self.assertNotIn("img", page.tags)
        self.assertEqual([box["text"].split("\n")[0] for box in page.boxes], [HOSTILE])
        self.assertIn(HOSTILE, [cell for row in page.rows for cell in row])

    def test_the_box_under_the_pointer_is_told(self):
        self.ephost("plan", tiny("tiny_residual"), "--html", "plan.html")
        text = (self.folder / "plan.html").read_text()
        poke = ("<script>document.querySelector('rect').dispatchEvent("
                "new PointerEvent('pointerover', {bubbles: true}))</script></body>")
        (self.folder / "poked.html").write_text(text.replace("</body>", poke))
        first = self.page("plan.html").boxes[0]["text"].replace("\n", " \u00b7 ")
        hover = re.search(r'<p class="hover">(.*?)</p>', self.browse("poked.html", "--dump-dom"))[1]
        self.assertEqual(hover, first)

    def test_draws_buffers_and_ten_thousand_of_them(self):
        rows = ["id,lower,upper,size"] + [f"b{i},{i},{i + 1 + i % 7},{1 + i * 37 % 4096}"
                                          for i in range(10000)]
        self.write("buffers.csv", "\n".join(rows) + "\n")
        self.ephost("plan", "--buffers", "buffers.csv", "-o", "placed.csv", "--html", "plan.html")
        page = self.page("plan.html")
        self.assertEqual(len(page.boxes), 10000)
        self.assertEqual({box["text"].split("\n")[0] for box in page.boxes},
                         {f"b{i}" for i in range(10000)})
        self.check_is_self_contained("plan.html")

    def test_is_drawn_in_light_and_dark(self):
        self.ephost("plan", tiny("tiny_residual"), "--html", "plan.html")
        for name, flags in [("light.png", ()), ("dark.png", ("--force-dark-mode",
                                                             "--blink-settings=preferredColorScheme=0"))]:
            self.browse("plan.html", f"--screenshot={self.folder / name}", "--window-size=1000,900", *flags)
        self.assertNotEqual((self.folder / "light.png").read_bytes(),
                            (self.folder / "dark.png").read_bytes())


if __name__ == "__main__":
    unittest.main()
