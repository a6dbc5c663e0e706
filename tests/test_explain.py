"""`tfdoctor explain`: what it makes of logs, alone, with what is given, and with a machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from asking import OOM, ask, cli, first_cause

from tfdoctor.engine import all_rules
from tfdoctor.logs.given import understand
from tfdoctor.tables import Tables

LOGS = sorted((Path(__file__).parent / "logs").glob("*.log"))


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.stem)
def test_logs_of_real_programs(log: Path) -> None:
    """The file's name says what is expected: a cause, or `harmless`."""
    explanation = ask(log.read_text(encoding="utf-8"))
    expected = log.stem.partition("--")[0]
    causes = [a.name for a in explanation.answers if a.role == "cause"]
    if expected == "harmless":
        assert not causes
        assert all(a.role == "harmless" for a in explanation.answers)
    else:
        assert causes[:1] == [expected]


NO_CUDA = "I external/local_xla/xla/tsl/cuda/cudart_stub.cc:31] Could not find cuda drivers on your machine, GPU will not be used."


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((), ""),
        (("gpu=none",), ""),
        (
            ("gpu=RTX 3090", "tensorflow=2.18.0", "install=pip install tensorflow", "os=Ubuntu 22.04"),
            "cuda-extra-not-installed",
        ),
        (("gpu=RTX 4090", "tensorflow=2.13.1", "cuda=12.4"), "cuda-major-mismatch"),
    ],
)
def test_the_same_line_decided_by_what_is_given(given: tuple[str, ...], expected: str) -> None:
    assert first_cause(NO_CUDA, *given) == expected


@pytest.mark.parametrize(
    ("log", "given", "expected"),
    [
        ("kernel version 470.103.1 does not match DSO version 470.141.3", (), "driver-library-kernel-mismatch"),
        (
            "kernel version 470.103.1 does not match DSO version 515.65.1",
            ("container=docker",),
            "docker-libcuda-host-mismatch",
        ),
        (
            "CUDA driver version is insufficient for CUDA runtime version",
            ("driver=450.80.02", "tensorflow=2.15.0"),
            "driver-too-old",
        ),
        (
            "CUDA driver version is insufficient for CUDA runtime version",
            ("container=docker",),
            "docker-run-without-gpus",
        ),
        ("all CUDA-capable devices are busy or unavailable", (), "compute-mode-exclusive"),
        ("all CUDA-capable devices are busy or unavailable", ("os=WSL2",), "wsl2-host-regression"),
        ("all CUDA-capable devices are busy or unavailable", ("gpu=GRID T4-8Q",), "vgpu-license-missing"),
        (OOM, (), "gpu-memory-batch-too-large"),
        (OOM, ("gpu=Jetson Nano 4GB",), "jetson-unified-memory-exhausted"),
        (
            f"{OOM}\nAllocator (GPU_0_bfc) ran out of memory trying to allocate 200.0MiB (rounded to 1)\nLimit:  10000000000\nInUse:  4000000000",
            (),
            "gpu-memory-fragmented",
        ),
        (
            "ERROR: No matching distribution found for tensorflow==2.3.0",
            ("python=3.11", "os=Ubuntu 22.04"),
            "python-version-unsupported",
        ),
        ("ERROR: No matching distribution found for tensorflow", ("os=Alpine Linux", "python=3.9"), "musl-no-wheels"),
        (
            "ERROR: No matching distribution found for tensorflow==2.10.0",
            ("os=macOS 13 (M1)", "python=3.9"),
            "macos-arm64-package-name",
        ),
        (
            "Loaded runtime CuDNN library: 8.0.4 but source was compiled with: 8.1.0.",
            ("install=conda",),
            "cudnn-runtime-older-than-build",
        ),
        (
            "CUDNN_STATUS_EXECUTION_FAILED",
            ("gpu=Tesla V100", "cudnn=9.12", "tensorflow=2.20.0"),
            "cudnn-dropped-this-gpu",
        ),
        (
            "no kernel image is available for execution on the device",
            ("gpu=RTX 5090", "tensorflow=2.19.0"),
            "gpu-arch-newer-than-build",
        ),
        (
            "no kernel image is available for execution on the device",
            ("gpu=GeForce 940MX (cc 5.0)",),
            "gpu-arch-not-in-build-old",
        ),
        (
            "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open",
            ("install=snap install docker",),
            "docker-snap",
        ),
    ],
)
def test_look_alikes(log: str, given: tuple[str, ...], expected: str) -> None:
    explanation = ask(log, *given)
    answer = explanation.answers[0]
    assert (answer.name, answer.role) == (expected, "cause")
    assert answer.decide_by
    assert len(answer.alternatives) <= 5


