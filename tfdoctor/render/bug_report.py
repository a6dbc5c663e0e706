"""`report`: Markdown in the shape of TensorFlow's issue form (tensorflow_issue_template.yaml), with what tfdoctor found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

from tfdoctor import __version__
from tfdoctor.i18n import _
from tfdoctor.model import Report, Status
from tfdoctor.render.markdown import escape, fence_for
from tfdoctor.render.shell import shell_lines, shell_of
from tfdoctor.render.view import Checked

GIB = 2**30
TO_FILL = "<!-- please fill in -->"
PACKAGES = ("tensorflow", "keras", "tf-keras", "numpy", "protobuf", "ml-dtypes", "h5py", "nvidia-", "pip", "setuptools")
LOG_LINES = 200  # of the end of a log; GitHub takes 65 536 characters in all


def render(checked: Checked, log: str = "") -> str:
    """The form's fields in its order, then the details folded away. `log` is the text of a log, already scrubbed."""
    return "\n".join(_lines(checked, log)) + "\n"


def _lines(checked: Checked, log: str) -> Iterator[str]:
    report = checked.report
    # The headings are the form's own labels, in English whatever the reader's language.
    for heading, value in _fields(report):
        yield f"### {heading}"
        yield ""
        yield value
        yield ""
    yield "### Current behavior?"
    yield ""
    yield TO_FILL
    yield ""
    yield from _findings(checked)
    yield "### Standalone code to reproduce the issue"
    yield ""
    yield from _fenced("python", TO_FILL.replace("<!--", "#").replace(" -->", ""))
    yield "### Relevant log output"
    yield ""
    yield from _fenced(
        "shell", "\n".join(log.splitlines()[-LOG_LINES:]) or "# " + _("tfdoctor report --log FILE puts a log here")
    )
    yield from _details(report)


def _fields(report: Report) -> Iterator[tuple[str, str]]:
    facts = report.facts
    tensorflow, platform, gpus = facts.get("tensor_flow"), facts.get("platform"), facts.get("gpus")
    interpreter, container = facts.get("interpreter"), facts.get("container")
    yield "Issue type", "Bug"
    yield "Have you reproduced the bug with TensorFlow Nightly?", TO_FILL
    yield "Source", "binary" if tensorflow is not None and tensorflow.in_table else TO_FILL
    yield "TensorFlow version", _tensorflow(tensorflow, report.missing.get("tensor_flow"))
    yield "Custom code", TO_FILL
    yield "OS platform and distribution", _system(platform, container)
    yield "Mobile device", _("not a mobile device")
    yield "Python version", escape(f"{interpreter.version} ({interpreter.kind})") if interpreter else _("not known")
    yield "Bazel version", _("not built from source") if tensorflow is not None and tensorflow.in_table else TO_FILL
    yield (
        "GCC/compiler version",
        _("not built from source") if tensorflow is not None and tensorflow.in_table else TO_FILL,
    )
    yield "CUDA/cuDNN version", _cuda(report)
    yield "GPU model and memory", _gpus(gpus, report.missing.get("gpus"))


def _tensorflow(tensorflow: Any, missing: Optional[str]) -> str:
    if tensorflow is None:
        return escape(missing or _("not known"))
    return escape(f"{tensorflow.distribution} {tensorflow.version}")


def _system(platform: Any, container: Any) -> str:
    if platform is None:
        return _("not known")
    parts = [f"{platform.system} {platform.distro} {platform.distro_version}".strip(), platform.machine]
    parts.append(_("kernel {version}").format(version=platform.kernel))
    parts.append(f"{platform.libc} {platform.libc_version}".strip())
    parts.append(f"WSL{platform.wsl}" if platform.wsl else "")
    parts.append(_("in {kind}").format(kind=container.kind) if container is not None and container.kind else "")
    return escape(", ".join(p for p in parts if p))


