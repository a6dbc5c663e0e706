#!/usr/bin/env bash
# What tfdoctor can prove on a machine with a GPU, in under five minutes, with what that machine has:
#     scripts/device_check.sh [FOLDER [PYTHON]]
# FOLDER (default $OUT, else ./device-check) gets a scrubbed recording of the machine (recording/, which
# `tfdoctor check --host` reads), the report in text and JSON, and the smoke tests' JSON. PYTHON is the interpreter whose
# TensorFlow is tested (default: the first of python3 and python on PATH that has one; without any, everything else still
# runs). Nothing is installed into PYTHON; tfdoctor itself goes into a throw-away environment, or is used when it is
# already importable (offline machines).
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

out=${1:-${OUT:-device-check}}
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

say() { printf '%s: %s\n' "$(date +%T)" "$*" | tee -a "$out/log.txt"; }

# run SECONDS NAME COMMAND…: its output in NAME; exit codes 0 and 1 are answers, any other is a failure of tfdoctor.
run() {
    local limit=$1 name=$2 code=0
    shift 2
    timeout "$limit" "$@" >"$out/$name" 2>"$out/$name.err" || code=$?
    [ -s "$out/$name.err" ] || rm -f "$out/$name.err"
    say "$name: exit code $code"
    [ "$code" -le 1 ] || failed=1
}

own_python() {
    local base
    base=$(command -v python3 || command -v python)
    if "$base" -c 'import click, packaging, psutil, pynvml, tabulate, elftools' 2>/dev/null; then
        echo "$base"
    elif "$base" -m venv "$work/venv" >&2 && timeout 120 "$work/venv/bin/python" -m pip install -q . >&2; then
        echo "$work/venv/bin/python"
    fi
}

with_tensorflow() {
    local each
    for each in "$1" python3 python; do
        each=$(command -v "${each:-none}") || continue
        "$each" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("tensorflow") is None)' && echo "$each" && return
    done
}

python=$(own_python)
if [ -z "$python" ]; then
    say "tfdoctor's own dependencies are neither here nor to be had: nothing was checked"
    exit 2
fi
doctor=("$python" -m tfdoctor)
target=$(with_tensorflow "${2:-}")
say "tfdoctor $("${doctor[@]}" --version 2>&1 | tail -1), TensorFlow of: ${target:-none found}"
options=(${target:+--python "$target"})

run 60 record.txt "${doctor[@]}" record "$out/recording" "${options[@]}"
run 60 check.txt "${doctor[@]}" check --verbose "${options[@]}"
run 60 check.json "${doctor[@]}" check --format json "${options[@]}"
run 60 check-of-the-recording.txt "${doctor[@]}" check --host "$out/recording"
run 20 compat.txt "${doctor[@]}" compat --here
if [ -n "$target" ]; then
    run 150 smoke.json "${doctor[@]}" smoke --quick --timeout 60 --format json "${options[@]}"
else
    # What the tables say of this card and its link, against what NVML says: no TensorFlow is needed for that.
    run 30 requirements.txt "${doctor[@]}" check --require 'gpus>=1' --require 'pcie-width>=8' --require ecc=clean
fi
say "kept in $out"
exit "$failed"
