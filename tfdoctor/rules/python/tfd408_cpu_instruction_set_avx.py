"""TFD408 cpu-instruction-set-avx."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, NotApplicable, Severity, Unavailable
from tfdoctor.probes.interpreter import Distributions, Interpreter
from tfdoctor.probes.platform import Cpu, Platform
from tfdoctor.probes.surroundings import Cloud
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.rules.tensorflow._requirements import vendor_or_conda

#: The one release whose wheels were built with AVX2 by mistake; 2.4.1 went back to AVX.
#: https://github.com/tensorflow/tensorflow/releases/tag/v2.4.1
BUILT_WITH_AVX2 = "2.4.0"


@rule("TFD408", Severity.ERROR, blocks=True)
def cpu_instruction_set_avx(
    platform: Platform,
    tensorflow: TensorFlow,
    cpu: Optional[Cpu],
    cloud: Optional[Cloud],
    distributions: Optional[Distributions],
    interpreter: Optional[Interpreter],
) -> Found:
    """The processor lacks the AVX instructions that TensorFlow's wheels are built with.

    ## What it is
    Official x86-64 wheels have used AVX since 1.6; those of 2.4.0 used AVX2 as well. Pentium and Celeron models up to a few years
    ago have no AVX, and virtual machines often hide it: QEMU's default CPU model shows an old processor whatever the
    host has. The first such instruction ends the process.

    ## How it shows
    - Linux: `Illegal instruction (core dumped)` at `import tensorflow`, without a traceback
    - Windows: `ImportError: DLL load failed while importing _pywrap_tensorflow_internal: A dynamic link library (DLL) initialization
      routine failed.`
    - `The TensorFlow library was compiled to use AVX instructions, but these aren't available on your machine.`

    ## How to be sure
    `grep -o -w -m1 avx /proc/cpuinfo` prints nothing; on Windows a tool such as CPU-Z or Coreinfo.

    ## What to do
    - Virtual machine: give it the host's CPU model (libvirt `host-passthrough`, QEMU `-cpu host`, Proxmox CPU type `host`).
    - TensorFlow 2.4.0 on a CPU with AVX and without AVX2: 2.4.1.
    - Really no AVX: another machine, a build from source with `--copt=-march=native`, or a community wheel without AVX.
    - Docker, Kubernetes, Slurm: it is the node's CPU; choose nodes with AVX (node label, `--constraint`).
    - WSL2: the host's CPU. macOS on Apple silicon under Rosetta: use a native Python and wheel.

    ## References
    - https://github.com/tensorflow/tensorflow/issues/62342
    - https://github.com/tensorflow/tensorflow/issues/82992
    """
    if platform.machine != "x86_64":
        raise NotApplicable(_("this is not an x86-64 processor"))
    if cpu is None or not cpu.flags:
        if platform.system == "linux":
            raise Unavailable(_("the processor's instruction sets are not known"))
        return None
    need = "avx2" if tensorflow.version == BUILT_WITH_AVX2 else "avx"
    if need in cpu.flags and "avx" in cpu.flags:
        return None
    lacks = "avx" if "avx" not in cpu.flags else need
    virtual = cloud is not None and bool(cloud.virtual)
    fixes = [remedies.by_hand(_("Give the virtual machine the host's CPU model"))] if virtual else []
    if lacks == "avx2":
        fixes.insert(0, remedies.install(interpreter, remedies.another_release(tensorflow, "==2.4.1")))
    fixes.append(remedies.by_hand(_("Use a machine whose processor has {lacks}").format(lacks=lacks.upper())))
    return Diagnosis(
        _("The processor ({model}) does not have {lacks}, and TensorFlow {version} is built with it.").format(
            model=cpu.model, lacks=lacks.upper(), version=tensorflow.version
        ),
        evidence=(Evidence(_("no {flag} among the flags").format(flag=lacks), cpu.source),),
        fixes=tuple(fixes),
        severity=Severity.WARNING if vendor_or_conda(tensorflow, distributions) else None,
    )
