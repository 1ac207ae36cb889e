#!/bin/bash
# Tests the binding: test.sh [STEP]... with the steps stale, ruff, mypy, wheel, pytest, others (other Pythons), example
# (without arguments: these), address, core (what needs no other program, no browser and no simulated week: half a minute)
# and long (what `make torture` plays).
# Prints "ok …" or "FAILED …" for each test. Works in the project's build/python; needs a package registry the first time.
set -u
cd "$(dirname "$0")" || exit 1
root=$(cd ../.. && pwd)
out=$root/build/python
bin=$out/venv/bin
# What one process of a test compiles, the next need not; __pycache__ is ignored by git.
unset PYTHONDONTWRITEBYTECODE
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_RETRIES=10 PIP_CONSTRAINT=$PWD/constraints.txt
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

# tests ARGUMENT...: pytest with these; a skipped test counts as one that failed, and says why, unless a program is missing that
# only `make test-all` needs. $python and $label say
# which Python it is if it is not the environment's own. Twice as many at a time as a small machine has cores: they wait.
# Half of that where $workers says so: steps that go on beside the step pytest.
tests() {
  local label=${label:-} log=$out/log/$name${label:+-$label}
  PYTHONDEVMODE=1 PYSELENE_LIBRARY=${library:-$root/build/libselene.so} PYTHONPATH=src "${python:-$bin/python}" -B -m pytest \
    -q -rpfEs --tb=short --no-header --numprocesses "${workers:-4}" --dist worksteal "$@" >"$log" 2>&1
  local code=$? failed="FAILED ${label:+$label: }" missing=' is missing|there is no '
  [ -z "${SELENE_TEST_ALL:-}" ] || missing='^$'
  sed -n -E -e "s/^PASSED /ok ${label:+$label: }/p" -e "s/^FAILED /$failed/p" -e "s/^ERROR /$failed/p" \
    -e "/$missing/s/^SKIPPED /skipped /p" -e "s/^SKIPPED /${failed}skipped /p" "$log"
  grep '^SKIPPED ' "$log" | grep -q -v -E "$missing" && status=1
  if [ $code -ne 0 ]; then
    status=1
    grep -q -E '^(FAILED|ERROR) ' "$log" || echo "${failed}pytest (exit $code)"
    sed '/short test summary info/,$d; s/^/    /' "$log"
  fi
  tail -n 1 "$log"
}

# environment PYTHON: makes $out/$label with what `others` needs.
environment() {
  rm -rf "${out:?}/$label" && "$1" -m venv "$out/$label" &&
    "$out/$label/bin/pip" install -q pytest pytest-xdist hypothesis 'django>=6; python_version >= "3.12"' \
      'django-tasks; python_version < "3.12"' && touch "$out/$label/with-django"
}

# What depends on the interpreter most, and tasks of Django, which has them from 3.12 on, on every other Python of this machine that can make an environment.
others() {
  local python label own found workers=2
  own=$("$bin/python" -c 'import sys; print("python%d.%d%s" % (*sys.version_info[:2], sys.abiflags))')
  for found in $("$bin/python" tests/pythons.py); do
    label=$("$found" -c 'import sys; print("python%d.%d%s" % (*sys.version_info[:2], sys.abiflags))')
    [ "$label" != "$own" ] || continue
    "$found" -c 'import ensurepip, venv' 2>/dev/null || { echo "$label cannot make an environment"; continue; }
    python=$out/$label/bin/python
    [ -e "$out/$label/with-django" ] && "$python" -c 0 2>/dev/null || step "environment-$label" environment "$found"
    [ -e "$out/$label/with-django" ] || continue
    tests tests/test_{vectors,cycle,asyncio,process,stop,callbacks,clock,django}.py \
      --deselect tests/test_process.py::test_exits_with_tasks_running_never_crash  # which starts every Python itself
  done
}

# The example of the README's first page, as `make run HOST=python` runs it.
example() {
  local told
  told=$(./run.sh --cycles 1) || return 1
  echo "$told"
  # How wide a column is depends on what ran.
  for line in 'window 1 of 1' 'machine │ ' '1 +machine +very high' 'publish +needs network' 'did not fit; used'; do
    echo "$told" | grep -q -E -- "$line" || { echo "missing: $line"; return 1; }
  done
}

# The commands, the simulations and what they draw, and the programs that documents show.
no_commands=(--ignore-glob 'tests/test_cli*' --ignore tests/test_simulate.py --ignore tests/test_governed.py
  --ignore tests/test_report.py)
# What starts browsers, web servers and other Pythons, and a walk over all minutes of a year's changes of the clocks.
no_programs=()
for name in benchmark calendar django output process progress readme selened web web_page; do
  no_programs+=(--ignore "tests/test_$name.py")
done
exits=tests/test_process.py::test_exits_with_tasks_running_never_crash

# under_address ARGUMENT...: the tests, with the library under the address sanitizer. The processes of test_process.py
# inherit it; but it is in ordinary Swift, the locks of whose runtime do not survive a fork that finds other threads at
# work.
under_address() {
  (cd "$root" && .ci/quietly swift build --sanitize=address --scratch-path .build/address --product selene \
    --manifest-cache local -Xlinker -fuse-ld=lld) || { echo "FAILED swift build --sanitize=address"; status=1; return; }
  local library=$root/.build/address/debug/libselene.so workers=2
  ASAN_OPTIONS=detect_leaks=0:exitcode=98 PYTHONMALLOC=malloc PYSELENE_EXITS=${PYSELENE_EXITS:-5} \
    LD_PRELOAD=$(clang -print-file-name="libclang_rt.asan-$(uname -m).so") tests -m 'not forks' "$@"
}
# Where memory crosses the border: callbacks, texts and structs of both sides, stops, exits. All others in `long`.
address() { under_address tests/test_{callbacks,cycle,event,governor,process,raw,signals,stop,store,task}.py; }

