"""TFD818 tf-config-address-unreachable."""

from __future__ import annotations

import json

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.environment import Environment

LOCAL = ("localhost", "127.", "0.0.0.0", "[::1]", "::1")


@rule("TFD818", Severity.WARNING)
def tf_config_address_unreachable(environment: Environment) -> Found:
    """TF_CONFIG names addresses under which the workers cannot find each other.

    ## What it is
    `MultiWorkerMirroredStrategy` reads host and port of every worker from the variable TF_CONFIG, starts its own server there and waits for all
    others. A name that does not resolve, a loopback address among several hosts, a port that a firewall closes or a worker that
    never started makes all of them wait.

    ## How it shows
    - `CreateSession still waiting for response from worker: /job:worker/replica:0/task:1`
    - `Started server with target: grpc://…`, then silence
    - `UNAVAILABLE: failed to connect to all addresses`, `Error: OS Error` while binding

    ## How to be sure
    On each worker `python -m json.tool <<< "$TF_CONFIG"`, then `getent hosts NAME` and `nc -vz NAME PORT` for every address. The
    `task` differs on each worker, the `cluster` is the same.

    ## What to do
    - Everywhere: names or addresses that all hosts can reach, one free port each, `cluster` identical, `task.index` its own; start all workers.
    - Kubernetes: a headless service and the pods' full names. Slurm: `SlurmClusterResolver` in place of TF_CONFIG.
    - Docker: publish the ports or use the host's network; several workers on one machine: localhost with different ports is right.

    ## References
    - https://www.tensorflow.org/tutorials/distribute/multi_worker_with_keras
    - https://github.com/tensorflow/tensorflow/issues/27562
    """
    text = environment.get("TF_CONFIG")
    if not text:
        return None
    fix = remedies.by_hand(
        _("Write TF_CONFIG anew: the same cluster on all workers, reachable addresses, each its own task")
    )
    evidence = (Evidence(_("TF_CONFIG is set ({length} characters)").format(length=len(text)), environment.source),)
    try:
        config = json.loads(text)
        workers = [str(address) for addresses in config.get("cluster", {}).values() for address in addresses]
    except (ValueError, AttributeError, TypeError) as error:
        message = _("TF_CONFIG is not what TensorFlow reads, a JSON object with cluster and task: {error}.").format(
            error=error
        )
        return Diagnosis(message, evidence, (fix,))
    local = [a for a in workers if a.startswith(LOCAL)]
    if not local or len(local) == len(workers):
        return None
    message = _("TF_CONFIG names {count} addresses, and {local} is one that only its own machine can reach.").format(
        count=len(workers), local=local[0]
    )
    return Diagnosis(message, evidence, (fix,))
