"""One round of smoke tests: in order, each in its own process, the next one whatever became of the last."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Callable, Optional

from tfdoctor.i18n import _
from tfdoctor.model import BadInput
from tfdoctor.smoke import plan
from tfdoctor.smoke.differential import experiments_on
from tfdoctor.smoke.listing import listing_experiments
from tfdoctor.smoke.results import Experiment, Sample, SmokeResult
from tfdoctor.smoke.runner import Runner
from tfdoctor.smoke.sampler import Sampler
from tfdoctor.smoke.workers import run_workers

Slow = Callable[[tuple[SmokeResult, ...], Mapping[str, tuple[Sample, ...]]], bool]


class Session:
    """Runs the chosen tests on the target's GPUs, or as a rehearsal on its CPU.

    `seconds` is the time that each test measures for, beyond TensorFlow's import; `timeout` ends one that hangs.
    `gpus_seen` are the GPUs that the driver lists: where TensorFlow lists none of them, experiments ask why. `too_slow`
    says of the results so far whether AllReduce is far below what the links carry, which calls for experiments too.
    """

    def __init__(
        self,
        runner: Runner,
        *,
        seconds: float = plan.SECONDS,
        timeout: float = 300.0,
        devices: Optional[Sequence[int]] = None,
        cpu: bool = False,
        workers: int = 2,
        gpus_seen: int = 0,
        too_slow: Slow = lambda _results, _samples: False,
    ) -> None:
        self._runner, self._seconds, self._timeout = runner, seconds, timeout
        self._devices, self._cpu, self._workers = devices, cpu, workers
        self._gpus_seen, self._too_slow = gpus_seen, too_slow
        self._budget: Optional[float] = None
        self.samples: dict[str, tuple[Sample, ...]] = {}
        self.experiments: list[Experiment] = []
        self.results: list[SmokeResult] = []
        self.doing: tuple[str, ...] = ()

    def run(self, names: Sequence[str] = (), *, quick: bool = False) -> Iterator[SmokeResult]:
        """Yield each result as it comes. The device list is always asked first: it decides what can run."""
        self._budget = plan.QUICK_BUDGET if quick else None
        first = plan.TESTS[0]
        listed = self._one(first, 0)
        self.results.append(listed)
        self._refuse_what_is_not_there(listed)
        gpus = self._gpus(listed)
        broken = listed.state in ("failed", "crashed", "hung", "not-run")
        if broken or not names or first.name in names:
            yield listed
        if not gpus and self._gpus_seen and not self._cpu:
            self._explore(first, listing_experiments(first, self._runner, self._options(first, 0), self._timeout))
        if broken:
            return  # an import that fails would fail every test in the same way
        for test in plan.chosen(names, quick=quick):
            if test is not first:
                yield self._tested(test, gpus)
        if plan.MULTIWORKER in names or not (names or quick):
            self.doing = (plan.MULTIWORKER,)
            numbers = self._numbers(gpus)
            yield run_workers(self._runner, self._workers, gpus=numbers, timeout=self._timeout)
        self.doing = ()

    def _tested(self, test: plan.Planned, gpus: int) -> SmokeResult:
        result = self._unless_pointless(test, gpus) or self._one(test, gpus)
        self.results.append(result)
        if test.several and gpus > 1 and (not result.passed or self._too_slow(tuple(self.results), self.samples)):
            options = self._options(test, gpus)
            more = experiments_on(
                result, test, self._runner, options, timeout=self._timeout, devices=self._numbers(gpus)
            )
            self._explore(test, more)
        return result

    def _explore(self, test: plan.Planned, experiments: Iterator[Experiment]) -> None:
        self.doing = (_("{test}, again with one thing changed").format(test=test.name),)
        self.experiments += experiments

    def _refuse_what_is_not_there(self, listed: SmokeResult) -> None:
        """Raises BadInput for a chosen number that TensorFlow does not list. Where the driver lists GPUs and TensorFlow
        none, the experiments say more than that."""
        there = listed.measured.get("gpus")
        if there is None or (not there and self._gpus_seen):
            return
        missing = [n for n in self._devices or () if n >= there]
        if missing:
            text = _("--devices {number}: there is no such GPU; TensorFlow lists {there}, numbered from 0.")
            raise BadInput(text.format(number=missing[0], there=there))

    def _gpus(self, listed: SmokeResult) -> int:
        return 0 if self._cpu else sum(1 for name in listed.devices if name.startswith("GPU"))

    def _numbers(self, gpus: int) -> list[int]:
        """TensorFlow's numbers of the GPUs that take part."""
        return [] if not gpus else list(self._devices) if self._devices is not None else list(range(gpus))

    def _options(self, test: plan.Planned, gpus: int) -> dict[str, object]:
        options = plan.options_for(test, gpus=gpus, seconds=self._seconds, devices=self._devices)
        return {**options, "cpu": True} if self._cpu else options

    def _unless_pointless(self, test: plan.Planned, gpus: int) -> Optional[SmokeResult]:
        if test.gpu_only and not gpus:
            return SmokeResult(test.name, "not-run", _("no GPU is listed"), rehearsal=True)
        if test.several and gpus == 1:
            return SmokeResult(test.name, "not-run", _("it needs two GPUs and one is listed"))
        if gpus and self._budget is not None and self._spent() >= self._budget:
            text = _("the tests before it took {spent:.0f} s; --quick starts none after {budget:g} s")
            return SmokeResult(test.name, "not-run", text.format(spent=self._spent(), budget=self._budget))
        return None

    def _spent(self) -> float:
        """Seconds beyond TensorFlow's imports so far."""
        return sum(result.seconds - result.importing for result in self.results)

    def _one(self, test: plan.Planned, gpus: int) -> SmokeResult:
        self.doing = (test.name,)
        talks = test.several and gpus > 1 and "NCCL_DEBUG" not in os.environ
        with Sampler(wanted=gpus > 0) as sampler:
            options = self._options(test, gpus)
            environment = {"NCCL_DEBUG": "INFO"} if talks else {}
            result = self._runner.run(
                test.program, options, timeout=self._timeout, environment=environment, name=test.name
            )
        self.samples[test.name] = sampler.samples
        return result