def test_a_consequence_is_folded_under_its_cause() -> None:
    log = (
        "E tensorflow/stream_executor/cuda/cuda_dnn.cc:329] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR\n"
        "UnknownError: Failed to get convolution algorithm. This is probably because cuDNN failed to initialize\n"
    )
    answers = ask(log).answers
    assert [(a.name, a.lines) for a in answers] == [("gpu-memory-exhausted-before-library-handle", (1, 2))]


def test_a_wrong_cudnn_is_the_cause_of_the_failed_convolution() -> None:
    log = (
        "Loaded runtime CuDNN library: 7.1.2 but source was compiled with: 7.6.0.\n"
        "UnknownError: Failed to get convolution algorithm. This is probably because cuDNN failed to initialize\n"
    )
    answer = ask(log).answers[0]
    assert answer.name == "cudnn-runtime-older-than-build"
    assert answer.lines == (1, 2)


@pytest.mark.parametrize(
    ("fault", "after"),
    [
        (
            "ImportError: /lib/libm.so.6: version `GLIBC_2.27' not found (required by x.so)",
            "Failed to load the native TensorFlow runtime.",
        ),
        ("Failed to initialize NVML: Insufficient Permissions", "failed call to cuInit: CUDA_ERROR_NO_DEVICE"),
        ("Could not load dynamic library 'libcusolver.so.10'", "Cannot dlopen some GPU libraries."),
    ],
)
def test_what_follows_is_no_second_cause(fault: str, after: str) -> None:
    alone, both = ask(fault).answers, ask(f"{fault}\n{after}\n").answers
    assert [(a.name, a.role, a.lines) for a in both] == [(alone[0].name, "cause", (1, 2))]


def test_what_follows_from_nothing_known_is_still_told() -> None:
    assert first_cause("Cannot dlopen some GPU libraries.") == "cuda-extra-not-installed"


@pytest.mark.parametrize(
    "log",
    [
        "build_info: {'cuda_version': '11.2', 'msvcp_dll_names': 'msvcp140.dll,msvcp140_1.dll'}",
        "C:\\Windows\\System32\\msvcp140.dll",
    ],
)
def test_a_dll_that_is_only_named_is_not_missing(log: str) -> None:
    assert ask(log).answers == ()


@pytest.mark.parametrize(
    "log",
    [
        "ImportError: Could not find the DLL(s) 'msvcp140.dll or msvcp140_1.dll'.",
        "The code execution cannot proceed because MSVCP140.dll was not found.",
        "The program can't start because VCRUNTIME140_1.dll is missing from your computer.",
        "ImportError: DLL load failed: msvcp140_1.dll",
    ],
)
def test_a_dll_that_is_missing(log: str) -> None:
    assert first_cause(log) == "windows-msvc-runtime-missing"


def test_an_illegal_address_alone_does_not_blame_ptxas() -> None:
    line = "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
    assert first_cause(line) == "xid31-software-fault"
    assert ask(line).answers[0].alternatives[0] == "xid13-application-fault"
    assert (
        first_cause(f"You are using ptxas 10.1.243, which is older than 11.1.\n{line}")
        == "ptxas-older-than-11.1-miscompile"
    )
    assert first_cause(line, "cuda=10.1", "tensorflow=2.3.0") == "ptxas-older-than-11.1-miscompile"


