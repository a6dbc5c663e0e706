"""What this TensorFlow lists, and that a device computes at all."""


def run(tf, options, stage):
    """Every chosen GPU adds two numbers. `gpus` counts all that TensorFlow lists, `listed` describes the chosen ones."""
    every = tf.config.list_physical_devices("GPU")
    wanted = options.get("devices")
    details = []
    for gpu in every if wanted is None else [every[i] for i in wanted if i < len(every)]:
        more = tf.config.experimental.get_device_details(gpu)
        capability = more.get("compute_capability")
        details.append(
            {
                "name": more.get("device_name", ""),
                "compute_capability": ".".join(map(str, capability)) if capability else "",
            }
        )
    checks = []
    for name in options["names"]:
        stage("adding on " + name)
        with tf.device(name):
            total = tf.constant([1.5, 2.25]) + tf.constant([2.5, 0.75])
        placed = total.device.rpartition("/device:")[2]
        values = total.numpy().tolist()
        checks.append(
            {
                "what": "1.5+2.5 and 2.25+0.75 on " + name,
                "error": abs(values[0] - 4) + abs(values[1] - 3),
                "limit": 0.0,
                "ok": values == [4.0, 3.0] and placed == name,
            }
        )
    return {
        "checks": checks,
        "measured": {"gpus": len(every), "listed": details, "built_with_cuda": tf.test.is_built_with_cuda()},
    }
