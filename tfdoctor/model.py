"""The nouns: what a rule says, what running it came to, and what the whole amounts to."""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Callable, Optional, Union


class Unavailable(Exception):
    """Could not look. The argument is the reason, a phrase for people ("the kernel log is not readable")."""


class NotApplicable(Exception):
    """Looked, and the question does not arise here ("this is not WSL"). The argument is the reason."""


class BadInput(Exception):
    """What somebody gave tfdoctor is not usable. The argument is one sentence: the thing, and what would be right."""


class Severity(enum.IntEnum):
    """How bad a diagnosis is; comparable."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()


class Safety(enum.Enum):
    """Who may run a fix: `safe` without a question, `ask` after one, `manual` only a person."""

    SAFE = "safe"
    ASK = "ask"
    MANUAL = "manual"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Evidence:
    """One observation or table row that a diagnosis rests on. `source`: a tool, a path or a URL."""

    says: str
    source: str


@dataclass(frozen=True)
class Fix:
    """One way to remove a fault.

    `commands` are argument lists, run in order without a shell. `requirements` and `removes` are the pip
    requirements that the commands install or uninstall, so that a plan can merge several fixes into one
    consistent set. `environment` are variables to set (None: to unset) before the program starts. `deletes` are files
    that go. `undo` are the commands that take it back. `needs` names what a person must know first: "root", "reboot",
    "new shell". `optional`: a choice that somebody may like, and no repair: never part of a plan.
    """

    title: str
    commands: tuple[tuple[str, ...], ...] = ()
    safety: Safety = Safety.MANUAL
    note: str = ""
    requirements: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()
    environment: tuple[tuple[str, Optional[str]], ...] = ()
    undo: tuple[tuple[str, ...], ...] = ()
    needs: frozenset[str] = frozenset()
    deletes: tuple[str, ...] = ()
    optional: bool = False


@dataclass(frozen=True)
class Diagnosis:
    """What a rule found: one sentence with both values, what it rests on, and what to do.

    `severity` overrides the rule's own, for a rule that knows a milder form of its fault (a value that is only
    second-hand never makes an error); `blocks` likewise, for one that in this form leaves the GPUs listed. `gpus` are
    the indices concerned, where only some are.
    """

    message: str
    evidence: tuple[Evidence, ...] = ()
    fixes: tuple[Fix, ...] = ()
    severity: Optional[Severity] = None
    gpus: tuple[int, ...] = ()
    blocks: Optional[bool] = None


Found = Union[Diagnosis, Iterable[Diagnosis], None]


@dataclass(frozen=True)
class Rule:
    """One root cause in the catalogue: `check` is a pure function from facts to what it found.

    `needs` maps the parameters of `check` to (fact type, optional?). `blocks` says that with this fault
    TensorFlow will not use a GPU, so that a rule of this kind that could not run forbids the verdict "yes".
    """

    code: str
    name: str
    severity: Severity
    caused_by: tuple[str, ...]
    blocks: bool
    check: Callable[..., Found]
    needs: Mapping[str, tuple[type, bool]]

    @property
    def log_only(self) -> bool:
        """Only a log shows this fault; no fact of the machine does."""
        return (LogMatch, False) in self.needs.values()

    @property
    def explanation(self) -> str:
        """The whole docstring, de-indented: Markdown."""
        return inspect.getdoc(self.check) or ""

    @property
    def title(self) -> str:
        """The first line of the explanation."""
        return self.explanation.partition("\n")[0]

    def section(self, heading: str) -> str:
        """The text under `## heading` of the explanation, or an empty string."""
        found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", self.explanation, re.M | re.S)
        return found.group(1).strip() if found else ""


@dataclass(frozen=True)
class LogMatch:
    """A known error as a log printed it: the cause that it was matched to, its line numbers (from 1), the first such
    line, and what the pattern's named groups took from it ("library" -> "libcudnn.so.8").

    A rule that needs a LogMatch can only be seen in a log: `check` leaves it out, `explain` runs it.
    """

    cause: str
    lines: tuple[int, ...]
    text: str
    values: Mapping[str, str]


class Status(enum.Enum):
    """What running one rule came to."""

    OK = "ok"
    FOUND = "found"
    NOT_APPLICABLE = "not applicable"
    SKIPPED = "skipped"
    CRASHED = "crashed"


@dataclass(frozen=True)
class Outcome:
    """One rule after its run. `reason` tells why it was skipped or how it crashed."""

    rule: Rule
    status: Status
    diagnoses: tuple[Diagnosis, ...] = ()
    reason: str = ""
    folded_under: Optional[str] = None

    @property
    def severity(self) -> Severity:
        """The worst severity among what was found; the rule's own when nothing was."""
        return max((d.severity or self.rule.severity for d in self.diagnoses), default=self.rule.severity)


@dataclass(frozen=True)
class Crash:
    """A part of tfdoctor that failed while it looked. Never silent, never fatal."""

    what: str
    error: str


@dataclass(frozen=True)
class Verdict:
    """Will TensorFlow use the GPUs? `gpu` is "yes", "no" or "unknown"; `because` names the diagnosis.

    `predicted` is what the rules say, `proven` what a run of TensorFlow showed (None: it was not run); `gpu` is the
    run's answer where there is one."""

    gpu: str
    because: Optional[str]
    summary: str
    predicted: Optional[str] = None
    proven: Optional[str] = None


@dataclass(frozen=True)
class Report:
    """Everything one check came to. `facts` maps a fact's name to the fact, `missing` to why there is none: it could
    not be looked at or, for the names in `resting`, it does not arise on this machine."""

    target: str
    facts: Mapping[str, Any]
    missing: Mapping[str, str]
    outcomes: tuple[Outcome, ...]
    crashes: tuple[Crash, ...]
    verdict: Verdict
    resting: frozenset[str] = frozenset()

    @property
    def found(self) -> tuple[Outcome, ...]:
        """The outcomes with a diagnosis, worst first, then by code."""
        hits = [o for o in self.outcomes if o.status is Status.FOUND]
        return tuple(sorted(hits, key=lambda o: (-o.severity, o.rule.code)))
