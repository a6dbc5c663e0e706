"""Compare what `tfdoctor check` predicts with what TensorFlow really does, and write docs/reality.md.

    python scripts/reality_check.py                                   # all releases of RELEASES: gigabytes, an hour
    python scripts/reality_check.py --releases 2.21.0 --only plain    # one case
    python scripts/reality_check.py --table-only --raw reality.json   # write the table again from kept results

Each release is installed as `tensorflow[and-cuda]` in an environment that is deleted afterwards. There need be no
GPU: TensorFlow loads the stand-in libcuda.so.1 of tests/fake_cuda and tfdoctor asks the stand-in libnvidia-ml.so.1
of tests/fake_nvml. Which object called dlopen for which library, and where the loader found it, is read from glibc's
LD_DEBUG=libs,files. Not part of the tests: it downloads gigabytes. Linux, uv, gcc.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "scripts"))
from reality.cases import CASES  # noqa: E402
from reality.environments import applies, create  # noqa: E402
from reality.running import one_case  # noqa: E402
from reality.table import decisive, disagreements, table  # noqa: E402

RELEASES = ("2.14.1", "2.15.1", "2.16.1", "2.17.1", "2.18.1", "2.19.1", "2.20.0", "2.21.0")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--releases", nargs="*", default=list(RELEASES), help="TensorFlow releases")
    parser.add_argument("--only", nargs="*", help="names of cases; default all")
    parser.add_argument("--environments", type=Path, help="folder for the environments; what is there is used and kept")
    parser.add_argument("--raw", type=Path, help="keep all results in this JSON file, and go on from what it holds")
    parser.add_argument("--again", action="store_true", help="run cases again that --raw holds already")
    parser.add_argument("--check-again", action="store_true", help="keep what TensorFlow did, ask tfdoctor again")
    parser.add_argument("--table", type=Path, default=REPOSITORY / "docs" / "reality.md")
    parser.add_argument("--table-only", action="store_true", help="run nothing, write the table from --raw")
    return parser.parse_args()


def run_release(release: str, folder: Path, options: argparse.Namespace, rows: dict[tuple[str, str], Any]) -> None:
    """All cases of one release; every result is saved at once."""
    python = create(release, folder)
    for case in CASES:
        key = (release, case.name)
        if (options.only and case.name not in options.only) or not applies(case, python):
            continue
        plain = rows.get((release, "plain"))
        if plain and case.if_plain not in (None, bool(plain["real"]["gpus"])):
            continue
        kept = rows.get(key, {}).get("real") if options.check_again else None
        if key in rows and not (kept or options.again):
            continue
        rows[key] = one_case(case, release, python, kept)
        wrong = disagreements(rows[key])
        print(
            release,
            case.name,
            "GPUs:",
            rows[key]["real"]["gpus"],
            " ".join(decisive(rows[key]["real"])),
            "| " + "; ".join(wrong) if wrong else "| agrees",
            flush=True,
        )
        if options.raw:
            options.raw.write_text(json.dumps(list(rows.values()), indent=1))


def main() -> None:
    """Run what was asked for and write the table."""
    options = arguments()
    kept = json.loads(options.raw.read_text()) if options.raw and options.raw.exists() else []
    rows = {(row["release"], row["case"]): row for row in kept}
    for release in () if options.table_only else options.releases:
        folder = Path(options.environments or tempfile.mkdtemp()) / f"rc-{release.replace('.', '')}"
        try:
            run_release(release, folder, options, rows)
        finally:
            if not options.environments:
                shutil.rmtree(folder.parent, ignore_errors=True)
    options.table.write_text(table(list(rows.values())))


if __name__ == "__main__":
    main()
