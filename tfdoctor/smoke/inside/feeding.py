"""tf.data feeds the device: nothing is lost, and how many MB/s arrive."""

import time

REPEATS = 3


def run(tf, options, stage):
    """Sum a known sequence through a parallel, prefetching pipeline on each device, REPEATS times."""
    checks, measured, repeats = [], {}, {}
    batches, size = 64, options["elements"]
    for device in options["names"]:
        stage("feeding " + device)
        data = tf.data.Dataset.range(batches)
        data = data.map(lambda i: tf.fill([size], tf.cast(i, tf.float32)), num_parallel_calls=tf.data.AUTOTUNE)
        rates, error = [], 0.0
        for _ in range(REPEATS):
            total, took = fed(tf, data.prefetch(4), device)
            rates.append(batches * size * 4 / took / 1e6)
            error = max(error, abs(total - batches * (batches - 1) / 2))
        checks.append(
            {"what": "every element arrives on " + device, "error": error, "limit": 1e-3, "ok": error <= 1e-3}
        )
        measured[device], repeats["feeding " + device] = max(rates), rates
    return {"checks": checks, "measured": {"mb_per_second": measured, "repeats": repeats}}


def fed(tf, data, device):
    """(the sum of each batch's mean on `device`, seconds)."""
    total, started = 0.0, time.perf_counter()
    for batch in data:
        with tf.device(device):
            total += float(tf.reduce_mean(batch + 0.0).numpy())
    return total, time.perf_counter() - started
