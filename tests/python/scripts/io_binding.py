"""Inputs and outputs that stay bound, in arrays and in OrtValues."""
import sys

import numpy as np
import onnxruntime as ort

model, inputs = sys.argv[1:]
session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
name, out = session.get_inputs()[0].name, session.get_outputs()[0].name
x = np.ascontiguousarray(np.load(inputs)[name])
expected = session.run([out], {name: x})[0]

binding = session.io_binding()
binding.bind_cpu_input(name, x)
binding.bind_output(out)
session.run_with_iobinding(binding)
print("same:", np.array_equal(binding.copy_outputs_to_cpu()[0], expected))

x_value = ort.OrtValue.ortvalue_from_numpy(x)
y_value = ort.OrtValue.ortvalue_from_shape_and_type(expected.shape, np.float32, "cpu", 0)
binding = session.io_binding()
binding.bind_input(name=name, device_type=x_value.device_name(), device_id=0, element_type=np.float32,
                   shape=x_value.shape(), buffer_ptr=x_value.data_ptr())
binding.bind_output(name=out, device_type="cpu", device_id=0, element_type=np.float32, shape=y_value.shape(),
                    buffer_ptr=y_value.data_ptr())
session.run_with_iobinding(binding)
print("same:", np.array_equal(y_value.numpy(), expected))

binding.clear_binding_inputs()
binding.clear_binding_outputs()
binding.bind_ortvalue_input(name, x_value)
binding.bind_output(out, "cpu")
binding.synchronize_inputs()
session.run_with_iobinding(binding)
binding.synchronize_outputs()
print("same:", np.array_equal(binding.get_outputs()[0].numpy(), expected))
