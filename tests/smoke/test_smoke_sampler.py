"""The sampler against a stand-in for NVML."""

from __future__ import annotations

import time
from pathlib import Path

import fake_nvml
import pytest

from tfdoctor.smoke.sampler import Sampler, parse

WAIT = 60.0  # seconds; it ends a test that is broken


def test_a_hot_gpu_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_nvml.need_compiler()
    hot = fake_nvml.rtx3090_pair().but({"gpu.1.clocks_event_reasons": "0x64", "gpu.1.temperature": 93})
    for name, value in fake_nvml.environment(hot, tmp_path).items():
        monkeypatch.setenv(name, value)
    with Sampler(wanted=True) as sampler:
        until = time.monotonic() + WAIT
        while len(sampler.samples) < 4 and time.monotonic() < until:
            time.sleep(0.05)
    cool, warm = sampler.samples[:2]
    assert (cool.gpu, warm.gpu, warm.temperature) == (0, 1, 93)
    assert warm.throttle == {"sw-power-cap", "sw-thermal", "hw-thermal"}
    assert cool.power is not None and cool.pcie_width == 16 and cool.cpu is not None


def test_without_gpus_nothing_is_started() -> None:
    with Sampler(wanted=False) as sampler:
        assert sampler.samples == ()


@pytest.mark.parametrize("line", ["", "x", "[]", "{}", '{"gpu": "0"}', '{"gpu": 0, "throttle": "x", "power": "y"}'])
def test_a_line_that_is_no_sample(line: str) -> None:
    sample = parse(line)
    assert sample is None or (sample.throttle, sample.power) == (frozenset(), None)
