"""Takes out of a text what would name a person or a machine, and leaves what a diagnosis needs.

What goes: user names, host names, home folders, e-mail, IP and MAC addresses, serial numbers, UUIDs, tokens, keys,
passwords. What stays: versions, PCI addresses, paths. Equal things become equal things, so that
CUDA_VISIBLE_DEVICES=GPU-… still names the GPU that it named.

10.3.2.106 is a version of cuRAND or an address. It is a version where a field named for one holds it (and then
everywhere in this machine's texts), or where the text around it says so; anything else of that form is an address.
"""

from __future__ import annotations

import ipaddress
import platform
import re
from collections.abc import Iterable, Iterator
from typing import Any, Callable, Optional, Union

from tfdoctor.host import Host
from tfdoctor.model import Unavailable

REDACTED = "redacted"
EFI_GLOBAL = "8be4df61-93ca-11d2-aa0d-00e098032b8c"  # the UEFI specification's name for its own variables
NOBODY = "00000000-0000-0000-0000-"
# Names that are also words of the trade, or of every machine: replaced only where they name a home folder.
COMMON = frozenset(
    (
        "root", "user", "users", "admin", "administrator", "guest", "nobody", "daemon", "www-data", "nvidia", "ubuntu", "debian",
        "fedora", "centos", "rocky", "arch", "docker", "podman", "cuda", "cudnn", "gpu", "gpus", "tensorflow", "keras", "torch",
        "python", "conda", "anaconda", "miniconda", "home", "lib", "local", "linux", "windows", "data", "test", "tests", "tmp",
        "opt", "usr", "bin", "dev", "proc", "sys", "var", "etc", "jetson", "runner", "build", "builder", "jenkins", "none",
        "true", "false", "error", "warning", "info", "version", "name", "driver", "kernel", "system", "server", "service", "host",
        "localhost", "localdomain", "default", "main", "master", "worker", "node", "compute", "public", "shared", "work",
        "workspace", "app", "apps", "code", "src", "project", "projects", "notebook", "jupyter", "jovyan", "ec2-user",
    )
)  # fmt: skip
KEPT_HOMES = frozenset(("kubernetes", "linuxbrew", "user"))  # folders below /home that belong to no person

# Variables that name a person or a machine: those of login, then of schedulers and CI servers.
USERS = (
    "USER",
    "LOGNAME",
    "USERNAME",
    "SUDO_USER",
    "LNAME",
    "SLURM_JOB_USER",
    "JUPYTERHUB_USER",
    "GITHUB_ACTOR",
    "GITLAB_USER_LOGIN",
)
HOSTS = ("HOSTNAME", "COMPUTERNAME", "HOST", "SLURMD_NODENAME", "SLURM_NODENAME", "SLURM_SUBMIT_HOST")

Replacement = Union[str, Callable[[re.Match[str]], str]]

_UUID = re.compile(r"[0-9a-fA-F]{8}([-_])[0-9a-fA-F]{4}\1[0-9a-fA-F]{4}\1[0-9a-fA-F]{4}\1[0-9a-fA-F]{12}")
_PART_OF_UUID = re.compile(r"\b(GPU|MIG)-([0-9a-fA-F]{4}[0-9a-fA-F-]*)(?![\w])")
_SECRET_NAME = r"(?:token(?!i[sz])s?|secret|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|signing[_-]?key|credential|cookie)"
_SERIAL_NAME = r"(?:\w*serial(?:[ _-]?(?:number|num|no))?|unique[ _-]?id|gpu[ _]pdi|pdi|asset[ _]?tag|machine[ _-]?id|boot[ _-]?id)"
_BY_KEY = re.compile(rf"(?i){_SECRET_NAME}|^{_SERIAL_NAME}$|^uuid$")
_VERSION_KEY = re.compile(r"(?i)version|^(?:driver|cuda|cudnn|nccl)$")

