"""Starts CUDA as TensorFlow does first of all, and prints what came of it as JSON lines; the last line is the answer.

    cuda_child.py [LIBRARY]        (default: libcuda.so.1, which the loader chooses by the environment)

Run by path in a process of its own (a wedged driver blocks in the kernel, a broken one crashes its caller). It makes no
context, so it takes no memory on a GPU. The keys of the answer:

    state      "ok" | "failed" (`function` returned `code`) | "not-loaded" (`error` is the loader's text) | "crashed" (still under way)
    function   the driver API function that failed, or that was last called
    code       its CUresult
    path       the library file that the loader took
    version    cuDriverGetVersion (12040)
    count      cuDeviceGetCount
    devices    [{"name": "…", "compute_capability": "8.6", "compute_mode": 0 (CUcomputemode; null not told)}]
    unhidden   where CUDA found no device and CUDA_VISIBLE_DEVICES is set: the answer without that variable
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Any

LIBRARY = "libcuda.so.1"
HIDES = "CUDA_VISIBLE_DEVICES"
NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE
MAJOR, MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, …_MINOR
MODE = 20  # CU_DEVICE_ATTRIBUTE_COMPUTE_MODE
MOST_DEVICES = 64
NAME_LENGTH = 128


class Failed(Exception):
    """A function of the driver API returned an error: (function, CUresult)."""


class Caller:
    """Calls the driver API and says before each call which one it is, in case it never comes back."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self.answer: dict[str, Any] = {"state": "crashed", "code": None, "path": loaded_path()}

    def call(self, name: str, *arguments: Any) -> None:
        """Call `name`. Raises Failed with what it returned, or with None when the library has no such function."""
        self.answer["function"] = name
        emit(self.answer)
        function = getattr(self._library, name, None)
        code = function(*arguments) if function is not None else None
        if code != 0:
            raise Failed(name, code)

    def number(self, name: str, *arguments: Any) -> int:
        """The number that `name` writes to its first argument."""
        value = ctypes.c_int()
        self.call(name, ctypes.byref(value), *arguments)
        return value.value

    def version(self) -> Any:
        """cuDriverGetVersion, which needs no cuInit; None from a library without a driver (a stub)."""
        try:
            return self.number("cuDriverGetVersion")
        except Failed:
            return None

    def device(self, index: int) -> dict[str, Any]:
        """Name, compute capability and compute mode of one GPU."""
        handle = self.number("cuDeviceGet", index)
        name = ctypes.create_string_buffer(NAME_LENGTH)
        self.call("cuDeviceGetName", name, NAME_LENGTH, handle)
        major, minor = (self.number("cuDeviceGetAttribute", what, handle) for what in (MAJOR, MINOR))
        try:
            mode = self.number("cuDeviceGetAttribute", MODE, handle)
        except Failed:  # no program needs it
            mode = None
        named = name.value.decode("utf-8", "replace")
        return {"name": named, "compute_capability": f"{major}.{minor}", "compute_mode": mode}


def ask(name: str) -> dict[str, Any]:
    """The answer for the library `name`."""
    try:
        caller = Caller(ctypes.CDLL(name))
    except OSError as error:
        return {"state": "not-loaded", "code": None, "error": str(error)}
    answer = caller.answer
    try:
        answer["version"] = caller.version()
        caller.call("cuInit", 0)
        answer["count"] = caller.number("cuDeviceGetCount")
        answer["devices"] = [caller.device(i) for i in range(min(answer["count"], MOST_DEVICES))]
    except Failed as failure:
        function, code = failure.args
        return {**answer, "state": "failed", "function": function, "code": code}
    return {**answer, "state": "ok", "code": 0}


def loaded_path() -> str:
    """The file that was mapped as libcuda; "" where the system does not tell."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            paths = [line.split(None, 5)[5].strip() for line in maps if "/libcuda.so" in line]
    except (OSError, IndexError):
        return ""
    return paths[0] if paths else ""


def unhidden(name: str) -> Any:
    """The answer of another such process without CUDA_VISIBLE_DEVICES; None when it gave none."""
    import subprocess

    environment = {key: value for key, value in os.environ.items() if key != HIDES}
    argv = [sys.executable, "-I", "-S", os.path.abspath(__file__), name]
    done = subprocess.run(argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return json.loads(lines[-1]) if lines else None


def emit(answer: dict[str, Any]) -> None:
    """Print the answer as far as it is known."""
    print(json.dumps(answer), flush=True)


def main() -> None:
    """Print the answer; lines before it hold what was known before each call."""
    name = sys.argv[1] if len(sys.argv) > 1 else LIBRARY
    answer = ask(name)
    emit(answer)
    if HIDES in os.environ and (answer.get("code") == NO_DEVICE or answer.get("count") == 0):
        emit({**answer, "unhidden": unhidden(name)})


if __name__ == "__main__":
    main()