def _cuda(report: Report) -> str:
    """The three CUDAs apart: what TensorFlow was built for, what it would load, what the driver supports."""
    facts = report.facts
    tensorflow, driver, libraries = facts.get("tensor_flow"), facts.get("driver"), facts.get("libraries")
    parts = []
    if tensorflow is not None and tensorflow.cuda:
        parts.append(_("built for CUDA {cuda}, cuDNN {cudnn}").format(cuda=tensorflow.cuda, cudnn=tensorflow.cudnn))
    for component, name in (("cudart", _("CUDA runtime")), ("cudnn", "cuDNN")):
        library = libraries.get(component) if libraries is not None else None
        if library is not None and library.picked is not None:
            found = library.picked
            parts.append(
                _("loads {name} {version} ({origin})").format(name=name, version=found.version, origin=found.origin)
            )
        elif library is not None:
            parts.append(_("finds no {name}").format(name=name))
    if driver is not None:
        parts.append(
            _("driver {driver}, CUDA driver API {cuda}").format(driver=driver.version, cuda=driver.cuda or "?")
        )
    return escape("; ".join(parts)) or _("none")


def _gpus(gpus: Any, missing: Optional[str]) -> str:
    if gpus is None:
        return escape(missing or _("not known"))
    names: dict[str, int] = {}
    for gpu in gpus:
        memory = "?" if gpu.memory_total is None else f"{gpu.memory_total / GIB:.1f}"
        label = _("{name}, {memory} GiB, compute capability {cc}")
        text = label.format(name=gpu.name, memory=memory, cc=gpu.compute_capability or "?")
        names[text] = names.get(text, 0) + 1
    return escape("; ".join(f"{count} × {text}" for text, count in names.items())) or _("the driver lists none")


def _findings(checked: Checked) -> Iterator[str]:
    report = checked.report
    yield _("**tfdoctor {version}**: will TensorFlow use the GPUs: **{word}**. {summary}").format(
        version=__version__, word=report.verdict.gpu, summary=escape(report.verdict.summary)
    )
    yield ""
    for outcome, diagnosis, severity in checked.findings:
        folded = _(" (a consequence of {code})").format(code=outcome.folded_under) if outcome.folded_under else ""
        yield f"- {severity} `{outcome.rule.code} {outcome.rule.name}`{folded}: {escape(diagnosis.message)}"
        for item in diagnosis.evidence:
            yield f"  - {escape(item.says)} ({escape(item.source)})"
    for crash in report.crashes:
        yield "- " + escape(_("tfdoctor failed in {what}: {error}").format(what=crash.what, error=crash.error))
    yield ""


def _details(report: Report) -> Iterator[str]:
    facts = report.facts
    distributions, environment = facts.get("distributions"), facts.get("environment")
    if distributions is not None:
        rows = (f"{d.name}=={d.version}" for d in distributions.by_name.values() if d.name.startswith(PACKAGES))
        yield from _folded(_("Packages"), "\n".join(sorted(rows)))
    if environment is not None:
        yield from _folded(_("Environment"), "\n".join(f"{k}={v}" for k, v in environment.variables.items()))
    skipped = [f"{o.rule.code} {o.rule.name}: {o.reason}" for o in report.outcomes if o.status is Status.SKIPPED]
    yield from _folded(_("What could not be looked at"), "\n".join(skipped))
    fixes = [
        line
        for o in report.found
        for d in o.diagnoses
        for fix in d.fixes
        for line in shell_lines(fix, shell_of(report))
    ]
    yield from _folded(_("What tfdoctor would do"), "\n".join(fixes))


def _folded(title: str, text: str) -> Iterator[str]:
    if text:
        yield f"<details><summary>{title}</summary>"
        yield ""
        yield from _fenced("", text)
        yield "</details>"
        yield ""


def _fenced(language: str, text: str) -> Iterator[str]:
    fence = fence_for(text)
    yield f"{fence}{language}"
    yield text
    yield fence
    yield ""
