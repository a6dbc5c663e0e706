"""Builds tiny shared libraries, and asks the real dynamic loader what a dlopen from one of them finds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fake_build import compiler

CALLER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
const char *open_it(const char *name) {
  void *handle = dlopen(name, RTLD_LAZY);
  struct link_map *map;
  if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map)) return 0;
  return map->l_name;
}
const char *error_text(void) { return dlerror(); }
"""

# Opens each name in turn from the calling library, as TensorFlow does, and prints where each was found.
ASK = """
import ctypes, json, sys
caller = ctypes.CDLL(sys.argv[1])
caller.open_it.restype = caller.error_text.restype = ctypes.c_char_p
answers = []
for name in sys.argv[2:]:
    found = caller.open_it(name.encode())
    answers.append([found.decode() if found is not None else None, (caller.error_text() or b"").decode()])
print(json.dumps(answers))
"""


def build(
    path: Path,
    *,
    soname: str = "",
    needs: Sequence[Path] = (),
    runpath: Sequence[str] = (),
    rpath: Sequence[str] = (),
    source: str = "",
) -> Path:
    """A shared library at `path` that needs the libraries `needs`, which are linked by their sonames."""
    path.parent.mkdir(parents=True, exist_ok=True)
    options = [f"-Wl,-soname,{soname or path.name}", "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined"]
    if runpath:
        options += ["-Wl,--enable-new-dtags", f"-Wl,-rpath,{':'.join(runpath)}"]
    if rpath:
        options += ["-Wl,--disable-new-dtags", f"-Wl,-rpath,{':'.join(rpath)}"]
    command = [
        compiler() or "cc",
        "-shared",
        "-fPIC",
        "-nostdlib" if not source else "-O0",
        "-x",
        "c",
        "-",
        "-o",
        str(path),
    ]
    command += ["-x", "none", *options, *map(str, needs), *(["-ldl"] if source else [])]
    subprocess.run(command, input=source or "int x;", text=True, check=True, capture_output=True)
    return path


PROGRAM = """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
  void *caller = dlopen(argv[1], RTLD_NOW);
  const char *(*open_it)(const char *) = (const char *(*)(const char *))dlsym(caller, "open_it");
  const char *found = open_it(argv[2]);
  puts(found ? found : "none");
  return 0;
}
"""


def build_program(path: Path, *, rpath: Sequence[str]) -> Path:
    """A program with an RPATH: `program LIBRARY NAME` prints what the library's dlopen of NAME finds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [
        compiler() or "cc",
        "-x",
        "c",
        "-",
        "-o",
        str(path),
        "-Wl,--disable-new-dtags",
        f"-Wl,-rpath,{':'.join(rpath)}",
        "-ldl",
    ]
    subprocess.run(command, input=PROGRAM, text=True, check=True, capture_output=True)
    return path


@dataclass(frozen=True)
class Real:
    """What the real loader did: the file it opened, or its error."""

    path: str | None
    error: str

    @property
    def real(self) -> str | None:
        """The file with links and dots resolved."""
        return os.path.realpath(self.path) if self.path is not None else None


def really_open(caller: Path, names: Sequence[str], environment: Mapping[str, str]) -> list[Real]:
    """dlopen each of `names` in turn from the library `caller`, in a fresh process."""
    clean = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}
    command = [sys.executable, "-S", "-c", ASK, str(caller), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**clean, **environment})
    return [Real(path, error) for path, error in json.loads(done.stdout)]
