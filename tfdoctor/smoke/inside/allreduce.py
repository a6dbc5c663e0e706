"""MirroredStrategy AllReduce over all devices: every element right, through the collective, and how fast.

Replica r contributes (r + 1) * pattern with small whole numbers, which float32 holds exactly, so each element of the sum
must equal n (n + 1) / 2 * pattern.
"""

import time

# The operations that carry a reduction between devices in a MirroredStrategy graph; AddN alone would be a plain sum
# that proves nothing about a collective.
COLLECTIVES = ("NcclAllReduce", "CollectiveReduce", "CollectiveReduceV2", "CollectiveReduceV3")

REPEAT = 8  # reductions in one call, so that Python's share of the time is small
MOST_REPEATS = 20  # timings that are kept


def crossing(tf, how):
    """The cross-device operations that `how` names, None for the strategy's own choice."""
    return {
        "nccl": tf.distribute.NcclAllReduce,
        "hierarchical": tf.distribute.HierarchicalCopyAllReduce,
        "one-device": tf.distribute.ReductionToOneDevice,
        "default": lambda: None,
    }[how]()


def run(tf, options, stage):
    """Each way of `options["ways"]` at each size of `options["sizes"]` (bytes)."""
    checks, measured, operations, repeats = [], [], {}, {}
    n = len(options["names"])
    for how in options["ways"]:
        stage("making MirroredStrategy (%s)" % how)
        strategy = tf.distribute.MirroredStrategy(options["names"], cross_device_ops=crossing(tf, how))
        for size in options["sizes"]:
            what = "AllReduce %s of %d bytes over %d devices" % (how, size, n)
            stage(what)
            step = reducer(tf, strategy, size // 4)
            wrong = verify(tf, strategy, step, size // 4, n)
            checks.append({"what": what, "error": float(wrong), "limit": 0.0, "ok": wrong == 0})
            operations[how] = kinds(step)
            many = reducer(tf, strategy, size // 4, REPEAT)
            runs = timed(strategy, many, REPEAT, options["seconds"])
            middle = sorted(runs)[len(runs) // 2]
            measured.append({"way": how, "bytes": size, "seconds": min(runs), "median_seconds": middle})
            repeats["AllReduce %s %d bytes" % (how, size)] = [size / each / 1e9 for each in runs[:MOST_REPEATS]]
        checks.append(route(tf, how, operations[how], options["names"]))
    measured = {"allreduce": measured, "replicas": n, "operations": operations, "repeats": repeats}
    return {"checks": checks, "measured": measured}


def route(tf, how, found, names):
    """Does the graph hold the operations that `how` names? Releases before 2.11 sum on a CPU without a collective."""
    collective = any(name in COLLECTIVES for name in found)
    release = tuple(int(part) for part in tf.__version__.split(".")[:2])
    wanted = how in ("nccl", "default")
    free = wanted and not names[0].startswith("GPU") and release < (2, 11)
    right = bool(found) and (free or collective == wanted)
    kind = "a collective" if wanted else "copies, without a collective"
    return {
        "what": "AllReduce %s goes through %s" % (how, kind),
        "error": 0.0 if right else 1.0,
        "limit": 0.0,
        "ok": right,
    }


def pattern(tf, count):
    """Whole numbers 0 to 96, so that neither a shift nor a lost chunk goes unseen."""
    return tf.cast(tf.range(count) % 97, tf.float32)


def reducer(tf, strategy, count, repeat=1):
    """A graph function that all-reduces `count` floats `repeat` times, each depending on the one before.

    The repetition stands outside the replica's code: a collective inside control flow is not supported.
    """

    def replica(before):
        context = tf.distribute.get_replica_context()
        rank = tf.cast(context.replica_id_in_sync_group + 1, tf.float32)
        mine = pattern(tf, count) * rank
        return context.all_reduce(tf.distribute.ReduceOp.SUM, mine if before is None else mine + 0.0 * before)

    @tf.function
    def step():
        total = None
        for _ in range(repeat):
            total = strategy.run(replica, args=(total,))
        return total

    return step


def verify(tf, strategy, step, count, n):
    """How many elements are wrong on any replica."""
    expected = pattern(tf, count).numpy() * (n * (n + 1) / 2)
    results = strategy.experimental_local_results(step())
    return sum(int((replica.numpy() != expected).sum()) for replica in results)


def kinds(step):
    """The kinds of reducing operations in the graph and in the functions it calls."""
    graph = step.get_concrete_function().graph.as_graph_def()
    nodes = list(graph.node) + [node for function in graph.library.function for node in function.node_def]
    return sorted({node.op for node in nodes if node.op in COLLECTIVES or node.op == "AddN"})


def timed(strategy, step, repeat, seconds):
    """Seconds of one reduction in each run of `repeat` of them, for about `seconds`."""
    runs, until = [], time.perf_counter() + seconds
    while time.perf_counter() < until or len(runs) < 3:
        started = time.perf_counter()
        for replica in strategy.experimental_local_results(step()):
            replica[:1].numpy()  # a device works asynchronously: reading waits for it
        runs.append((time.perf_counter() - started) / repeat)
    return runs[1:]  # the first one traced the graph
