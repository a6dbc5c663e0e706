"""Writes docs/diagnoses/ from the same text that `tfdoctor explain CODE` prints.

python scripts/build_docs.py           write
python scripts/build_docs.py --check   exit 1 when the folder is not what would be written
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from tfdoctor.pages import Page, all_pages
from tfdoctor.tables import Tables

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "diagnoses"
LAYERS = {
    "0": "tfdoctor itself",
    "1": "Hardware and links",
    "2": "Driver, kernel, container",
    "3": "CUDA libraries",
    "4": "Python and operating system",
    "5": "TensorFlow and its companions",
    "6": "Configuration",
    "7": "Speed",
    "8": "Several GPUs, several hosts",
    "9": "Harmless messages",
}


def documents(pages: Sequence[Page]) -> dict[str, str]:
    """File name -> Markdown: a page per diagnosis, and an index."""
    texts = {f"{page.code}-{page.name}.md": _page(page) for page in pages}
    return {**texts, "README.md": _index(pages)}


def _page(page: Page) -> str:
    formerly = f"\n\nFormerly: {', '.join(page.formerly)}." if page.formerly else ""
    return f"# {page.code} {page.name}\n\n*{page.severity}* {page.title}{formerly}\n\n{page.text}\n"


def _index(pages: Sequence[Page]) -> str:
    parts = [
        "# Diagnoses\n\nMade by `scripts/build_docs.py` from what `tfdoctor explain CODE` prints; change the rule's docstring instead.\n"
    ]
    for layer, group in groupby(pages, key=lambda page: page.code[3]):
        rows = "\n".join(f"| [{p.code}]({p.code}-{p.name}.md) | {p.name} | {p.severity} | {p.title} |" for p in group)
        parts.append(f"\n## {LAYERS[layer]}\n\n| code | name | severity | what it is |\n|---|---|---|---|\n{rows}\n")
    return "".join(parts)


def main() -> int:
    """Write the folder, or compare it."""
    wanted = documents(all_pages(Tables()))
    have = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    if "--check" in sys.argv[1:]:
        different = sorted(name for name in wanted.keys() | have.keys() if wanted.get(name) != have.get(name))
        if different:
            print(f"not current: {', '.join(different[:10])}; run python scripts/build_docs.py", file=sys.stderr)
        return bool(different)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in have.keys() - wanted.keys():
        (FOLDER / name).unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"{len(wanted)} files in docs/diagnoses")
    return 0


if __name__ == "__main__":
    sys.exit(main())
