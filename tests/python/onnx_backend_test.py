#!/usr/bin/python3
"""The ONNX project's own backend tests, through ephost.backend.

  onnx_backend_test.py PROVIDER EXCEPTIONS SHARD COUNT

runs every COUNTth test from SHARD on, with this provider asked first. EXCEPTIONS has the tests that cannot pass, as `ephost test --skip-list` takes
them: one of them that passes nevertheless is a failure, as one that fails is and is not among them. The models of kind
`real`, which onnx would download, are left out.
"""
import functools
import sys
import unittest

import numpy as np
import onnx.backend.test

import ephost.backend

if not hasattr(np, "object"):
    np.object = object  # which onnx 1.12 expects of numpy


class Runner(onnx.backend.test.BackendTest):
    """Compares sequences element by element; onnx 1.12 takes the elements for lists and fails at scalars."""

    @classmethod
    def assert_similar_outputs(cls, ref_outputs, outputs, *arguments, **named):
        np.testing.assert_equal(len(outputs), len(ref_outputs))
        for expected, found in zip(ref_outputs, outputs):
            if isinstance(expected, list):
                cls.assert_similar_outputs(expected, found, *arguments, **named)
            elif expected is None or found is None:
                assert found is expected, (expected, found)
            else:
                super().assert_similar_outputs([expected], [found], *arguments, **named)


def read_exceptions(file):
    """Names with (reason, may it pass), as host/cli/backend_test/skip_list.h describes the file."""
    with open(file, encoding="utf-8") as lines:
        texts = [line.strip() for line in lines]
    pairs = [text.split(": ", 1) for text in texts if text and not text.startswith("#")]
    return {name.rstrip("?"): (reason, name.endswith("?")) for name, reason in pairs}


def listed(function, reason, may_pass):
    @functools.wraps(function)
    def test(case):
        try:
            function(case)
        except unittest.SkipTest:
            raise
        except Exception:  # noqa: BLE001 (whatever it fails with)
            return
        if not may_pass:
            case.fail(f"it passes, although it is listed as one that cannot: {reason}")
    return test


def backend_with(provider):
    class Backend(ephost.backend.EphostBackend):
        @classmethod
        def prepare(cls, model, device="CPU", **arguments):
            return super().prepare(model, device, providers=[provider], **arguments)
    return Backend


def cases(backend, exceptions):
    """(name of the test, its function), sorted, without those of other devices than the CPU."""
    found = {}
    for kind, case in Runner(backend, __name__).test_cases.items():
        if kind == "OnnxBackendRealModelTest":
            continue
        for name in unittest.defaultTestLoader.getTestCaseNames(case):
            if not name.endswith("_cpu"):
                continue
            function, plain = getattr(case, name), name[:-len("_cpu")]
            assert name not in found, name
            found[name] = listed(function, *exceptions[plain]) if plain in exceptions else function
    unknown = set(exceptions) - {name[:-len("_cpu")] for name in found}
    return sorted(found.items()), unknown


def main():
    provider, file, shard, count = sys.argv[1:]
    tests, unknown = cases(backend_with(provider), read_exceptions(file))
    assert len(tests) > 1000, f"only {len(tests)} tests were found"
    if unknown:
        print(f"{file} names {', '.join(sorted(unknown))}, not among the tests", file=sys.stderr)
    chosen = dict(tests[int(shard)::int(count)])
    case = type("Onnx", (unittest.TestCase,), chosen)
    result = unittest.TextTestRunner(verbosity=1).run(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    assert result.testsRun == len(chosen) and not result.skipped, result
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main()
