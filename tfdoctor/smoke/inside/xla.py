"""A function compiled by XLA: libdevice (tanh, exp, pow) and, on a GPU, ptxas are really used."""

# float32, a handful of transcendental operations of a few units in the last place each.
LIMIT = 2e-5


def run(tf, options, stage):
    """Compile, run, and compare with the same formula in float64."""
    import numpy as np

    checks, measured = [], {}
    values = np.linspace(0.1, 3.0, 4097)

    def formula(x, m):
        return m.tanh(x) * m.exp(-x) + m.log1p(x) ** 1.7 + m.sin(x)

    class Maths:
        tanh, exp, log1p, sin = tf.tanh, tf.exp, tf.math.log1p, tf.sin

    expected = formula(values, np)
    for device in options["names"]:
        stage("compiling with XLA on " + device)

        compiled = by_xla(tf, lambda x: formula(x, Maths))

        with tf.device(device):
            x = tf.constant(values, tf.float32)
            error = float(np.max(np.abs(compiled(x).numpy().astype(np.float64) - expected)))
            stage("reading back what XLA compiled on " + device)
            program = program_of(compiled, x)
        checks.append({"what": "XLA on " + device, "error": error, "limit": LIMIT, "ok": error <= LIMIT})
        proven = "HloModule" in program
        checks.append(
            {"what": "XLA compiled a program on " + device, "error": 0.0 if proven else 1.0, "limit": 0.0, "ok": proven}
        )
        measured[device] = len(program)
    return {"checks": checks, "measured": {"program_characters": measured}}


def by_xla(tf, function):
    """`function` compiled by XLA as a whole; before 2.5 the argument had another name."""
    try:
        return tf.function(function, jit_compile=True)
    except TypeError:
        return tf.function(function, experimental_compile=True)


def program_of(compiled, x):
    """What XLA made of `compiled`, as text; before 2.5 the graph's own mark that XLA must compile it stands for it."""
    if hasattr(compiled, "experimental_get_compiler_ir"):
        return compiled.experimental_get_compiler_ir(x)(stage="optimized_hlo")
    graph = str(compiled.get_concrete_function(x).function_def)
    return "HloModule: _XlaMustCompile" if "_XlaMustCompile" in graph else ""
