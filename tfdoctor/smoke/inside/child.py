"""Runs one smoke test inside the target interpreter: `python child.py OPTIONS` (one JSON object).

Standard library and the target's TensorFlow only. Everything that TensorFlow prints goes to standard error; standard
output carries our lines alone, each MARK and a JSON object: {"stage": "…"} before each step, so that a hang or a crash
can be placed, and at the end {"result": {…}} or {"failed": "…", "kind": "…"}.

A test is a file beside this one with a function `run(tf, options, stage)` that returns
{"checks": [{"what", "error", "limit", "ok"}], "measured": {…}}: `error` is what mathematics says the deviation is,
`limit` what the number format allows.
"""

import importlib.util
import json
import os
import sys
import time
import traceback

MARK = "TFDOCTOR "


def say(pipe, **what):
    """Print one line of ours."""
    pipe.write(MARK + json.dumps(what) + "\n")
    pipe.flush()


def load(path):
    """The module in the file `path`, without making its folder importable or leaving compiled files beside it."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module


def devices(tf, options):
    """Choose and, without GPU, make the devices that the test runs on; returns their names ("GPU:0", "CPU:0"…)."""
    gpus = [] if options.get("cpu") else tf.config.list_physical_devices("GPU")
    wanted = options.get("devices")
    if wanted is not None and gpus:
        gpus = [gpus[i] for i in wanted if i < len(gpus)]
        tf.config.set_visible_devices(gpus, "GPU")
    if gpus:
        for gpu in gpus:
            tf.config.experimental.set_memory_growth(gpu, True)
        return ["GPU:%d" % i for i in range(len(gpus))]
    tf.config.set_visible_devices([], "GPU")
    cpu = tf.config.list_physical_devices("CPU")[0]
    count = options.get("logical_cpus", 1)
    if count > 1:
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * count)
    return ["CPU:%d" % i for i in range(count)]


def main():
    """Run the test that OPTIONS names. Exit code 0 when it ran to its end, whatever it found."""
    pipe = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != here]
    options = json.loads(sys.argv[1])

    def stage(name):
        say(pipe, stage=name)

    try:
        if options.get("hook"):  # for the tests of tfdoctor: no option of the command line reaches this
            load(options["hook"]).before(options, pipe)
        stage("importing tensorflow")
        started = time.perf_counter()
        import tensorflow as tf

        seconds = time.perf_counter() - started
        stage("listing the devices")
        options["names"] = devices(tf, options)
        found = load(os.path.join(here, options["test"] + ".py")).run(tf, options, stage)
        found["devices"] = options["names"]
        found["tensorflow"] = tf.__version__
        found["import_seconds"] = seconds
        if options.get("hook") and hasattr(load(options["hook"]), "after"):
            found = load(options["hook"]).after(options, found)
        say(pipe, result=found)
    except BaseException as error:
        say(
            pipe,
            failed=str(error)[:2000] or repr(error),
            kind=type(error).__name__,
            trace=traceback.format_exc()[-4000:],
        )


if __name__ == "__main__":
    main()