# In this order: what contains an address or a name is taken out before the address or name alone.
_PATTERNS: tuple[tuple[re.Pattern[str], Replacement], ...] = (
    (re.compile(r"-----BEGIN [A-Z ]+-----.*?(?:-----END [A-Z ]+-----|\Z)", re.S), REDACTED),
    (re.compile(r"\b([a-zA-Z][a-zA-Z0-9+.-]{1,20}://)[^/\s@\"'<>]{1,300}@"), rf"\1{REDACTED}@"),
    (re.compile(r"\b([a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s\"'<>?]{1,500}\?)[^\s\"'<>]+"), rf"\1{REDACTED}"),  # a signature, a token, a name
    (re.compile(r"(?i)\b(bearer|basic)\s+[a-z0-9+/=_.~-]{8,}"), rf"\1 {REDACTED}"),
    (re.compile(rf"(?i)\b([\w.-]*{_SECRET_NAME}[\w.-]*)([\"']?\s*[=:]\s*[\"']?)(?!\d{{1,4}}\b)([^\s\"',;&<>]+)"), rf"\1\2{REDACTED}"),
    (re.compile(rf"(?i)(?<![\w-])(--?[\w-]*{_SECRET_NAME}[\w-]*\s+)(?!\d{{1,4}}\b)([^\s\"',;&<>-][^\s\"',;&<>]*)"), rf"\1{REDACTED}"),
    (re.compile(r"\b(?:gh[opsur]_|github_pat_|gl(?:pat|cbt|dt|rt|ft|soat)-|dckr_pat_|hf_|sk-|xox[abeoprs]-|npm_|pypi-|nvapi-|AIza|ya29\.)[A-Za-z0-9_\-.]{10,}"), REDACTED),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), REDACTED),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"), REDACTED),
    (re.compile(r"(?<![\w.+%-])[\w.+%-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])"), "somebody@example.com"),
    (re.compile(r"\([\w.+-]{1,64}@[\w.-]{1,255}\)"), "(somebody@host)"),  # who built the kernel, in /proc/version
    (re.compile(r"(?m)^[\w.+-]{1,64}@[\w.-]{1,255}(?=:[~/]|[ :]*[$#] )"), "user@host"),  # a shell's prompt
    (re.compile(r"(?m)^((?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}|\d{4}-\d\d-\d\dT[\d:.+-]+Z?) )(\S+)(?= [\w./-]+(?:\[\d+\])?: )"), r"\1host"),  # syslog
    (re.compile(r"(?i)(Hostname set to <)[^>]*"), r"\1host"),
    (re.compile(rf"(?i)(<({_SERIAL_NAME})>)(?!\s*\[?N/A)[^<]+(</)"), rf"\g<1>{REDACTED}\g<3>"),
    (re.compile(rf"(?i)(?<!\w)({_SERIAL_NAME}[\"']?(?:\s+is)?(?:\s*[:=]\s*|\s+)[\"']?)(?=[\w.-]*\d)[0-9a-z][0-9a-z.-]{{3,}}"), rf"\g<1>{REDACTED}"),
    (re.compile(r"(?<![\w:-])(?:[0-9a-fA-F]{2}([:-]))(?:[0-9a-fA-F]{2}\1){4}(?:[0-9a-fA-F]{2}\1[0-9a-fA-F]{2}\1)?[0-9a-fA-F]{2}(?![\w:-])"), "00:00:00:00:00:00"),
    (re.compile(r"\bip-\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3}(?:\.[\w.-]*internal)?\b"), "host"),  # what AWS calls its machines
    (re.compile(r"\bi-[0-9a-f]{17}\b"), "i-00000000000000000"),  # and its instances
    (re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])"), "0" * 64),  # containers' names in cgroup paths; digests
)  # fmt: skip
# Too short and too simple for an address, a path, an identifier or a secret.
_PLAIN = re.compile(r"[a-z_ ,-]{0,32}|[0-9]{0,8}(?:\.[0-9]{1,6}){0,2}")
_IPV6 = re.compile(
    r"(?<![\w:.])(?=[0-9A-Fa-f:.]*[0-9])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:%\w+)?(?![\w:]|\.\d)"
)
_IPV4 = re.compile(r"(?<![\w.])(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}(?!\w|\.\w)", re.A)
# What stands before or after a version with four parts.
_VERSION_BEFORE = re.compile(
    r"(?:[=<>~!]=|\.so\.|(?<![a-z])(?:version|ver|release|revision)\S{0,12}[\"':=\s(v]{0,6}"
    r"|(?:cudnn|cublas|cufft|curand|cusolver|cusparse|cupti|nvjitlink|nvrtc|tensorrt)[\w-]{0,12}[\"':=\s(v]{0,6}"
    r"|(?<![a-z])(?:nvidia|tensorrt)[\w-]*-|\bv)$",
    re.I,
)  # fmt: skip
_VERSION_AFTER = re.compile(r"\.(?:dist-info|egg|tar|whl|zip)|-(?:py\d|cp\d|any|microsoft)|\+\w", re.I)
# What a program prints the name of its machine in: TensorFlow's CUDA diagnosis, NCCL before each line, `uname -a`.
_STATED_HOST = re.compile(
    r"(?m)\] (?:hostname: |retrieving CUDA diagnostic information for host: )([\w.-]{1,255})\s*$"
    r"|^([\w.-]{1,255}):\d+:\d+ \[\d+\] (?:\S+ )?NCCL "
    r"|\bLinux ([\w.-]{1,255}) \d+\.\d+\.\d+\S* #\d"
)
_HOMES = (
    re.compile(r"(/(?:home|Users)/)([^/\s:;,\"'<>()\[\]|]+)"),
    re.compile(r"([\\/]+Users[\\/]+)([^\\/:*?\"<>|\r\n]{1,64}(?=[\\/])|[^\\/:*?\"<>|\s]+)"),
)  # fmt: skip


