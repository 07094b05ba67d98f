"""Compiles, loads and runs a model of more than 2 GB of weights, and watches its memory.

check_large_model.py EPHOST MODEL_FOLDER WORK_FOLDER

Memory is what the processes have resident, sampled from /proc: anonymous, and mapped from files. The
weights may be in it once (plus one layer on its way), whatever they are: mapped from the model,
packed, or mapped from the context binary.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import time

MIB = 1 << 20
KINDS = ("RssAnon", "RssFile", "VmRSS")


def run(*arguments):
    """Runs a command; returns the peaks of its memory in MiB, by kind."""
    process = subprocess.Popen([str(argument) for argument in arguments], stdout=subprocess.DEVNULL)
    peaks = dict.fromkeys(KINDS, 0)
    start = time.monotonic()
    while process.poll() is None:
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            continue
        for kind in KINDS:
            found = re.search(rf"{kind}:\s+(\d+) kB", status)
            if found:
                peaks[kind] = max(peaks[kind], int(found.group(1)) / 1024)
        time.sleep(0.005)
    seconds = time.monotonic() - start
    line = " ".join(str(argument) for argument in arguments[1:3])
    print(f"{line}: {seconds:.1f} s, " + ", ".join(f"{kind} {peaks[kind]:.0f} MiB" for kind in KINDS))
    if process.returncode != 0:
        sys.exit(f"{line} ended with status {process.returncode}")
    return peaks


def expect_below(what, value, limit):
    if value > limit:
        sys.exit(f"{what}: {value:.0f} MiB are more than {limit:.0f} MiB")


def main():
    ephost, model, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    weights = (model / "weights.bin").stat().st_size / MIB
    layer = weights / 9
    once = weights + 2 * layer
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    context = work / "model_ctx.onnx"
    if weights * MIB <= 1 << 31:
        sys.exit(f"the weights have only {weights:.0f} MiB")

    peaks = run(ephost, "compile", model / "model.onnx", "--ep", "dnnl", "-o", context)
    expect_below("compiling", peaks["VmRSS"], once)
    expect_below("running with dnnl", run(ephost, "test", model, "--ep", "dnnl")["VmRSS"], once)

    # The context model as a test folder of its own, with the same inputs and expected outputs.
    folder = work / "context"
    folder.mkdir()
    shutil.move(context, folder / "model.onnx")
    shutil.move(work / "model_dnnl.bin", folder / "model_dnnl.bin")
    shutil.copytree(model / "test_data_set_0", folder / "test_data_set_0")
    peaks = run(ephost, "test", folder, "--ep", "dnnl")
    expect_below("loading the context", peaks["VmRSS"], once)
    expect_below("loading the context, copied", peaks["RssAnon"], layer)
    run(ephost, "verify", folder / "model.onnx")

    # What one model cannot hold is refused before anything is written.
    refused = subprocess.run([ephost, "compile", str(model / "model.onnx"), "--ep", "dnnl", "--embed",
                              "-o", str(work / "embedded_ctx.onnx")], capture_output=True, text=True, timeout=1200)
    if refused.returncode == 0 or "one model can hold at most" not in refused.stderr:
        sys.exit(f"embedding more than 2 GB was not refused: {refused.stderr}")
    left = [path.name for path in work.iterdir() if path.name != "context"]
    if left:
        sys.exit(f"a refused compilation left {left}")
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
