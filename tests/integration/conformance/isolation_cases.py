"""The shipped plugins and the examples do in a worker what they do in the host's process: the same checks of the kit,
with the same results."""

import unittest

from kit import EXAMPLES, PLUGINS, KitTest


class IsolationTest(KitTest):
    def verdicts(self, manifest, isolation, *arguments):
        checks = self.results(manifest, "--isolation", isolation, *arguments)
        return {number: (check["result"], check.get("reason")) for number, check in checks.items()}

    def expect_the_same(self, manifest):
        in_worker, in_process = (self.verdicts(manifest, isolation) for isolation in ("worker", "none"))
        self.assertGreater(len(in_worker), 100)
        self.assertEqual(in_worker.keys(), in_process.keys())
        # A search for models takes a limited time, in which a busy machine may find none: it gets more.
        differing = [number for number in in_worker if in_worker[number] != in_process[number]]
        longer = [word for number in differing for word in ("--check", number)] + ["--time-factor", 20]
        if differing:
            in_worker, in_process = (self.verdicts(manifest, isolation, *longer) for isolation in ("worker", "none"))
        self.assertEqual(in_worker, in_process)

    def test_cpu(self):
        self.expect_the_same(PLUGINS / "cpu.yaml")

    def test_dnnl(self):
        self.expect_the_same(PLUGINS / "dnnl.yaml")

    def test_image(self):
        self.expect_the_same(PLUGINS / "image.yaml")

    def test_affine(self):
        self.expect_the_same(EXAMPLES / "affine.yaml")

    def test_minimal(self):
        self.expect_the_same(EXAMPLES / "minimal.yaml")


if __name__ == "__main__":
    unittest.main()
