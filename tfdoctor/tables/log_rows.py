"""The rows by which a log is read: known messages and the causes that they can mean, error codes, Xids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Optional

from tfdoctor.tables.rows import Range, Row


@dataclass(frozen=True)
class Meaning:
    """One cause that a message can have. `weight` (1 to 100): how strongly the message alone points to it."""

    cause: str
    weight: int


@dataclass(frozen=True)
class KnownError(Row):
    """One message of TensorFlow, CUDA, NCCL, pip, a container engine or the kernel, or a family of like messages.

    `words` are fixed pieces of the message, one of which is in every occurrence: the first pass looks for them.
    `pattern` is the regular expression that decides, searched in `span` lines from the one with the words.
    Its named groups are what the message states. `role`: "cause" (points to a root cause), "consequence" (what
    a fault made elsewhere), "harmless", or "fact" (only states something of the machine). `means`: the causes
    that it can have, most likely first. `states` are facts that hold wherever the message appears
    ("os": "windows"). `tensorflow`: the releases that print it. `decide_by`: what to look at to tell its
    causes apart; None: what the causes themselves name. `example` is its own test.
    """

    id: str
    role: str
    words: tuple[str, ...]
    pattern: str
    span: int
    example: str
    tensorflow: Range
    means: tuple[Meaning, ...]
    states: Mapping[str, str]
    decide_by: Optional[str]


@dataclass(frozen=True)
class Clue:
    """A fact that speaks for or against a cause.

    `fact` names a fact of the situation (see tfdoctor/logs/situation.py) or "seen": the ids of known messages.
    `fits` is a PEP 440 range for versions and numbers, else a regular expression (case does not matter).
    The cause's score changes by `then` when the fact fits, by `otherwise` when it does not, not at all when
    the fact is not known.
    """

    fact: str
    fits: str
    then: int
    otherwise: int


@dataclass(frozen=True)
class Condition:
    """A fact that has to fit; `fact` as in Clue, or "unseen": none of these known messages is in the log."""

    fact: str
    fits: str


@dataclass(frozen=True)
class KnownCause(Row):
    """One diagnosis as `explain` names it. `look` is the command or file that proves it, and what it shows then.

    `says` is the sentence for a harmless one, which has no rule; None: the rule's own words. `mild`: where all of these
    hold, nothing has failed and it counts as harmless (empty: never). `formerly`: retired names.
    """

    name: str
    code: str
    harmless: bool
    says: Optional[str]
    look: Optional[str]
    clues: tuple[Clue, ...]
    mild: tuple[Condition, ...]
    formerly: tuple[str, ...]


@dataclass(frozen=True)
class ErrorCode(Row):
    """An error code: ``api`` is cuda-driver, cuda-runtime, cudnn, cublas, nccl or nvml."""

    api: str
    name: str
    value: int
    meaning: str
    advice: str


@dataclass(frozen=True)
class Xid(Row):
    """A kernel-log Xid.

    ``severity``: fatal (the GPU is unusable until reset, or hardware has failed), error (the job was lost),
    warning (look at it), info. ``blame``: application, driver, hardware, link or unknown. ``action`` is what
    to do first and ``then`` what to do if it comes back, both in plain words.
    """

    xid: int
    name: str
    what: str
    severity: str
    blame: str
    action: str
    then: str