@pytest.mark.parametrize(
    ("log", "name"),
    [
        ("CUDA_ERROR_STUB_LIBRARY: CUDA driver is a stub library", "driver-library-hidden-by-stub"),
        ("failed call to cuInit: UNKNOWN ERROR (303)", "driver-library-missing"),
        ("failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error", "cuda-does-not-start"),
    ],
)
def test_a_driver_library_among_the_alternatives(log: str, name: str) -> None:
    assert name in ask(log).answers[0].alternatives
    assert len(ask(log).answers[0].alternatives) <= 5


def test_two_faults_are_two_answers() -> None:
    log = f"{OOM}\nA module that was compiled using NumPy 1.x cannot be run in NumPy 2.0.0\n"
    assert {a.name for a in ask(log).answers} == {"gpu-memory-batch-too-large", "numpy-abi-mismatch"}


def test_what_the_log_states_is_used() -> None:
    log = (
        "TensorFlow version: 2.13.0\n| NVIDIA-SMI 535.54.03    Driver Version: 535.54.03    CUDA Version: 12.2     |\n"
        + NO_CUDA
    )
    explanation = ask(log)
    assert explanation.situation["tensorflow"] == "2.13.0"
    assert explanation.situation["driver"] == "535.54.03"
    assert explanation.answers[0].role == "cause"  # there is a driver, so there is a GPU


def test_a_slow_first_start_is_harmless_until_something_fails() -> None:
    line = "TensorFlow was not built with CUDA kernel binaries compatible with compute capability 9.0. CUDA kernels will be jit-compiled from PTX"
    assert [a.role for a in ask(line).answers] == ["harmless"]
    assert (
        first_cause(f"{line}\n'cuModuleLoadData' failed with 'CUDA_ERROR_INVALID_PTX'") == "gpu-arch-newer-than-build"
    )


def test_a_recorded_machine_decides(tmp_path: Path) -> None:
    """The log alone speaks of a machine without a GPU; the recording shows an NVIDIA card and no driver."""
    (tmp_path / "lspci-vvv.txt").write_text(
        "01:00.0 VGA compatible controller [0300]: NVIDIA Corporation GA102 [GeForce RTX 3090] [10de:2204] (rev a1)\n\tKernel modules: nouveau\n",
        encoding="utf-8",
    )
    log = tmp_path / "log.txt"
    log.write_text("failed call to cuInit: UNKNOWN ERROR (303)\n", encoding="utf-8")
    alone = json.loads(cli("--no-host", "--format", "json", str(log)).stdout)
    there = json.loads(cli("--host", str(tmp_path), "--format", "json", str(log)).stdout)
    assert alone["diagnoses"][0]["role"] == "harmless"
    assert there["diagnoses"][0]["role"] == "cause"
    assert there["situation"]["has_gpu"] == "yes"


def test_a_machine_that_denies_the_cause_is_believed(tmp_path: Path) -> None:
    """Its CUDA libraries are there: nobody may say that they are not."""
    host = Path(__file__).parent / "hosts" / "ubuntu-rtx3090-tf2.20-healthy"
    log = tmp_path / "log.txt"
    log.write_text(NO_CUDA, encoding="utf-8")
    told = json.loads(cli("--host", str(host), "--format", "json", str(log)).stdout)["diagnoses"][0]
    rule = next(rule for rule in all_rules() if rule.code == told["code"])
    assert told["message"] != rule.title
    assert "what was seen of this machine does not show it" in told["message"]


def test_a_log_of_another_machine_leaves_this_one_out(tmp_path: Path) -> None:
    root = tmp_path / "root" / "proc"
    root.mkdir(parents=True)
    (root / "version").write_text("Linux version 6.1.0-13-amd64 (a@b) #1 SMP\n", encoding="utf-8")
    (tmp_path / "root" / "etc").mkdir()
    (tmp_path / "root" / "etc" / "os-release").write_text('ID=debian\nVERSION_ID="12"\n', encoding="utf-8")
    log = tmp_path / "log.txt"
    log.write_text(
        "Could not load dynamic library 'cudart64_110.dll'; dlerror: cudart64_110.dll not found\n", encoding="utf-8"
    )
    answer = json.loads(cli("--host", str(tmp_path), "--format", "json", str(log)).stdout)
    assert "not from this machine" in answer["remark"]
    assert answer["situation"]["os"] == "windows"


