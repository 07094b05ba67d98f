"""The models that make_models.py can write, by name and by group."""

import dataclasses
from typing import Callable, Optional

from models import (bert, densenet, inception, large, mobilenet, nasnet, resnet, synthetic,
                    tiny_control, tiny_nets, unet)

GROUPS = {
    "tiny": "a few kilobytes each, for tests",
    "full": "real architectures at their real size",
    "synthetic": "N cheap nodes (-n), for the cost per node",
    "large": "more than 2 GB of weights; takes about 10 GB of memory to make",
}


@dataclasses.dataclass(frozen=True)
class Entry:
    group: str
    build: Callable  # its name is the model's
    description: str
    nodes: Optional[int] = None  # default of -n, for models that take a size

    @property
    def name(self):
        return self.build.__name__

    def make(self, n=None):
        return self.build(n or self.nodes) if self.nodes else self.build()


CATALOG = [
    *(Entry("tiny", build, description) for build, description in [
        (tiny_nets.tiny_cnn, "convolution, normalisation, pooling, classifier"),
        (tiny_nets.tiny_mlp, "two fully connected layers and Softmax"),
        (tiny_nets.tiny_residual, "two residual blocks"),
        (bert.tiny_bert, "two-layer encoder, hidden size 32"),
        (tiny_nets.tiny_external, "weights in an external data file"),
        (tiny_nets.tiny_dynamic, "symbolic batch dimension"),
        (tiny_nets.tiny_constants, "weights from Constant and ConstantOfShape nodes"),
        (tiny_control.tiny_if, "an If inside an If"),
        (tiny_control.tiny_loop, "a Loop with early exit and a scan output"),
        (tiny_nets.tiny_two_branches, "two parallel branches, two outputs"),
        (tiny_nets.tiny_diamond, "a fork where a greedy fused claim would make a cycle"),
        (tiny_nets.tiny_quick, "the README's sample: residual network with a channel shuffle"),
    ]),
    Entry("full", resnet.resnet50, "ResNet-50 v1.5, 1x3x224x224"),
    Entry("full", mobilenet.mobilenetv2, "MobileNetV2, 1x3x224x224"),
    Entry("full", bert.bert_base, "12-layer BERT-base encoder, 128 tokens, primitive operators"),
    Entry("full", densenet.densenet121, "DenseNet-121, 1x3x224x224"),
    Entry("full", inception.inception_v3, "Inception v3, 1x3x299x299"),
    Entry("full", nasnet.nasnet_mobile, "NASNet-A mobile, 1x3x224x224"),
    Entry("full", unet.unet, "U-Net, four levels, 1x3x256x256"),
    Entry("large", large.large_mlp, "nine fully connected layers, 2.4 GB of weights in a file"),
    Entry("synthetic", synthetic.empty, "no node, for the cost of a run"),
    Entry("synthetic", synthetic.chain, "N nodes in a row on [1,16]", nodes=10000),
    Entry("synthetic", synthetic.gather, "N-1 readers of one value, summed at once", nodes=10000),
    Entry("synthetic", synthetic.functions, "N calls in a row, each of another function",
          nodes=10000),
    Entry("synthetic", synthetic.fanout, "N/2 readers of one value, summed by a tree", nodes=10000),
]


def select(names):
    """The entries that names of models and groups stand for, in catalog order; for no name all that
    are not large. Raises KeyError with the first unknown name."""
    known = {entry.name for entry in CATALOG} | set(GROUPS)
    for name in names:
        if name not in known:
            raise KeyError(name)
    return [entry for entry in CATALOG
            if entry.name in names or entry.group in names
            or not names and entry.group != "large"]
