"""Copies between host and device and on the device: every byte comes back, and how fast."""

import time

GB = 1e9
REPEATS = 3


def run(tf, options, stage):
    """Round trip of a pattern, then both directions and device memory for about `seconds` each."""
    import numpy as np

    count = options["mib"] * 1024 * 1024 // 4
    checks, measured, repeats = [], {}, {}
    for device in options["names"]:
        stage("round trip to " + device)
        pattern = np.arange(count, dtype=np.int32)
        with tf.device(device):
            back = tf.identity(tf.constant(pattern)).numpy()
        wrong = int(np.count_nonzero(back != pattern))
        checks.append({"what": "round trip to " + device, "error": float(wrong), "limit": 0.0, "ok": wrong == 0})
        for name, copy in (("to_device", upload), ("from_device", download), ("on_device", duplicate)):
            stage("%s %s" % (name, device))
            rates = rate(copy(tf, device, count), count * 4, options["seconds"])
            measured["%s %s" % (device, name)] = max(rates)
            repeats["copy %s %s" % (device, name)] = rates
    return {"checks": checks, "measured": {"gb_per_second": measured, "repeats": repeats}}


# TensorFlow puts a host tensor that a GPU reads or writes within a graph into pinned memory, so these measure the link.
def upload(tf, device, count):
    """A step that copies `count` floats from the host to `device`. Their values are whatever the memory held: writing them
    first would take longer than copying them."""

    @tf.function
    def step():
        with tf.device("CPU:0"):
            value = tf.raw_ops.Empty(shape=[count], dtype=tf.float32)
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
    """GB/s, one direction: the fastest copy in each of REPEATS parts of `seconds`."""
    step().numpy()
    rates = []
    for _ in range(REPEATS):
        best, until = float("inf"), time.perf_counter() + seconds / REPEATS
        while best == float("inf") or time.perf_counter() < until:
            started = time.perf_counter()
            step().numpy()
            best = min(best, time.perf_counter() - started)
        rates.append(size / best / GB)
    return rates
