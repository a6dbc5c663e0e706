"""Asks NVML twice a second for the state of every GPU and prints one JSON object a line, until it is killed."""

from __future__ import annotations

import json
import time
from typing import Any, Callable, Optional

PERIOD = 0.5  # seconds


def sample(nvml: Any, index: int, handle: Any, cpu: Optional[float]) -> dict[str, Any]:
    """The state of one GPU and of the host's processors (`cpu`, per cent); what it does not tell is left out. `throttle` are
    NVML's bits."""

    def told(ask: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return ask(handle, *arguments)
        except nvml.NVMLError:
            return None

    power = told(nvml.nvmlDeviceGetPowerUsage)
    rates = told(nvml.nvmlDeviceGetUtilizationRates)
    seen = {
        "gpu": index,
        "clock_sm": told(nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_SM),
        "power": None if power is None else power / 1000,
        "temperature": told(nvml.nvmlDeviceGetTemperature, nvml.NVML_TEMPERATURE_GPU),
        "utilization": None if rates is None else rates.gpu,
        "pcie_generation": told(nvml.nvmlDeviceGetCurrPcieLinkGeneration),
        "pcie_width": told(nvml.nvmlDeviceGetCurrPcieLinkWidth),
        "cpu": cpu,
        "throttle": told(nvml.nvmlDeviceGetCurrentClocksThrottleReasons),
    }
    return {key: value for key, value in seen.items() if value is not None}


def main() -> None:
    """Sample until killed."""
    import psutil
    import pynvml

    pynvml.nvmlInit()
    handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
    psutil.cpu_percent()  # the first call only sets the beginning of the interval
    while True:
        time.sleep(PERIOD)
        cpu = psutil.cpu_percent()
        for index, handle in enumerate(handles):
            print(json.dumps(sample(pynvml, index, handle, cpu)), flush=True)


if __name__ == "__main__":
    main()
