"""TFD310 library-path-system-cuda: sick, healthy, and at the boundary."""

from __future__ import annotations

import facts
import library_faults as broken

from tfdoctor.rules.libraries.tfd310_library_path_system_cuda import library_path_system_cuda as rule

GPU = facts.gpu_machine()
PLACE = "/usr/local/cuda-12.5/lib64"


def test_a_toolkit_that_nobody_searches() -> None:
    lost = broken.all_elsewhere(PLACE, "toolkit")
    found = facts.found(rule, GPU, facts.tensorflow(), lost, facts.environment())
    assert PLACE in found.message and "libcudart.so.12" in found.message
    assert found.fixes[0].environment == (("LD_LIBRARY_PATH", PLACE),)
    assert found.fixes[1].requirements == ("tensorflow[and-cuda]==2.20.0",)
    assert broken.fired(facts.tensorflow(), lost) == {"TFD310": None, "TFD327": "TFD310"}


def test_healthy() -> None:
    assert facts.silent(rule, GPU, facts.tensorflow(), facts.libraries())


def test_a_copy_inside_another_program_is_not_offered() -> None:
    copy = facts.library_file(f"{facts.SITE}/torch/lib/libcudnn.so.9", "9.1.0", origin="torch")
    lost = facts.libraries(broken.lost("cudnn", copy))
    assert broken.fired(facts.tensorflow(), lost) == {"TFD327": None}


def test_on_windows_it_is_path() -> None:
    place = "C:\\cuda\\v11.2\\bin"
    copy = facts.library_file(f"{place}\\cudart64_110.dll", "11.2", soname="cudart64_110.dll", origin="toolkit")
    lost = broken.libraries(broken.lost("cudart", copy, soname="cudart64_110.dll"))
    found = facts.found(rule, GPU, facts.tensorflow_release("2.10.1"), lost)
    assert found.fixes[0].environment == (("PATH", place),)
