"""Convolution forward and backward: the two gradients are adjoint to the forward map.

With y* any tensor of the output's shape, <conv(x, w), y*> = <x, grad_x(y*)> = <w, grad_w(y*)>, since convolution is
linear in x and in w. All three are summed in float64 on the host.
"""

import time

# float32 with TF32 off: rounding of sums of about 600 products, far below this share of the value's scale.
LIMIT = 1e-4
REPEATS = 3


def run(tf, options, stage):
    """Three shapes on each device: 3x3, strided 5x5, 1x1."""
    import numpy as np

    tf.config.experimental.enable_tensor_float_32_execution(False)
    checks, measured, repeats = [], {}, {}
    for device in options["names"]:
        for kernel, stride, channels in ((3, 1, 64), (5, 2, 24), (1, 1, 128)):
            what = "convolution %dx%d stride %d on %s" % (kernel, kernel, stride, device)
            stage(what)
            with tf.device(device):
                error = adjoint_error(tf, np, kernel, stride, channels, options["batch"])
            checks.append({"what": what, "error": error, "limit": LIMIT, "ok": error <= LIMIT})
        stage("timing convolution on " + device)
        with tf.device(device):
            rates = speed(tf, options["batch"], options["seconds"])
        measured[device], repeats["convolution " + device] = max(rates), rates
    return {"checks": checks, "measured": {"images_per_second": measured, "repeats": repeats}}


def adjoint_error(tf, np, kernel, stride, channels, batch):
    """The largest relative difference between the three inner products; infinite when one is not a number."""
    x = tf.random.stateless_normal((batch, 33, 33, channels), (1, kernel))
    w = tf.random.stateless_normal((kernel, kernel, channels, 48), (2, kernel))
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.nn.conv2d(x, w, stride, "SAME")
        other = tf.random.stateless_normal(tf.shape(y), (3, kernel))
        inner = tf.reduce_sum(y * other)
    gx, gw = tape.gradient(inner, [x, w])
    f64 = [t.numpy().astype(np.float64) for t in (x, w, y, other, gx, gw)]
    x, w, y, other, gx, gw = f64
    products = [float(np.sum(y * other)), float(np.sum(x * gx)), float(np.sum(w * gw))]
    scale = float(np.linalg.norm(y) * np.linalg.norm(other)) / y.size**0.5
    error = (max(products) - min(products)) / scale
    return error if np.isfinite(error) else float("inf")


def speed(tf, batch, seconds):
    """Images per second, in each of REPEATS runs, through a forward and backward pass of a 3x3, 64 to 48 channel layer."""
    x = tf.random.stateless_normal((batch, 33, 33, 64), (1, 1))
    w = tf.Variable(tf.random.stateless_normal((3, 3, 64, 48), (2, 2)))

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.conv2d(x, w, 1, "SAME") ** 2)
        return tf.reduce_sum(tape.gradient(loss, w))

    step().numpy()
    rates = []
    for _ in range(REPEATS):
        started, done = time.perf_counter(), 0
        while not done or time.perf_counter() - started < seconds / REPEATS:
            step().numpy()
            done += 1
        rates.append(batch * done / (time.perf_counter() - started))
    return rates
