"""Headless Chromium over its debugging pipe (the DevTools protocol: JSON messages that end with a NUL)."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Optional

PROGRAM = next(
    (p for name in ("chromium", "chromium-browser", "google-chrome", "chrome") if (p := shutil.which(name))), None
)


class Browser:
    """One page in a browser of its own; use as a context."""

    def __init__(self, profile: Path) -> None:
        self._profile = profile
        self._ids = itertools.count(1)
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Browser:
        assert PROGRAM is not None
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        argv = [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
                "--hide-scrollbars", f"--user-data-dir={self._profile}", "--remote-debugging-pipe", "about:blank"]  # fmt: skip
        shell = f'exec 3<&{to_read} 4>&{to_write}; exec "$@"'  # the pipe's ends are file descriptors 3 and 4
        self._process = subprocess.Popen(["bash", "-c", shell, "bash", *argv], pass_fds=(to_read, to_write),
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        os.close(to_read)
        os.close(to_write)
        self._rest = b""
        target = self._call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session: Optional[str] = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})[
            "sessionId"
        ]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.kill()
        self._process.wait(timeout=30)
        os.close(self._write)
        os.close(self._read)

    def open(self, path: Path, *, width: int = 1200, dark: bool = False) -> None:
        """Load a file in a window of `width` CSS pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.events.clear()
        self.call("Page.navigate", {"url": path.as_uri()})
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self._message())

    def evaluate(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True})
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def screenshot(self, path: Path) -> bytes:
        shot = base64.b64decode(self.call("Page.captureScreenshot", {"captureBeyondViewport": True})["data"])
        path.write_bytes(shot)
        return shot

    @property
    def requests(self) -> list[str]:
        """The addresses that were asked for since `open`."""
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]

    def call(self, method: str, parameters: Optional[dict[str, Any]] = None) -> Any:
        return self._call(method, parameters or {}, self._session)

    def _call(self, method: str, parameters: dict[str, Any], session: Optional[str] = None) -> Any:
        number = next(self._ids)
        message = {"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._read, 1 << 20)
            assert part, "the browser ended"
            self._rest += part
        message, _nul, self._rest = self._rest.partition(b"\0")
        return json.loads(message)  # type: ignore[no-any-return]
