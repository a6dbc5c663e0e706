"""Matrix product in each number format: right by a random projection, and how fast.

For C = AB and random vectors x, C x must equal A (B x). The right-hand side is computed in float64 from the same
(rounded) A and B, so what remains is the rounding of the product: with standard normal entries and n columns it has a
standard deviation of about eps n for formats that round the output (or, tf32, the inputs) and about eps n^1.5 for
float32 accumulation, eps being half a unit in the last place. The limit is eight times that: chance does not reach
it, and one wrong entry of its own size (n^0.5) lies far above it. On a CPU old releases sum float16 in float16, which
adds eps n^1.5 / 2.5; four times eps n^1.5 is ten times that.
"""

import time

# format -> (TensorFlow dtype, TF32 allowed?, eps, power of n)
FORMATS = {
    "fp32": ("float32", False, 2.0**-24, 1.5),
    "tf32": ("float32", True, 2.0**-11, 1.0),
    "fp16": ("float16", True, 2.0**-11, 1.0),
    "bf16": ("bfloat16", True, 2.0**-8, 1.0),
}
VECTORS = 4
SPREAD = 8.0
REPEATS = 3


def allowed(name, size, on_cpu):
    """The largest deviation that rounding explains, absolute."""
    _dtype, _tf32, eps, power = FORMATS[name]
    if on_cpu and name == "fp16":
        return 4.0 * eps * size**1.5
    return SPREAD * eps * size**power


def check(tf, name, size, on_cpu):
    """Compare C x with A (B x); returns (deviation, limit), both absolute."""
    import numpy as np

    dtype = FORMATS[name][0]
    random = np.random.default_rng(7)
    a, b = (tf.cast(tf.constant(random.standard_normal((size, size)), tf.float32), dtype) for _ in "ab")
    x = random.standard_normal((size, VECTORS))
    product = tf.cast(tf.matmul(a, b), tf.float64).numpy()
    a64, b64 = (tf.cast(m, tf.float64).numpy() for m in (a, b))
    deviation = float(np.max(np.abs(product @ x - a64 @ (b64 @ x))))
    return (deviation if np.isfinite(deviation) else float("inf")), allowed(name, size, on_cpu)


def speed(tf, name, size, seconds):
    """TFLOP/s of `size` x `size` products in each of REPEATS runs, together for about `seconds`."""
    dtype = FORMATS[name][0]
    a = tf.cast(tf.random.stateless_normal((size, size), (1, 2)), dtype)
    scale = tf.cast(size**-0.5, dtype)

    @tf.function
    def chain(value, times):
        for _ in tf.range(times):
            value = tf.matmul(value, a) * scale
        return tf.reduce_sum(tf.cast(value, tf.float32))

    chain(a, tf.constant(1)).numpy()

    def timed(times):
        started = time.perf_counter()
        chain(a, tf.constant(times)).numpy()
        return time.perf_counter() - started

    times, took, wanted = 1, 0.0, seconds / (REPEATS + 1)
    while took < wanted and times < 1 << 16:
        times = max(times + 1, int(times * min(10.0, 1.2 * wanted / took))) if took else times
        took = timed(times)
    return [2.0 * size**3 * times / timed(times) / 1e12 for _ in range(REPEATS)]


def run(tf, options, stage):
    """Each format of `options["formats"]` on each device."""
    checks, measured, repeats = [], {}, {}
    for device in options["names"]:
        for name in options.get("formats", list(FORMATS)):
            stage("matmul %s on %s" % (name, device))
            tf.config.experimental.enable_tensor_float_32_execution(FORMATS[name][1])
            with tf.device(device):
                error, limit = check(tf, name, options["size"], device.startswith("CPU"))
                checks.append(
                    {"what": "matmul %s on %s" % (name, device), "error": error, "limit": limit, "ok": error <= limit}
                )
                rates = speed(tf, name, options["speed_size"], options["seconds"])
                measured["%s %s" % (device, name)] = max(rates)
                repeats["matmul %s %s" % (device, name)] = rates
    return {"checks": checks, "measured": {"tflops": measured, "repeats": repeats}}
