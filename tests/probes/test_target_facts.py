"""Interpreter and Distributions: from what the target says, and from a recorded pip freeze."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from site_build import TENSORFLOW, distribution

from tfdoctor.engine import Facts
from tfdoctor.host import Host, LiveHost, RecordedHost
from tfdoctor.model import Unavailable
from tfdoctor.probes import interpreter as probes
from tfdoctor.probes.interpreter import FREEZE, METADATA, Distributions, Interpreter, parse_freeze

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    max_leaves=8,
)


def facts(host: Host) -> Facts:
    return Facts([host], [probes.interpreter, probes.distributions])


def recorded(folder: Path, answer: Mapping[str, Any] | None = None, **texts: str) -> RecordedHost:
    folder.mkdir(exist_ok=True)
    if answer is not None:
        (folder / "target.json").write_text(json.dumps(answer))
    for name, text in texts.items():
        (folder / f"{name.replace('_', '-')}.txt").write_text(text)
    return RecordedHost(str(folder))


def test_this_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distribution(tmp_path, "tensorflow", "2.21.0", TENSORFLOW)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = facts(LiveHost(sys.executable))
    ours = found.get(Interpreter)
    assert ours.version == ".".join(map(str, sys.version_info[:3]))
    assert ours.path == sys.executable
    assert ours.prefix == sys.prefix
    assert ours.kind == ("system" if sys.prefix == sys.base_prefix else ours.kind)
    assert str(tmp_path) in ours.search_path
    listed = found.get(Distributions)
    assert listed.source == METADATA
    assert listed.version("tensorflow") == "2.21.0"
    assert listed.by_name["tensorflow"].checked > 0


def test_not_an_interpreter(tmp_path: Path) -> None:
    for target in (str(tmp_path / "none"), "/bin/ls", str(tmp_path)):
        with pytest.raises(Unavailable):
            facts(LiveHost(target)).get(Interpreter)


def test_other_interpreters_with_tensorflow_are_found_without_running_them(tmp_path: Path) -> None:
    info = "root/opt/other/lib/python3.10/site-packages/tensorflow-2.15.1.dist-info/METADATA"
    for name in (info, "root/opt/plain/lib/python3.12/site-packages/tensorboard-2.15.1.dist-info/METADATA"):
        (tmp_path / "host" / name).parent.mkdir(parents=True)
        (tmp_path / "host" / name).write_text("")
    answer = {"executable": "/venv/bin/python", "python": {"version": "3.11.7", "prefix": "/venv"}, "distributions": []}
    host = recorded(
        tmp_path / "host", answer, env="PATH=/venv/bin:/opt/plain/bin:/opt/other/bin:/opt/other/bin:/not/recorded/bin\n"
    )
    found = facts(host).get(Interpreter)
    assert found.others == (("/opt/other/bin/python3.10", "2.15.1"),)
    assert found.pip == ""


def test_what_was_not_told_is_unknown(tmp_path: Path) -> None:
    host = recorded(tmp_path, {"python": {"version": "3.11.7"}})
    found = facts(host).get(Interpreter)
    assert (found.bits, found.pip, found.kind) == (None, None, "")
    with pytest.raises(Unavailable):
        facts(host).get(Distributions)


def test_duplicates_leftovers_and_broken_metadata(tmp_path: Path) -> None:
    entries = [
        {"name": "numpy", "version": "1.26.4", "location": "/a", "problem": "no METADATA"},
        {"name": "numpy", "version": "2.1.0", "location": "/b"},
        {"name": "Keras", "version": "3.0.0", "location": "/a"},
    ]
    found = facts(recorded(tmp_path, {"distributions": entries, "leftovers": ["/a/~eras-2.0.dist-info"]})).get(
        Distributions
    )
    assert found.duplicates == {"numpy": ("1.26.4", "2.1.0")}
    assert found.by_name["numpy"].location == "/b"
    assert found.version("keras") == "3.0.0"
    assert found.leftovers == ("/a/~eras-2.0.dist-info",)


FREEZE_TEXT = """\
\ufeff# created by hand
absl-py==2.1.0
tensorflow==2.16.1 ; python_version >= "3.9"
Keras==3.0.5  # pinned
tf_keras===2.16.0
numpy @ file:///croot/numpy_1707/build/dist/numpy-1.26.4-cp311-cp311-linux_x86_64.whl#sha256=abc
mylib @ git+https://example.org/mylib@1234
nvidia-cudnn-cu12[extra]==8.9.7.29
-e git+https://example.org/project@abc#egg=my_project
-e /home/someone/checkout
--find-links /wheels
tensorflow-io-gcs-filesystem==0.36.0
torch==2.3.0+cu121
"""


def test_pip_freeze(tmp_path: Path) -> None:
    found = facts(recorded(tmp_path, pip_freeze=FREEZE_TEXT)).get(Distributions)
    assert found.source == FREEZE
    assert {name: d.version for name, d in found.by_name.items()} == {
        "absl-py": "2.1.0",
        "tensorflow": "2.16.1",
        "keras": "3.0.5",
        "tf-keras": "2.16.0",
        "numpy": "1.26.4",
        "mylib": "",
        "nvidia-cudnn-cu12": "8.9.7.29",
        "my-project": "",
        "tensorflow-io-gcs-filesystem": "0.36.0",
        "torch": "2.3.0+cu121",
    }


@pytest.mark.parametrize(
    ("line", "name", "version", "installer"),
    [
        (
            "tensorflow                2.15.0          cuda120py311h5cbd639_3    conda-forge",
            "tensorflow",
            "2.15.0",
            "conda",
        ),
        ("tensorflow=2.15.0=cuda120py311h5cbd639_3", "tensorflow", "2.15.0", "conda"),
        ("tensorflow                   2.15.0", "tensorflow", "2.15.0", ""),
        ("tensorflow                   2.15.0   /home/someone/site-packages", "tensorflow", "2.15.0", ""),
    ],
)
def test_other_listings(line: str, name: str, version: str, installer: str) -> None:
    entry = parse_freeze(line)[0]
    assert (entry.name, entry.version, entry.installer) == (name, version, installer)


@pytest.mark.parametrize(
    "line",
    ["Package    Version", "---------- -------", "# packages in environment at /opt:", "", "WARNING: pip is old", "="],
)
def test_lines_that_name_nothing(line: str) -> None:
    assert parse_freeze(line) == []


@given(st.text())
def test_no_listing_makes_it_raise(text: str) -> None:
    assert all(entry.name for entry in parse_freeze(text))


@given(
    st.lists(
        st.tuples(
            st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True),
            st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){0,3}", fullmatch=True),
        )
    )
)
def test_what_pip_freezes_comes_back(pins: list[tuple[str, str]]) -> None:
    found = parse_freeze("".join(f"{name}=={version}\n" for name, version in pins))
    assert [(d.name, d.version) for d in found] == pins


@given(st.dictionaries(st.sampled_from(["python", "distributions", "leftovers", "path", "executable"]), JSON))
def test_no_answer_makes_the_probes_raise_anything_but_unavailable(
    tmp_path_factory: pytest.TempPathFactory, answer: dict[str, Any]
) -> None:
    host = recorded(tmp_path_factory.mktemp("host"), answer)
    found = facts(host)
    for kind in (Interpreter, Distributions):
        try:
            found.get(kind)
        except Unavailable:
            continue
    assert found.crashes == []
