"""Generators of the models that ephost's tests, benchmarks and README use."""
