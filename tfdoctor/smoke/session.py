"""One round of smoke tests: in order, each in its own process, the next one whatever became of the last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Optional

from tfdoctor.i18n import _
from tfdoctor.smoke import plan
from tfdoctor.smoke.differential import experiments_on
from tfdoctor.smoke.results import Experiment, Sample, SmokeResult
from tfdoctor.smoke.runner import Runner
from tfdoctor.smoke.sampler import Sampler
from tfdoctor.smoke.workers import run_workers

Tell = Callable[[str], None]


class Session:
    """Runs the chosen tests on the target's GPUs, or as a rehearsal on its CPU.

    `seconds` is the time that each test measures for, beyond TensorFlow's import; `timeout` ends one that hangs.
    """

    def __init__(
        self,
        runner: Runner,
        *,
        seconds: float = 4.0,
        timeout: float = 300.0,
        devices: Optional[Sequence[int]] = None,
        cpu: bool = False,
        workers: int = 2,
        tell: Tell = lambda _text: None,
    ) -> None:
        self._runner, self._seconds, self._timeout = runner, seconds, timeout
        self._devices, self._cpu, self._workers, self._tell = devices, cpu, workers, tell
        self.samples: dict[str, tuple[Sample, ...]] = {}
        self.experiments: list[Experiment] = []

    def run(self, names: Sequence[str] = (), *, quick: bool = False) -> Iterator[SmokeResult]:
        """Yield each result as it comes. The device list is always asked first: it decides what can run."""
        listed = self._one(plan.TESTS[0], 0)
        gpus = self._gpus(listed)
        if not names or plan.TESTS[0].name in names:
            yield listed
        if listed.state in ("failed", "crashed", "hung", "not-run"):
            return  # an import that fails would fail every test in the same way
        for test in plan.chosen(names, quick=quick)[0:]:
            if test is plan.TESTS[0]:
                continue
            result = self._unless_pointless(test, gpus) or self._one(test, gpus)
            yield result
            if test.several and gpus > 1 and not result.passed:
                self.experiments += experiments_on(result, test, self._runner, self._options(test, gpus), self._timeout)
        if plan.MULTIWORKER in names or not (names or quick):
            self._tell(plan.MULTIWORKER)
            yield run_workers(self._runner, self._workers, cpu=self._cpu or not gpus, timeout=self._timeout)

    def _gpus(self, listed: SmokeResult) -> int:
        return 0 if self._cpu else sum(1 for name in listed.devices if name.startswith("GPU"))

    def _options(self, test: plan.Planned, gpus: int) -> dict[str, object]:
        options = plan.options_for(test, gpus=gpus, seconds=self._seconds, devices=self._devices)
        return {**options, "cpu": True} if self._cpu else options

    def _unless_pointless(self, test: plan.Planned, gpus: int) -> Optional[SmokeResult]:
        if test.gpu_only and not gpus:
            return SmokeResult(test.name, "not-run", _("no GPU is listed"), rehearsal=True)
        if test.several and gpus == 1:
            return SmokeResult(test.name, "not-run", _("it needs two GPUs and one is listed"))
        return None

    def _one(self, test: plan.Planned, gpus: int) -> SmokeResult:
        self._tell(test.name)
        with Sampler(wanted=gpus > 0) as sampler:
            options = self._options(test, gpus)
            result = self._runner.run(test.program, options, timeout=self._timeout, name=test.name)
        self.samples[test.name] = sampler.samples
        return result
