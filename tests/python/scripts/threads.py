"""One session for many threads, and runs in the background."""
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime as ort

model, inputs = sys.argv[1:]
session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
feed = dict(np.load(inputs))
expected = session.run(None, feed)[0]
with ThreadPoolExecutor(max_workers=8) as pool:
    results = list(pool.map(lambda _: session.run(None, feed)[0], range(32)))
print(f"{len(results)} results, all the same:", all(np.array_equal(one, expected) for one in results))

found, done = [], threading.Semaphore(0)


def callback(outputs, user_data, error):
    assert not error, error
    user_data.append(outputs[0])
    done.release()


for _ in range(8):
    session.run_async(None, feed, callback, found)
for _ in range(8):
    done.acquire(timeout=60)
print(f"{len(found)} callbacks, all the same:", all(np.array_equal(one, expected) for one in found))
