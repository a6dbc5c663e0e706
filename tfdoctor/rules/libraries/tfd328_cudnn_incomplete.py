"""TFD328 cudnn-incomplete."""

from __future__ import annotations

from typing import Optional

from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.gpu_machine import GpuMachine
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.libraries import Libraries
from tfdoctor.probes.tensorflow import TensorFlow
from tfdoctor.remedies import by_hand, reinstall
from tfdoctor.tables import fits


@rule("TFD328", Severity.ERROR, blocks=True)
def cudnn_incomplete(
    machine: GpuMachine, libraries: Libraries, tensorflow: TensorFlow, interpreter: Optional[Interpreter]
) -> Found:
    """cuDNN is found, and parts of it that it opens on first use are not.

    ## What it is
    libcudnn is a thin front: it opens libcudnn_graph, libcudnn_ops and libcudnn_cnn (cuDNN 8: libcudnn_ops_infer and
    libcudnn_cnn_infer) when an operation needs them. A copy without them loads and fails later.

    ## How it shows
    - `Could not load library libcudnn_cnn_infer.so.8. Error: libcudnn_cnn_infer.so.8: cannot open shared object file`
    - `Unable to load any of {libcudnn_graph.so.9.1.0, libcudnn_graph.so.9.1, libcudnn_graph.so.9, libcudnn_graph.so}`,
      and the process aborts: TensorFlow 2.21 while it lists the GPUs, older releases at the first convolution

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
    if picked is None or not picked.parts_missing:
        return None
    message = _("cuDNN at {path} is there without {parts}, which it opens on first use.")
    fix = by_hand(_("Install the whole cuDNN of that version again"))
    if picked.origin == "pip":
        package = "nvidia-cudnn-cu" + ("11" if tensorflow.cuda.startswith("11") else "12")
        fix = reinstall(interpreter, f"{package}=={picked.version}" if picked.version else package)
    return Diagnosis(
        message.format(path=picked.path, parts=", ".join(picked.parts_missing)),
        (Evidence(_("cuDNN {version}").format(version=picked.version or "?"), picked.path),),
        (fix,),
        # Seen: 2.21 opens the parts while it lists the GPUs, 2.18 to 2.20 list them and abort at the first operation.
        blocks=fits(tensorflow.version, ">=2.21"),
    )
