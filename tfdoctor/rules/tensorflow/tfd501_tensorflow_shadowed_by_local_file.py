"""TFD501 tensorflow-shadowed-by-local-file."""

from __future__ import annotations

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Found, Severity
from tfdoctor.probes.tensorflow import TensorFlowPackages


@rule("TFD501", Severity.ERROR, blocks=True)
def tensorflow_shadowed_by_local_file(packages: TensorFlowPackages) -> Found:
    """A file or folder of your own named tensorflow is imported in place of the installed TensorFlow.

    ## What it is
    Python takes the first `tensorflow` on `sys.path`, and the folder of the script (or the current one) comes before
    site-packages. A script that is called `tensorflow.py`, a folder `tensorflow/` (a clone of its repository) or a folder on
    PYTHONPATH that holds one is taken for the package.

    ## How it shows
    - `AttributeError: partially initialized module 'tensorflow' has no attribute 'constant' (most likely due to a
      circular import)`
    - `module 'tensorflow' has no attribute '__version__'`; it works in another folder

    ## How to be sure
    `python -c "import tensorflow; print(tensorflow.__file__, tensorflow.__path__)"` in that folder shows the path
    that was taken.

    ## What to do
    - All systems: rename the file or folder, and delete the `__pycache__/tensorflow.*` beside it; or start the program from
      another folder. tfdoctor never deletes it: it may be your work.
    - PYTHONPATH: take the entry out that holds it. Jupyter: the notebook's folder counts as the current one.
    - Docker, Kubernetes: mind the mounted working folder. Slurm: the folder from which the job was submitted.

    ## References
    - https://docs.python.org/3/library/sys_path_init.html
    - https://docs.python.org/3/tutorial/modules.html#the-module-search-path
    """
    if not packages.shadow:
        return None
    return Diagnosis(
        _(
            "{path} is imported in place of the installed TensorFlow, because it comes first on Python's search path."
        ).format(path=packages.shadow),
        evidence=(Evidence(_("found before site-packages"), packages.shadow),),
        fixes=(
            remedies.by_hand(_("Rename {path}, or start the program from another folder").format(path=packages.shadow)),
        ),
    )
