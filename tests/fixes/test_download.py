"""The size of a step's download, told by the package tool of the environment and by whoever serves the files."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path

import pytest
from wheelhouse import Env, wheel

from tfdoctor.children import Children
from tfdoctor.fixes.download import FIRST_PIP, MIB, measured
from tfdoctor.fixes.installer import Installer, at_least
from tfdoctor.fixes.plan import Plan, Step
from tfdoctor.model import Safety

LARGE = (("keras", "2.15.0", 3), ("keras", "3.3.3", 4), ("keras", "3.4.0", 1), ("numpy", "1.26.4", 2))  # the last: MiB


class Silent(SimpleHTTPRequestHandler):
    """Files of a folder, and nothing on standard error."""

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


@pytest.fixture
def index(tmp_path: Path) -> Iterator[str]:
    """The address of a package index with two large wheels."""
    served = tmp_path / "served"
    for name, number, mib in LARGE:
        folder = served / name
        folder.mkdir(parents=True, exist_ok=True)
        made = wheel(folder, name, number, {f"{name}/__init__.py": ""})
        made.write_bytes(b"\0" * (mib * MIB - made.stat().st_size) + made.read_bytes())  # a zip's end is what counts
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Silent, directory=str(served)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(params=["own pip", "uv"])
def installer(request: pytest.FixtureRequest, env: Env, index: str, monkeypatch: pytest.MonkeyPatch) -> Installer:
    """A tool for an environment that has keras 3.3.3 and numpy 2.1.0; pip: an old one, that tfdoctor's own stands in for."""
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "UV_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    for name in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX"):
        monkeypatch.setenv(name, index)
    uv = shutil.which("uv")
    if request.param == "uv" and not uv:
        pytest.skip("no uv here")
    if request.param == "own pip" and not at_least(version("pip"), FIRST_PIP):
        pytest.skip("this pip's dry run downloads what it resolves")
    python, prefix = str(env.python), str(env.root)
    return (
        Installer("uv", python, prefix, program=str(uv)) if request.param == "uv" else Installer("pip", python, prefix)
    )


def size(installer: Installer, *requirements: str, force: bool = False) -> int | None:
    """What is said for one step that installs `requirements`, unknown before."""
    step = Step("packages", "", (), "", Safety.SAFE, (installer.install(requirements, no_deps=True, force=force),))
    children = Children()
    try:
        return measured(Plan(sys.executable, (step,)), installer, children).steps[0].download_mib
    finally:
        children.close()


def test_what_is_fetched_counts_and_what_is_there_does_not(installer: Installer, env: Env, tmp_path: Path) -> None:
    before = env.listing()
    scratch = sorted(tmp_path.iterdir())
    assert size(installer, "keras==2.15.*", "numpy<2") == 5
    assert size(installer, "keras", "numpy<2") == 2, "what is there and will do is kept"
    assert size(installer, "keras==3.3.3", force=True) == 4
    assert (env.listing(), sorted(tmp_path.iterdir())) == (before, scratch)


def test_what_the_index_does_not_have_is_not_known(installer: Installer) -> None:
    assert size(installer, "keras==2.15.*", "absent") is None


def test_an_index_that_does_not_answer_is_not_waited_for(installer: Installer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert size(installer, "keras==2.15.*") is None


def test_conda_is_not_asked(env: Env) -> None:
    assert size(Installer("conda", str(env.python), str(env.root), program="conda"), "keras") is None
