"""Cases of `ephost plan`."""

import csv
import os
import pathlib
import unittest

from command_line import CommandLineTest, tiny

DEVICE = pathlib.Path(os.environ["EPHOST_FIXTURES"]) / "device"
STREAMS = pathlib.Path(os.environ["EPHOST_FIXTURES"]) / "streams"
KINDS = {"Allocate", "Reuse", "PreExisting", "AllocateStatically", "AllocateOutput"}

# No more than 6 bytes live at any time, yet they need 7.
KNOTTED = "id,lower,upper,size\n" + "".join(
    f"{i},{lower},{upper},{size}\n" for i, (lower, upper, size) in enumerate([
        (0, 1, 2), (0, 2, 1), (6, 7, 3), (1, 5, 1), (2, 6, 2), (8, 11, 3), (4, 6, 2), (6, 10, 1),
        (5, 9, 2), (0, 3, 3)]))
# Five buffers; 7 bytes are alive at time 3.
BUFFERS = "id,lower,upper,size\na,0,3,4\nb,3,9,4\nc,0,9,3\nd,9,21,4\ne,0,21,0\n"


def alive_together(one, other):
    return int(one["lower"]) < int(other["upper"]) and int(other["lower"]) < int(one["upper"])


def apart(one, other):
    return (int(one["offset"]) + int(one["size"]) <= int(other["offset"]) or
            int(other["offset"]) + int(other["size"]) <= int(one["offset"]))


