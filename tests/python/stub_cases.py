"""The stub of the extension has the names that the extension has."""

import ast
import pathlib
import unittest

import ephost
from ephost import _ephost

STUB = ast.parse((pathlib.Path(ephost.__file__).parent / "_ephost.pyi").read_text(encoding="utf-8"))


def names_of(body):
    """Functions, annotated names and classes of a part of the stub."""
    for item in body:
        if isinstance(item, (ast.FunctionDef, ast.ClassDef)):
            yield item.name
        elif isinstance(item, ast.AnnAssign):
            yield item.target.id


def public(names):
    return {name for name in names if not name.startswith("_")}


class Stub(unittest.TestCase):
    maxDiff = None

    def test_has_the_names_of_the_module(self):
        self.assertEqual(public(names_of(STUB.body)), public(vars(_ephost)))

    def test_has_the_members_of_each_class(self):
        for item in STUB.body:
            if isinstance(item, ast.ClassDef):
                self.assertEqual(public(names_of(item.body)), public(vars(getattr(_ephost, item.name))), item.name)

    def test_has_the_parameters_of_each_function(self):
        """pybind11 writes them into the first line of each docstring."""
        for owner, item in self.functions():
            function = getattr(owner, item.name)
            stated = [one.arg for one in item.args.args if one.arg != "self"]
            lines = [line for line in function.__doc__.splitlines() if "(" in line]
            for name in stated:
                self.assertTrue(any(f"{name}: " in line for line in lines), (item.name, name, lines))

    def functions(self):
        for item in STUB.body:
            if isinstance(item, ast.FunctionDef):
                yield _ephost, item
            elif isinstance(item, ast.ClassDef):
                for inner in item.body:
                    if isinstance(inner, ast.FunctionDef):
                        yield getattr(_ephost, item.name), inner

    def test_the_package_has_what_it_lists(self):
        for name in ephost.__all__:
            self.assertTrue(hasattr(ephost, name), name)
        public_names = {name for name in vars(ephost) if not name.startswith("_")}
        modules = {"backend", "capi"}
        self.assertEqual(public_names - modules, set(ephost.__all__) - {"__version__"})
        self.assertTrue((pathlib.Path(ephost.__file__).parent / "py.typed").exists())


if __name__ == "__main__":
    unittest.main()
