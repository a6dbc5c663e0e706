"""What somebody says of a machine, understood: `os=Ubuntu 20.04`, `gpu=2 x RTX 3090`, `cuda=11.6 (nvidia-smi)`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Callable

from tfdoctor.i18n import _
from tfdoctor.model import BadInput
from tfdoctor.tables import Tables

#: A version: at least two parts, or a number alone; not the digits of a longer word ("sm86", "x64").
_VERSION = re.compile(r"(?<![\w.])v?(\d{1,4}(?:\.\d{1,5}){0,4}(?:\.?(?:rc|dev|post|a|b)\d{1,10})?)(?![\w]|\.\d)")
_CONTAINER = re.compile(
    r"docker|podman|lxc|kubernetes|\bk8s\b|\bpod\b|container|singularity|apptainer|enroot|\bimage\b|\bngc\b|nvcr\.io",
    re.I,
)
_LINUX = re.compile(
    r"linux|ubuntu|debian|fedora|centos|red ?hat|rhel|rocky|alma|suse|arch|manjaro|mint|pop!?_?os|gentoo|slackware|alpine|colab|kaggle|jetpack|l4t|nixos"
    r"|amazon|kernel|\bel[789]\b",
    re.I,
)
_NO = re.compile(r"(?:no|none|false|0|n/?a)\b", re.I)
_AMD = re.compile(r"\bamd\b|radeon|\bgfx\d|instinct|\bmi\d{2,3}|\brx ?\d{3,4}|vega", re.I)

#: Graphics that no build of TensorFlow for Linux or Windows computes on, where no other card is named beside them.
_GRAPHICS_ONLY = re.compile(r"\bintel\b|\biris\b|\buhd\b|\bmesa\b|llvmpipe|\bmatrox\b|\baspeed\b", re.I)
_APPLE = re.compile(r"\bapple\b|^\W*m[1-9]\b(?! ?\d)", re.I)
_NVIDIA = re.compile(
    r"nvidia|geforce|quadro|tesla|titan|\b[gr]tx\b|\bmx ?\d{3}|\b[rg]tx ?\d|(?<!arc )\b[avphlt]\d{1,3}\b|jetson", re.I
)


def understand(
    pairs: Iterable[str], tables: Tables, doubt: Callable[[str], None] = lambda _sentence: None
) -> dict[str, str]:
    """KEY=VALUE pairs as a situation. Raises BadInput for what is not a pair or a key that nobody reads.

    A value is somebody's words ("2.13 to 2.15 tried"): `doubt` is told of one that says nothing, and the rest counts.
    """
    facts: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        key = key.strip().lower()
        if not equals:
            raise BadInput(_("--given {pair} is not KEY=VALUE, for example --given os=WSL2.").format(pair=pair))
        if key not in _READERS:
            known = ", ".join(_READERS)
            raise BadInput(_("--given does not know the key {key}; it knows {known}.").format(key=key, known=known))
        found = _READERS[key](value.strip(), tables) if value.strip() else {}
        if not found or set(found) == {"system"}:
            text = _("--given {pair} tells nothing that tfdoctor understands; {key} is such as {example}.")
            doubt(text.format(pair=pair, key=key, example=_EXAMPLES[key]))
        for name, fact in found.items():
            if name == "install" and "install" in facts:
                fact = f"{facts['install']}, {fact}"
            if name in ("os", "container", "machine") and name in facts and key not in ("os", "container"):
                continue
            facts[name] = fact
    return facts


def _os(value: str, tables: Tables) -> dict[str, str]:
    facts = {"system": value, **_container_words(value)}
    if re.search(r"\bwsl", value, re.I):
        facts["os"] = "wsl1" if re.search(r"\bwsl ?1\b", value, re.I) else "wsl2"
    elif re.search(r"\bwin(?:dows|\d)|^win", value, re.I):
        facts["os"] = "windows"
    elif re.search(r"mac ?os|os ?x\b|darwin|\bmac\b|monterey|ventura|sonoma|big sur|\bm[1-4]\b", value, re.I):
        facts["os"] = "macos"
    elif _LINUX.search(value):
        facts["os"] = "linux"
    if re.search(r"alpine|musl", value, re.I):
        facts["libc"] = "musl"
    if re.search(r"laptop|notebook|optimus", value, re.I):
        facts["laptop"] = "yes"
    if re.search(r"jetson|jetpack|l4t", value, re.I):
        facts["jetson"] = "yes"
    if re.search(r"arm64|aarch64|apple silicon|\bm[1-4]\b|jetson|jetpack", value, re.I):
        facts["machine"] = "aarch64"
    return facts


def _container_words(value: str) -> dict[str, str]:
    found = _CONTAINER.search(value)
    return {"container": found.group().lower()} if found else {}


def _python(value: str, tables: Tables) -> dict[str, str]:
    facts = _first_version("python", value)
    if re.search(r"32.?bit", value, re.I):
        facts["bits"] = "32"
    return facts


def _tensorflow(value: str, tables: Tables) -> dict[str, str]:
    named = re.search(r"(?:intel-)?tensorflow[-_]?[a-z_-]*|tf-nightly[a-z-]*", value, re.I)
    facts = _first_version("tensorflow", value)
    if named and named.group().lower() != "tensorflow":
        facts["distribution"] = named.group().lower()
    return {**facts, **_container_words(value)}


def _cuda(value: str, tables: Tables) -> dict[str, str]:
    if re.search(r"rocm|hip", value, re.I):
        return {**_first_version("rocm", value), "vendor": "amd"}
    of_driver = re.search(r"nvidia-smi|driver", value, re.I) and not re.search(r"nvcc|toolkit|runtime|\+", value, re.I)
    facts = _first_version("driver_cuda" if of_driver else "cuda", value)
    if re.search(r"\bconda|\bpip\b", value, re.I):
        facts["install"] = value
    return {**facts, **_container_words(value)} if facts else {}


def _gpu(value: str, tables: Tables) -> dict[str, str]:
    if _NO.match(value) or re.search(r"no gpu|cpu only|without (?:a )?gpu", value, re.I):
        return {"has_gpu": "no"}
    if _GRAPHICS_ONLY.search(value) and not _NVIDIA.search(value) and not _AMD.search(value):
        return {"gpu": value, "has_gpu": "no"}
    if _APPLE.search(value) and not _NVIDIA.search(value) and not _AMD.search(value):
        return {"gpu": value, "has_gpu": "yes", "vendor": "apple", "os": "macos", "machine": "aarch64"}
    facts = {"gpu": value, "has_gpu": "yes", "vendor": "amd" if _AMD.search(value) else "nvidia"}
    if re.search(r"jetson|tegra|\bnano\b|xavier|\borin\b", value, re.I):
        facts.update(jetson="yes", machine="aarch64", os="linux")
    counts = [int(n) for n in re.findall(r"(?<![\w.])(\d{1,3}) ?[x×]\b", value)]
    if counts:
        facts["gpus"] = str(sum(counts))
    capability = re.search(r"(?:\bcc|compute capability|\bsm_?) ?(\d{1,2})\.?(\d)\b", value, re.I)
    card = tables.gpu(re.sub(r"^\s*\d{1,3} ?[x×] ?|\(.*?\)|,.*", "", value).strip())
    if capability:
        facts["compute_capability"] = ".".join(capability.groups())
    elif card is not None:
        facts["compute_capability"] = card.compute_capability
    kind = re.search(r"\bgfx[0-9a-f]{3,4}\b", value)
    if kind:
        facts["gfx"] = kind.group()
    if re.search(r"laptop|mobile|max-q|\bmx ?\d{3}|\d{3,4}mx?\b", value, re.I):
        facts["laptop"] = "yes"
    return facts


def _gpus(value: str, tables: Tables) -> dict[str, str]:
    found = re.search(r"\d+", value)
    if found is None:
        return {}
    return {"gpus": found.group(), "has_gpu": "yes" if int(found.group()) else "no"}


def _container(value: str, tables: Tables) -> dict[str, str]:
    if _NO.match(value):
        return {"container": "no"}
    return {"container": value.lower(), **({"os": "wsl2"} if "wsl" in value.lower() else {})}


def _install(value: str, tables: Tables) -> dict[str, str]:
    return {"install": value, **_container_words(value)}


def _first_version(name: str, value: str) -> dict[str, str]:
    """The first version in some words; nothing where they tell a range or several tries ("3.9/3.10 tried", "1.13 to 2.1")."""
    if re.search(r"\d\s*(?:/|to|or|-|and)\s*\d", value):
        return {}
    found = _VERSION.search(value)
    return {name: found.group(1)} if found else {}


def _plain(name: str) -> Callable[[str, Tables], dict[str, str]]:
    return lambda value, tables: _first_version(name, value)


def _driver(value: str, tables: Tables) -> dict[str, str]:
    facts = _first_version("driver", value)
    return {**facts, "has_gpu": "yes"} if facts else {}


_READERS: Mapping[str, Callable[[str, Tables], dict[str, str]]] = {
    "os": _os,
    "python": _python,
    "tensorflow": _tensorflow,
    "driver": _driver,
    "cuda": _cuda,
    "cudnn": _plain("cudnn"),
    "nccl": _plain("nccl"),
    "gpu": _gpu,
    "gpus": _gpus,
    "container": _container,
    "install": _install,
}

#: What a value of each key looks like.
_EXAMPLES: Mapping[str, str] = {
    "os": "Ubuntu 22.04",
    "python": "3.11",
    "tensorflow": "2.16.1",
    "driver": "535.183.01",
    "cuda": "12.4",
    "cudnn": "8.9",
    "nccl": "2.21",
    "gpu": "RTX 3090",
    "gpus": "2",
    "container": "docker",
    "install": "pip",
}

#: The keys that --given reads.
KEYS: tuple[str, ...] = tuple(_READERS)
