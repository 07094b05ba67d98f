"""Programs that use the package wrongly get exceptions; none of them ends the process. Each runs in one of its own."""

import unittest

from onnx import TensorProto, helper

from support import PackageTest, endless_model, info, model_of

BEGIN = """
import gc, os, resource, sys, threading, time
import numpy as np
import ephost as ort
from ephost import _ephost
ort.set_default_logger_severity(4)
model = open("model.onnx", "rb").read()
x = np.random.default_rng(7).standard_normal((8, 8)).astype(np.float32)
"""

# Every attribute and method of each class, on an object that its __init__ has not made.
UNCONSTRUCTED = BEGIN + """
def classes():
    for module in (_ephost, ort):
        yield from {one for one in vars(module).values() if isinstance(one, type)}

def use(call):
    global uses
    uses += 1
    try:
        return call()
    except BaseException as error:
        assert not isinstance(error, (SystemError, KeyboardInterrupt)), error

uses = 0
for one in classes():
    if issubclass(one, int):
        continue
    made = one.__new__(one)
    for name in dir(one):
        if name in ("__class__", "__init__", "__new__", "__init_subclass__", "__subclasshook__"):
            continue
        found = use(lambda: getattr(made, name))
        use(lambda: setattr(made, name, made))
        for count in range(4):
            use(lambda: getattr(made, name)(*[made] * count))
            use(lambda: getattr(one, name)(*[made] * count))
        use(lambda: getattr(one, name)(None))
        use(lambda: getattr(one, name).fget(None))
        use(lambda: getattr(one, name).fset(None, True))
    class Derived(one):
        def __init__(self):
            for name in dir(one):
                use(lambda: getattr(self, name))
    use(Derived)
    for function in (_ephost.compile, _ephost.partition, _ephost.plan, _ephost.Session, _ephost.Value.sequence,
                     _ephost.Value.map, ort.IOBinding, ort.InferenceSession):
        for count in range(1, 5):
            use(lambda: function(*[made] * count))
    del made
gc.collect()
assert uses > 10000, uses
"""

# Every function, method and class of the extension and of the package, with arguments of all kinds.
WRONG_ARGUMENTS = BEGIN + """
odd = [None, True, -1, 0, 7, 1 << 31, 1 << 62, 1 << 70, 0.5, float("nan"), "", "x", "cpu", "\\ud800", "a\\0b", b"", b"\\xff" * 9,
       bytearray(4), (), [], [1, 2], [-1], [1 << 62] * 3, [None], ["x"], {}, {"x": None}, {1: 2}, object(), int, len, x,
       x[::2], x.astype(object), np.array(["a"]), np.zeros((0, 3)), np.float32(1), np.array(b"ab", np.void), np.empty(2, "M8[s]"),
       ort.OrtValue.ortvalue_from_numpy(x), ort.OrtValue.ortvalue_from_numpy(x)._ephost_value, _ephost.Value(), ort.RunOptions(),
       _ephost.SessionOptions(), ort.SessionOptions(), ort.InferenceSession(model), ort.InferenceSession(model).io_binding(),
       ort.get_ep_devices(), memoryview(b"abc")]
odd += [ort.InferenceSession(model)._session, odd[-3]._binding, ort._environment.environment()]
# These wait, write files where they are told to, or take any address for memory.
left_out = {"of_address", "print_debug_info", "main"}
random = np.random.default_rng(int(sys.argv[1]))
calls = 0
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))  # what is huge fails, instead of taking long

def attempt(function, name):
    global calls
    for _ in range(int(sys.argv[2])):
        given = [odd[i] for i in random.integers(0, len(odd), random.integers(0, 5))]
        if name in ("bind_input", "bind_output"):
            given = given[:5]  # the next would be an address
        calls += 1
        try:
            function(*given)
        except Exception:
            pass

def members(owner):
    for name in sorted(dir(owner)):
        if name not in left_out and not name.startswith("__"):
            found = getattr(owner, name, None)
            if callable(found):
                yield name, found

for module in (_ephost, ort):
    for name, found in members(module):
        if not (isinstance(found, type) and issubclass(found, (int, BaseException))):
            attempt(found, name)
        if isinstance(found, type):
            for inner, function in members(found):
                attempt(function, inner)
for given in list(odd):
    if type(given).__module__.startswith("ephost"):
        for name, function in members(given):
            attempt(function, name)
print(calls)
"""

