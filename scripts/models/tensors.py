"""Deterministic tensor contents: the same name gives the same values in every model and every run.

Only a seeded bit generator and basic arithmetic are used (no sine, logarithm or normal deviate), so
that the bytes do not depend on the machine's mathematical library.
"""

import zlib

import numpy as np


def generator(name):
    """The random generator that belongs to a tensor's name."""
    return np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))


def uniform(name, shape, low=-1.0, high=1.0):
    """float32 values spread evenly over [low, high)."""
    values = generator(name).random(shape, dtype=np.float32)
    return values * np.float32(high - low) + np.float32(low)


def weight(name, shape, fan_in, gain):
    """float32 weights with standard deviation gain / sqrt(fan_in)."""
    bound = gain * np.sqrt(3.0 / fan_in)
    return uniform(name, shape, -bound, bound)


def integers(name, shape, limit):
    """int64 values in [0, limit)."""
    return generator(name).integers(0, limit, shape, dtype=np.int64)


def image(name, shape):
    """A batch of pictures, NCHW: eight by eight random patches under noise.

    Plain noise would look alike to a deep network, whatever its seed; the patches make the result
    depend on where things are, so that a shifted or mis-padded convolution shows in the output.
    """
    batch, channels, height, width = shape
    patches = uniform(name + ".patches", (batch, channels, 8, 8), -1.5, 1.5)
    rows = np.arange(height) * 8 // height
    columns = np.arange(width) * 8 // width
    return patches[:, :, rows][..., columns] + uniform(name + ".noise", shape, -0.5, 0.5)
