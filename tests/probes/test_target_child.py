"""The script that the target interpreter runs: what it says of environments, whole and broken."""

from __future__ import annotations

import ast
import importlib.machinery
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreters import find_python
from site_build import CHILD, TENSORFLOW, ask, distribution, named

from tfdoctor.host import LiveHost
from tfdoctor.target.distributions import canonical, headers
from tfdoctor.target.imports import IMPORTS
from tfdoctor.target.record import record_rows

VERSIONS = [f"3.{minor}" for minor in range(6, 15)]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site-packages folder with a whole TensorFlow."""
    folder = tmp_path / "site-packages"
    distribution(
        folder,
        "tensorflow",
        "2.21.0",
        TENSORFLOW,
        ["numpy>=1.26.0", "nvidia-cudnn-cu12<10.0,>=9.3.0.75; extra == 'and-cuda'"],
    )
    distribution(folder, "numpy", "2.1.0", {"numpy/__init__.py": ""})
    return folder


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A working directory with nothing in it."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_of_python_answers_the_same(site: Path, elsewhere: Path, version: str) -> None:
    python = find_python(version)
    if python is None:
        pytest.skip(f"no Python {version} on this machine")
    answer, ours = ask(site, python, elsewhere), ask(site, sys.executable, elsewhere)
    assert answer["python"]["version"].startswith(version)
    assert answer["python"]["implementation"] == "CPython"
    assert answer["problems"] == []
    for name in ("tensorflow", "numpy"):
        assert named(answer, name) == named(ours, name)
    assert answer["tensorflow"] == ours["tensorflow"]


def test_the_script_is_python_3_6() -> None:
    """And takes no more of the standard library than starts fast."""
    imported = set()
    for path in CHILD.parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(), feature_version=(3, 6))):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(node.module or "")
    assert imported == {"os", "sys", "json", "hashlib", "base64", "importlib.machinery"}


def test_nothing_is_written_beside_the_script(elsewhere: Path, tmp_path: Path) -> None:
    """Whatever interpreter runs it, and however."""
    copy = shutil.copytree(CHILD.parent, tmp_path / "copy", ignore=shutil.ignore_patterns("__pycache__"))
    before = sorted(copy.rglob("*"))
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    command = [sys.executable, str(copy / CHILD.name)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=elsewhere, env=clean)
    assert "distributions" in done.stdout
    assert sorted(copy.rglob("*")) == before


def test_modules_of_the_target_that_are_named_like_ours(site: Path, elsewhere: Path) -> None:
    """Here imported before the script begins; they neither answer for ours nor are hidden by them."""
    names = [path.stem for path in CHILD.parent.glob("[!_]*.py")]
    for name in names:
        (site / f"{name}.py").write_text("")
    (site / "sitecustomize.py").write_text("import " + ", ".join(names))
    answer = ask(site, cwd=elsewhere)
    assert (answer["problems"], answer["path"][:2]) == ([], [str(elsewhere), str(site)])


def test_a_whole_tensorflow(site: Path, elsewhere: Path) -> None:
    answer = ask(site, cwd=elsewhere)
    entry = named(answer, "tensorflow")
    assert entry["owns_tensorflow"] is True
    assert entry["damaged"] == 0
    assert entry["checked"] == len([p for p in TENSORFLOW if "/include/" not in p])
    assert entry["installer"] == "pip"
    assert entry["requires"][0] == "numpy>=1.26.0"
    assert answer["tensorflow"]["found"] == str(site / "tensorflow")
    assert answer["tensorflow"]["real"] is True
    assert "is_cuda_build" in answer["tensorflow"]["build_info"]
    assert "#define CUDNN_MAJOR 9" in answer["tensorflow"]["headers"]["cudnn_version.h"]
    assert list(answer["tensorflow"]["objects"]) == ["libtensorflow_framework.so.2", "_pywrap_tensorflow_internal.so"]


def test_the_search_path_is_that_of_the_users_program(site: Path, elsewhere: Path) -> None:
    answer = ask(site, cwd=elsewhere)
    assert answer["path"][:2] == [str(elsewhere), str(site)]
    assert str(CHILD.parent) not in answer["path"]
    isolated = ask(site, cwd=elsewhere, options=["-I"])
    assert str(elsewhere) not in isolated["path"]


def test_what_lies_in_the_working_directory_does_not_disturb_the_script(site: Path, elsewhere: Path) -> None:
    for name in ("json", "hashlib", "base64", "importlib", "platform"):
        (elsewhere / f"{name}.py").write_text("raise SystemExit(3)")
    assert ask(site, cwd=elsewhere)["problems"] == []


def test_a_linked_installation_of_tfdoctor_does_not_shadow_the_standard_library(tmp_path: Path, site: Path) -> None:
    """sys.path[0] is the real folder of the script, whatever name it was started by."""
    (tmp_path / "link").symlink_to(CHILD.parent)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "link" / CHILD.name)], capture_output=True, text=True, cwd=tmp_path
    )
    assert str(CHILD.parent) not in done.stdout


def test_what_tensorflow_imports_of_others(site: Path, elsewhere: Path) -> None:
    distribution(site, "six", "1.17.0", {"six.py": ""})
    distribution(site, "protobuf", "6.32.0", {"google/protobuf/__init__.py": "", "google/protobuf/message.py": ""})
    answer = ask(site, cwd=elsewhere)
    found = answer["imports"]
    assert (found["numpy"], found["six"]) == (str(site / "numpy"), str(site / "six.py"))
    assert found["protobuf"] == str(site / "google/protobuf")
    assert set(found) == set(IMPORTS)
    assert (named(answer, "protobuf")["checked"], named(answer, "protobuf")["gone"]) == (2, 0)


def test_a_folder_without_init_is_no_package(site: Path, elsewhere: Path) -> None:
    """What uninstalling leaves: byte code."""
    (site / "numpy/__init__.py").unlink()
    (site / "numpy/__pycache__").mkdir()
    answer = ask(site, cwd=elsewhere)
    assert answer["imports"]["numpy"] == str(site / "numpy") + os.sep
    (site / "numpy").rename(site / "other")
    assert ask(site, cwd=elsewhere)["imports"]["numpy"] == ""
    entry = named(answer, "numpy")
    assert (entry["checked"], entry["damaged"], entry["gone"], entry["damage"]) == (1, 1, 1, ["numpy/__init__.py"])


def test_missing_code_and_what_is_no_code(site: Path, elsewhere: Path) -> None:
    files = ["gast/__init__.py", "gast/core.so", "gast/lib.so.5.0", "gast/tests/test_it.py", "gast/data.txt"]
    distribution(site, "gast", "0.6.0", dict.fromkeys(files, ""))
    for name in files[1:]:
        (site / name).unlink()
    entry = named(ask(site, cwd=elsewhere), "gast")
    assert (entry["checked"], entry["damage"]) == (3, ["gast/core.so", "gast/lib.so.5.0"])


def test_code_that_is_empty_or_cut_short(site: Path, elsewhere: Path) -> None:
    """A text may be changed, as conda does; a compiled module that is shorter than it was is none any more."""
    distribution(
        site, "gast", "0.6.0", {"gast/__init__.py": "x = 1\n", "gast/a.py": "y = 2\n", "gast/core.so": "12345"}
    )
    (site / "gast/__init__.py").write_text("x=1")
    (site / "gast/a.py").write_text("")
    (site / "gast/core.so").write_text("123")
    entry = named(ask(site, cwd=elsewhere), "gast")
    assert (entry["gone"], entry["damage"]) == (2, ["gast/a.py", "gast/core.so"])


def test_compiled_modules_of_another_python(site: Path, elsewhere: Path) -> None:
    ours, other = importlib.machinery.EXTENSION_SUFFIXES[0], ".cpython-36m-x86_64-linux-gnu.so"
    for name, suffixes in (("gast", [other]), ("wrapt", [other, ours])):
        files = [f"{name}/core{suffix}" for suffix in suffixes]
        distribution(site, name, "1.0", dict.fromkeys([*files, f"{name}/__init__.py"], ""))
    answer = ask(site, cwd=elsewhere)
    assert named(answer, "gast")["foreign"] == f"gast/core{other}"
    assert named(answer, "wrapt")["foreign"] == ""


def test_what_hides_modules_of_the_standard_library(site: Path, elsewhere: Path) -> None:
    for name in ("random.py", "queue.txt", "mine.py", "code.py"):
        (elsewhere / name).write_text("")
    for name in ("copy", "logging"):
        (elsewhere / name).mkdir()
    (elsewhere / "logging/__init__.py").write_text("")
    assert ask(site, cwd=elsewhere)["shadows"] == [str(elsewhere / "logging"), str(elsewhere / "random.py")]


def test_missing_empty_and_changed_files(site: Path, elsewhere: Path) -> None:
    (site / "tensorflow/python/__init__.py").unlink()
    (site / "tensorflow/python/_pywrap_tensorflow_internal.so").write_text("")
    same_size = (site / "tensorflow/__init__.py").read_text().replace("imported", "replaced")
    (site / "tensorflow/__init__.py").write_text(same_size)
    entry = named(ask(site, cwd=elsewhere), "tensorflow")
    assert (entry["damaged"], entry["gone"]) == (3, 2)
    assert sorted(entry["damage"][:2]) == [
        "tensorflow/python/__init__.py",
        "tensorflow/python/_pywrap_tensorflow_internal.so",
    ]
    assert entry["damage"][2] == "tensorflow/__init__.py"


def test_headers_byte_code_and_foreign_paths_do_not_count(tmp_path: Path, elsewhere: Path) -> None:
    files = {
        "tensorflow/__init__.py": "",
        "tensorflow/include/a.h": "x",
        "tensorflow/a.pyc": "x",
        "tensorflow/with, comma.py": "x",
    }
    info = distribution(tmp_path / "s", "tensorflow", "2.21.0", files)
    with (info / "RECORD").open("a") as record:
        record.write("../../../bin/saved_model_cli,sha256=x,5\n/etc/passwd,,5\nno commas\n")
    for path in ("tensorflow/include/a.h", "tensorflow/a.pyc"):
        (tmp_path / "s" / path).unlink()
    entry = named(ask(tmp_path / "s", cwd=elsewhere), "tensorflow")
    assert (entry["checked"], entry["damaged"]) == (2, 0)


def test_two_distributions_of_which_one_was_removed(tmp_path: Path, elsewhere: Path) -> None:
    site = tmp_path / "s"
    distribution(site, "tensorflow", "2.21.0", TENSORFLOW)
    cpu = distribution(
        site,
        "tensorflow-cpu",
        "2.21.0",
        {**TENSORFLOW, "tensorflow/python/platform/build_info.py": "is_cuda_build = False\n"},
    )
    both = ask(site, cwd=elsewhere)
    assert named(both, "tensorflow")["damage"] == ["tensorflow/python/platform/build_info.py"]
    assert named(both, "tensorflow-cpu")["damaged"] == 0
    for path in TENSORFLOW:
        (site / path).unlink()
    shutil.rmtree(cpu)
    left = ask(site, cwd=elsewhere)
    assert named(left, "tensorflow")["damaged"] == named(left, "tensorflow")["checked"]
    assert left["tensorflow"]["kind"] == "namespace"


@pytest.mark.parametrize(
    ("kind", "files", "wins"),
    [
        ("module", ["tensorflow.py"], True),
        ("package", ["tensorflow/__init__.py"], True),
        ("package", ["tensorflow/__init__.py", "tensorflow/python/framework.py"], True),
        ("namespace", ["tensorflow/notes.txt"], False),
        ("none", ["tensorflow.txt"], False),
    ],
)
def test_local_files_named_tensorflow(site: Path, elsewhere: Path, kind: str, files: list[str], wins: bool) -> None:
    """A folder without __init__.py gives way to the real package, wherever it stands on the path; the import system agrees."""
    for name in files:
        (elsewhere / name).parent.mkdir(exist_ok=True)
        (elsewhere / name).write_text("")
    found = ask(site, cwd=elsewhere)["tensorflow"]
    assert (found["real"] is False) == wins
    assert found["found"].startswith(str(elsewhere)) == wins
    assert found["real_behind"] == (str(site / "tensorflow") if wins else "")
    code = "import importlib.util as u; s = u.find_spec('tensorflow'); print(s.origin)"
    environment = {**os.environ, "PYTHONPATH": str(site)}
    real = subprocess.run(
        [sys.executable, "-c", code], cwd=elsewhere, env=environment, capture_output=True, text=True
    ).stdout
    assert real.startswith(found["found"])
    if wins:
        assert found["kind"] == kind


def test_broken_metadata(site: Path, elsewhere: Path) -> None:
    (site / "broken-1.0.dist-info").mkdir()
    (site / "nameless-2.0.dist-info").mkdir()
    (site / "nameless-2.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\n\n")
    (site / "odd-3.0.dist-info").write_text("a file, not a folder\n")
    (site / "~ensorflow-2.15.0.dist-info").mkdir()
    (site / "binary-4.0.dist-info").mkdir()
    (site / "binary-4.0.dist-info/METADATA").write_bytes(bytes(range(256)))
    answer = ask(site, cwd=elsewhere)
    assert named(answer, "broken")["problem"] == "no METADATA"
    assert named(answer, "broken")["version"] == "1.0"
    assert "Version" in named(answer, "nameless")["problem"]
    assert named(answer, "binary")["problem"]
    assert named(answer, "odd")["problem"]
    assert answer["leftovers"] == [str(site / "~ensorflow-2.15.0.dist-info")]
    assert named(answer, "tensorflow")["problem"] == ""


def test_the_metadata_of_tensorflow_itself_is_gone(site: Path, elsewhere: Path) -> None:
    (site / "tensorflow-2.21.0.dist-info/METADATA").unlink()
    entry = named(ask(site, cwd=elsewhere), "tensorflow")
    assert (entry["version"], entry["problem"], entry["owns_tensorflow"]) == ("2.21.0", "no METADATA", True)


@pytest.mark.parametrize("lost", [["RECORD"], ["RECORD", "top_level.txt"]])
def test_the_record_of_tensorflow_is_gone(site: Path, elsewhere: Path, lost: list[str]) -> None:
    """As a distribution's own packages have none; it imports all the same."""
    (info,) = site.glob("tensorflow-2*.dist-info")
    for name in lost:
        (info / name).unlink(missing_ok=True)
    entry = named(ask(site, cwd=elsewhere), "tensorflow")
    assert entry["owns_tensorflow"] is True