@pytest.mark.parametrize(
    ("pair", "facts"),
    [
        ("os=Ubuntu 20.04", {"os": "linux"}),
        ("os=WSL2 Ubuntu on Windows 11", {"os": "wsl2"}),
        ("os=Windows 10", {"os": "windows"}),
        ("os=macOS Big Sur 11.6 (Apple M1)", {"os": "macos", "machine": "aarch64"}),
        ("os=Docker", {"container": "docker"}),
        ("os=Alpine (python:3.8-alpine)", {"os": "linux", "libc": "musl"}),
        ("python=3.9.7", {"python": "3.9.7"}),
        ("tensorflow=intel-tensorflow 2.1.0", {"tensorflow": "2.1.0", "distribution": "intel-tensorflow"}),
        ("tensorflow=2.12.0 (tensorflow-gpu)", {"tensorflow": "2.12.0"}),
        ("cuda=11.6 (nvidia-smi)", {"driver_cuda": "11.6"}),
        ("cuda=11.2 (conda)", {"cuda": "11.2", "install": "11.2 (conda)"}),
        ("cuda=ROCm 3.7", {"rocm": "3.7", "vendor": "amd"}),
        ("driver=515.43.04", {"driver": "515.43.04", "has_gpu": "yes"}),
        ("gpu=2 x RTX 3090", {"gpus": "2", "compute_capability": "8.6"}),
        ("gpu=2x A10, 2x T4", {"gpus": "4"}),
        ("gpu=GeForce 940MX (cc 5.0)", {"compute_capability": "5.0", "laptop": "yes"}),
        ("gpu=none used", {"has_gpu": "no"}),
        ("gpu=Mesa Intel Xe Graphics (TGL GT2)", {"has_gpu": "no"}),
        ("gpu=Intel Arc A770", {"has_gpu": "no"}),
        ("gpu=Intel Iris Xe and NVIDIA MX450", {"has_gpu": "yes", "vendor": "nvidia"}),
        ("gpu=Apple M1 Max", {"os": "macos", "vendor": "apple"}),
        ("gpu=Tesla M60", {"vendor": "nvidia"}),
        ("gpu=gfx701 (Hawaii)", {"vendor": "amd", "gfx": "gfx701"}),
        ("gpus=8", {"gpus": "8", "has_gpu": "yes"}),
        ("container=no", {"container": "no"}),
        ("install=pip in docker", {"container": "docker"}),
    ],
)
def test_what_people_write_is_understood(pair: str, facts: dict[str, str]) -> None:
    assert facts.items() <= understand([pair], Tables()).items()


@pytest.mark.parametrize("pair", ["python=3.9/3.10 tried", "tensorflow=1.13 to 2.1", "cuda=unknown", "driver="])
def test_what_is_not_clear_is_not_taken(pair: str) -> None:
    assert not {"python", "tensorflow", "cuda", "driver"} & understand([pair], Tables()).keys()


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        ("gfx1100", "rocm-wheel-arch-list-bug"),
        ("gfx1030", "rocm-wheel-arch-list-bug"),
        ("gfx1102", "rocm-gpu-arch-unsupported"),
    ],
)
def test_a_list_without_a_comma_is_to_blame_only_for_its_own_two_gpus(kind: str, cause: str) -> None:
    listed = "The supported AMDGPU versions are gfx1030gfx1100, gfx900, gfx906."
    assert first_cause(f"Ignoring visible gpu device (device: 0) with AMDGPU version : {kind}. {listed}\n") == cause
    assert first_cause(listed + "\n", f"gpu=Radeon {kind}") == cause


