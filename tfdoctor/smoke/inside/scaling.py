"""The same work on each of 1 to N devices: how much of N times one device's speed is reached."""

import time

REPEATS = 3


def run(tf, options, stage):
    """Steps per second of a data-parallel training step with a fixed batch per device."""
    names, measured, repeats = options["names"], {}, {}
    for count in sorted({1, len(names)} | {2**i for i in range(1, 5) if 2**i < len(names)}):
        stage("training on %d devices" % count)
        strategy = tf.distribute.MirroredStrategy(names[:count])
        rates = steps_per_second(tf, strategy, options["seconds"], options["batch"])
        measured[str(count)], repeats["scaling %d devices" % count] = max(rates), rates
    finite = all(value > 0 for value in measured.values())
    checks = [
        {
            "what": "training runs on 1 to %d devices" % len(names),
            "error": 0.0 if finite else 1.0,
            "limit": 0.0,
            "ok": finite,
        }
    ]
    return {"checks": checks, "measured": {"steps_per_second": measured, "repeats": repeats}}


def steps_per_second(tf, strategy, seconds, batch, width=1024):
    """A three-layer step with gradients summed over the replicas, in each of REPEATS runs."""
    with strategy.scope():
        weights = [tf.Variable(tf.random.stateless_normal((width, width), (i, i)) * width**-0.5) for i in range(3)]

    @tf.function
    def step():
        def replica():
            x = tf.random.stateless_normal((batch, width), (7, 7))
            with tf.GradientTape() as tape:
                for w in weights:
                    x = tf.tanh(tf.matmul(x, w))
                loss = tf.reduce_mean(x**2)
            context = tf.distribute.get_replica_context()
            gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, tape.gradient(loss, weights))
            for w, gradient in zip(weights, gradients):
                w.assign_sub(1e-3 * gradient)
            return loss

        return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(replica), axis=None)

    step().numpy()
    rates = []
    for _ in range(REPEATS):
        done, started = 0, time.perf_counter()
        while not done or time.perf_counter() - started < seconds / REPEATS:
            step().numpy()
            done += 1
        rates.append(done / (time.perf_counter() - started))
    return rates