def test_the_distribution_installed_last_is_named_first(site: Path, elsewhere: Path) -> None:
    older = distribution(site, "tensorflow", "2.9.0")
    os.utime(older, (1, 1))
    versions = [d["version"] for d in ask(site, cwd=elsewhere)["distributions"] if d["name"] == "tensorflow"]
    assert versions == ["2.21.0", "2.9.0"]


def test_copies_of_libraries_and_tools(site: Path, elsewhere: Path) -> None:
    for path in ("nvidia/cudnn/lib/libcudnn.so.9", "nvidia/cudnn/lib/__init__.py", "torch/lib/libcublas.so.12", "torch/lib/libtorch.so",
                 "nvidia/cuda_nvcc/bin/ptxas"):  # fmt: skip
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text("")
    answer = ask(site, cwd=elsewhere)
    mine = {folder: names for folder, names in answer["libraries"].items() if folder.startswith(str(site))}
    assert mine == {str(site / "nvidia/cudnn/lib"): ["libcudnn.so.9"], str(site / "torch/lib"): ["libcublas.so.12"]}
    assert answer["tools"] == [str(site / "nvidia/cuda_nvcc/bin/ptxas")]


def test_a_removed_working_directory(site: Path, elsewhere: Path) -> None:
    code = "import os, subprocess, sys; os.rmdir(os.getcwd()); print(subprocess.run(sys.argv[1:], capture_output=True, text=True).stdout)"
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    command = [sys.executable, "-c", code, sys.executable, str(CHILD)]
    done = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, env=clean)
    assert '"cwd": ""' in done.stdout


