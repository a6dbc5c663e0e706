"""Copies between host and device and on the device: every byte comes back, and how fast."""

import time

GB = 1e9


def run(tf, options, stage):
    """Round trip of a pattern, then both directions and device memory for about `seconds` each."""
    import numpy as np

    count = options["mib"] * 1024 * 1024 // 4
    checks, measured = [], {}
    for device in options["names"]:
        stage("round trip to " + device)
        pattern = np.arange(count, dtype=np.int32)
        with tf.device(device):
            back = tf.identity(tf.constant(pattern)).numpy()
        wrong = int(np.count_nonzero(back != pattern))
        checks.append({"what": "round trip to " + device, "error": float(wrong), "limit": 0.0, "ok": wrong == 0})
        for name, copy in (("to_device", upload), ("from_device", download), ("on_device", duplicate)):
            stage("%s %s" % (name, device))
            measured["%s %s" % (device, name)] = rate(copy(tf, device, count), count * 4, options["seconds"])
    return {"checks": checks, "measured": {"gb_per_second": measured}}


# TensorFlow allocates the host tensors of a graph in pinned memory once a GPU is there, so these measure the link.
def upload(tf, device, count):
    """A step that copies `count` floats from the host to `device`."""
    with tf.device("CPU:0"):
        host = tf.Variable(tf.zeros([count]))

    @tf.function
    def step():
        with tf.device("CPU:0"):
            value = host + 0.0
        with tf.device(device):
            return tf.reshape(tf.identity(value)[:1], [])

    return step


def download(tf, device, count):
    """A step that copies `count` floats from `device` to the host."""
    with tf.device(device):
        there = tf.Variable(tf.zeros([count]))

    @tf.function
    def step():
        with tf.device(device):
            value = there + 0.0
        with tf.device("CPU:0"):
            return tf.reshape(tf.identity(value)[:1], [])

    return step


def duplicate(tf, device, count):
    """A step that copies `count` floats within the device's memory; its rate counts one pass, reading plus writing is twice."""
    with tf.device(device):
        there = tf.Variable(tf.zeros([count]))

    @tf.function
    def step():
        with tf.device(device):
            return tf.reshape(tf.raw_ops.DeepCopy(x=there.read_value())[:1], [])

    return step


def rate(step, size, seconds):
    """GB/s, one direction, of the fastest run within `seconds`."""
    step().numpy()
    best, until = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < until:
        started = time.perf_counter()
        step().numpy()
        best = min(best, time.perf_counter() - started)
    return size / best / GB
