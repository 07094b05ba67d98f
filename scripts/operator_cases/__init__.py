"""Cases for all kinds of operators, one family a file."""

import importlib
import pkgutil

HELPERS = {"messages", "case", "record"}


def all_cases():
    found = {}
    for module in sorted(each.name for each in pkgutil.iter_modules(__path__)):
        if module in HELPERS:
            continue
        for case in importlib.import_module(f"operator_cases.{module}").cases():
            assert case.name not in found, f"{case.name} is there twice"
            found[case.name] = case
    return list(found.values())


def by_tolerance(cases):
    """(options of `ephost test`, names) for those of full and of half precision, of which intermediate
    results may or may not be rounded."""
    yield ["--rtol", "1e-3", "--atol", "1e-5"], [case.name for case in cases if not case.is_half()]
    yield ["--rtol", "1e-2", "--atol", "2e-3"], [case.name for case in cases if case.is_half()]