BINDING_IN_THREADS = BEGIN + """
session = ort.InferenceSession(model)
binding = session.io_binding()
binding.bind_cpu_input("x", x)
binding.bind_output("y")
refusals, end = set(), time.time() + 2

def work(size):
    while time.time() < end:
        for step in (lambda: session.run_with_iobinding(binding), binding.copy_outputs_to_cpu, binding.get_outputs,
                     binding.clear_binding_inputs, binding.clear_binding_outputs, lambda: binding.bind_output("y"),
                     lambda: binding.bind_cpu_input("x", np.ones((size, size), np.float32))):
            try:
                step()
            except ort.EphostError as error:
                refusals.add(str(error))

threads = [threading.Thread(target=work, args=(size,)) for size in (3, 40, 5, 200, 6, 64)]
for one in threads:
    one.start()
for one in threads:
    one.join()
assert any("the binding is in use by a run in another thread" in one for one in refusals), refusals
"""

RESIZED = BEGIN + """
def refuses_to_resize(array):
    try:
        array.resize((2048, 2048), refcheck=False)
    except ValueError:
        return True
    return False

session = ort.InferenceSession(model)
for of in (lambda array: array, lambda array: array[:].reshape(8, 8)):  # the owner of the memory, and a view of it
    array = np.ones((8, 8), np.float32)
    binding = session.io_binding()
    binding.bind_cpu_input("x", of(array))
    value = ort.OrtValue.ortvalue_from_numpy(of(array))
    assert refuses_to_resize(array)
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    assert binding.copy_outputs_to_cpu()[0].tolist() == [[8.0] * 8] * 8
    del binding
    assert refuses_to_resize(array)  # `value` still has its memory
    del value
    assert not refuses_to_resize(array)
"""

RESIZED_DURING_A_RUN = BEGIN + """
session = ort.InferenceSession(open("endless.onnx", "rb").read())
steps = np.full((), 1 << 60, np.int64)
options, refused = ort.RunOptions(), []

def resize():
    time.sleep(0.3)
    try:
        steps.resize((1 << 20,), refcheck=False)
    except ValueError as error:
        refused.append(error)
    options.terminate = True

other = threading.Thread(target=resize)
other.start()
try:
    session.run(None, {"steps": steps}, options)
except ort.Fail:
    pass
other.join()
assert refused
"""

FEED_THAT_CHANGES = BEGIN + """
session = ort.InferenceSession(model)

class Changing:
    def __init__(self, feed):
        self.feed = feed
    def __dlpack__(self, **named):
        self.feed.clear()
        self.feed.update((str(i), x) for i in range(1000))
        gc.collect()
        return x.__dlpack__()
    def __dlpack_device__(self):
        return (1, 0)

feed = {}
feed.update(x=Changing(feed), z=x.copy())
try:
    session.run(None, feed)
except RuntimeError as error:
    assert "changed size" in str(error)
else:
    raise AssertionError
"""

EXCEPTIONS_IN_FUNCTIONS = BEGIN + """
class Ends(BaseException):
    pass

def raising(error):
    def function(*_):
        raise error
    return function

session = ort.InferenceSession(model)
for error in (ValueError("mine"), Ends(), SystemExit(3), KeyboardInterrupt()):
    options = ort.SessionOptions()
    options.set_progress_function(raising(error))
    calls = [lambda: ort.InferenceSession(model, options, ["dnnl"]),
             lambda: ort.ModelCompiler(ort.SessionOptions(), model, providers=["dnnl"]).compile_to_stream(raising(error)),
             lambda: ort.ModelCompiler(ort.SessionOptions(), model, providers=["dnnl"],
                                       get_initializer_location_func=raising(error)).compile_to_bytes()]
    for call in calls:
        try:
            call()
        except BaseException as found:
            assert found is error, found
    session.run_async(None, {"x": x}, raising(error))
for result in (None, "text", object(), 1 << 40, -1, 99):  # of functions whose results count
    compilation = {"input_bytes": model, "to_bytes": True, "embed": True, "place_initializer": lambda *_: result,
                   "write_data": lambda *_: result}
    try:
        _ephost.compile(ort._environment.environment(), _ephost.SessionOptions(), compilation)
    except Exception:
        pass
time.sleep(0.2)
"""

