"""TFD618 mps-server-unavailable."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line, value


@rule("TFD618", Severity.ERROR)
def mps_server_unavailable(log: LogMatch) -> Found:
    """CUDA is told to go through the Multi-Process Service (MPS), and its server does not take this program.

    ## What it is
    MPS lets several processes share one GPU at the same time. A program goes through it when it finds the control daemon's
    pipes, in `CUDA_MPS_PIPE_DIRECTORY` or else `/tmp/nvidia-mps`. Where the daemon is gone and its pipes are left, where it serves
    another user, where it serves as many clients as it can, or where another client's fault took the server down, CUDA does
    not start, and TensorFlow lists no GPU. Driver, CUDA and TensorFlow may be in order.

    ## How it shows
    - `failed call to cuInit: CUDA_ERROR_MPS_CONNECTION_FAILED` (805)
    - `CUDA_ERROR_MPS_RPC_FAILURE` (806), `CUDA_ERROR_MPS_SERVER_NOT_READY` (807)
    - `CUDA_ERROR_MPS_MAX_CLIENTS_REACHED` (808), `CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED` (809)
    - `CUDA_ERROR_MPS_CLIENT_TERMINATED` (810), after a fault of another client

    ## How to be sure
    `CUDA_MPS_PIPE_DIRECTORY=/var/empty python train.py`: with a folder that has no pipes CUDA leaves MPS alone. When the GPU is listed
    then, MPS is the cause. `echo get_server_list | nvidia-cuda-mps-control` says whether a daemon answers.

    ## What to do
    - MPS is not wanted: end the daemon (`echo quit | nvidia-cuda-mps-control`), delete the folder of pipes that it left, and put
      the GPU's compute mode back to default (`nvidia-smi -c DEFAULT`), both as its owner or as root.
    - MPS is wanted: start the daemon as the user who runs the programs, with the same `CUDA_MPS_PIPE_DIRECTORY`.
    - Too many clients: start fewer processes at a time.
    - Docker: the container needs the host's folder of pipes and `--ipc=host`. Kubernetes: the device plugin's MPS sharing sets both.
    - Slurm: ask for the GPU as `--gres=mps:…` only where the administrator set that up, else as `--gres=gpu:…`.
    - Linux only; Windows, WSL2 and macOS have no MPS.

    ## References
    - https://docs.nvidia.com/deploy/mps/
    - https://slurm.schedmd.com/gres.html
    """
    code = value(log, "code", "CUDA_ERROR_MPS_CONNECTION_FAILED")
    return Diagnosis(
        _("The Multi-Process Service (MPS) that CUDA goes through does not serve this program ({code}).").format(
            code=code
        ),
        evidence=(line(log),),
        fixes=(remedies.by_hand(_("Start the MPS daemon for this user, or end it and remove the pipes that it left")),),
    )