class Scrubber:
    """Scrubs the texts of one machine. `users` and `hosts` are its names, `homes` home folders in unusual places."""

    def __init__(self, users: Iterable[str] = (), hosts: Iterable[str] = (), homes: Iterable[str] = ()) -> None:
        self._names = [(_word(n), "user") for n in sorted(set(users), key=len, reverse=True) if _telling(n)]
        self._names += [(_word(n), "host") for n in sorted(set(hosts), key=len, reverse=True) if _telling(n)]
        self._homes = [h.rstrip("/\\") for h in sorted(set(homes), key=len, reverse=True) if _personal(h)]
        self._uuids: dict[str, str] = {EFI_GLOBAL: EFI_GLOBAL}
        self._versions: set[str] = set()

    @classmethod
    def of(cls, host: Host) -> Scrubber:
        """With the names that `host` knows itself and its users by."""
        env = _quietly(lambda: dict(host.env())) or {}
        users = {env.get(name, "") for name in USERS}
        hosts = {env.get(name, "") for name in HOSTS}
        if host.live:
            hosts.add(platform.node())
        homes = {env.get(name, "") for name in ("HOME", "USERPROFILE")}
        for path in ("/etc/hostname", "/proc/sys/kernel/hostname"):
            hosts.add((_quietly(lambda path=path: host.read(path)) or "").strip())  # type: ignore[misc]
        for row in (_quietly(lambda: host.read("/etc/passwd")) or "").splitlines():
            fields = row.split(":")
            if len(fields) >= 6 and fields[2].isdecimal() and 1000 <= int(fields[2]) < 65534:
                users.add(fields[0])
                homes.add(fields[5])
        hosts |= {h.partition(".")[0] for h in hosts}
        return cls(users, hosts, homes)

    def learn(self, text: str) -> None:
        """Note the UUIDs and the stated host names of a text, so that they are recognised wherever else they stand."""
        for found in _UUID.finditer(text):
            self._uuid(found.group())
        for stated in _STATED_HOST.finditer(text):
            name = stated.group(stated.lastindex or 0)
            new = [(_word(n), "host") for n in (name, name.partition(".")[0]) if _telling(n)]
            self._names += [pair for pair in new if pair not in self._names]

    def learn_value(self, value: Any) -> None:
        """Note what a JSON value holds: UUIDs, and the versions that look like addresses, by the names of their fields."""
        for key, text in _named(value):
            self.learn(text)
            if _VERSION_KEY.search(key):
                self._versions.update(found.group() for found in _IPV4.finditer(text))

    def text(self, text: str) -> str:
        """`text` with everything personal replaced."""
        if _PLAIN.fullmatch(text):  # most texts are: only a name could be personal in them
            return self._without_names(text)
        self.learn(text)
        for pattern, replacement in _PATTERNS:
            text = pattern.sub(replacement, text)
        text = _UUID.sub(lambda m: self._uuid(m.group()), text)
        text = _PART_OF_UUID.sub(lambda m: f"{m.group(1)}-{self._shortened(m.group(2))}", text)
        text = _IPV4.sub(
            lambda m: m.group() if m.group() in self._versions else _address(m), _IPV6.sub(_address6, text)
        )
        for home in self._homes:
            text = re.sub(re.escape(home) + r"(?![\w.-])", "/home/user", text)
        for pattern in _HOMES:
            text = pattern.sub(lambda m: m.group() if m.group(2) in KEPT_HOMES else f"{m.group(1)}user", text)
        return self._without_names(text)

    def _without_names(self, text: str) -> str:
        for word, name in self._names:
            text = word.sub(name, text)
        return text

    def value(self, value: Any, key: str = "") -> Any:
        """A JSON value, likewise; `key` is the name of the field that holds it."""
        if isinstance(value, dict):
            return {self.text(str(k)): self.value(v, str(k)) for k, v in value.items()}
        if isinstance(value, list):
            return [self.value(v, key) for v in value]
        if not isinstance(value, str) or (_VERSION_KEY.search(key) and _IPV4.fullmatch(value)):
            return value
        return self._by_key(key, value)

    def _by_key(self, key: str, value: str) -> str:
        clean = self.text(value)
        if (
            value
            and _BY_KEY.search(key)
            and clean == value
            and not _UUID.search(value)
            and value not in ("N/A", "[N/A]")
        ):
            return REDACTED
        return clean

    def _uuid(self, uuid: str) -> str:
        """The same stand-in for the same UUID; stand-ins stay."""
        plain = uuid.lower().replace("_", "-")
        if plain.startswith(NOBODY):
            return uuid
        stand_in = self._uuids.setdefault(plain, f"{NOBODY}{len(self._uuids):012d}")
        return stand_in.replace("-", "_") if "_" in uuid else stand_in

    def _shortened(self, start: str) -> str:
        """What a shortened UUID becomes: the stand-in of the only one that begins so, else one that none begins with."""
        if not start.strip("0-") or start.lower().startswith(NOBODY):
            return start
        fitting = [s for u, s in self._uuids.items() if u.startswith(start.lower())]
        return fitting[0] if len(fitting) == 1 else "ffffffff" if not fitting else "00000000"


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", re.I)


