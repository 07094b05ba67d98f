"""What documents say about commands without an option is proved by a test: such a sentence is easily written from
memory, and no command shows that it is false.

A sentence that says what happens without an option ("without `--input`", "unless `--force`") is listed here, word by
word, with the test that proves it. A new sentence of this kind, or a changed one, needs a proof.
"""

import pathlib
import re
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
DOCUMENTS = ("README.md", "host/TOUR.md", "host/cli/README.md")
CODE_BLOCK = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
CLAIM = re.compile(r"\b(?:without|unless|where neither|where no)\b[^`:]{0,30}`--", re.IGNORECASE)

# The sentence -> the file of its test, below tests/, and the test's name.
PROOFS = {
    "Without `--input`, the inputs are random, the same numbers each time.":
        ("integration/cli/run_cases.py", "test_random_inputs_are_the_same_every_time"),
    "`--policy PREFER_NPU` and the other policies of ONNX Runtime choose providers and devices without any `--ep`.":
        ("integration/cli/devices_cases.py", "test_chooses_by_a_policy"),
    "Plugins, selections and cache stores that other users can change are not used, unless `--allow-writable-plugins` "
    "or `EPHOST_ALLOW_WRITABLE_PLUGINS=1` allows them.":
        ("integration/cli/list_cases.py", "test_a_plugin_that_others_can_change_is_not_used_unless_that_is_allowed"),
    "`EPHOST_CACHE_DIR` is the cache store of `run`, `bench` and `compile` where neither `--cache-dir`, nor `--config "
    "ep.cache_dir=`, nor the selection sets one, and the folder of `ephost cache` without DIR.":
        ("integration/cli/selection_cases.py", "test_the_environment_states_the_default_store"),
    "Without `--ep`, `--policy` and a selection, `test` uses the CPU provider, and for a model with an operator that "
    "this one lacks, such as ImageDecoder, all providers that are installed, in that order.":
        ("integration/cli/image_cases.py", "test_tests_use_it_where_it_is_installed"),
    "A plugin that crashes is named on standard error before the process ends, and the crash counts towards its "
    "[quarantine](../../manifests/SCHEMA.md#quarantine), unless `--no-crash-handler` is given.":
        ("integration/cli/fault_cases.py", "test_says_nothing_where_the_handler_is_not_wanted"),
    "`compile` replaces what it wrote before; an existing file that is not a context model, or that the replaced "
    "context model does not list as its own, is kept unless `--force` (entry `ep.context_force_overwrite`) is given.":
        ("integration/cli/overwrite_cases.py", "test_compile_keeps_files_that_it_did_not_write_unless_forced"),
}


def sentences(text):
    """Those of a Markdown document, each on one line, without its blocks of code."""
    for paragraph in re.split(r"\n\s*\n", CODE_BLOCK.sub("", text)):
        if not paragraph.lstrip().startswith(("|", "#")):
            yield from re.split(r"(?<=[.:!?])\s+(?=[A-Z`])", " ".join(paragraph.split()))


def claims(text):
    return [sentence for sentence in sentences(text) if CLAIM.search(sentence)]


class ClaimsTest(unittest.TestCase):
    def test_finds_what_is_claimed(self):
        text = "# One\n\nIt runs. Without `--input`, the inputs\nare zeros. More.\n\n```sh\nwithout `--ep`\n```\n"
        self.assertEqual(claims(text), ["Without `--input`, the inputs are zeros."])
        self.assertNotIn(claims(text)[0], PROOFS)

    def test_each_claim_has_a_proof_and_each_proof_a_claim(self):
        found = [claim for name in DOCUMENTS for claim in claims((SOURCE / name).read_text())]
        self.assertEqual(sorted(found), sorted(PROOFS))

    def test_each_proof_exists(self):
        for claim, (file, name) in PROOFS.items():
            with self.subTest(claim):
                self.assertTrue(f"    def {name}(self" in (SOURCE / "tests" / file).read_text(), name)


if __name__ == "__main__":
    unittest.main()
