"""Attention, RotaryEmbedding, TensorScatter."""

import numpy as np

from operator_cases.case import Case, array, flags, floats, integers, longs

HALF = np.float16


def attention(name, inputs, outputs=1, opset=23, **attributes):
    return Case("Attention", name, inputs, opset, outputs, **attributes)


def heads(batch=2, q_heads=4, kv_heads=4, queries=3, keys=5, size=4, value_size=4, dtype=np.float32):
    """Q, K and V of rank 4."""
    return [floats(batch, q_heads, queries, size, dtype=dtype), floats(batch, kv_heads, keys, size, dtype=dtype),
            floats(batch, kv_heads, keys, value_size, dtype=dtype)]


def flat(batch=2, q_heads=4, kv_heads=4, queries=3, keys=5, size=4, value_size=4):
    """Q, K and V of rank 3."""
    return [floats(batch, queries, q_heads * size), floats(batch, keys, kv_heads * size),
            floats(batch, keys, kv_heads * value_size)]


def past(batch=2, kv_heads=4, length=4, size=4, value_size=4):
    return [floats(batch, kv_heads, length, size), floats(batch, kv_heads, length, value_size)]


def of_both_versions(opset):
    in_three = {"q_num_heads": 4, "kv_num_heads": 4}
    grouped = {"q_num_heads": 4, "kv_num_heads": 2}
    yield attention("4d", heads(), opset=opset)
    yield attention("4d other value size", heads(value_size=6), opset=opset)
    yield attention("4d half", heads(dtype=HALF), opset=opset)
    yield attention("4d causal", heads(), opset=opset, is_causal=1)
    yield attention("4d causal of square", heads(queries=5), opset=opset, is_causal=1)
    yield attention("4d causal more queries", heads(queries=7), opset=opset, is_causal=1)
    yield attention("4d scaled", heads(), opset=opset, scale=0.3)
    yield attention("4d softcap", heads(), opset=opset, softcap=2.0)
    yield attention("4d softcap mask", [*heads(), floats(3, 5)], opset=opset, softcap=0.5)
    yield attention("4d grouped", heads(kv_heads=2), opset=opset)
    yield attention("4d of one kv head", heads(kv_heads=1), opset=opset)
    yield attention("3d", flat(), opset=opset, **in_three)
    yield attention("3d other value size", flat(value_size=6), opset=opset, **in_three)
    yield attention("3d grouped", flat(kv_heads=2), opset=opset, **grouped)
    yield attention("3d grouped causal", flat(kv_heads=2), opset=opset, is_causal=1, **grouped)
    yield attention("3d softcap scaled", flat(), opset=opset, softcap=3.0, scale=0.5, **in_three)
    for name, mask in (("2d", (3, 5)), ("3d", (4, 3, 5)), ("4d", (2, 4, 3, 5)), ("4d one head", (2, 1, 3, 5)),
                       ("one query", (1, 5))):
        yield attention(f"4d mask {name}", [*heads(), floats(*mask)], opset=opset)
        yield attention(f"4d flags {name}", [*heads(), flags(*mask)], opset=opset)
    yield attention("4d mask causal", [*heads(), floats(3, 5)], opset=opset, is_causal=1)
    yield attention("3d mask", [*flat(), floats(2, 1, 3, 5)], opset=opset, **in_three)
    yield attention("4d row of no flags", [*heads(), array([[1, 0, 1, 1, 0], [0] * 5, [1] * 5], bool)], opset=opset)
    yield attention("4d past", [*heads(), None, *past()], 3, opset)
    yield attention("4d past causal", [*heads(), None, *past()], 3, opset, is_causal=1)
    yield attention("4d past mask", [*heads(), floats(3, 9), *past()], 3, opset)
    yield attention("4d past mask causal", [*heads(), floats(3, 9), *past()], 3, opset, is_causal=1)
    yield attention("4d past grouped", [*heads(kv_heads=2), None, *past(kv_heads=2)], 3, opset)
    yield attention("3d past", [*flat(), None, *past()], 3, opset, **in_three)
    yield attention("3d past grouped mask", [*flat(kv_heads=2, value_size=6), floats(2, 4, 3, 9),
                                             *past(kv_heads=2, value_size=6)], 3, opset, **grouped)
    yield attention("4d present only", heads(), 3, opset)
    for mode in range(4):
        full = [*heads(), floats(3, 5)]
        yield attention(f"4d product mode {mode}", full, [None, False, False, None], opset,
                        qk_matmul_output_mode=mode, softcap=2.0)
        yield attention(f"3d product mode {mode} past", [*flat(), floats(3, 9), *past()], 4, opset,
                        qk_matmul_output_mode=mode, is_causal=1, **in_three)
    yield attention("4d softmax in double", heads(), opset=opset, softmax_precision=11)
    yield attention("4d half softmax in float", heads(dtype=HALF), opset=opset, softmax_precision=1)
    yield attention("4d one query", heads(queries=1), opset=opset, is_causal=1)
    yield attention("4d no query", heads(queries=0), opset=opset)


