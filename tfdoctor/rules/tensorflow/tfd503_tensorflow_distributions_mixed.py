"""TFD503 tensorflow-distributions-mixed."""

from __future__ import annotations

from typing import Optional

from tfdoctor import remedies
from tfdoctor.engine import rule
from tfdoctor.i18n import _
from tfdoctor.model import Diagnosis, Evidence, Fix, Found, Severity
from tfdoctor.probes.interpreter import Interpreter
from tfdoctor.probes.tensorflow import TensorFlowPackages
from tfdoctor.tables import Tables


@rule("TFD503", Severity.ERROR, blocks=True)
def tensorflow_distributions_mixed(
    packages: TensorFlowPackages, tables: Tables, interpreter: Optional[Interpreter]
) -> Found:
    """Several distributions share the folder tensorflow/, or one was removed and left it without an owner.

    ## What it is
    `tensorflow`, `tensorflow-cpu`, `tensorflow-gpu`, `tensorflow-intel`, `tensorflow-macos`, `tensorflow-rocm` and `tf-nightly`
    are different distributions that all install the same folder. pip does not know that: the one installed last
    overwrites the files of the other, and removing one deletes files of both. What a removal left of the folder imports as
    an empty package; one with TensorFlow's compiled core that nobody owns (copied, or built by hand) may work.

    ## How it shows
    - `module 'tensorflow' has no attribute '__version__'` (or `keras`, `config`)
    - `ImportError` from inside tensorflow/, `undefined symbol`; or it works, and is the CPU build although the GPU
      build was installed

    ## How to be sure
    `python -m pip list | grep -i -E 'tensorflow|tf-nightly'` shows more than one of the names above, or none
    while `site-packages/tensorflow` exists. `tensorflow` beside `tensorflow-intel` on Windows, or `tensorflow-cpu-aws` on aarch64, of
    one version is as it should be: the first only installs the second.

    ## What to do
    - All systems: uninstall every one of them, look whether `site-packages/tensorflow` is gone (if not, move it away), then
      install the one that is wanted. A new virtual environment is the safer way to the same end.
    - Find out who asks for the second one: `python -m pip show tensorflow-cpu` lists it under `Required-by`.
    - Docker, Kubernetes: rebuild the image. Slurm: do it where no job is running.

    ## References
    - https://www.tensorflow.org/install/pip
    - https://pip.pypa.io/en/stable/cli/pip_uninstall/
    """
    if not packages.installed and packages.folder:
        if packages.core:  # a copied tree, or a build that pip did not install: it may work
            text = _("{folder} holds a TensorFlow that no installed distribution owns, so whether it is whole is open.")
        else:
            text = _(
                "{folder} exists, but no installed distribution owns it: what is left of a TensorFlow that was removed."
            )
        return Diagnosis(
            text.format(folder=packages.folder),
            evidence=(Evidence(_("a folder without an owner"), packages.folder),),
            fixes=(
                remedies.by_hand(_("Move {folder} away").format(folder=packages.folder)),
                remedies.install(interpreter, "tensorflow[and-cuda]"),
            ),
            severity=Severity.WARNING if packages.core else None,
        )
    owners = _owners(packages, tables)
    if len(owners) < 2:
        return None
    named = ", ".join(f"{name} {version}" for name, version in owners)
    # With one version everywhere the files at least belong together; which build they are is open.
    same = len({version.split("+")[0] for _name, version in owners}) == 1
    return Diagnosis(
        _("{owners} share one folder tensorflow/: the one installed last has overwritten the others.").format(
            owners=named
        ),
        evidence=tuple(Evidence(f"{name} {version}", packages.source) for name, version in owners),
        fixes=(_fix(owners, interpreter),),
        severity=Severity.WARNING if same else None,
    )


def _owners(packages: TensorFlowPackages, tables: Tables) -> tuple[tuple[str, str], ...]:
    """The distributions with files of their own: one that only forwards to another installed one has none."""
    have = dict(packages.installed)
    release = tables.release(have["tensorflow"]) if "tensorflow" in have else None
    forwards = {row.forwards_to for row in release.platforms if row.stub} if release else set()
    if any(have.get(name or "") == have.get("tensorflow") for name in forwards):
        have.pop("tensorflow")
    return tuple(have.items())


def _fix(owners: tuple[tuple[str, str], ...], interpreter: Optional[Interpreter]) -> Fix:
    """Remove all, then the plain one with its CUDA libraries where it was among them."""
    names = tuple(name for name, _version in owners)
    version = next((v for name, v in owners if name == "tensorflow"), "")
    wanted = f"tensorflow=={version}" if version else names[0]
    return Fix(
        _("Remove all of them, then install the one that is wanted"),
        commands=(
            remedies.pip(interpreter, "uninstall", "-y", *names),
            remedies.pip(interpreter, "install", "--force-reinstall", "--no-deps", wanted),
        ),
        note=_("Choose which one: tensorflow is the build with CUDA on Linux, tensorflow-cpu never is."),
        requirements=(wanted,),
        removes=names,
    )
