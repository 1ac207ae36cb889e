#!/bin/bash
# Tests the binding: test.sh [STEP]... with the steps stale, ruff, mypy, wheel, pytest (without arguments: these) and address.
# Prints "ok …" or "FAILED …" for each test. Works in the project's build/python; needs a package registry the first time.
set -u
cd "$(dirname "$0")" || exit 1
root=$(cd ../.. && pwd)
out=$root/build/python
bin=$out/venv/bin
# What one process of a test compiles, the next need not; __pycache__ is ignored by git.
unset PYTHONDONTWRITEBYTECODE
export PIP_DISABLE_PIP_VERSION_CHECK=1
mkdir -p "$out/log"
status=0

# step NAME COMMAND...: one test; shows what it printed only if it failed.
step() {
  local name=$1
  shift
  if "$@" >"$out/log/$name" 2>&1; then
    echo "ok $name"
  else
    status=1
    echo "FAILED $name"
    sed 's/^/    /' "$out/log/$name"
  fi
}

# The newest Python of this machine that is new enough.
python() {
  local candidate
  for candidate in ${PYTHON:-} python3.14 python3.13 python3.12 python3.11 python3 \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[1-9].*/bin/python; do
    "$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$candidate" && return
  done
  return 1
}

environment() {
  local wanted
  wanted=$(cat pyproject.toml | cksum)
  [ "$(cat "$out/installed" 2>/dev/null)" = "$wanted" ] && "$bin/python" -c 0 2>/dev/null && return
  local newest
  newest=$(python) || { echo "no Python 3.11 or newer"; return 1; }
  rm -rf "$out/venv" && "$newest" -m venv "$out/venv" &&
    "$bin/python" - <<'END' >"$out/requirements" && "$bin/pip" install -q -r "$out/requirements" && echo "$wanted" >"$out/installed"
import tomllib
extra = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]
print(*{*extra["cli"], *extra["test"]}, sep="\n")
END
}

tests() {
  local log=$out/log/tests
  PYTHONDEVMODE=1 PYSELENE_LIBRARY=${library:-$root/build/libselene.so} PYTHONPATH=src "$bin/python" -B -m pytest -q -rpfE \
    --tb=short --no-header --numprocesses 2 --dist worksteal "$@" >"$log" 2>&1
  local code=$?
  sed -n -e 's/^PASSED /ok /p' -e 's/^FAILED /FAILED /p' -e 's/^ERROR /FAILED /p' "$log"
  if [ $code -ne 0 ]; then
    status=1
    grep -q -E '^(FAILED|ERROR) ' "$log" || echo "FAILED pytest (exit $code)"
    sed '/short test summary info/,$d; s/^/    /' "$log"
  fi
  tail -n 1 "$log"
}

# The library under the address sanitizer. The processes of test_process.py inherit it.
address() {
  (cd "$root" && .ci/quietly swift build --sanitize=address --scratch-path .build/address --product selene \
    -Xlinker -fuse-ld=lld) || return 1
  local library=$root/.build/address/debug/libselene.so
  ASAN_OPTIONS=detect_leaks=0:exitcode=98 PYTHONMALLOC=malloc PYSELENE_EXITS=5 \
    LD_PRELOAD=$(clang -print-file-name="libclang_rt.asan-$(uname -m).so") tests tests --deselect tests/test_same_as_c.py \
    --ignore-glob 'tests/test_cli*' --ignore tests/test_simulate.py --ignore tests/test_report.py
}

# The wheel, its name, what it needs; then installed into an empty environment and used there.
wheel() {
  rm -rf "$out/dist" "$out/empty"
  "$bin/python" -m build --wheel --no-isolation -o "$out/dist" .
  local code=$?
  rm -rf build src/pyselene.egg-info
  return $code
}
# Who has no Swift toolchain is told so, at the end of what pip prints.
missing() {
  mkdir -p "$out/no-swift" && printf '#!/bin/sh\nexit 127\n' >"$out/no-swift/swift" && chmod +x "$out/no-swift/swift"
  local told
  told=$(PATH=$out/no-swift:$PATH "$bin/pip" wheel -q --no-build-isolation --no-deps -w "$out/none" . 2>&1) && return 1
  rm -rf build src/pyselene.egg-info
  echo "$told"
  echo "$told" | grep -q 'Missing: the Swift toolchain 6.3 or later' && ! echo "$told" | grep -q Traceback
}
audit() {
  local file=("$out"/dist/pyselene-*-py3-none-manylinux_*.whl)
  [ -f "${file[0]}" ] || { ls "$out/dist"; return 1; }
  "$bin/auditwheel" show "${file[0]}" || return 1
  local tag=${file[0]##*-}
  "$bin/auditwheel" show "${file[0]}" | tr '\n' ' ' | grep -q "platform tag: \"${tag%.whl}\"" || return 1
  rm -rf "$out/unpacked" && "$bin/python" -m zipfile -e "${file[0]}" "$out/unpacked" || return 1
  local needs
  needs=$(readelf -d "$out/unpacked/pyselene/libselene.so") || return 1
  echo "$needs"
  ! echo "$needs" | grep -q -E 'R(UN)?PATH|NEEDED.*(sqlite|swift)'
}
installed() {
  "$bin/python" -m venv "$out/empty" && "$out/empty/bin/pip" install -q "$out"/dist/*.whl &&
    (cd / && env -u PYSELENE_LIBRARY -u PYTHONPATH "$out/empty/bin/python" -X dev -W error - <<'END')
import importlib.metadata
import tempfile

import pyselene as selene

assert "site-packages" in selene.__file__
assert importlib.metadata.version("pyselene") == selene.__version__ == selene.library_version
with tempfile.TemporaryDirectory() as folder:
    for _ in range(2):
        with selene.Scheduler(f"{folder}/tasks.db") as scheduler:
            scheduler.task("a")(lambda run: None)
            assert len(scheduler.run_cycle(5).runs) == 1
            assert scheduler.store().sqlite_version
END
}
plugin() {
  "$out/empty/bin/pip" install -q pytest && mkdir -p "$out/plugin" && cp tests/test_plugin.py "$out/plugin" &&
    (cd "$out/plugin" && env -u PYSELENE_LIBRARY -u PYTHONPATH "$out/empty/bin/python" -m pytest -q -p no:cacheprovider)
}

step environment environment
[ $status -eq 0 ] || exit 1
[ -e "$root/build/libselene.so" ] || step library make --no-print-directory -C "$root" libraries
[ "$*" != environment ] || exit 0
[ $# -gt 0 ] || set -- stale ruff mypy wheel pytest
for name in "$@"; do
  case $name in
    stale) step stale "$bin/python" tools/generate.py --check ;;
    ruff)
      step ruff-check "$bin/ruff" check --no-cache . "$root/Benchmarks/python"
      step ruff-format "$bin/ruff" format --no-cache --check . "$root/Benchmarks/python"
      ;;
    mypy) step mypy "$bin/mypy" --cache-dir "$out/mypy" ;;
    pytest) tests ;;
    address) address || { echo "FAILED address"; status=1; } ;;
    wheel)
      step missing missing
      step wheel wheel
      step audit audit
      step installed installed
      step plugin plugin
      ;;
    *) echo "FAILED no such step: $name"; status=1 ;;
  esac
done
exit $status
