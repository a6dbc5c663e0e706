"""The answer of `compat` as JSON."""

from __future__ import annotations

import json

from tfdoctor.fitting.answer import Fit
from tfdoctor.fitting.asked import Asked


def render(asked: Asked, fits: tuple[Fit, ...]) -> str:
    """One object: what was asked, and every release with its reasons, newest first."""
    content = {
        "schema": 1,
        "asked": {
            "tensorflow": asked.tensorflow,
            "python": asked.python,
            "driver": asked.driver,
            "gpu": asked.gpu,
            "compute_capability": asked.capability.compute_capability if asked.capability else None,
            "cuda": asked.cuda,
            "os": asked.system,
            "arch": asked.machine,
            "glibc": asked.glibc,
            "assumed": [{"system": "os", "machine": "arch"}[name] for name in asked.assumed],
        },
        "releases": [
            {
                "tensorflow": fit.release.version,
                "fits": fit.fits,
                "because": [{"says": reason.text, "source": reason.source} for reason in fit.because],
                "install": [list(command) for command in fit.install],
            }
            for fit in fits
        ],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
