"""RNN, GRU and LSTM."""

import itertools

import numpy as np

from operator_cases.case import Case, array, floats

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
ACTIVATIONS = (("Relu", None, None), ("Tanh", None, None), ("Sigmoid", None, None), ("Affine", 0.8, 0.1),
               ("LeakyRelu", 0.1, None), ("ThresholdedRelu", 0.3, None), ("ScaledTanh", 0.9, 0.7),
               ("HardSigmoid", 0.3, 0.4), ("Elu", 0.9, None), ("Softsign", None, None), ("Softplus", None, None))
STEPS, BATCH, SIZE, HIDDEN = 4, 3, 5, 4


def network(op_type, name, opset=22, directions=1, batch_first=0, bias=True, lengths=None, initial=False,
            peepholes=False,
            **attributes):
    def row(steps, *rest):
        return floats(BATCH, steps, *rest, low=-1, high=1) if batch_first else floats(steps, BATCH, *rest, low=-1,
                                                                                      high=1)

    rows = GATES[op_type] * HIDDEN
    inputs = [row(STEPS, SIZE), floats(directions, rows, SIZE, low=-1, high=1),
              floats(directions, rows, HIDDEN, low=-1, high=1),
              floats(directions, 2 * rows, low=-1, high=1) if bias else None,
              None if lengths is None else array(lengths, np.int32)]
    states = GATES[op_type] // 2 if initial else 0  # LSTM: two
    inputs += [row(directions, HIDDEN) for _ in range(min(states, 1) if op_type != "LSTM" else states)]
    if initial and op_type == "RNN":
        inputs.append(row(directions, HIDDEN))
    if peepholes:
        inputs += [None] * (7 - len(inputs)) + [floats(directions, 3 * HIDDEN, low=-1, high=1)]
    return Case(op_type, name, inputs, opset, 3 if op_type == "LSTM" else 2, hidden_size=HIDDEN,
                layout=batch_first or None,
                **attributes)


def cases():
    for op_type in GATES:
        for direction, initial, lengths in itertools.product(("forward", "reverse", "bidirectional"), (False, True),
                                                             (None, [4, 2, 3])):
            both = direction == "bidirectional"
            yield network(op_type, f"{direction} {int(initial)} {int(lengths is not None)}", directions=1 + both,
                          direction=direction, initial=initial, lengths=lengths)
        yield network(op_type, "no bias", bias=False)
        yield network(op_type, "opset 14", 14)
        yield network(op_type, "length 0", lengths=[0, 4, 1])
        yield network(op_type, "batch first", batch_first=1)
        yield network(op_type, "batch first both", batch_first=1, directions=2, direction="bidirectional", initial=True)
        for clip in (0.1, 0.5):
            yield network(op_type, f"clip {clip}", clip=clip)
        count = FUNCTIONS[op_type]
        for i, (function, alpha, beta) in enumerate(ACTIVATIONS):
            chosen = [ACTIVATIONS[(i + k) % len(ACTIVATIONS)] for k in range(count)]
            yield network(op_type, f"{function} first", activations=[each[0] for each in chosen],
                          activation_alpha=[each[1] for each in chosen if each[1] is not None] or None,
                          activation_beta=[each[2] for each in chosen if each[2] is not None] or None)
    for clip, both in itertools.product((None, 0.3), (False, True)):
        yield network("GRU", f"linear before reset {clip or 'no clip'} {int(both)}", linear_before_reset=1, clip=clip,
                      directions=1 + both, direction="bidirectional" if both else "forward")
        yield network("LSTM", f"peepholes {clip or 'no clip'} {int(both)}", peepholes=True, clip=clip, initial=True,
                      directions=1 + both, direction="bidirectional" if both else "forward")
    yield network("LSTM", "input forget", input_forget=1)
    yield network("LSTM", "input forget peepholes", input_forget=1, peepholes=True)