long() {
  PYSELENE_EXITS=1000 tests $exits
  # Five times as many examples and rounds; both web servers in each test of them.
  PYSELENE_ROUNDS=5 tests tests/test_{cycle,task,web,wrappers}.py
  PYSELENE_EXITS=50 under_address tests --deselect tests/test_same_as_c.py "${no_commands[@]}"
}

# A source distribution and, from it alone, the wheel, its name, what it needs; then installed into an empty environment
# and used there. All of it in isolation, as a stranger does it.
wheel() {
  rm -rf "$out/dist" "$out/empty"
  "$bin/python" -m build -o "$out/dist" "$tree/bindings/python"
}
# The tree once more, with what is compiled in it: a build leaves files beside its sources, which tests of the same time would
# find.
tree=$out/tree
copy() {
  rm -rf "$tree" && mkdir -p "$tree/bindings" "$tree/build" &&
    cp -a "$root"/{Makefile,Sources,include,.ci,LICENSE} "$tree" && cp -a "$root/bindings/python" "$tree/bindings" &&
    cp -a "$root"/build/{compiled,selene.o,selene.map} "$tree/build"
}
# Who has no Swift toolchain is told so, at the end of what pip prints.
missing() {
  mkdir -p "$out/no-swift" && printf '#!/bin/sh\nexit 127\n' >"$out/no-swift/swift" && chmod +x "$out/no-swift/swift"
  local told
  told=$(PATH=$out/no-swift:$PATH "$bin/pip" wheel -q --no-build-isolation --no-deps -w "$out/none" "$tree/bindings/python" 2>&1) &&
    return 1
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
  cmp "$root/LICENSE" "$out/unpacked/pyselene/LICENSE" || return 1
  local needs
  needs=$(readelf -d "$out/unpacked/pyselene/libselene.so") || return 1
  echo "$needs"
  ! echo "$needs" | grep -q -E 'R(UN)?PATH|NEEDED.*(sqlite|swift)'
}
# used FOLDER: a program with the package that is installed there.
used() {
  (cd / && env -u PYSELENE_LIBRARY -u PYTHONPATH "$1/bin/python" -X dev -W error - <<'END')
import importlib.metadata
import tempfile

import pyselene as selene

assert "site-packages" in selene.__file__
assert importlib.metadata.version("pyselene") == selene.__version__ == selene.library_version
with tempfile.TemporaryDirectory() as folder:
    for _ in range(2):
        with selene.Scheduler(f"{folder}/tasks.db") as scheduler:
            scheduler.task("a")(lambda run: None)
            assert len(scheduler.run_cycle().runs) == 1
            assert scheduler.store().sqlite_version
END
}
installed() {
  "$bin/python" -m venv "$out/empty" && "$out/empty/bin/pip" install -q "$out"/dist/*.whl && used "$out/empty"
}
# As the README says it, from the tree.
from_source() {
  rm -rf "$out/source" && "$bin/python" -m venv "$out/source" &&
    "$out/source/bin/pip" install -q "$tree/bindings/python" && used "$out/source"
}
plugin() {
  "$out/empty/bin/pip" install -q pytest && mkdir -p "$out/plugin" && cp tests/test_plugin.py "$out/plugin" &&
    (cd "$out/plugin" && env -u PYSELENE_LIBRARY -u PYTHONPATH "$out/empty/bin/python" -m pytest -q -p no:cacheprovider)
}

step environment ./environment.sh "$out/venv" cli cron dbus django fleet web otel example test
[ $status -eq 0 ] || exit 1
[ -e "$root/build/libselene.so" ] || step library make --no-print-directory -C "$root" libraries
[ "$*" != environment ] || exit 0
[ $# -gt 0 ] || set -- stale ruff mypy wheel pytest others example
if [ "$1" = again ]; then
  name=again workers=0 tests "$2"
  exit $status
fi
for name in "$@"; do
  case $name in
    stale)
      step stale "$bin/python" tools/generate.py --check
      step stale-picture "$bin/python" tools/rules.py --check
      ;;
    ruff)
      step ruff-check "$bin/ruff" check --no-cache . "$root/bindings/tools" "$root/Tests/conformance" "$root/bindings/wasm" "$root/bindings/"{rust,go,java,dotnet,swift,node} "$root/Benchmarks/python"
      step ruff-format "$bin/ruff" format --no-cache --check . "$root/bindings/tools" "$root/Tests/conformance" "$root/bindings/wasm" "$root/bindings/"{rust,go,java,dotnet,swift,node} "$root/Benchmarks/python"
      ;;
    mypy) step mypy "$bin/mypy" --cache-dir "$out/mypy" ;;
    pytest) tests ;;
    others) others ;;
    example) step example example ;;
    core) workers=6 tests tests "${no_commands[@]}" "${no_programs[@]}" ;;
    address) address ;;
    long) long ;;
    wheel)
      step tree copy
      step missing missing
      step wheel wheel
      step audit audit
      step installed installed
      step from-source from_source
      step plugin plugin
      ;;
    *) echo "FAILED no such step: $name"; status=1 ;;
  esac
done
exit $status
