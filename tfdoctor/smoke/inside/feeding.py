"""tf.data feeds the device: nothing is lost, and how many MB/s arrive."""

import time


def run(tf, options, stage):
    """Sum a known sequence through a parallel, prefetching pipeline on each device."""
    checks, measured = [], {}
    batches, size = 64, options["elements"]
    for device in options["names"]:
        stage("feeding " + device)
        data = tf.data.Dataset.range(batches)
        data = data.map(lambda i: tf.fill([size], tf.cast(i, tf.float32)), num_parallel_calls=tf.data.AUTOTUNE)
        total, started = 0.0, time.perf_counter()
        for batch in data.prefetch(4):
            with tf.device(device):
                total += float(tf.reduce_mean(batch + 0.0).numpy())
        took = time.perf_counter() - started
        error = abs(total - batches * (batches - 1) / 2)
        checks.append(
            {"what": "every element arrives on " + device, "error": error, "limit": 1e-3, "ok": error <= 1e-3}
        )
        measured[device] = batches * size * 4 / took / 1e6
    return {"checks": checks, "measured": {"mb_per_second": measured}}
