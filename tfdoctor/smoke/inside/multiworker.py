"""One worker of MultiWorkerMirroredStrategy (TF_CONFIG in the environment): AllReduce with the others, checked."""

import json
import os
import time


def run(tf, options, stage):
    """All-reduce known whole numbers with every other worker at each size."""
    cluster = json.loads(os.environ["TF_CONFIG"])
    rank, count = cluster["task"]["index"], len(cluster["cluster"]["worker"])
    stage("worker %d of %d joins" % (rank, count))
    kind = tf.distribute.experimental.CommunicationImplementation
    communication = tf.distribute.experimental.CommunicationOptions(
        implementation=getattr(kind, options.get("over", "AUTO"))
    )
    strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=communication)
    n = strategy.num_replicas_in_sync
    checks, measured, repeats = [], [], {}
    for size in options["sizes"]:
        what = "AllReduce of %d bytes over %d workers" % (size, count)
        stage(what)
        step = reducer(tf, strategy, size // 4)
        expected = (tf.cast(tf.range(size // 4) % 97, tf.float32) * (n * (n + 1) / 2)).numpy()
        local = strategy.experimental_local_results(step())
        wrong = sum(int((value.numpy() != expected).sum()) for value in local)
        checks.append({"what": what, "error": float(wrong), "limit": 0.0, "ok": wrong == 0})
        runs = timed(step, options["rounds"])
        measured.append(
            {"way": "workers", "bytes": size, "seconds": min(runs), "median_seconds": sorted(runs)[len(runs) // 2]}
        )
        repeats["AllReduce workers %d bytes" % size] = [size / each / 1e9 for each in runs]
    measured = {"allreduce": measured, "replicas": n, "workers": count, "rank": rank, "repeats": repeats}
    return {"checks": checks, "measured": measured}


def reducer(tf, strategy, count):
    """A graph function that all-reduces (global replica + 1) times a pattern of `count` floats."""

    @tf.function
    def step():
        def replica():
            context = tf.distribute.get_replica_context()
            mine = tf.cast(context.replica_id_in_sync_group + 1, tf.float32)
            return context.all_reduce(tf.distribute.ReduceOp.SUM, tf.cast(tf.range(count) % 97, tf.float32) * mine)

        return strategy.run(replica)

    return step


def timed(step, rounds):
    """Seconds of each of `rounds` calls; the number is fixed, since all workers must make the same calls."""
    runs = []
    for _ in range(rounds):
        started = time.perf_counter()
        step()
        runs.append(time.perf_counter() - started)
    return runs
