"""The shipped plugins and the examples do in a worker what they do in the host's process: the same checks of the kit,
with the same results."""

import unittest

from kit import EXAMPLES, PLUGINS, KitTest


class IsolationTest(KitTest):
    def verdicts(self, manifest, isolation):
        checks = self.results(manifest, "--isolation", isolation)
        return {number: (check["result"], check.get("reason")) for number, check in checks.items()}

    def expect_the_same(self, manifest):
        verdicts = [self.verdicts(manifest, isolation) for isolation in ("worker", "none")]
        # A search for models takes a limited time, in which a busy machine may find none.
        vain = {number for one in verdicts for number, (_, reason) in one.items()
                if (reason or "").startswith(("the provider takes no node of", "the provider writes no contexts of"))}
        in_worker, in_process = ({number: verdict for number, verdict in one.items() if number not in vain}
                                 for one in verdicts)
        self.assertGreater(len(in_worker), 90)
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
