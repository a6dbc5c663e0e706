"""Error codes by number or name: `719`, `CUDA_ERROR_ILLEGAL_ADDRESS`, `cudnn:4`, `xid:79`; and API names that mislead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Optional

from tfdoctor.i18n import _
from tfdoctor.tables import Tables
from tfdoctor.tables.log_rows import ErrorCode, KnownError, Xid
from tfdoctor.tables.tf_rows import ApiName

#: What people write before a number -> the APIs it is looked up in.
_APIS = {
    "cuda": ("cuda-driver", "cuda-runtime"),
    "cuda-driver": ("cuda-driver",),
    "cuda-runtime": ("cuda-runtime",),
    "cudart": ("cuda-runtime",),
    "cudnn": ("cudnn",),
    "cudnn8": ("cudnn8",),
    "cublas": ("cublas",),
    "nccl": ("nccl",),
    "nvml": ("nvml",),
}
_XID = re.compile(r"xid[ :=#]?\s*(\d{1,4})", re.IGNORECASE)
#: How the names of codes begin in the APIs' headers.
_NAME = re.compile(r"\b(?:(?:CUDA|CUDNN|CUBLAS|NVML)_[A-Z][A-Z_0-9]+|(?:nccl|cudaError)[A-Z]\w+)")
#: Codes that are explained for one log.
_MOST = 5
_OF_API = re.compile(r"([a-z][a-z0-9-]{2,15})[ :=]\s*(\d{1,6})", re.IGNORECASE)


@dataclass(frozen=True)
class CodePage:
    """What one code means. `api` is "cuda-driver", …, "xid" or "tensorflow" (a name of its Python API: no `value`).

    `causes`: names of diagnoses whose messages print it.
    """

    api: str
    name: str
    value: Optional[int]
    meaning: str
    advice: str
    source: str
    causes: tuple[str, ...]


def pages(asked: str, tables: Tables) -> tuple[CodePage, ...]:
    """Every code that `asked` can mean; empty when it is none. A bare number is looked for in every API and as an Xid."""
    xid = _XID.fullmatch(asked)
    if xid is not None:
        return tuple(_xids(int(xid.group(1)), tables))
    of_api = _OF_API.fullmatch(asked)
    if of_api is not None and of_api.group(1).lower() in _APIS:
        return tuple(_numbered(int(of_api.group(2)), _APIS[of_api.group(1).lower()], tables))
    if re.fullmatch(r"\d{1,6}", asked):
        every = tuple(dict.fromkeys(api for names in _APIS.values() for api in names))
        return (*_numbered(int(asked), every, tables), *_xids(int(asked), tables))
    codes = tuple(_page(row, tables) for row in tables.rows(ErrorCode) if row.name.lower() == asked.lower())
    api_name = tables.api_name(asked)
    return codes if api_name is None else (*codes, _api_name(api_name))


def named_in(lines: Iterable[str], tables: Tables) -> tuple[CodePage, ...]:
    """The codes of failures that some lines of a log name, each once, the first five."""
    said = dict.fromkeys(name for line in lines for name in _NAME.findall(line))
    return tuple(page for name in said for page in pages(name, tables) if page.value)[:_MOST]


def names(tables: Tables) -> tuple[str, ...]:
    """The name of every code, to suggest one that is nearly right."""
    return (*(row.name for row in tables.rows(ErrorCode)), *(row.name for row in tables.rows(ApiName)))


def _numbered(value: int, apis: tuple[str, ...], tables: Tables) -> Iterator[CodePage]:
    for api in apis:
        for row in tables.rows(ErrorCode):
            if row.api == api and row.value == value:
                yield _page(row, tables)


def _page(row: ErrorCode, tables: Tables) -> CodePage:
    return CodePage(row.api, row.name, row.value, row.meaning, row.advice, row.source, _causes(row.name, tables))


def _api_name(row: ApiName) -> CodePage:
    exists = _("It exists") if row.exists else _("It does not exist")
    where = _(" in TensorFlow {range}").format(range=row.tensorflow) if row.tensorflow else ""
    advice = _("{exists}{where}. Instead: {instead}.").format(exists=exists, where=where, instead=row.instead)
    return CodePage("tensorflow", row.name, None, row.what[:1].upper() + row.what[1:] + ".", advice, row.source, ())


def _xids(number: int, tables: Tables) -> Iterator[CodePage]:
    row = tables.xid(number)
    if row is not None:
        text = f"NVRM: Xid (PCI:0000:01:00): {number}, pid=1, name=python, "
        yield CodePage("xid", row.name, number, row.what, _xid_advice(row), row.source, _causes(text, tables))


def _xid_advice(row: Xid) -> str:
    first = _("{severity}; usually {blame}. First: {action}.").format(
        severity=row.severity, blame=row.blame, action=row.action.rstrip(".")
    )
    return first + (_(" If it comes back: {then}.").format(then=row.then.rstrip(".")) if row.then else "")


def _causes(text: str, tables: Tables) -> tuple[str, ...]:
    """The causes of the known messages in which `text` appears, likeliest first."""
    weights: dict[str, int] = {}
    for row in tables.rows(KnownError):
        if row.role != "fact" and re.search(row.pattern, text, re.MULTILINE):
            for meaning in row.means:
                weights[meaning.cause] = max(weights.get(meaning.cause, 0), meaning.weight)
    return tuple(sorted(weights, key=lambda name: -weights[name])[:5])
