"""Rules over facts with odd texts in them: none crashes, and none finds a fault in what it cannot read."""

from __future__ import annotations

from typing import Any

import facts
import library_faults as broken
import pytest

from tfdoctor import engine
from tfdoctor.model import Severity, Status
from tfdoctor.probes.nvml import Gpus
from tfdoctor.probes.toolkits import Toolkit

RULES = [rule for rule in engine.all_rules() if rule.code[3] in "3456" and not rule.log_only]
TEXTS = (
    "",
    "unknown",
    "2",
    "2.x",
    "2.20.0rc1",
    "2.22.0.dev20261026",
    "2.17.0+nv25.02",
    "v2.20",
    "9" * 40,
    "2.20.0-custom build",
)

ODD: dict[str, tuple[Any, ...]] = {
    "tensorflow version": tuple(facts.tensorflow(version=text) for text in TEXTS),
    "tensorflow cuda": tuple(facts.tensorflow(cuda=text, cudnn=text, nccl=text) for text in TEXTS),
    "compute capabilities": tuple(
        facts.tensorflow(compute_capabilities=(text, "sm_86")) for text in (*TEXTS, "gfx90a", "sm_", "compute_x", "sm_100a")
    ),
    "bare tensorflow": (facts.tensorflow(distribution="", version="", cuda_build=None, rocm_build=None, cuda="", cudnn="",
                                         nccl="", compute_capabilities=(), ptx_isa="", in_table=False),),
    "packages": tuple(facts.distributions(dict.fromkeys(facts.PACKAGES, text)) for text in TEXTS),
    "requirements": tuple(
        facts.distributions({}, facts.distribution("tensorflow", "2.20.0", requires=(text, f"numpy{text}", "numpy; x == y")))
        for text in (*TEXTS, ">=", "<2; python_version < '3'", "; extra == 'and-cuda'")
    ),
    "interpreter": tuple(facts.interpreter(version=text, pip=text) for text in TEXTS),
    "platform": tuple(facts.platform(libc_version=text, machine=text, distro=text) for text in TEXTS),
    "toolkits": tuple(facts.toolkits(toolkits=(Toolkit("/x", text, "folder name", False),)) for text in TEXTS),
    "ptxas": tuple(facts.xla_tools(ptxas_version=text, libdevice=text) for text in TEXTS),
    "libraries": tuple(
        facts.libraries(facts.library("cudnn", picked=facts.library_file(f"/x/{text}", text)), broken.lost("cusolver",
                        facts.library_file(f"/y/{text or 'z'}", text), soname=text or "libcusolver.so.11"))
        for text in TEXTS
    ),
    "driver": tuple(facts.driver(version=text, cuda=text) for text in TEXTS),
    "gpu": (facts.gpus(facts.gpu(compute_capability=None, name="", memory_total=None, memory_used=None, processes=None)),
            facts.gpus(facts.gpu(lost=True, name="", compute_capability=None)), Gpus((), "NVML")),
    "nothing installed": (facts.distributions(dict.fromkeys(facts.PACKAGES)),),
}  # fmt: skip


@pytest.mark.parametrize("kind", ODD)
def test_no_odd_text_makes_a_rule_crash(kind: str) -> None:
    for fact in ODD[kind]:
        outcomes = facts.WORKSTATION.but(fact).outcomes(*RULES)
        crashed = [(o.rule.code, o.reason) for o in outcomes if o.status is Status.CRASHED]
        assert not crashed, (fact, crashed)


@pytest.mark.parametrize("kind", ["tensorflow cuda", "driver", "gpu", "toolkits", "packages", "interpreter"])
def test_what_cannot_be_read_is_no_error(kind: str) -> None:
    for fact in ODD[kind]:
        outcomes = facts.WORKSTATION.but(fact).outcomes(*RULES)
        errors = [d.message for o in outcomes for d in o.diagnoses if (d.severity or o.rule.severity) is Severity.ERROR]
        readable = kind == "packages"  # "2" is a version of every package, and wrong for most
        assert not errors or readable, (fact, errors)
