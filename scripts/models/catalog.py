"""The models that make_models.py can write, by name and by group."""

import dataclasses
from typing import Callable, Optional

from models import (bert, decoder, densenet, forms, inception, inception_v2, large, mobilenet,
                    nasnet, resnet, shufflenet, squeezenet, synthetic, tiny_control, tiny_nets,
                    unet, vgg)

GROUPS = {
    "tiny": "a few kilobytes each, for tests",
    "full": "real architectures at their real size",
    "open": "the same with a batch, and where they can take it a size, that is not fixed",
    "quantized": "8-bit and 4-bit forms of other models",
    "synthetic": "N cheap nodes (-n), for the cost per node",
    "large": "more than 2 GB of weights; takes about 10 GB of memory to make",
}
BY_DEFAULT = ("tiny", "full", "synthetic")


@dataclasses.dataclass(frozen=True)
class Entry:
    group: str
    build: Callable  # its name is the model's, before the form
    description: str
    nodes: Optional[int] = None  # default of -n, for models that take a size
    form: Optional[str] = None  # of forms.FORMS

    @property
    def name(self):
        return f"{self.build.__name__}_{self.form}" if self.form else self.build.__name__

    def make(self, n=None):
        model = self.build(n or self.nodes) if self.nodes else self.build()
        return forms.convert(model, self.form) if self.form else model


def quantized(build, *names):
    return [Entry("quantized", build, forms.FORMS[form][1], form=form) for form in names]


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
        (decoder.tiny_decoder, "two-layer decoder with a cache, hidden size 32, open extents"),
        (tiny_nets.tiny_quick, "the README's sample: residual network with a channel shuffle"),
    ]),
    Entry("full", resnet.resnet50, "ResNet-50 v1.5, 1x3x224x224"),
    Entry("full", mobilenet.mobilenetv2, "MobileNetV2, 1x3x224x224"),
    Entry("full", bert.bert_base, "12-layer BERT-base encoder, 128 tokens, primitive operators"),
    Entry("full", densenet.densenet121, "DenseNet-121, 1x3x224x224"),
    Entry("full", inception.inception_v3, "Inception v3, 1x3x299x299"),
    Entry("full", nasnet.nasnet_mobile, "NASNet-A mobile, 1x3x224x224"),
    Entry("full", vgg.vgg19, "VGG-19, 1x3x224x224"),
    Entry("full", inception_v2.inception_v2, "Inception v2 (BN-Inception), 1x3x224x224"),
    Entry("full", shufflenet.shufflenet, "ShuffleNet v1, 1x3x224x224"),
    Entry("full", squeezenet.squeezenet, "SqueezeNet 1.1, 1x3x224x224"),
    Entry("full", decoder.decoder, "4-layer decoder of GPT-2's width with a cache, open extents"),
    Entry("full", unet.unet, "U-Net, four levels, 1x3x256x256"),
    *(Entry("open", build, description) for build, description in [
        (resnet.resnet50_open, "ResNet-50, open batch, height and width"),
        (mobilenet.mobilenetv2_open, "MobileNetV2, open batch, height and width"),
        (bert.bert_base_open, "BERT-base, open batch and sequence"),
        (vgg.vgg19_open, "VGG-19, open batch"),
        (inception_v2.inception_v2_open, "Inception v2, open batch, height and width"),
        (shufflenet.shufflenet_open, "ShuffleNet, open batch"),
        (squeezenet.squeezenet_open, "SqueezeNet 1.1, open batch, height and width"),
        (densenet.densenet121_open, "DenseNet-121, open batch, height and width"),
    ]),
    *quantized(tiny_nets.tiny_cnn, "qdq"),
    *quantized(tiny_nets.tiny_residual, "qdq", "qdq_s8", "qdq_tensor"),
    *quantized(bert.tiny_bert, "qdq", "dynamic"),
    *quantized(decoder.tiny_decoder, "qdq", "dynamic", "int4", "int4_zp", "int4_dq"),
    *quantized(resnet.resnet50, "qdq", "qdq_s8", "qdq_tensor"),
    *quantized(mobilenet.mobilenetv2, "qdq", "qdq_s8", "qdq_tensor"),
    *quantized(vgg.vgg19, "qdq"),
    *quantized(inception_v2.inception_v2, "qdq"),
    *quantized(shufflenet.shufflenet, "qdq"),
    *quantized(squeezenet.squeezenet, "qdq"),
    *quantized(densenet.densenet121, "qdq"),
    *quantized(bert.bert_base, "qdq", "dynamic"),
    *quantized(decoder.decoder, "qdq", "dynamic", "int4", "int4_zp", "int4_dq"),
    Entry("large", large.large_mlp, "nine fully connected layers, 2.4 GB of weights in a file"),
    Entry("synthetic", synthetic.empty, "no node, for the cost of a run"),
    Entry("synthetic", synthetic.chain, "N nodes in a row on [1,16]", nodes=10000),
    Entry("synthetic", synthetic.gather, "N-1 readers of one value, summed at once", nodes=10000),
    Entry("synthetic", synthetic.functions, "N calls in a row, each of another function",
          nodes=10000),
    Entry("synthetic", synthetic.fanout, "N/2 readers of one value, summed by a tree", nodes=10000),
]


def select(names):
    """The entries that names of models and groups stand for, in catalog order; for no name those of
    the groups that are made BY_DEFAULT. Raises KeyError with the first unknown name."""
    known = {entry.name for entry in CATALOG} | set(GROUPS)
    for name in names:
        if name not in known:
            raise KeyError(name)
    return [entry for entry in CATALOG
            if entry.name in names or entry.group in names
            or not names and entry.group in BY_DEFAULT]
