"""TFD619 disk-full."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Found, LogMatch, Severity
from tfdoctor.rules._log import line


@rule("TFD619", Severity.ERROR)
def disk_full(log: LogMatch) -> Found:
    """A file could not be written, since its file system has no room or the user's quota is used up.

    ## What it is
    The NVIDIA packages of `tensorflow[and-cuda]` take several GB, and pip needs the room twice: in its temporary folder and in the
    environment. Checkpoints, TensorBoard logs, `cache()` files, XLA dumps and CUDA's own cache of compiled kernels
    (`~/.nv/ComputeCache`) are written while a program runs. An installation that ended this way can leave files missing.

    ## How it shows
    - `OSError: [Errno 28] No space left on device`, `OSError: [Errno 122] Disk quota exceeded`
    - `ResourceExhaustedError: … No space left on device` from a checkpoint or a record writer
    - not this: the same words with `/dev/shm`, which is shm-too-small, or `/dev/shm/nccl-…`, shm-full-of-stale-segments

    ## How to be sure
    `df -h` and `df -i` (a file system can run out of inodes) for the environment, the temporary folder and the home folder; `quota -s` on
    a cluster.

    ## What to do
    - pip: `TMPDIR=/folder/with/room python -m pip install --no-cache-dir …`; `pip cache purge` frees its cache.
    - After an installation that ended this way: run `tfdoctor check`, it names missing files; `tfdoctor fix` reinstalls.
    - A program: fewer checkpoints (`max_to_keep`), logs and caches elsewhere, `CUDA_CACHE_PATH` on a larger file system.
    - Docker: `docker system df`, `docker system prune`; Kubernetes: the pod's ephemeral storage; Slurm: the node's scratch folder.
    - WSL2: its virtual disk grows up to its own limit, also when Windows has room.

    ## References
    - https://pip.pypa.io/en/stable/topics/caching/
    - https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#cuda-environment-variables
    """
    return Diagnosis(
        _("There was no room to write a file: the file system is full, or the user's quota is used up."),
        evidence=(line(log),),
        fixes=(remedies.by_hand(_("Make room where it was writing, or write elsewhere")),),
    )
