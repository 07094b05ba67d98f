"""Plain numpy kernels of the quantised operators, for reference.py.

They follow the specification word by word: division by the scale, rounding half to even, the zero
point, then saturation. Products of 8-bit integers are exact in float64.
"""

import numpy as np


def rounded(x, low, high):
    return np.clip(np.rint(x), low, high)


def spread(parameters, x, axis, block_size=0):
    """Scales or zero points in a shape that broadcasts against x: one for the tensor, one for each
    index along an axis, or one for each block along it."""
    if parameters.size == 1 and parameters.ndim <= 1:
        return parameters.reshape(())
    if block_size:
        assert parameters.shape[axis] == -(-x.shape[axis] // block_size)
        return np.take(np.repeat(parameters, block_size, axis), range(x.shape[axis]), axis)
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    return parameters.reshape(shape)


def quantize_linear(x, scale, zero_point=np.array(0, np.uint8), *, axis=1):
    bounds = np.iinfo(zero_point.dtype)
    ratio = np.rint(x / spread(scale, x, axis))
    shifted = ratio + spread(zero_point, x, axis).astype(np.float64)
    return np.clip(shifted, bounds.min, bounds.max).astype(zero_point.dtype)


def dequantize_linear(x, scale, zero_point=np.array(0, np.int8), *, axis=1, block_size=0):
    offset = spread(zero_point, x, axis, block_size).astype(np.float64)
    return (x - offset) * spread(scale, x, axis, block_size)


def dynamic_quantize_linear(x):
    low, high = min(x.min(), 0), max(x.max(), 0)
    # Rounded to the type of the output, as that decides which way a half is rounded.
    scale = np.float64(np.float32((high - low) / 255)) if high > low else 1.0
    zero_point = rounded(-low / scale, 0, 255)
    quantized = np.clip(np.rint(x / scale) + zero_point, 0, 255).astype(np.uint8)
    return quantized, np.array(scale), zero_point.astype(np.uint8)


def matmul_integer(a, b, a_zero_point=0, b_zero_point=0):
    """One zero point for all of a; for b one, or one for each column."""
    assert np.ndim(a_zero_point) == 0
    product = (a.astype(np.float64) - a_zero_point) @ (b.astype(np.float64) - b_zero_point)
    return product.astype(np.int64).astype(np.int32)


def matmul_n_bits(a, b, scales, zero_points=None, *, K, N, bits, block_size, accuracy_level=0):
    """a times the transpose of N rows of K weights in 4 bits, quantised by blocks along K."""
    assert bits == 4 and accuracy_level == 0
    halves = np.stack([b & 15, b >> 4], -1).reshape(N, -1, block_size).astype(np.float64)
    blocks = halves.shape[1]
    if zero_points is None:
        offset = 8.0
    else:
        packed = zero_points.reshape(N, -1)
        offset = np.stack([packed & 15, packed >> 4], -1).reshape(N, -1)[:, :blocks, None]
    weights = ((halves - offset) * scales.reshape(N, blocks, 1)).reshape(N, -1)[:, :K]
    return a @ weights.T


KERNELS = {
    "QuantizeLinear": quantize_linear,
    "DequantizeLinear": dequantize_linear,
    "DynamicQuantizeLinear": dynamic_quantize_linear,
    "MatMulInteger": matmul_integer,
    "MatMulNBits": matmul_n_bits,
}
