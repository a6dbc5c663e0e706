"""Memory growth: a small tensor takes little of the card, not all of it."""


def run(tf, options, stage):
    """Allocate 16 MiB on each GPU with growth on and ask TensorFlow what it holds."""
    checks, measured = [], {}
    for device in options["names"]:
        if not device.startswith("GPU"):
            continue
        stage("memory growth on " + device)
        with tf.device(device):
            kept = tf.zeros([4 * 1024 * 1024])
        held = bytes_held(tf, device)
        measured[device] = held
        checks.append(
            {
                "what": "16 MiB are held on " + device,
                "error": float(held),
                "limit": 64.0 * 1024 * 1024,
                "ok": 16 * 1024 * 1024 <= held <= 64 * 1024 * 1024,
            }
        )
        del kept
    return {"checks": checks, "measured": {"bytes_held": measured}}


def bytes_held(tf, device):
    """Bytes that TensorFlow's tensors hold on `device` (2.4 has another name for it)."""
    if hasattr(tf.config.experimental, "get_memory_info"):
        return tf.config.experimental.get_memory_info(device)["current"]
    return tf.config.experimental.get_memory_usage(device)
