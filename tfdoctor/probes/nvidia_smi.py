"""nvidia-smi: is it there, did it work, and what does its failure say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from tfdoctor.children import Completed
from tfdoctor.engine import probe
from tfdoctor.host import Host
from tfdoctor.i18n import _
from tfdoctor.model import NotApplicable, Unavailable
from tfdoctor.probes.nvml import Nvml


@dataclass(frozen=True)
class NvidiaSmi:
    """`problem` is "" (it worked), "missing", "driver-not-loaded" (exit 9), "library-missing" (12), "version-mismatch" (18),
    "no-permission" (4), "no-devices" (6), "gpu-lost" (15), "blocked-by-os" (17), "timed-out", "garbled", "unknown".

    `code`: exit code, None where recorded without one. `version`: of nvidia-smi itself. `text` is the error as printed,
    "" when it worked. `library_version`: of libnvidia-ml, which newer drivers name with a mismatch ("" not told)."""

    problem: str
    code: Optional[int]
    text: str
    version: str
    source: str
    library_version: str = ""


@probe
def nvidia_smi(host: Host, nvml: Optional[Nvml]) -> NvidiaSmi:
    """Run nvidia-smi where NVML did not come up; a recording is read in any case.

    Not after NVML timed out: nvidia-smi asks the same driver and would only hang as long again.
    """
    from tfdoctor.probes.parse import smi_error, smi_text

    if host.live and nvml is not None and nvml.state == "ok":
        raise NotApplicable(_("NVML answered, so nvidia-smi was not asked"))
    if host.live and nvml is not None and nvml.state == "timed-out":
        raise Unavailable(_("NVML did not answer, so nvidia-smi was not asked"))
    done, source = _printed(host)
    if done is None:
        return NvidiaSmi("missing", None, "", "", source)
    if done.timed_out:
        return NvidiaSmi("timed-out", done.code, "", "", source)
    printed = done.stdout if done.stdout.strip() else done.stderr
    problem = smi_error.problem_of(printed, done.code)
    report = smi_text.parse(printed)
    if problem == "garbled" and report and report.gpus:
        problem = ""  # a part of the table, as people paste it
    return NvidiaSmi(
        problem=problem,
        code=done.code,
        text=smi_error.words(printed) if problem and report is None else "",
        version=report.smi if report else "",
        source=source,
        library_version=smi_error.library_version(printed),
    )


def _printed(host: Host) -> tuple[Optional[Completed], str]:
    """nvidia-smi's table; in a recording without one what `nvidia-smi -q -x` printed, where that is the error."""
    from tfdoctor.probes.parse import smi_text

    try:
        return host.capture("nvidia-smi.txt"), "nvidia-smi"
    except Unavailable:
        if host.live:
            raise
        done = host.capture("nvidia-smi-q.xml")
        if done is None or smi_text.parse(done.stdout):
            raise
        return done, "nvidia-smi -q -x"