def cases():
    yield from of_both_versions(23)
    yield from of_both_versions(24)
    for name, attributes in (("", {}), (" causal", {"is_causal": 1})):
        yield attention("4d valid lengths" + name, [*heads(), None, None, None, longs(4, 5)], 1, 24, **attributes)
        yield attention("4d grouped valid lengths" + name, [*heads(kv_heads=2), None, None, None, longs(3, 5)], 1, 24,
                        **attributes)
        yield attention("4d square valid lengths" + name, [*heads(queries=5), None, None, None, longs(4, 5)], 1, 24,
                        **attributes)
    yield attention("4d valid lengths mask", [*heads(), floats(3, 5), None, None, longs(4, 2)], 1, 24)
    yield attention("4d short mask", [*heads(), floats(3, 4)], 1, 24)
    yield attention("4d short flags", [*heads(), flags(3, 4)], 1, 24)
    yield from rotary()
    yield from scattered()


def rotary():
    def case(name, inputs, **attributes):
        return Case("RotaryEmbedding", name, inputs, 23, **attributes)

    caches = [floats(50, 4), floats(50, 4)]
    positions = integers(2, 3, high=50)
    for interleaved in (0, 1):
        given = {"interleaved": interleaved}
        yield case(f"4d {interleaved}", [floats(2, 3, 3, 8), *caches, positions], **given)
        yield case(f"4d part {interleaved}", [floats(2, 3, 3, 12), *caches, positions], rotary_embedding_dim=8, **given)
        yield case(f"4d no positions {interleaved}", [floats(2, 3, 3, 8), floats(2, 3, 4), floats(2, 3, 4)], **given)
        yield case(f"3d {interleaved}", [floats(2, 3, 24), *caches, positions], num_heads=3, **given)
        yield case(f"3d part {interleaved}", [floats(2, 3, 36), *caches, positions], num_heads=3,
                   rotary_embedding_dim=8, **given)
        yield case(f"3d no positions {interleaved}", [floats(2, 3, 24), floats(2, 3, 4), floats(2, 3, 4)], num_heads=3,
                   **given)
        yield case(f"half {interleaved}", [floats(2, 3, 3, 8, dtype=HALF), floats(50, 4, dtype=HALF),
                                           floats(50, 4, dtype=HALF), positions], **given)
    yield case("position out of range", [floats(1, 2, 1, 8), *caches, array([[50]], np.int64)],
               is_valid=False)


def scattered():
    def case(name, inputs, **attributes):
        return Case("TensorScatter", name, inputs, 24, **attributes)

    for mode in ("linear", "circular"):
        yield case(f"4d {mode}", [floats(2, 3, 6, 4), floats(2, 3, 2, 4), longs(1, 4)], mode=mode)
        yield case(f"axis 1 {mode}", [floats(2, 6, 3), floats(2, 2, 3), longs(0, 3)], mode=mode, axis=1)
        yield case(f"no indices {mode}", [floats(2, 6, 3), floats(2, 2, 3)], mode=mode)
        yield case(f"integers {mode}", [integers(2, 6, 3), integers(2, 2, 3), longs(2, 2)], mode=mode)
    yield case("default", [floats(2, 6, 3), floats(2, 2, 3), longs(1, 4)])
    yield case("last axis", [floats(3, 6), floats(3, 2), longs(1, 2, 3)], axis=-1)
    yield case("circular wraps", [floats(2, 4, 3), floats(2, 3, 3), longs(2, 3)], mode="circular")
    yield case("half", [floats(2, 4, 3, dtype=HALF), floats(2, 3, 3, dtype=HALF), longs(1, 0)])
    yield case("linear out of range", [floats(2, 4, 3), floats(2, 3, 3), longs(1, 2)], is_valid=False)
    yield case("bytes", [integers(2, 4, 3, dtype=np.uint8), integers(2, 1, 3, dtype=np.uint8), longs(1, 2)])
