"""One fault, said in several ways: by other releases, in other languages, by other programs, or not in the log at all."""

from __future__ import annotations

import io

import pytest

from tfdoctor.known_errors import Catalogue, Explanation, explain
from tfdoctor.logs.given import understand

CATALOGUE = Catalogue.load()


def ask(log: str, *given: str) -> Explanation:
    return explain(io.BytesIO(log.encode()), CATALOGUE, given=understand(given, CATALOGUE.tables))


def causes(log: str, *given: str) -> list[str]:
    return [a.name for a in ask(log, *given).answers if a.role == "cause"]


NOT_OPENED = (
    "{}'libcudart.so.10.0'; dlerror: libcudart.so.10.0: cannot open shared object file: No such file or directory"
)


@pytest.mark.parametrize(
    "words", ["Could not dlopen library ", "Could not load dynamic library "]
)  # 1.14, 1.15 and newer
def test_a_library_that_is_not_opened(words: str) -> None:
    line = NOT_OPENED.format(words)
    assert causes(line, "tensorflow=1.14", "cuda=10.1", "os=linux")[0] == "cuda-minor-mismatch-soname"
    assert causes(line, "tensorflow=1.14", "cuda=11.2", "os=linux")[0] == "cuda-major-mismatch"


@pytest.mark.parametrize(
    "before", ["ImportError: ", "OSError: ", "tensorflow_model_server: error while loading shared libraries: "]
)
def test_a_library_that_another_program_misses(before: str) -> None:
    line = before + "libcublas.so.10.0: cannot open shared object file: No such file or directory"
    assert "cuda-toolkit-missing" in ask(line).answers[0].alternatives


@pytest.mark.parametrize(
    "said",
    [
        "A dynamic link library (DLL) initialization routine failed.",
        "Error en una rutina de inicialización de biblioteca de vínculos dinámicos (DLL).",
        "Eine DLL-Initialisierungsroutine ist fehlgeschlagen.",
        "Une routine d’initialisation d’une bibliothèque de liens dynamiques (DLL) a échoué.",
        "动态链接库(DLL)初始化例程失败。",
    ],
)
def test_windows_speaks_the_language_of_its_user(said: str) -> None:
    answer = ask(f"ImportError: DLL load failed while importing _pywrap_tensorflow_internal: {said}").answers[0]
    assert answer.name == "cpu-instruction-set-avx"
    assert answer.alternatives[0] == "windows-msvc-runtime-missing"


@pytest.mark.parametrize(
    "shell", ["Illegal instruction (core dumped)", "zsh: illegal hardware instruction  python train.py"]
)
def test_every_shell_has_its_word_for_an_instruction_that_is_not_there(shell: str) -> None:
    assert causes(shell) == ["cpu-instruction-set-avx"]


def test_an_illegal_instruction_on_the_gpu_is_another_matter() -> None:
    assert (
        causes("CUDA_ERROR_ILLEGAL_INSTRUCTION: an illegal instruction was encountered")[0] == "xid13-application-fault"
    )


OFFER = (
    "ERROR: Could not find a version that satisfies the requirement tensorflow=={} (from versions: 2.5.0,{end}2.5.1, 2.6.0,{end}"
    "2.10.1, 2.11.0)\nERROR: No matching distribution found for tensorflow=={}"
)


@pytest.mark.parametrize("end", [" ", "\n"], ids=["on one line", "wrapped"])
@pytest.mark.parametrize(
    ("asked", "expected"), [("2.12.0", "python-older-than-target-supports"), ("1.15.0", "python-version-unsupported")]
)
def test_what_pip_was_offered_tells_which_way_python_is_wrong(asked: str, expected: str, end: str) -> None:
    assert causes(OFFER.format(asked, asked, end=end))[0] == expected


