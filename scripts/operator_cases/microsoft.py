"""Operators of com.microsoft, and SimplifiedLayerNormalization, which ONNX Runtime keeps in ONNX's domain."""

import numpy as np

from operator_cases import messages
from operator_cases.case import Case, array, floats, integers

UINT8, INT8, INT32 = np.uint8, np.int8, np.int32


def case(op_type, name, inputs, outputs=1, **given):
    return Case(op_type, name, inputs, 17, outputs, domain="com.microsoft", version=1, **given)


def bytes_of(dtype, *shape):
    info = np.iinfo(dtype)
    return integers(*shape, low=info.min, high=info.max + 1, dtype=dtype)


def quantized(dtype, scale, zero_point):
    """A scale and a zero point."""
    return [array(scale), array(zero_point, dtype)]


def cases():
    yield from elementwise()
    yield from pools()
    yield from integer_products()
    yield from block_products()
    yield from fused_products()
    yield from gelus()
    yield from normalizations()
    yield from attentions()
    yield from multi_head_attentions()
    yield from grouped_attentions()
    yield from rotary_embeddings()
    yield from experts()
    yield from images()
    yield from matrices()


TYPES = ((UINT8, 100, 120, 133), (INT8, -7, 5, 11))


def elementwise():
    for dtype, first, second, third in TYPES:
        kind = np.dtype(dtype).name
        for op_type, scale in (("QLinearAdd", 0.0511), ("QLinearMul", 0.0811)):
            for name, a, b in (("same", (2, 3, 35), (2, 3, 35)), ("row", (4, 17), (17,)), ("scalar", (67,), ()),
                               ("both", (5, 1, 6), (1, 3, 6))):
                yield case(op_type, f"{kind} {name}",
                           [bytes_of(dtype, *a), *quantized(dtype, 0.0317, first), bytes_of(dtype, *b),
                            *quantized(dtype, 0.0203, second), *quantized(dtype, scale, third)])
        for axis in (0, 1, -1):
            shapes = [[2, 3, 4], [2, 3, 4], [2, 3, 4]]
            for extent, shape in enumerate(shapes):
                shape[axis] += extent
            inputs = [*quantized(dtype, 0.0413, third)]
            for scale, zero_point, shape in zip((0.0413, 0.0317, 0.0511), (third, first, second), shapes):
                inputs += [bytes_of(dtype, *shape), *quantized(dtype, scale, zero_point)]
            yield case("QLinearConcat", f"{kind} {axis}", inputs, constant=(0, 1, 3, 4, 6, 7, 9, 10), axis=axis)
        unary = [bytes_of(dtype, 3, 50), *quantized(dtype, 0.0413, first)]
        of_unit = quantized(dtype, 1 / 256, 0 if dtype == UINT8 else -128)
        yield case("QLinearSigmoid", kind, unary + of_unit, constant=(1, 2, 3, 4))
        yield case("QLinearLeakyRelu", kind, unary + quantized(dtype, 0.0353, second), constant=(1, 2, 3, 4), alpha=0.2)
        for axis, opset in ((-1, 13), (1, 13), (1, 11)):
            softmax = case("QLinearSoftmax", f"{kind} {axis} {opset}",
                           [bytes_of(dtype, 2, 7, 5), *quantized(dtype, 0.0317, first), *of_unit],
                           constant=(1, 2, 3, 4), axis=axis)
            softmax.attributes["opset"] = opset
            yield softmax


def pools():
    for dtype, first, second, _ in TYPES:
        kind = np.dtype(dtype).name
        scales = [*quantized(dtype, 0.0317, first), *quantized(dtype, 0.0203, second)]
        for channels_last, shape in ((0, (2, 5, 6, 7)), (1, (2, 6, 7, 5))):
            yield case("QLinearGlobalAveragePool", f"{kind} {channels_last}", [bytes_of(dtype, *shape), *scales],
                       channels_last=channels_last)
            for name, given in (("plain", {}), ("strides", {"strides": [2, 1]}),
                                ("pads", {"pads": [1, 0, 1, 2], "count_include_pad": 0}),
                                ("pads counted", {"pads": [1, 0, 1, 2], "count_include_pad": 1}),
                                ("ceil", {"strides": [2, 2], "ceil_mode": 1})):
                yield case("QLinearAveragePool", f"{kind} {channels_last} {name}", [bytes_of(dtype, *shape), *scales],
                           kernel_shape=[2, 3], channels_last=channels_last, **given)
        for name, given in (("plain", {}), ("strides", {"strides": [2, 2]}), ("pads", {"pads": [1, 0, 1, 2]}),
                            ("dilations", {"dilations": [2, 2]}), ("same", {"auto_pad": "SAME_UPPER"})):
            yield case("NhwcMaxPool", f"{kind} {name}", [bytes_of(dtype, 2, 8, 9, 5)], kernel_shape=[2, 3], **given)


