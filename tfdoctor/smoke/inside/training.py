"""A small training run whose loss must fall, in float32 or in mixed precision (loss scaled by hand, so that no Keras is needed)."""

STEPS = 60
FALL = 0.5  # the loss must end below this share of where it began


def run(tf, options, stage):
    """Fit a two-layer network to a smooth function on each device."""
    mixed = options.get("mixed")
    checks, measured = [], {}
    for device in options["names"]:
        what = "training%s on %s" % (" in " + mixed if mixed else "", device)
        stage(what)
        with tf.device(device):
            losses, kinds = train(tf, mixed)
        fell = losses[-1] / losses[0] if losses[0] > 0 else float("inf")
        checks.append({"what": what + ": the loss falls", "error": fell, "limit": FALL, "ok": fell <= FALL})
        if mixed:
            right = kinds == {"variables": "float32", "products": mixed}
            checks.append(
                {
                    "what": what + ": float32 variables, %s products" % mixed,
                    "error": 0.0 if right else 1.0,
                    "limit": 0.0,
                    "ok": right,
                }
            )
        measured[device] = [losses[0], losses[-1]]
    return {"checks": checks, "measured": {"loss": measured}}


def train(tf, mixed):
    """(losses by step, {"variables": dtype, "products": dtype})."""
    dtype = mixed or "float32"
    scale = 256.0 if mixed == "float16" else 1.0
    x = tf.random.stateless_normal((512, 16), (1, 1))
    y = tf.sin(tf.reduce_sum(x[:, :4], axis=1, keepdims=True))
    w1 = tf.Variable(tf.random.stateless_normal((16, 64), (2, 2)) * 0.25)
    w2 = tf.Variable(tf.random.stateless_normal((64, 1), (3, 3)) * 0.125)
    seen = {"variables": w1.dtype.name}
    moments = [(tf.Variable(tf.zeros_like(w)), tf.Variable(tf.zeros_like(w))) for w in (w1, w2)]
    count = tf.Variable(0.0)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            hidden = tf.tanh(tf.matmul(tf.cast(x, dtype), tf.cast(w1, dtype)))
            out = tf.matmul(hidden, tf.cast(w2, dtype))
            seen["products"] = out.dtype.name
            loss = tf.reduce_mean((tf.cast(out, tf.float32) - y) ** 2)
            scaled = loss * scale
        count.assign_add(1.0)
        for w, gradient, (m, v) in zip((w1, w2), tape.gradient(scaled, (w1, w2)), moments):
            gradient = tf.cast(gradient, tf.float32) / scale
            m.assign(0.9 * m + 0.1 * gradient)
            v.assign(0.99 * v + 0.01 * gradient**2)
            w.assign_sub(0.02 * (m / (1 - 0.9**count)) / (tf.sqrt(v / (1 - 0.99**count)) + 1e-7))
        return loss

    return [float(step().numpy()) for _ in range(STEPS)], seen