@pytest.mark.parametrize(
    ("cudart", "known"), [("libcudart.so.10.1", False), ("cudart64_101.dll", False), ("libcudart.so.11.0", True)]
)
def test_a_gpu_newer_than_the_cuda_of_the_build_starts_slowly(cudart: str, known: bool) -> None:
    log = (
        f"Successfully opened dynamic library {cudart}\n"
        "pciBusID: 0000:73:00.0 name: GeForce RTX 3080 computeCapability: 8.6\n"
    )
    told = ask(log).answers[0]
    assert (told.name == "gpu-arch-ptx-jit-slow-start") is not known
    assert told.role == "harmless"  # nothing failed


@pytest.mark.parametrize(
    "log",
    [
        ">>> import torch\n>>> import tensorflow as tf\nSegmentation fault (core dumped)\n",
        "import cv2\nfrom tensorflow.keras import layers\n*** Error in `python3': free(): invalid pointer: 0x0 ***\n",
        '$ python -c "import torch; import tensorflow"\nSegmentation fault\n',
    ],
)
def test_a_crash_at_the_second_import_is_a_clash(log: str) -> None:
    assert first_cause(log) == "imported-beside-clashing-library"


def test_a_launch_that_timed_out_met_the_limit_of_a_display() -> None:
    log = "CUDA_ERROR_LAUNCH_TIMEOUT: the launch timed out and was terminated\n"
    assert first_cause(log) == "kernel-time-limit-of-display"
    assert first_cause("CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure\n") != "kernel-time-limit-of-display"


def test_a_crash_of_tensorflow_alone_is_no_clash() -> None:
    log = ">>> import tensorflow as tf\n>>> tf.zeros(1)\nSegmentation fault (core dumped)\n"
    assert first_cause(log) == "crashed-in-native-code"


ALL_REDUCE = "INFO:tensorflow:batch_all_reduce: 4 all-reduces with algorithm = nccl, num_packs = 1\n"


def test_a_log_that_stops_at_the_all_reduce_hangs_there() -> None:
    assert first_cause("Epoch 1/500\n" + ALL_REDUCE, "gpus=2") == "p2p-broken-by-iommu-acs"
    assert first_cause(ALL_REDUCE + "Epoch 1/500\n100/100 - 3s 30ms/step\nEpoch 2/500\n" * 3, "gpus=2") == ""


def test_a_rule_that_crashes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import tfdoctor.known_errors as known_errors
    from tfdoctor.model import Outcome, Status

    monkeypatch.setattr(
        known_errors, "run_rule", lambda rule, facts: Outcome(rule, Status.CRASHED, reason="ValueError: odd")
    )
    explanation = ask("CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered")
    assert explanation.answers[0].role == "cause"
    assert isinstance(explanation.crashes[0].what, str) and explanation.crashes[0].error == "ValueError: odd"


def test_a_log_that_shows_a_gpu_is_not_of_a_machine_without_one() -> None:
    host = Path(__file__).parent / "hosts" / "ubuntu-cpu-only-tf2.21"
    log = (
        "W dso_loader.cc:64] Could not load dynamic library 'libcudart.so.10.1'; dlerror: libcudart.so.10.1: cannot open shared "
        "object file: No such file or directory; LD_LIBRARY_PATH: /usr/local/cuda-10.2/lib64\n"
        "W gpu_device.cc:1753] Cannot dlopen some GPU libraries. Please make sure the missing libraries are installed\n"
    )
    shown = cli("--host", str(host), "-", stdin=log.encode()).stdout
    assert "this machine has none" in shown and "TFD306" in shown and "TFD101" not in shown


def test_a_line_that_several_rows_take_counts_once() -> None:
    line = "W local_rendezvous.cc:404] Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence\n"
    (answer,) = ask(3 * line).answers
    assert (answer.count, answer.lines) == (3, (1, 2, 3))


def test_a_line_that_begins_with_error_looks_like_one_and_a_metric_does_not() -> None:
    log = b"error: frob is broken\nmean_absolute_error: 0.2\nerror: quux is broken\n"
    shown = cli("--no-host", "-", stdin=log).stdout
    assert "1 | error: frob" in shown and "3 | error: quux" in shown and "mean_absolute" not in shown
