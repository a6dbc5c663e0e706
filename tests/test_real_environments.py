"""`check` over environments that are really built from packages, and compared with what an import really does.

They share environments: one with TensorFlow, one with tensorflow-cpu, one without, one with NumPy 2 beside TensorFlow 2.15.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import fake_cuda
import fake_nvml
import pytest
from real_environments import REPOSITORY, TENSORFLOW, Environments, check, imports

pytestmark = pytest.mark.real


def only_without_gpu(names: set[str]) -> None:
    if "no-gpu-machine" not in names:
        pytest.skip("this machine has an NVIDIA GPU, or does not tell")


def one_gpu(folder: Path) -> dict[str, str]:
    """Variables for a child whose driver, NVML and CUDA both, has one RTX 3090."""
    fake_nvml.need_compiler()
    card = fake_cuda.profile(name="NVIDIA GeForce RTX 3090", compute_capability="8.6", memory_mib=24576)
    return fake_nvml.merge(fake_nvml.environment(fake_nvml.rtx3090(), folder), fake_cuda.environment(card, folder))


def test_tensorflow_on_a_machine_without_gpu(plain: Path) -> None:
    """What would be wrong only if there were a GPU is not reported: not a word about CUDA libraries."""
    answer = check(plain)
    only_without_gpu(answer.names)
    assert (answer.verdict, answer.because, answer.code) == ("no", "no-gpu-machine", 0)
    assert not [code for code in answer.codes if code.startswith("TFD3")]
    facts = answer.report["facts"]
    assert facts["tensor_flow"]["version"] == TENSORFLOW
    assert (facts["tensor_flow"]["cuda_build"], facts["tensor_flow"]["in_table"]) == (True, True)
    assert facts["distributions"]["by_name"]["tensorflow"]["damaged"] == 0
    assert facts["distributions"]["by_name"]["tensorflow"]["checked"] > 1000


def test_tensorflow_beside_a_gpu(plain: Path, tmp_path: Path) -> None:
    """The same environment, with a driver that lists a GPU: now the missing CUDA libraries are the cause."""
    answer = check(plain, environment=one_gpu(tmp_path))
    assert answer.verdict == "no"
    assert answer.codes.keys() & {"TFD301", "TFD304", "TFD305", "TFD308", "TFD327"}, answer.codes


def test_a_build_without_cuda(environments: Environments, tmp_path: Path) -> None:
    python = environments.get("cpu", "3.11", f"tensorflow-cpu=={TENSORFLOW}")
    answer = check(python)
    assert answer.verdict == "no"
    assert answer.report["facts"]["tensor_flow"]["cuda_build"] is False
    assert answer.report["facts"]["tensor_flow"]["distribution"] == "tensorflow-cpu"
    beside = check(python, environment=one_gpu(tmp_path))
    assert (beside.verdict, beside.because) == ("no", "cpu-only-build")


def test_no_tensorflow(environments: Environments) -> None:
    answer = check(environments.get("none", "3.12"))
    assert answer.verdict == "no"
    assert "tensorflow-not-installed" in answer.names
    assert "version" not in answer.report["facts"].get("tensor_flow", {})


def test_numpy_2_beside_a_tensorflow_built_for_numpy_1(environments: Environments) -> None:
    python = environments.get("numpy", "3.11", "tensorflow==2.15.1")
    whole = check(python)
    assert "numpy-abi-mismatch" not in whole.names
    environments.install(python, "numpy>=2")
    answer = check(python)
    assert "numpy-abi-mismatch" in answer.names
    assert answer.verdict == "no"
    assert imports(python).returncode != 0


def test_tensorflow_and_tensorflow_cpu_together_and_one_removed(environments: Environments) -> None:
    python = environments.get("both", "3.11", f"tensorflow=={TENSORFLOW}", f"tensorflow-cpu=={TENSORFLOW}")
    together = check(python)
    assert "tensorflow-distributions-mixed" in together.names
    environments.uninstall(python, "tensorflow-cpu")
    answer = check(python)
    assert "tensorflow-files-damaged" in answer.names
    assert answer.verdict == "no"
    assert "imported" not in imports(python).stdout


@pytest.mark.parametrize("package", ["numpy", "google/protobuf", "ml_dtypes", "six.py"])
def test_a_package_that_tensorflow_imports_is_gone(plain: Path, tmp_path: Path, package: str) -> None:
    """Its metadata is there, its files are not."""
    (site,) = (plain.parent.parent / "lib").glob("python3*/site-packages")
    (site / package).rename(tmp_path / "aside")
    try:
        answer, real = check(plain), imports(plain)
    finally:
        (tmp_path / "aside").rename(site / package)
    assert "imported" not in real.stdout
    (found,) = (d for d in answer.report["diagnoses"] if d["name"] == "required-package-missing")
    assert found["severity"] == "error"
    assert answer.report["facts"]["distributions"]["by_name"]["tensorflow"]["damaged"] == 0


def test_a_folder_named_tensorflow_in_the_working_directory(plain: Path, tmp_path: Path) -> None:
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow/notes.txt").write_text("a folder that is no package gives way\n")
    assert "tensorflow-shadowed-by-local-file" not in check(plain, cwd=tmp_path).names
    (tmp_path / "tensorflow/__init__.py").write_text("")
    answer = check(plain, cwd=tmp_path)
    assert "tensorflow-shadowed-by-local-file" in answer.names
    assert answer.verdict == "no"
    assert "imported" not in imports(plain, tmp_path).stdout


def test_broken_metadata_does_not_disturb(environments: Environments) -> None:
    python = environments.get("broken", "3.12")
    (site,) = (python.parent.parent / "lib").glob("python3*/site-packages")
    (site / "broken-1.0.dist-info").mkdir()
    (site / "odd-2.0.dist-info").mkdir()
    (site / "odd-2.0.dist-info/METADATA").write_bytes(b"\xff\xfe\0\0not metadata")
    (site / "~ensorflow-2.15.0.dist-info").mkdir()
    answer = check(python)
    by_name = answer.report["facts"]["distributions"]["by_name"]
    assert by_name["broken"]["problem"] == "no METADATA"
    assert by_name["odd"]["problem"]
    assert answer.report["facts"]["distributions"]["leftovers"]
    assert "tensorflow-not-installed" in answer.names


@pytest.mark.parametrize("version", ["3.9", "3.13"])
def test_tfdoctor_in_another_python_than_its_target(
    environments: Environments, plain: Path, tmp_path: Path, version: str
) -> None:
    """Installed as a user installs it, it says of the target what it says from anywhere else."""
    own = environments.get(f"own-{version}", version)
    source = tmp_path / "source"
    shutil.copytree(
        REPOSITORY, source, ignore=shutil.ignore_patterns(".git", "build", "*.egg-info", "__pycache__", ".*_cache")
    )
    environments.install(own, str(source))
    answer, ours = check(plain, own=str(own)), check(plain)
    assert answer.verdict == ours.verdict
    assert answer.codes == ours.codes
    assert answer.report["target"]["python"] == str(plain)
    assert answer.report["facts"]["interpreter"]["version"].startswith("3.11")
