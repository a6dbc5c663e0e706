"""A real conda environment: packages of a channel, installed by a real conda client (py-rattler) under the name of conda.

The client does what conda does with files: it links them from a cache, and keeps a record of each package in conda-meta.
Not among what the tests install, since it crashes now and then: `pip install py-rattler` runs this.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from wheelhouse import Env

pytest.importorskip("rattler", reason="py-rattler is not installed here")

CONDA = '''#!{own}
"""conda's own commands, as far as tfdoctor gives them."""
import asyncio, sys
from pathlib import Path
import rattler
channel, cache = Path("{channel}"), Path("{cache}")
command, *words = sys.argv[1:]
flags = {{w for w in words if w.startswith("--")}}
prefix = words.pop(words.index("--prefix") + 1)
specs = [w for w in words if not w.startswith("--")]
records = [rattler.PrefixRecord.from_path(p) for p in sorted(Path(prefix, "conda-meta").glob("*.json"))]
if command == "list":
    print("\\n".join(f"{{r.name.normalized}}={{r.version}}={{r.build}}" for r in records))
else:
    asked = {{s.split("=")[0].split("<")[0].split(">")[0] for s in specs}}
    kept = [r for r in records if r.name.normalized not in asked]
    platforms = ["linux-64", "noarch"]
    solution = asyncio.run(rattler.solve([channel.as_uri()], [*specs, *(r.name.normalized for r in kept)], platforms=platforms,
                                         locked_packages=records))
    if "--dry-run" not in flags:
        asyncio.run(rattler.install(solution, prefix, cache_dir=cache, installed_packages=records, show_progress=False))
'''


def package(channel: Path, wheel: Path) -> None:
    """The same files as a package of conda."""
    name, version = wheel.name.split("-")[:2]
    name = name.replace("_", "-")
    site = f"lib/python3.{sys.version_info.minor}/site-packages"
    with zipfile.ZipFile(wheel) as archive:
        files = {f"{site}/{n}": archive.read(n) for n in archive.namelist()}
    files[f"{site}/{name.replace('-', '_')}-{version}.dist-info/INSTALLER"] = b"conda\n"
    index = {
        "name": name, "version": version, "build": "py_0", "build_number": 0,
        "subdir": "noarch", "noarch": "generic", "depends": [],
    }  # fmt: skip
    info = {"info/index.json": json.dumps(index).encode(), "info/files": "\n".join(files).encode()}
    with tarfile.open(channel / "noarch" / f"{name}-{version}-py_0.tar.bz2", "w:bz2") as archive:
        for place, content in {**info, **files}.items():
            entry = tarfile.TarInfo(place)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


@pytest.fixture
def conda(relocated_python: Env, tmp_path: Path) -> tuple[Env, dict[str, str]]:
    """An environment in which conda put TensorFlow, and a PATH with a conda on it."""
    import asyncio

    from rattler.index import index_fs

    channel, program = tmp_path / "channel", tmp_path / "bin" / "conda"
    (channel / "noarch").mkdir(parents=True)
    for wheel in sorted(relocated_python.index.glob("*.whl")):
        package(channel, wheel)
    asyncio.run(index_fs(channel))
    program.parent.mkdir()
    program.write_text(CONDA.format(own=sys.executable, channel=channel, cache=tmp_path / "cache"))
    program.chmod(0o755)
    (relocated_python.root / "conda-meta").mkdir()
    specs = ["tensorflow-cpu=2.15.1", "keras=3.3.3", "numpy=1.26.4"]
    command = [str(program), "install", "--yes", "--prefix", str(relocated_python.root), *specs]
    subprocess.run(command, check=True)
    return relocated_python, {"PATH": f"{program.parent}:/usr/bin:/bin"}


def test_fixed_with_conda_and_undone(conda: tuple[Env, dict[str, str]]) -> None:
    env, path = conda
    assert len(list((env.root / "conda-meta").glob("*.json"))) == 3
    before = env.listing()
    (step,) = env.plan(**path)["steps"]
    assert step["commands"][0][1:5] == ["install", "--yes", "--prefix", str(env.root)]
    assert env.listing() == before
    done = env.fix("--yes", "--include", "ask", **path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fixed: TFD511" in done.stdout
    assert (env.root / "conda-meta" / "keras-2.15.0-py_0.json").is_file()
    undone = env.fix("--undo", **path)
    assert undone.returncode == 0, undone.stderr
    assert env.listing() == before