def test_an_old_python_is_known_without_the_offer() -> None:
    line = "ERROR: No matching distribution found for tensorflow==2.16.1"
    assert causes(line, "python=3.8", "tensorflow=2.16.1", "os=linux")[0] == "python-older-than-target-supports"


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        ("device:CPU:0 by allocator cpu", "host-memory-exhausted"),
        ("device:GPU:0 by allocator GPU_0_bfc", "gpu-memory-batch-too-large"),
    ],
)
def test_whose_memory_ends(device: str, expected: str) -> None:
    line = (
        f"ResourceExhaustedError: OOM when allocating tensor with shape[9,9] and type float on /job:localhost/{device}"
    )
    assert causes(line)[0] == expected


@pytest.mark.parametrize(
    "line", ["Killed", "zsh: killed     python train.py", "MemoryError", "Out of memory: Killed process 7 (python)"]
)
def test_the_end_of_main_memory(line: str) -> None:
    assert causes(line) == ["host-memory-exhausted"]


def test_requirements_that_exclude_each_other() -> None:
    log = """
    ERROR: Cannot install other and tensorflow==2.12.0 because these package versions have conflicting dependencies.
    The conflict is caused by:
        other 1.0 depends on typing-extensions>=4.8.0
        tensorflow 2.12.0 depends on typing-extensions<4.6.0 and >=3.6.6
    """
    answer = ask(log).answers[0]
    assert (answer.name, answer.lines) == ("requirements-conflict", (2, 5))


@pytest.mark.parametrize(
    "status", ["CUDNN_STATUS_ALLOC_FAILED", "CUDNN_STATUS_INTERNAL_ERROR", "CUDNN_STATUS_NOT_INITIALIZED"]
)
def test_cudnn_without_memory(status: str) -> None:
    assert (
        causes(f"in tensorflow/stream_executor/cuda/cuda_dnn.cc(1847): '{status}'")[0]
        == "gpu-memory-exhausted-before-library-handle"
    )


def test_what_is_said_of_the_machine_is_enough_where_the_log_says_nothing() -> None:
    told = ask("done\n", "os=Windows 11", "tensorflow=2.17.0", "gpu=RTX 4050").answers
    assert [(a.name, a.role) for a in told] == [
        ("windows-native-gpu-dropped", "cause"),
        ("cpu-only-build", "consequence"),
    ]
    assert told[0].lines == () and "2.17.0" in told[0].message


def test_a_harmless_log_accuses_nobody_whatever_is_said_of_the_machine() -> None:
    line = "I tensorflow/core/platform/cpu_feature_guard.cc:210] This TensorFlow binary is optimized to use available CPU instructions"
    assert not causes(line, "os=Windows 11", "tensorflow=2.17.0", "gpu=RTX 4050")


def test_a_table_of_nvidia_smi_tells_windows() -> None:
    row = "|   0  NVIDIA GeForce RTX 4050 ...  WDDM  |   00000000:01:00.0 Off |                  N/A |\n"
    assert ask(row).situation["os"] == "windows"


OUT_OF_MEMORY = "failed to allocate 2.20G (2362232012 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY"


@pytest.mark.parametrize(
    "prose",
    [
        "I do not get CUDA_ERROR_OUT_OF_MEMORY any more, but it is slow.",
        "With the new driver I no longer see the `CUDA_ERROR_OUT_OF_MEMORY` error.",
        "It works without any CUDA_ERROR_OUT_OF_MEMORY on the other machine.",
        "A smaller batch fixed the CUDA_ERROR_OUT_OF_MEMORY.",
        "I used to get CUDA_ERROR_OUT_OF_MEMORY here.",
        "CUDA_ERROR_OUT_OF_MEMORY is gone since then.",
        "We don’t have an “OOM when allocating tensor” with 2.10.",
    ],
)
def test_a_message_that_somebody_says_is_not_there(prose: str) -> None:
    assert not ask(prose).answers
    assert causes(f"{prose}\n{OUT_OF_MEMORY}")[0] == "gpu-memory-held-by-other-process"