def integer_products():
    for a_type, b_type in ((UINT8, INT8), (UINT8, UINT8), (INT8, INT8)):
        kind = f"{np.dtype(a_type).name} {np.dtype(b_type).name}"
        a_zero, b_zero = (91 if a_type == UINT8 else -9), (7 if b_type == INT8 else 120)
        for name, a, b in (("row", (1, 40), (40, 24)), ("matrix", (5, 37), (37, 19)), ("batch", (2, 3, 4, 8), (8, 6)),
                           ("batches", (2, 3, 4, 8), (3, 8, 6))):
            scales = [array(0.03), array(0.02)]
            yield case("MatMulIntegerToFloat", f"{kind} {name}",
                       [bytes_of(a_type, *a), bytes_of(b_type, *b), *scales, array(a_zero, a_type),
                        array(b_zero, b_type)], constant=(1,) if len(b) == 2 else ())
        columns = [array(0.03), floats(19, low=0.01, high=0.03)]
        yield case("MatMulIntegerToFloat", f"{kind} columns",
                   [bytes_of(a_type, 5, 37), bytes_of(b_type, 37, 19), *columns, array(a_zero, a_type),
                    integers(19, high=5, dtype=b_type), floats(19)], constant=(1, 3, 5, 6))
        yield case("MatMulIntegerToFloat", f"{kind} no zero points",
                   [bytes_of(a_type, 5, 37), bytes_of(b_type, 37, 19), *columns], constant=(1, 3))
        for transposed in ((0, 0), (1, 0), (0, 1), (1, 1)):
            a = (13, 6) if transposed[0] else (6, 13)
            b = (9, 13) if transposed[1] else (13, 9)
            inputs = [bytes_of(a_type, *a), array(0.02), array(a_zero, a_type), bytes_of(b_type, *b), array(0.01),
                      array(b_zero, b_type), integers(9, low=-500, high=500, dtype=INT32)]
            given = {"transA": transposed[0], "transB": transposed[1], "alpha": 1.5, "constant": (1, 2, 3, 4, 5, 6, 7, 8)}
            name = f"{kind} {transposed[0]} {transposed[1]}"
            yield case("QGemm", name, inputs, **given)
            yield case("QGemm", f"{name} quantized", [*inputs, array(0.1), array(a_zero, a_type)], **given)
        per_column = [bytes_of(a_type, 6, 13), array(0.02), array(a_zero, a_type), bytes_of(b_type, 13, 9),
                      floats(9, low=0.01, high=0.03), np.full(9, b_zero, b_type)]
        yield case("QGemm", f"{kind} columns", [*per_column, None, array(0.1), array(a_zero, a_type)],
                   constant=(1, 2, 3, 4, 5, 7, 8))
    for b_type, b_zero in ((INT8, 3), (UINT8, 130)):
        kind = np.dtype(b_type).name
        yield case("DynamicQuantizeMatMul", f"{kind}", [floats(7, 40), bytes_of(b_type, 40, 24), array(0.02),
                                                        array(b_zero, b_type)], constant=(1, 2, 3))
        yield case("DynamicQuantizeMatMul", f"{kind} columns bias",
                   [floats(2, 7, 40), bytes_of(b_type, 40, 24), floats(24, low=0.01, high=0.03),
                    np.full(24, b_zero, b_type), floats(24)], constant=(1, 2, 3, 4))
        yield case("DynamicQuantizeMatMul", f"{kind} no zero point",
                   [floats(1, 64), bytes_of(b_type, 64, 48), array(0.02)], constant=(1, 2))


