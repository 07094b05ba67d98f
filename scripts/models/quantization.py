"""Arithmetic that the quantisers share: scales, zero points and 8-bit weights.

Scales are rounded up to 12 bits, so that they do not depend on the order in which a machine's
library adds, and still cover the range.
"""

import numpy as np

WEIGHT_LIMIT = 127  # weights are symmetric: -127 to 127


def rounded_up(scale):
    """float32 scales; 1 for a range that is a single point."""
    scale = np.asarray(scale, np.float64)
    mantissa, exponent = np.frexp(np.where(scale > 0, scale, 1.0))
    return np.ldexp(np.ceil(mantissa * 4096) / 4096, exponent).astype(np.float32)


def activation_parameters(low, high, dtype):
    """Scale and zero point of the 8-bit type that cover low, high and exactly 0."""
    bounds = np.iinfo(dtype)
    low, high = min(float(low), 0.0), max(float(high), 0.0)
    scale = rounded_up((high - low) / (bounds.max - bounds.min))
    zero_point = np.clip(np.rint(bounds.min - low / np.float64(scale)), bounds.min, bounds.max)
    return scale, zero_point.astype(dtype)


def quantized_weight(weight, axis):
    """int8 weights and their scales: one for each index along the axis, or one if it is None."""
    others = None if axis is None else tuple(a for a in range(weight.ndim) if a != axis)
    scale = rounded_up(np.abs(weight).max(others) / WEIGHT_LIMIT)
    spread = scale if axis is None else np.expand_dims(scale, others)
    values = np.rint(weight / spread.astype(np.float64))
    return np.clip(values, -WEIGHT_LIMIT, WEIGHT_LIMIT).astype(np.int8), scale


def quantized_bias(bias, scale, name):
    """int32 values of a bias in units of `scale`, the product of input's and weight's."""
    values = np.rint(bias / scale.astype(np.float64))
    if np.abs(values).max() > np.iinfo(np.int32).max:
        raise ValueError(f"the bias of '{name}' is too large for its scale")
    return values.astype(np.int32)