@pytest.mark.parametrize(
    "prose",
    [
        "Why do I get CUDA_ERROR_OUT_OF_MEMORY?",
        "> " + OUT_OF_MEMORY,
        "    " + OUT_OF_MEMORY,
        "`" + OUT_OF_MEMORY + "`",
        "It does not work: " + OUT_OF_MEMORY,
        "The program did not start, CUDA_ERROR_OUT_OF_MEMORY",
    ],
)
def test_a_message_that_somebody_quotes(prose: str) -> None:
    assert causes(prose)[0] == "gpu-memory-held-by-other-process"


ISSUE_2020 = """
**System information**
- OS Platform and Distribution (e.g., Linux Ubuntu 16.04): Windows 10 Pro
- TensorFlow version (use command below): v2.3.0-rc2-23-gb36436b087 2.3.0
- Python version: 3.8.5
- CUDA/cuDNN version: 10.1.243/7.6.5
- GPU model and memory: NVIDIA Quadro P2000 4GB
"""
ISSUE_2024 = """
### TensorFlow version

2.17.0

### OS platform and distribution

Linux Ubuntu 22.04

### Python version

3.10.12

### CUDA/cuDNN version

CUDA 12.3, cuDNN 8.9.7

### GPU model and memory

_No response_
"""


def test_the_template_of_a_bug_report_is_read() -> None:
    old, new = ask(ISSUE_2020).situation, ask(ISSUE_2024).situation
    assert {n: old[n] for n in ("os", "tensorflow", "python", "cuda", "cudnn", "compute_capability")} == {
        "os": "windows",
        "tensorflow": "2.3.0",
        "python": "3.8.5",
        "cuda": "10.1.243",
        "cudnn": "7.6.5",
        "compute_capability": "6.1",
    }
    assert {n: new.get(n) for n in ("os", "tensorflow", "python", "cuda", "cudnn", "gpu")} == {
        "os": "linux",
        "tensorflow": "2.17.0",
        "python": "3.10.12",
        "cuda": "12.3",
        "cudnn": "8.9.7",
        "gpu": None,
    }


def test_what_a_program_prints_outweighs_what_somebody_filled_in() -> None:
    assert ask(ISSUE_2024 + "tensorflow==2.16.1\n").situation["tensorflow"] == "2.16.1"


@pytest.mark.parametrize(
    "between", ["", "2024-05-01 12:00:00: I a/b.cc:1] said while it looked\n"], ids=["at once", "after a line"]
)
def test_an_interactive_session_answers_on_a_later_line(between: str) -> None:
    log = f">>> tf.test.is_built_with_cuda()\n{between}False\n"
    assert causes(log, "os=linux")[0] in ("cpu-only-build", "cpu-only-build-mislabelled")
    assert not causes(log.replace("False", "True"))
    listed = f">>> tf.config.list_physical_devices('GPU')\n{between}[]\n"
    assert ask(listed).answers and not ask(listed.replace("[]", "[PhysicalDevice(name='x')]")).answers


@pytest.mark.parametrize(
    ("log", "cause"),
    [
        (
            "[1157.04] NVRM: The NVIDIA GPU 0000:02:00.0 (PCI ID: 10de:1b82)\n"
            "               NVRM: installed in this system is not supported by open\n"
            "               NVRM: nvidia.ko because it does not include the required GPU",
            "driver-not-for-this-gpu",
        ),
        (
            "kernel: NVRM: The NVIDIA GeForce 210 GPU installed in this system is\n"
            "kernel: NVRM:  supported through the NVIDIA 340.xx Legacy drivers. Please",
            "driver-not-for-this-gpu",
        ),
        ("INTERNAL: XLA requires ptxas version 11.8 or higher", "ptxas-missing-or-old"),
        (
            "hint: You require CPython 3.13 (`cp313`), but we only found wheels for\n"
            "      `tensorflow` (v2.19.0) with the following Python ABI tags: `cp39`, `cp310`",
            "python-version-unsupported",
        ),
        (
            "  - tensorflow requires Python >=3.9,<3.12, so it will not be installable for Python >=3.12,<4.0",
            "python-version-unsupported",
        ),
        (
            "Unable to find installation candidates for tensorflow-io-gcs-filesystem (0.37.1)",
            "tf-io-gcs-filesystem-no-wheel",
        ),
        ("TypeError: ('Keyword argument not understood:', 'ragged')", "keras-tf-version-mismatch"),
        (
            "nvidia-container-cli: mount error: file creation failed: /var/lib/docker/overlay2/1a/merged/usr/lib/"
            "x86_64-linux-gnu/libcuda.so.1: file exists: unknown",
            "docker-libcuda-host-mismatch",
        ),
    ],
)
def test_other_programs_say_it_in_their_words(log: str, cause: str) -> None:
    assert causes(log)[0] == cause