def _telling(name: str) -> bool:
    return len(name) >= 3 and name.lower() not in COMMON and not name.isdecimal()


def _personal(home: str) -> bool:
    return (
        home.rstrip("/") not in ("", "/root", "/nonexistent", "/home", "/var", "/tmp", "/usr", "/opt") and len(home) > 5
    )


def _quietly(look: Callable[[], Optional[Any]]) -> Optional[Any]:
    try:
        return look()
    except Unavailable:
        return None


def _address(found: re.Match[str]) -> str:
    """An IPv4 address becomes 192.0.2.1 (RFC 5737: for documentation); a version, loopback and 0.0.0.0 stay."""
    octets = [int(part) for part in found.group().split(".")]
    text, start, end = found.string, found.start(), found.end()
    if max(octets) > 255 or octets[0] == 127 or octets == [0, 0, 0, 0] or octets[:3] == [192, 0, 2]:
        return found.group()
    port = re.match(r":\d{2,5}\b|/\d{1,2}\b", text[end : end + 6]) is not None
    before = text[max(start - 40, 0) : start]
    if not port and (_VERSION_BEFORE.search(before) or _VERSION_AFTER.match(text, end)):
        return found.group()
    return "192.0.2.1"


def _address6(found: re.Match[str]) -> str:
    """An IPv6 address becomes 2001:db8::1 (RFC 3849: for documentation); ::1 stays, and so does what is none."""
    try:
        address = ipaddress.IPv6Address(found.group().partition("%")[0])
    except ValueError:
        return found.group()
    return found.group() if address.is_loopback or address.is_unspecified else "2001:db8::1"


def _named(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """(name of the field, text) of every string in a JSON value; a key is a text without a name."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield "", str(name)
            yield from _named(inner, str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from _named(inner, key)
    elif isinstance(value, str):
        yield key, value
