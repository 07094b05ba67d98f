"""The five best classes of an image."""
import sys

import numpy as np
import onnxruntime as ort


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


model, images = sys.argv[1:]
session = ort.InferenceSession(model, providers=ort.get_available_providers())
first = session.get_inputs()[0]
assert first.type == "tensor(float)", first.type
image = np.load(images)[first.name].astype(np.float32)
assert list(image.shape) == first.shape, (image.shape, first.shape)
scores = softmax(session.run([session.get_outputs()[0].name], {first.name: image})[0][0])
for index in scores.argsort()[::-1][:5]:
    print(index, f"{scores[index]:.3f}")