def test_an_unreadable_folder_on_the_path(site: Path, elsewhere: Path, tmp_path: Path) -> None:
    strange = [str(tmp_path / "none"), str(CHILD), str(site / "tensorflow/__init__.py"), "relative", ""]
    answer = ask(site, cwd=elsewhere, PYTHONPATH=os.pathsep.join([*strange, str(site)]))
    assert answer["problems"] == []
    assert answer["tensorflow"]["found"] == str(site / "tensorflow")


def test_names_that_are_no_unicode_can_be_printed(site: Path, elsewhere: Path, tmp_path: Path) -> None:
    strange = tmp_path / os.fsdecode(b"\xff\xfe")
    try:
        strange.mkdir()
    except OSError:
        pytest.skip("this file system allows no such name")
    answer = ask(site, cwd=elsewhere, PYTHONPATH=os.pathsep.join([str(strange), str(site), "\N{SNOWMAN}"]))
    json.dumps(answer, ensure_ascii=False).encode("utf-8")
    assert any("?" in entry for entry in answer["path"])
    assert any(entry.endswith("\N{SNOWMAN}") for entry in answer["path"])


def test_entries_of_the_path_that_are_no_text(site: Path, elsewhere: Path) -> None:
    (site / "strange.pth").write_text("import sys; sys.path += [b'bytes', None]\n")
    (site / "sitecustomize.py").write_text("import sys; sys.path += [b'bytes', None]\n")
    assert ask(site, cwd=elsewhere)["problems"] == []