def test_the_kernel_names_the_driver_that_it_loads() -> None:
    log = "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  575.51.03  Release Build\nNo devices were found"
    assert "575.51.03" in str(ask(log).situation["driver"])


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("AttributeError: module 'numpy' has no attribute 'product'", "numpy-abi-mismatch"),
        ("AttributeError: `np.Inf` was removed in the NumPy 2.0 release. Use `np.inf` instead.", "numpy-abi-mismatch"),
        ("ModuleNotFoundError: No module named 'numpy._core'", "requirements-conflict"),
        ("AttributeError: module 'keras.backend' has no attribute 'tf'", "keras-tf-version-mismatch"),
        ("ModuleNotFoundError: No module named 'keras.layers.merge'", "keras3-tf-keras-missing"),
        ("ImportError: Unable to import 'X' from 'keras.layers' (/lib/keras/layers)", "keras-tf-version-mismatch"),
        ("from tensorflow.python.keras import x\nImportError: cannot import name 'x'", "keras-tf-version-mismatch"),
        ("AttributeError: 'Sequential' object has no attribute 'predict_classes'", "keras-tf-version-mismatch"),
    ],
)
def test_names_that_one_release_has_and_another_has_not(line: str, cause: str) -> None:
    assert causes(line) == [cause]


def test_one_package_that_shares_the_folder_is_no_mixture_and_two_are() -> None:
    assert not causes("absl-py==0.8.1\ntensorflow-gpu==1.8.0\nwheel==0.33.0")
    assert not causes("tensorflow==2.15.0\ntensorflow-intel==2.15.0")
    assert causes("tensorflow==2.4.0\ntensorflow-estimator==2.4.0\ntensorflow-gpu==2.4.0") == [
        "tensorflow-distributions-mixed"
    ]


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("$ docker run -it image python train.py", "docker-run-without-gpus"),
        ("$ docker run --gpus all -it image python train.py", "driver-not-installed"),
        ("$ nvidia-docker run -it image python train.py", "driver-not-installed"),
    ],
)
def test_how_a_container_was_started_decides(typed: str, first: str) -> None:
    missing = "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory"
    assert causes(f"{typed}\n{missing}")[0] == first


LIBRARY = "ImportError: libcublas.so.{}: cannot open shared object file: No such file or directory"


@pytest.mark.parametrize(
    ("asked", "there", "cause"),
    [
        ("9.0", "9.0", "library-path-system-cuda"),
        ("9.0", "9.2", "cuda-minor-mismatch-soname"),
        ("9.0", "10.1", "cuda-major-mismatch"),
        ("11", "11.8", "library-path-system-cuda"),
        ("11", "12.2", "cuda-major-mismatch"),
    ],
)
def test_a_file_of_cuda_in_the_log_tells_which_cuda_is_there(asked: str, there: str, cause: str) -> None:
    assert causes(f"{LIBRARY.format(asked)}\n/usr/local/cuda-{there}/lib64/libcudart.so")[0] == cause


def test_no_arm_board_lacks_avx() -> None:
    assert causes("Illegal instruction (core dumped)", "gpu=Jetson Nano") == ["crashed-in-native-code"]
    assert causes("Illegal instruction (core dumped)", "os=macOS (M1)") == ["cpu-instruction-set-avx"]
