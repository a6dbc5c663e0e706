#!/usr/bin/env bash
# From a bare Linux machine to a Python environment whose TensorFlow uses the GPUs.
#
#   scripts/setup_tf_gpu.sh [--dry-run] [--dir DIR] [--python PROGRAM] [--tensorflow VERSION]
#
# Makes DIR/tfdoctor (tfdoctor's own environment) and DIR/tensorflow (TensorFlow's), asks `tfdoctor compat --here` which
# release fits this machine, installs that one, and checks. What is there already stays: run it as often as you like.
# It needs no root and changes nothing outside DIR but pip's cache; what only an administrator can do (a driver, a
# missing system package) is printed. Exit codes: 0 TensorFlow is ready, 1 something is left to do, 2 wrong usage.
#
# TFDOCTOR=PROGRAM uses a tfdoctor that is installed already. pip's own variables (PIP_INDEX_URL and so on) apply.
set -euo pipefail

source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
directory=${HOME:+$HOME/tf-gpu}
python=python3
wanted=
dry=

usage() {
  sed -n '2,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
}

say() {
  printf '%s\n' "== $*"
}

fail() {
  printf '%s\n' "setup_tf_gpu.sh: $1" >&2
  exit "${2:-1}"
}

# Show a command; run it unless this is a dry run.
run() {
  printf '+'
  printf ' %q' "$@"
  printf '\n'
  [ -n "$dry" ] || "$@"
}

while [ $# -gt 0 ]; do
  case $1 in
    --dry-run) dry=1 ;;
    --dir | --python | --tensorflow)
      [ $# -ge 2 ] || fail "$1 wants a value" 2
      case $1 in
        --dir) directory=$2 ;;
        --python) python=$2 ;;
        --tensorflow) wanted=$2 ;;
      esac
      shift
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    *) fail "there is no option $1 (--help shows them)" 2 ;;
  esac
  shift
done

[ -n "$directory" ] || fail "HOME is not set; --dir DIR says where the environments go" 2

# 1. A Python that can make environments.
install_hint() {
  if command -v apt-get > /dev/null; then
    echo "apt-get install python3 python3-venv"
  elif command -v dnf > /dev/null; then
    echo "dnf install python3 python3-pip"
  elif command -v zypper > /dev/null; then
    echo "zypper install python3 python3-pip"
  elif command -v pacman > /dev/null; then
    echo "pacman -S python"
  else
    echo "your system's package of Python 3"
  fi
}

[ "$(uname -s)" = Linux ] || fail "this script is for Linux; on this system follow \`tfdoctor compat --here\`" 2
command -v "$python" > /dev/null || fail "there is no $python; an administrator installs it with: $(install_hint)"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || fail "$("$python" --version 2>&1) is too old; tfdoctor needs 3.9"
"$python" -c 'import ensurepip, venv' 2> /dev/null || fail "$python cannot make environments; an administrator installs: $(install_hint)"

# Install with an environment's own pip.
install() {
  local target=$1
  shift
  run "$target/bin/python" -m pip install "$@" || fail "pip could not install $*; is the network there, or PIP_INDEX_URL set? What is done stays done: run this again"
}

# 2. tfdoctor, in an environment of its own.
environment() {
  if [ -x "$1/bin/python" ] && "$1/bin/python" -c 'import pip' 2> /dev/null; then
    say "$1 is there"
  else
    run "$python" -m venv "$1"
  fi
}

# setuptools builds inside the checkout unless it is told another place.
install_tfdoctor() {
  local build=$directory/build
  if [ -z "$dry" ]; then
    mkdir -p "$build"
    printf '[build]\nbuild_base = %s\n[egg_info]\negg_base = %s\n' "$build" "$build" > "$build/setup.cfg"
  fi
  DIST_EXTRA_CONFIG=$build/setup.cfg install "$directory/tfdoctor" --quiet "$source_folder"
  [ -n "$dry" ] || rm -r "$build"
}

doctor=${TFDOCTOR:-}
if [ -z "$doctor" ]; then
  doctor=$directory/tfdoctor/bin/tfdoctor
  if [ -x "$doctor" ] && "$doctor" --version > /dev/null 2>&1; then
    say "tfdoctor is there: $("$doctor" --version)"
  else
    environment "$directory/tfdoctor"
    install_tfdoctor
    [ -z "$dry" ] || {
      say "the rest depends on what tfdoctor says of this machine; run without --dry-run, or with TFDOCTOR=PROGRAM"
      exit 0
    }
  fi
fi
[ -n "$(command -v "$doctor")" ] || fail "there is no $doctor; without TFDOCTOR=PROGRAM this script installs tfdoctor itself" 2

# 3. Which release fits. Newest that surely does, else the newest that may.
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
answer=$("$doctor" compat --here --python "$version" ${wanted:+--tensorflow "$wanted"} --format json) || fail "tfdoctor compat gave no answer"
# One line: does it fit, the release, then each command's arguments after "pip install", commands apart by a comma.
choice=$("$python" -c '
import json, sys
releases = json.load(sys.stdin)["releases"]
for word in ("yes", "unknown"):
    for release in releases:
        if release["fits"] == word and release["install"]:
            print(word, release["tensorflow"], " , ".join(" ".join(c[c.index("install") + 1:]) for c in release["install"]))
            sys.exit()
' <<< "$answer")
[ -n "$choice" ] || fail "no TensorFlow${wanted:+ $wanted} fits Python $version and this machine; \`$doctor compat --here --why-not ${wanted:-2}\` says why"
read -r fits release requirements <<< "$choice"
say "TensorFlow $release: fits this machine: $fits"

# The CUDA wheels are of no use where there is no GPU to use them.
before=$("$doctor" check --python "$python" --format json --fail-on never) || fail "tfdoctor could not look at this machine" 1
has_gpu=$("$python" -c 'import json, sys; print(int(not any(d["name"] == "no-gpu-machine" for d in json.load(sys.stdin)["diagnoses"])))' <<< "$before")
if [ "$has_gpu" = 0 ]; then
  say "there is no NVIDIA GPU here: TensorFlow without the CUDA libraries"
  requirements=tensorflow==$release
fi

# 4. TensorFlow, unless this release is there.
target=$directory/tensorflow
environment "$target"
installed=$("$target/bin/python" -c 'import importlib.metadata as m; print(m.version("tensorflow"))' 2> /dev/null || true)
if [ "$installed" = "$release" ]; then
  say "TensorFlow $release is installed"
else
  arguments=()
  for word in $requirements ","; do
    if [ "$word" = , ]; then
      install "$target" "${arguments[@]}"
      arguments=()
    else
      arguments+=("$word")
    fi
  done
fi
if [ -n "$dry" ]; then
  say "nothing was changed"
  exit 0
fi

# 5. What is left to do.
code=0
if [ "$has_gpu" = 1 ]; then
  "$doctor" check --python "$target/bin/python" --require gpu || code=$?
  [ "$code" = 0 ] || "$doctor" fix --dry-run --python "$target/bin/python" || true
else
  "$doctor" check --python "$target/bin/python" || code=$?
fi
[ "$code" = 0 ] && say "ready: source $target/bin/activate"
exit "$code"