def test_nothing_is_written_beside_the_target(site: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (site / "sitecustomize.py").write_text("import other\n")
    (site / "other.py").write_text("")
    before = sorted(site.rglob("*"))
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.chdir(elsewhere)
    assert named(dict(LiveHost(sys.executable).target_answer()), "tensorflow")["version"] == "2.21.0"
    assert sorted(site.rglob("*")) == before


@given(st.text())
def test_no_record_makes_it_raise(text: str) -> None:
    for path, _digest, size in record_rows(text):
        assert path
        assert isinstance(size, str)


@given(
    st.lists(st.tuples(st.text('abc/," .', min_size=1), st.text("abc=", max_size=9), st.text("0123456789", max_size=4)))
)
def test_record_rows_come_back(rows: list[tuple[str, str, str]]) -> None:
    """What the csv module writes, as pip does, is read back."""
    import csv
    import io

    kept = [r for r in rows if not r[0].startswith("/") and "/include/" not in r[0] and "../" not in r[0]]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(kept)
    assert [r[0] for r in record_rows(out.getvalue())] == [r[0] for r in kept]


@given(st.text())
def test_no_metadata_makes_it_raise(text: str) -> None:
    assert isinstance(headers(text), dict)


@given(st.text("ab-_.A", max_size=20))
def test_names_as_pep_503_writes_them(name: str) -> None:
    import re

    assert canonical(name) == re.sub(r"[-_.]+", "-", name).lower()