class PlanTest(CommandLineTest):
    def test_plans_the_bodies_of_control_flow(self):
        report = self.json("plan", tiny("tiny_loop"))
        body, = report["bodies"]
        self.assertEqual(body["path"], "loop/body")
        self.assertIn("host", [step["provider"] for step in report["steps"]])
        kinds = {value["name"]: value["kind"] for value in body["values"]}
        self.assertEqual(kinds["limit"], "PreExisting")
        self.assertIn("\nbody loop/body\n", self.ephost("plan", tiny("tiny_loop")).stdout)

    def test_tells_order_kinds_offsets_and_peak(self):
        report = self.json("plan", tiny("tiny_residual"))
        self.assertGreater(len(report["steps"]), 5)
        produced = {"input"}
        for step in report["steps"]:
            produced.update(step["outputs"])
        kinds = {value["kind"] for value in report["values"]}
        self.assertLessEqual(kinds, KINDS)
        self.assertLessEqual({"Allocate", "PreExisting", "AllocateOutput"}, kinds)
        block, = report["blocks"]
        self.assertGreaterEqual(block["peak_bytes"], block["lower_bound_bytes"])
        offsets = [value["offset"] for value in report["values"] if value["offset"] is not None]
        self.assertTrue(offsets)
        self.assertLess(max(offsets), block["peak_bytes"])
        for value in report["values"]:
            if value["offset"] is not None:
                self.assertIn(value["name"], produced)

    def test_a_table_has_the_same(self):
        table = self.ephost("plan", tiny("tiny_cnn"), "--ep", "dnnl").stdout
        self.assertRegex(table, r"(?m)^ *step +runs +on +outputs$")
        self.assertRegex(table, r"(?m)^block 0 +peak \d+ bytes .*, lower bound \d+, ratio \d\.\d+")

    def test_shows_copies_and_a_block_for_each_memory(self):
        arguments = ("plan", tiny("tiny_residual"), "--plugin-path", DEVICE, "--ep", "device")
        report = self.json(*arguments)
        copied = [name for step in report["steps"] for name in step["outputs"]
                  if step["provider"] == "host"]
        self.assertTrue([name for name in copied if name.endswith("@device:dram")])
        self.assertEqual([block["memory"] for block in report["blocks"]], ["host", "device:dram"])
        locations = {value["name"]: value["location"] for value in report["values"]}
        self.assertTrue(all(locations[name] == name.endswith("@device:dram") for name in copied))
        table = self.ephost(*arguments).stdout
        self.assertIn('Memcpy node "', table)
        self.assertRegex(table, r"(?m)^block device:dram +peak \d+ bytes")
        self.ephost(*arguments, "--html", "plan.html")
        self.assertIn('"name":"device:dram","peak":', (self.folder / "plan.html").read_text())

    def test_shows_streams_and_what_waits_for_what(self):
        arguments = ("plan", tiny("tiny_residual"), "--plugin-path", STREAMS, "--ep", "streams")
        steps = self.json(*arguments)["steps"]
        self.assertEqual({step["stream"] for step in steps},
                         {None, "streams compute 0", "streams copy in", "streams copy out"})
        for number, step in enumerate(steps):
            for other in step["waits"] + step["host_waits"]:
                self.assertLess(other, number)
                self.assertNotIn(steps[other]["stream"], (None, step["stream"]))
        self.assertTrue(any(step["waits"] for step in steps))
        self.assertTrue(any(step["host_waits"] for step in steps))
        self.assertRegex(self.ephost(*arguments).stdout, r"(?m)^ *step +runs +on +outputs +stream +waits for$")

    def test_without_pattern_nothing_has_an_offset(self):
        report = self.json("plan", tiny("tiny_cnn"), "--no-mem-pattern")
        self.assertEqual({value["offset"] for value in report["values"]}, {None})

    def test_without_reuse_nothing_is_reused(self):
        report = self.json("plan", tiny("tiny_cnn"), "--no-mem-reuse")
        self.assertNotIn("Reuse", {value["kind"] for value in report["values"]})

    def test_places_the_buffers_of_a_minimalloc_instance(self):
        self.write("buffers.csv", BUFFERS)
        rows = list(csv.DictReader(
            self.ephost("plan", "--buffers", "buffers.csv", "--capacity", 7).stdout.splitlines()))
        self.assertEqual([row["id"] for row in rows], list("abcde"))
        for index, one in enumerate(rows):
            self.assertLessEqual(int(one["offset"]) + int(one["size"]), 7)
            for other in rows[:index]:
                self.assertTrue(apart(one, other) or not alive_together(one, other))

    def test_writes_the_placement_to_a_file(self):
        self.write("buffers.csv", BUFFERS)
        text = self.ephost("plan", "--buffers", "buffers.csv", "-o", "out.csv").stdout
        self.assertEqual(text, "5 buffers: peak 7 bytes, lower bound 7, proved optimal\n")
        self.assertTrue((self.folder / "out.csv").read_text().startswith("id,lower,upper,size,offset\n"))

    def test_reports_the_placement_as_json(self):
        self.write("buffers.csv", BUFFERS)
        report = self.json("plan", "--buffers", "buffers.csv", "--alignment", 4)
        self.assertEqual((report["peak_bytes"], report["lower_bound_bytes"]), (8, 8))
        self.assertEqual({offset["offset"] % 4 for offset in report["offsets"]}, {0})

    def test_refuses_buffers_over_capacity_and_writes_nothing(self):
        self.write("buffers.csv", BUFFERS)
        error = self.refusal("FAIL", "plan", "--buffers", "buffers.csv", "--capacity", 6,
                             "-o", "out.csv")
        self.assertIn("no placement can fit, as 7 bytes are live at one time", error)
        self.assertFalse((self.folder / "out.csv").exists())

    def test_says_what_it_reached_beside_the_placement(self):
        self.write("buffers.csv", BUFFERS)
        self.assertEqual(self.ephost("plan", "--buffers", "buffers.csv", "--capacity", 9).stderr,
                         "5 buffers: peak 7 bytes, lower bound 7, capacity 9, proved optimal\n")

    def test_finds_and_proves_the_optimum_above_the_lower_bound(self):
        self.write("buffers.csv", KNOTTED)
        report = self.json("plan", "--buffers", "buffers.csv")
        self.assertEqual((report["peak_bytes"], report["lower_bound_bytes"]), (7, 6))
        self.assertTrue(report["proved_optimal"])
        error = self.refusal("FAIL", "plan", "--buffers", "buffers.csv", "--capacity", 6)
        self.assertIn("no placement can fit, as the search tried all; one of 7 bytes is known", error)

    def test_names_line_and_column_of_a_broken_file(self):
        self.write("buffers.csv", "id,lower,upper,size\na,0,x,4\n")
        self.assertIn("buffers.csv:2:5", self.refusal("INVALID_ARGUMENT", "plan", "--buffers",
                                                      "buffers.csv"))

    def test_takes_either_a_model_or_buffers(self):
        self.refusal("INVALID_ARGUMENT", "plan", status=2)
        self.refusal("INVALID_ARGUMENT", "plan", "model.onnx", "--buffers", "b.csv", status=2)
        self.refusal("INVALID_ARGUMENT", "plan", "model.onnx", "--capacity", 7, status=2)


if __name__ == "__main__":
    unittest.main()