def block_products():
    def product(name, rows, k, n, block, bits=4, zero_points=None, bias=False, **given):
        blocks = (k + block - 1) // block
        inputs = [floats(*rows, k), bytes_of(UINT8, n, blocks, block * bits // 8),
                  floats(n * blocks, low=0.01, high=0.05)]
        if zero_points == "packed":
            inputs.append(bytes_of(UINT8, n * ((blocks * bits + 7) // 8)))
        elif zero_points == "floats":
            inputs.append(floats(n * blocks, low=6, high=10))
        if bias:
            inputs += [None] * (5 - len(inputs)) + [floats(n)]
        return case("MatMulNBits", name, inputs, constant=(1, 2, 3, 5), K=k, N=n, bits=bits, block_size=block, **given)

    for rows in ((1,), (3,), (2, 17)):
        text = " ".join(map(str, rows))
        yield product(f"{text}", rows, 64, 24, 32)
        yield product(f"{text} zero points", rows, 64, 24, 32, zero_points="packed")
        yield product(f"{text} ragged", rows, 75, 19, 16, zero_points="packed")
        yield product(f"{text} bias", rows, 128, 33, 64, bias=True)
        yield product(f"{text} 8 bits", rows, 64, 24, 32, bits=8)
    yield product("float zero points", (2,), 64, 24, 32, zero_points="floats")
    yield product("one block", (2,), 100, 8, 128)


CONV = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}


def fused_products():
    for activation, parameters in (("Relu", None), ("Sigmoid", None), ("Tanh", None), ("LeakyRelu", [0.2]),
                                   ("Clip", [-0.5, 0.75]), ("HardSigmoid", [0.3, 0.4])):
        given = {"activation": activation, **CONV, **({"activation_params": parameters} if parameters else {})}
        image, weights, bias = floats(1, 4, 9, 10), floats(6, 4, 3, 3), floats(6)
        yield case("FusedConv", activation, [image, weights, bias], constant=(1, 2), **given)
        yield case("FusedConv", f"{activation} sum", [image, weights, bias, floats(1, 6, 9, 10)], constant=(1, 2),
                   **given)
        if activation != "Clip":
            scalars = {f"activation_{name}": value for name, value in zip(("alpha", "beta"), parameters or ())}
            yield case("FusedGemm", activation, [floats(5, 8), floats(8, 7), floats(7)], activation=activation,
                       **scalars)
    yield case("FusedConv", "groups", [floats(2, 6, 8, 8), floats(6, 1, 3, 3)], constant=(1,), group=6,
               activation="Relu", strides=[2, 2], **CONV)
    for a, b in ((0, 0), (1, 0), (0, 1), (1, 1)):
        yield case("FusedMatMul", f"{a} {b}", [floats(*((2, 6, 5) if a else (2, 5, 6))),
                                               floats(*((2, 7, 6) if b else (2, 6, 7)))], transA=a, transB=b, alpha=0.3)
        yield case("FusedGemm", f"{a} {b}", [floats(*((6, 5) if a else (5, 6))), floats(*((7, 6) if b else (6, 7))),
                                             floats(5, 1)], transA=a, transB=b, alpha=0.3, beta=2.0, activation="Relu")
    yield case("FusedMatMul", "batch of a", [floats(5, 2, 6), floats(2, 6, 7)], transBatchA=1)
    yield case("FusedMatMul", "batch of b", [floats(2, 5, 6), floats(6, 2, 7)], transBatchB=1)
    yield case("FusedMatMul", "both batches", [floats(6, 2, 5), floats(7, 2, 6)], transBatchA=1, transBatchB=1,
               transA=1, transB=1)
    yield case("FusedMatMul", "broadcast", [floats(3, 1, 5, 6), floats(4, 6, 7)], alpha=2.0)
    yield case("NhwcFusedConv", "plain", [floats(1, 7, 8, 4), floats(6, 4, 3, 3), floats(6)], activation="Relu", **CONV)
    yield case("NhwcConv", "plain", [floats(1, 7, 8, 4), floats(6, 4, 3, 3), floats(6)], **CONV)


def gelus():
    for name, shape in (("row", (67,)), ("cube", (2, 3, 9))):
        x, bias = floats(*shape, low=-5.0, high=5.0), floats(shape[-1])
        yield case("Gelu", name, [x])
        yield case("FastGelu", name, [x])
        yield case("FastGelu", f"{name} bias", [x, bias])
        yield case("BiasGelu", name, [x, bias])
        yield case("QuickGelu", name, [x])
        yield case("QuickGelu", f"{name} alpha", [x], alpha=1.2)


def normalizations():
    for batch, name in (((2, 3), "batch"), ((7,), "rows")):
        x, skip, gamma, beta, bias = floats(*batch, 20), floats(*batch, 20), floats(20), floats(20), floats(20)
        for given in ({}, {"epsilon": 1e-3}):
            text = f"{name} {given.get('epsilon', '')}"
            yield case("SkipLayerNormalization", text, [x, skip, gamma, beta, bias], [None, False, False, None], **given)
            yield case("SkipSimplifiedLayerNormalization", text, [x, skip, gamma, bias], [None, False, False, None],
                       **given)
        yield case("SkipLayerNormalization", f"{name} no beta", [x, skip, gamma])
        yield case("SkipLayerNormalization", f"{name} no bias", [x, skip, gamma, beta])
        yield case("SkipSimplifiedLayerNormalization", f"{name} no bias", [x, skip, gamma])
        yield Case("SimplifiedLayerNormalization", name, [x, gamma], 17, 2, version=17, axis=-1, epsilon=1e-4,
                   stash_type=1)
    yield case("SkipLayerNormalization", "skip broadcasts", [floats(4, 3, 20), floats(3, 20), floats(20), floats(20)])
    yield case("SkipLayerNormalization", "skip of one batch",
               [floats(4, 3, 20), floats(1, 3, 20), floats(20), floats(20)])
    words = [floats(11, 16), floats(8, 16), floats(2, 16), floats(16), floats(16)]
    ids, segments = integers(2, 6, high=11, dtype=INT32), integers(2, 6, high=2, dtype=INT32)
    mask = np.array([[1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1]], INT32)
    yield case("EmbedLayerNormalization", "segments", [ids, segments, *words], 2, mask_index_type=0)
    yield case("EmbedLayerNormalization", "mask", [ids, segments, *words, mask], 2)
    yield case("EmbedLayerNormalization", "sum", [ids, segments, *words], [None, None, None], mask_index_type=0)
    yield case("EmbedLayerNormalization", "no segments", [ids, None, *words[:2], None, *words[3:]], 2,
               mask_index_type=0)
    yield case("EmbedLayerNormalization", "positions",
               [ids, segments, *words, None, integers(2, 6, high=8, dtype=INT32)], 2, mask_index_type=0)


def attentions():
    hidden, heads = 24, 4
    base = [floats(2, 5, 16), floats(16, 3 * hidden), floats(3 * hidden)]
    past = floats(2, 2, heads, 3, hidden // heads)

    def attention(name, inputs, outputs=1, **given):
        return case("Attention", name, inputs, outputs, constant=(1, 2), num_heads=heads, **given)

    yield attention("plain", base)
    yield attention("no bias", base[:2])
    yield attention("causal", base, unidirectional=1)
    yield attention("scaled", base, scale=0.4)
    yield attention("key lengths", [*base, np.array([3, 5], INT32)])
    yield attention("ends and starts", [*base, np.array([4, 5, 1, 0], INT32)])
    yield attention("mask of keys", [*base, np.array([[1, 1, 0, 1, 1], [1, 1, 1, 0, 0]], INT32)])
    yield attention("mask of all", [*base, integers(2, 5, 5, high=2, dtype=INT32)], mask_filter_value=-5000.0)
    yield attention("past", [*base, None, past], 2)
    yield attention("past causal", [*base, None, past], 2, unidirectional=1)
    yield attention("past mask", [*base, np.array([[1] * 8, [0, 0] + [1] * 6], INT32), past], 2)
    yield attention("bias of products", [*base, None, None, floats(2, heads, 5, 5)])
    yield attention("bias of one batch", [*base, None, None, floats(1, heads, 5, 5)])
    yield attention("other value size", [floats(2, 5, 16), floats(16, 2 * hidden + 16), floats(2 * hidden + 16)],
                    qkv_hidden_sizes=[hidden, hidden, 16])


def multi_head_attentions():
    def attention(name, inputs, outputs=1, **given):
        return case("MultiHeadAttention", name, inputs, outputs, num_heads=4, **given)

    query, key, value = floats(2, 5, 24), floats(2, 7, 24), floats(2, 7, 24)
    four = [floats(2, 4, 7, 6), floats(2, 4, 7, 6)]
    yield attention("plain", [query, key, value])
    yield attention("bias", [query, key, value, floats(72)])
    yield attention("scaled", [query, key, value], scale=0.2)
    yield attention("causal", [query, floats(2, 5, 24), floats(2, 5, 24)], unidirectional=1)
    yield attention("key lengths", [query, key, value, None, np.array([4, 7], INT32)])
    yield attention("key mask", [query, key, value, None, np.array([[1] * 5 + [0] * 2, [0] + [1] * 6], INT32)])
    yield attention("bias of products", [query, key, value, None, None, floats(2, 4, 5, 7)])
    yield attention("bias of one", [query, key, value, None, None, floats(1, 1, 5, 7)])
    yield attention("keys of heads", [query, *four])
    yield attention("other value size", [query, key, floats(2, 7, 32)])
    yield attention("past", [query, floats(2, 5, 24), floats(2, 5, 24), None, None, None, *four], 3)
    yield attention("past bias", [query, floats(2, 5, 24), floats(2, 5, 24), floats(72), None, None, *four], 3)
    yield attention("present", [query, key, value], 3)
    yield attention("packed keys", [query, floats(2, 7, 4, 2, 6)])
    yield attention("packed all", [floats(2, 5, 4, 3, 6)])


def grouped_attentions():
    size = 16

    def attention(name, inputs, length, total, past=None, **given):
        inputs = list(inputs) + (past or [None, None]) + [np.array(length, INT32), np.array(total, INT32)]
        inputs += given.pop("caches", [])
        return case("GroupQueryAttention", name, inputs, 3, constant=given.pop("constant", ()), num_heads=4,
                    kv_num_heads=2, **given)

    def factors(sequence):
        return [floats(2, sequence, 4 * size), floats(2, sequence, 2 * size), floats(2, sequence, 2 * size)]

    cached = [floats(2, 2, 6, size), floats(2, 2, 6, size)]
    angles = [floats(16, size // 2, low=-1.0, high=1.0), floats(16, size // 2, low=-1.0, high=1.0)]
    yield attention("prompt", factors(5), [4, 4], 5)
    yield attention("prompts of two lengths", factors(5), [2, 4], 5)
    yield attention("scaled", factors(5), [4, 4], 5, scale=0.3)
    yield attention("softcap", factors(5), [4, 4], 5, softcap=1.5)
    yield attention("step", factors(1), [6, 6], 7, cached)
    for window in (1, 3, 9):
        yield attention(f"window of {window}", factors(5), [4, 4], 5, local_window_size=window)
        yield attention(f"step window of {window}", factors(1), [6, 6], 7, cached, local_window_size=window)
    yield attention("packed", [floats(2, 5, 8 * size), None, None], [4, 4], 5)
    for interleaved in (0, 1):
        rotary = {"do_rotary": 1, "rotary_interleaved": interleaved, "caches": angles}
        yield attention(f"rotary prompt {interleaved}", factors(5), [4, 4], 5, **rotary)
        yield attention(f"rotary step {interleaved}", factors(1), [6, 6], 7, cached, **rotary)


def rotary_embeddings():
    angles = [floats(9, 4, low=-1.0, high=1.0), floats(9, 4, low=-1.0, high=1.0)]
    positions = integers(2, 3, high=9)
    for interleaved in (0, 1):
        given = {"interleaved": interleaved}
        yield case("RotaryEmbedding", f"rows {interleaved}", [floats(2, 3, 32), positions, *angles], **given)
        yield case("RotaryEmbedding", f"heads {interleaved}", [floats(2, 5, 3, 8), positions, *angles], **given)
        yield case("RotaryEmbedding", f"offset {interleaved}", [floats(2, 3, 32), np.array([4], np.int64), *angles],
                   **given)
        yield case("RotaryEmbedding", f"part {interleaved}", [floats(2, 3, 32), positions, *angles], num_heads=2,
                   rotary_embedding_dim=8, **given)


def experts():
    hidden, inner, count = 12, 10, 5
    for activation in ("relu", "gelu", "silu", "identity", "swiglu"):
        first = inner * (2 if activation == "swiglu" else 1)
        weights = [floats(count, first, hidden), floats(count, hidden, inner)]
        biases = [floats(count, first), floats(count, hidden)]
        given = {"activation_type": activation, "constant": (2, 3, 4, 5)}
        if activation == "swiglu":
            given |= {"swiglu_fusion": 1, "activation_alpha": 1.702, "activation_beta": 1.0, "swiglu_limit": 7.0}
        for k, normalizes in ((1, 0), (2, 0), (3, 1)):
            x, router = floats(2, 8, hidden), floats(16, count)
            name = f"{activation} {k} {normalizes}"
            yield case("MoE", name, [x, router, weights[0], None, weights[1]], k=k,
                       normalize_routing_weights=normalizes, **given)
            yield case("MoE", f"{name} biases", [x, router, weights[0], biases[0], weights[1], biases[1]], k=k,
                       normalize_routing_weights=normalizes, **given)
    yield case("MoE", "rows", [floats(7, hidden), floats(7, count), floats(count, inner, hidden), None,
                               floats(count, hidden, inner)], k=2)
    yield case("MoE", "gated", [floats(7, hidden), floats(7, count), floats(count, inner, hidden), None,
                                floats(count, hidden, inner), None, floats(count, inner, hidden)], k=2,
               activation_type="silu")


def images():
    image = floats(2, 3, 5, 6)
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            for corners in (0, 1):
                yield case("GridSample", f"{mode} {padding} {corners}", [image, floats(2, 4, 7, 2, low=-1.3, high=1.3)],
                           mode=mode, padding_mode=padding, align_corners=corners)
    for name, pads, given in (("plain", [0, 0, 0, 0], {}), ("strides", [1, 0, 1, 2], {"strides": [2, 3]}),
                              ("dilations", [1, 1, 0, 0], {"dilations": [2, 1]})):
        yield case("ConvTransposeWithDynamicPads", name,
                   [image, floats(3, 4, 3, 3), np.array(pads, np.int64), floats(4)], **given)
    for channels_last, shape in ((0, (2, 6, 4, 5)), (1, (2, 4, 5, 6))):
        for activation in (0, 1):
            yield case("GroupNorm", f"{channels_last} {activation}", [floats(*shape), floats(6), floats(6)], groups=3,
                       activation=activation, channels_last=channels_last)


def matrices():
    for upper in (0, 1):
        for k in (-2, 0, 3):
            yield case("Trilu", f"{upper} {k}", [floats(2, 4, 6), array(k, np.int64)], upper=upper)
    yield case("Trilu", "no k", [integers(5, 4)])
    for shape in ((4, 4), (2, 3, 5, 5), (1, 1)):
        yield case("Inverse", "x".join(map(str, shape)), [floats(*shape)])
    yield SparseCase("SparseToDenseMatMul", "alpha", [sparse(np.float32, 6, 4), floats(4, 5)], 17,
                     domain="com.microsoft", version=1, constant=(0,), alpha=0.5)


def sparse(dtype, rows, columns):
    numbers = np.arange(rows * columns).reshape(rows, columns)
    return np.where(numbers % 3 == 1, numbers + 1, 0).astype(dtype)


class SparseCase(Case):
    """The first input is an initializer in COO form, of which ONNX Runtime makes a dense one and refuses it."""

    def model(self):
        made = super().model()
        dense = next(one for one in made.graph.initializer if one.name == "x0")
        made.graph.initializer.remove(dense)
        at = np.flatnonzero(self.inputs[0]).astype(np.int64)
        stored = made.graph.sparse_initializer.add(dims=self.inputs[0].shape)
        stored.values.CopyFrom(messages.message_of(self.inputs[0].flatten()[at], "x0"))
        stored.indices.CopyFrom(messages.message_of(at, "x0_indices"))
        return made