THREADS_AT_THE_END = BEGIN + """
session = ort.InferenceSession(model)
options = ort.SessionOptions()
options.set_progress_function(lambda *_: None)

def run():
    while True:
        session.run(None, {"x": x})

def create():
    while True:
        ort.InferenceSession(model, options, ["dnnl"]).run(None, {"x": x})

def bind():
    binding = session.io_binding()
    while True:
        binding.bind_cpu_input("x", x.copy())
        binding.bind_output("y")
        session.run_with_iobinding(binding)

def run_in_background():
    while True:
        session.run_async(None, {"x": x}, lambda *_: time.sleep(0.001))
        time.sleep(0.0001)

for work in (run, run, create, create, bind, run_in_background):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
"""

FORKED_DURING_A_RUN = BEGIN + """
import signal
session = ort.InferenceSession(open("endless.onnx", "rb").read())
options = ort.RunOptions()
session.run_async(None, {"steps": np.array(1 << 60, np.int64)}, lambda *_: None, None, options)
time.sleep(0.2)
child = os.fork()
if child == 0:
    signal.alarm(20)
    sys.exit(0)  # the run continues in the parent only
status = os.waitpid(child, 0)[1]
options.terminate = True
assert status == 0, status
"""

SUBINTERPRETER = BEGIN + """
try:
    import _interpreters as interpreters  # its name since Python 3.13
except ImportError:
    import _xxsubinterpreters as interpreters
ort.InferenceSession(model).run(None, {"x": x})
try:
    other = interpreters.create()
    interpreters.run_string(other, "import ephost, numpy as np\\n"
        "session = ephost.InferenceSession(open('model.onnx', 'rb').read())\\n"
        "session.run(None, {'x': np.ones((3, 3), np.float32)})")
    interpreters.destroy(other)
except Exception as error:
    print(type(error).__name__, error)
ort.InferenceSession(model).run(None, {"x": x})
"""

NESTED = BEGIN + """
value = ort.OrtValue.ortvalue_from_numpy(x)._ephost_value
try:
    for _ in range(300000):
        value = _ephost.Value.sequence([value])
except ort.EphostError:
    pass
del value
deep = []
for _ in range(100000):
    deep = [deep]
for given in (deep, {"a": deep}):
    try:
        ort.InferenceSession(model).run(None, {"x": given})
    except (ort.EphostError, RecursionError):
        pass
"""


class Misuse(PackageTest):
    def setUp(self):
        super().setUp()
        square = model_of([helper.make_node("Relu", ["x"], ["a"]), helper.make_node("MatMul", ["a", "a"], ["y"])],
                          [info("x", TensorProto.FLOAT, ["N", "N"])], [info("y", TensorProto.FLOAT, ["N", "N"])])
        (self.folder / "model.onnx").write_bytes(square)
        (self.folder / "endless.onnx").write_bytes(endless_model())

    def test_an_object_that_init_has_not_made_is_refused(self):
        self.python(UNCONSTRUCTED)
        done = self.python(BEGIN + "_ephost.Session.__new__(_ephost.Session).inputs()", status=1)
        self.assertIn("TypeError: the object has no __init__ behind it", done.stderr)

    def test_arguments_of_all_kinds_are_taken_or_refused(self):
        for seed in range(2):
            self.assertGreater(int(self.python(WRONG_ARGUMENTS, seed, 8, timeout=300).stdout.split()[-1]), 4000)

    def test_one_binding_is_for_one_thread_at_a_time(self):
        self.python(BINDING_IN_THREADS)

    def test_an_array_keeps_its_memory_while_a_value_shares_it(self):
        self.python(RESIZED)
        self.python(RESIZED_DURING_A_RUN)

    def test_a_feed_that_changes_while_it_is_read_is_refused(self):
        self.python(FEED_THAT_CHANGES)

    def test_functions_of_the_program_may_raise_and_return_anything(self):
        self.python(EXCEPTIONS_IN_FUNCTIONS)

    def test_daemon_threads_may_work_when_the_interpreter_ends(self):
        for _ in range(5):
            self.python(THREADS_AT_THE_END)

    def test_a_child_ends_without_the_runs_of_its_parent(self):
        self.python(FORKED_DURING_A_RUN)

    def test_a_second_interpreter_is_served_or_refused(self):
        self.python(SUBINTERPRETER)

    def test_values_and_inputs_may_be_nested_deeply(self):
        self.python(NESTED)


if __name__ == "__main__":
    unittest.main()
