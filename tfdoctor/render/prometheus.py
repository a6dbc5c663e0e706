"""`check --format prometheus`: text for node_exporter's textfile collector."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Optional

from tfdoctor import __version__
from tfdoctor.render.view import Checked


def render(checked: Checked) -> str:
    """Gauges: the verdict, each diagnosis, each requirement, and what the GPUs show."""
    return "".join(line + "\n" for line in _lines(checked))


def _lines(checked: Checked) -> Iterator[str]:
    yield from _gauge("tfdoctor_info", "The version of tfdoctor.", [({"version": __version__}, 1)])
    verdict = checked.report.verdict.gpu
    states = [({"gpu": word}, int(word == verdict)) for word in ("yes", "no", "unknown")]
    yield from _gauge("tfdoctor_verdict", "Will TensorFlow use the GPUs; 1 for the answer.", states)
    found = {(o.rule.code, o.rule.name, str(severity)): o.folded_under is None for o, _d, severity in checked.findings}
    rows = [({"code": c, "name": n, "severity": s, "root": str(root).lower()}, 1) for (c, n, s), root in found.items()]
    yield from _gauge("tfdoctor_diagnosis", "A diagnosis that was made.", rows)
    met = [({"requirement": j.requirement.text, "state": j.state}, int(j.met)) for j in checked.judgements]
    yield from _gauge("tfdoctor_requirement_met", "1 when the requirement holds.", met)
    yield from _gpus(checked)


def _gpus(checked: Checked) -> Iterator[str]:
    gpus = tuple(checked.report.facts.get("gpus") or ())
    for name, what, values in (
        ("tfdoctor_gpu_lost", "1 when the driver lost the GPU.", {g.index: int(g.lost) for g in gpus}),
        ("tfdoctor_gpu_pcie_width", "Lanes of the PCIe link now.", {g.index: g.pcie.width for g in gpus}),
        ("tfdoctor_gpu_pcie_max_width", "Lanes the link can have.", {g.index: g.pcie.max_width for g in gpus}),
        (
            "tfdoctor_gpu_nvlinks_active",
            "NVLinks that are up.",
            {g.index: None if g.nvlinks is None else g.active_nvlinks for g in gpus},
        ),
        (
            "tfdoctor_gpu_ecc_uncorrected",
            "Uncorrected ECC errors over the card's life.",
            {g.index: g.ecc.aggregate_uncorrected for g in gpus},
        ),
    ):
        yield from _gauge(name, what, [({"gpu": str(i)}, v) for i, v in values.items() if v is not None])


def _gauge(name: str, what: str, rows: Sequence[tuple[Mapping[str, str], Optional[int]]]) -> Iterator[str]:
    if rows:
        yield f"# HELP {name} {what}"
        yield f"# TYPE {name} gauge"
    for labels, value in rows:
        yield name + "{" + ",".join(f'{k}="{_quoted(v)}"' for k, v in labels.items()) + f"}} {value}"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
