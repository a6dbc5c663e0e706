"""TFD603 cuda-order-differs-from-nvidia-smi."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, NotApplicable, Severity
from tfdoctor.probes.environment import Environment
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.nvml import Gpus


@rule("TFD603", Severity.INFO)
def cuda_order_differs_from_nvidia_smi(machine: GpuMachine, environment: Environment, gpus: Gpus) -> Found:
    """CUDA may count the GPUs of this machine in another order than nvidia-smi does.

    ## What it is
    nvidia-smi counts GPUs by PCI address. CUDA counts them fastest first unless `CUDA_DEVICE_ORDER=PCI_BUS_ID` is set. With cards
    of one model both agree; with different models index 0 of `CUDA_VISIBLE_DEVICES` and TensorFlow's `GPU:0` may be
    the card that nvidia-smi calls 1.

    ## How it shows
    - The program runs on another card than the one that was chosen, or runs out of memory on the smaller one
    - TensorFlow prints `name: …, pci bus id: 0000:d8:00.0` with an index that does not match `nvidia-smi`

    ## How to be sure
    Compare the PCI bus ids of TensorFlow's lines with `nvidia-smi --query-gpu=index,pci.bus_id,name --format=csv`.

    ## What to do
    - Linux, WSL2, Windows: `CUDA_DEVICE_ORDER=PCI_BUS_ID` before Python starts, for all programs alike.
    - Or choose by UUID, which is the same in every order: `CUDA_VISIBLE_DEVICES=GPU-…` from `nvidia-smi -L`.
    - Docker, Kubernetes: `--gpus '"device=GPU-…"'`. Slurm: the scheduler's choice is by device file; set the order there.
    - macOS: does not arise.

    ## References
    - https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/environment-variables.html
    - https://github.com/neuronets/kwyk/issues/17
    """
    models = list(dict.fromkeys(gpu.name for gpu in gpus if not gpu.lost))
    if len(models) < 2:
        raise NotApplicable(_("all GPUs are of one model"))
    if gpus.selected:
        raise NotApplicable(_("there is no NVML, and so no nvidia-smi"))
    if environment.get("CUDA_DEVICE_ORDER").strip().upper() == "PCI_BUS_ID":
        return None
    chosen = environment.get("CUDA_VISIBLE_DEVICES")
    by_index = any(entry.strip().isdigit() for entry in chosen.split(","))
    picked = _(" CUDA_VISIBLE_DEVICES={value} picks in CUDA's order.").format(value=chosen) if by_index else ""
    return Diagnosis(
        _(
            "This machine has GPUs of different models ({models}), which CUDA counts fastest first and nvidia-smi by PCI "
            "address."
        ).format(models=", ".join(models))
        + picked,
        evidence=(
            Evidence(", ".join(gpu.label for gpu in gpus), gpus.source),
            Evidence(_("CUDA_DEVICE_ORDER is not PCI_BUS_ID"), environment.source),
        ),
        fixes=(remedies.variable("CUDA_DEVICE_ORDER", "PCI_BUS_ID"),),
        severity=Severity.WARNING if by_index else None,
    )
