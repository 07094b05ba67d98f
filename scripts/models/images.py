"""The picture that goes into a convolutional network and the class scores that come out of it."""

from models import tensors
from models.builder import Model

CLASSES = 1000
OPEN_BATCH = ("batch",)
OPEN_SHAPE = ("batch", "height", "width")
OTHER_SIZE = (2, 3, 160, 192)  # what the test data of an open model tries beside one full picture


def image_input(g, size, open_extents=()):
    """The NCHW input of a network. The extents named in open_extents have no fixed size."""
    extents = dict(batch=1, channels=3, height=size, width=size)
    shape = [name if name in open_extents else extent for name, extent in extents.items()]
    return g.input("input", shape)


def classified(g, scores, size, open_extents=()):
    """The finished model with its class scores as the output, and seeded pictures as test data."""
    g.output(scores, ["batch" if "batch" in open_extents else 1, CLASSES])
    shapes = [(1, 3, size, size)]
    if open_extents:
        batch, channels, *other = OTHER_SIZE
        shapes.append((batch, channels, *(other if "height" in open_extents else [size, size])))
    name = g.graph.name
    names = [f"{name}.input", f"{name}.input1"]
    return Model(g.model(), [{"input": tensors.image(n, s)} for n, s in zip(names, shapes)])
