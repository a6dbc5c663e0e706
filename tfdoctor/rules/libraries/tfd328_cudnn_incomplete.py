"""TFD328 cudnn-incomplete."""

from __future__ import annotations

from typing import Optional

from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.cudnn_parts import CUDNN_PARTS
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.libraries import Libraries, LibraryFile
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.remedies import by_hand, reinstall
from tfdoctor.tables import fits

#: The part that is opened first of all.
FIRST = "libcudnn_graph."


@rule("TFD328", Severity.ERROR, blocks=True)
def cudnn_incomplete(
    machine: GpuMachine, libraries: Libraries, tensorflow: TensorFlow, interpreter: Optional[Interpreter]
) -> Found:
    """cuDNN is found, and parts of it that it opens when they are needed are missing, damaged or of another version.

    ## What it is
    libcudnn is a thin front that opens its parts itself. Every network needs libcudnn_graph, libcudnn_ops and libcudnn_cnn (cuDNN 8:
    libcudnn_ops_infer and libcudnn_cnn_infer); libcudnn_adv serves recurrent layers and attention, libcudnn_heuristic and
    the libcudnn_engines_… choose and hold kernels. All must come from one release of cuDNN. A copy without some of them
    loads and fails later.

    ## How it shows
    - `Could not load library libcudnn_cnn_infer.so.8. Error: libcudnn_cnn_infer.so.8: cannot open shared object file`
    - `Unable to load any of {libcudnn_graph.so.9.1.0, libcudnn_graph.so.9.1, libcudnn_graph.so.9, libcudnn_graph.so}`,
      and the process aborts: TensorFlow 2.21 while it lists the GPUs, older releases at the first convolution
    - `CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH`, `CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED`
    - `Bus error` without another word: a part (or any library) whose file ends too early

    ## How to be sure
    `ls $(dirname $(python -c "import nvidia.cudnn as m; print(m.__path__[0])"))/cudnn/lib` for the pip package, or the
    folder of the libcudnn that the message names: all parts must have the same version.

    ## What to do
    - pip: install the cuDNN package afresh, `pip install --force-reinstall --no-deps nvidia-cudnn-cu12==VERSION`.
    - Debian, Ubuntu, RHEL: install the whole package libcudnn again, not single files out of an archive.
    - conda: `conda install --force-reinstall cudnn`.
    - Docker: an image with cuDNN's runtime has all parts; do not copy libcudnn.so alone between images.

    ## References
    - https://docs.nvidia.com/deeplearning/cudnn/backend/latest/api/overview.html
    - https://github.com/tensorflow/tensorflow/issues/60913
    """
    cudnn = libraries.get("cudnn")
    picked = cudnn.picked if cudnn is not None else None
    if picked is None or not (picked.parts_missing or picked.parts_broken or picked.parts_other):
        return None
    lacking = (*picked.parts_missing, *picked.parts_broken)
    fix = by_hand(_("Install the whole cuDNN of that version again"))
    if picked.origin == "pip":
        package = "nvidia-cudnn-cu" + ("11" if tensorflow.cuda.startswith("11") else "12")
        fix = reinstall(interpreter, f"{package}=={picked.version}" if picked.version else package)
    every = any(part.partition(":")[0] in parts for parts in CUDNN_PARTS.values() for part in lacking)
    return Diagnosis(
        _message(picked),
        (Evidence(_("cuDNN {version}").format(version=picked.version or "?"), picked.path),),
        (fix,),
        severity=None if every or picked.parts_other else Severity.WARNING,
        # Seen, each part taken away by itself: 2.21 opens libcudnn_graph while it lists the GPUs, 2.18 to 2.20 none.
        blocks=fits(tensorflow.version, ">=2.21") and any(part.startswith(FIRST) for part in lacking),
    )


def _message(cudnn: LibraryFile) -> str:
    said = []
    if cudnn.parts_missing:
        parts = ", ".join(cudnn.parts_missing)
        said.append(
            _("cuDNN at {path} is there without {parts}, which it opens when needed.").format(
                path=cudnn.path, parts=parts
            )
        )
    if cudnn.parts_broken:
        parts = ", ".join(cudnn.parts_broken)
        said.append(_("Parts of cuDNN at {path} cannot be loaded: {parts}.").format(path=cudnn.path, parts=parts))
    if cudnn.parts_other:
        wording = _("Parts of cuDNN {version} at {path} are of another version: {parts}.")
        parts = ", ".join(cudnn.parts_other)
        said.append(wording.format(version=cudnn.version, path=cudnn.path, parts=parts))
    return " ".join(said)
