"""TFD606 xla-flags-unknown."""

from __future__ import annotations

import re
from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, LogMatch, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.rules._log import line, value


@rule("TFD606", Severity.ERROR)
def xla_flags_unknown(log: LogMatch, environment: Optional[Environment]) -> Found:
    """XLA_FLAGS holds a flag that this TensorFlow does not know, and XLA ends the process for that.

    ## What it is
    XLA reads `XLA_FLAGS` when it starts and aborts on a flag that it does not know. Flags come and go with every release, so
    a line that was copied from an article, or that JAX needs, can stop TensorFlow. A flag meant for `TF_XLA_FLAGS`
    (`--tf_xla_auto_jit`) in `XLA_FLAGS` does the same. A value that does not begin with `-` is taken for the name of a file.

    ## How it shows
    `Unknown flag in XLA_FLAGS: --xla_gpu_…` (plural: `Unknown flags`), then `Aborted (core dumped)`; sometimes
    `Perhaps you meant to specify these on the command line?`

    ## How to be sure
    `echo "$XLA_FLAGS"`, and `XLA_FLAGS=--help python -c "import tensorflow as tf; tf.function(lambda: tf.ones(1), jit_compile=True)()"`
    prints the flags of this release.

    ## What to do
    - Linux, WSL2, macOS: take the named flag out, or `unset XLA_FLAGS`; it is often set in `~/.bashrc` or a launcher.
    - Windows: `set XLA_FLAGS=` and the list of environment variables.
    - Docker, Kubernetes: look at the image's `ENV` and the pod's `env`. Slurm: the job script and loaded modules.

    ## References
    - https://openxla.org/xla/flags_guidance
    """
    unknown = re.findall(r"--\w+", value(log, "flags", ""))
    now = environment.get("XLA_FLAGS") if environment else ""
    kept = " ".join(word for word in now.split() if word.split("=")[0] not in unknown)
    return Diagnosis(
        _("XLA_FLAGS holds {flags}, which this TensorFlow does not know; XLA ends the process for that.").format(
            flags=", ".join(unknown) or _("a flag")
        ),
        evidence=(line(log), *((Evidence(f"XLA_FLAGS={now}", environment.source),) if environment and now else ())),
        fixes=(remedies.variable("XLA_FLAGS", kept if unknown and kept else None),),
    )
