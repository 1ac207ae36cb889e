#!/bin/bash
# The benchmarks build and run, in their smallest form: each says what it found, and those that answer the same question
# as Selene pick the same tasks. Their figures are nobody's test.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/Tests/C/results.bash"
cd "$root" || exit 1

python=$(bindings/python/environment.sh) || { echo "FAILED $python"; exit 1; }
make --no-print-directory benchmarks >"$work/log" 2>&1
result "the benchmarks build without a warning" $?
TMPDIR=$work PYTHONPATH=bindings/python/src PYSELENE_LIBRARY=build/libselene.so "$python" -B Benchmarks/python/bench.py check \
  --folder "$work" >"$work/log" 2>&1
result "make bench: every program runs, and all pick the same tasks" $?
[ -e build/bench/libuv ] || echo "not measured: libuv, because uv.h is not installed"

# What the documents speak of is measured.
"$python" - "$work/results.json" build/bench/libuv >"$work/log" 2>&1 <<'END'
import json
import sys
from pathlib import Path

found = json.loads(Path(sys.argv[1]).read_text())
measured = {(one["what"], one["way"]) for one in found["measurements"]}
wanted = {
    *(("decide", way) for way in ("Selene", "five binary heaps in C", "sort and scan in C", "pyselene, plan()")),
    *(("decide", f"SQLite index, {question}") for question in ("same question", "ten due")),
    *(("dispatch", way) for way in ("bare call", "pulled", "inline", "inline, libffi closure")),
    *(("dispatch", way) for way in ("library thread, one lane", "library threads, two lanes")),
    *(("dispatch in Python", f"pyselene{way}") for way in ("", ", pulled by hand", ", ctypes callback", ", asyncio")),
    *((what, "Selene") for what in ("register", "memory", "complete", "cancel", "cancel by tag, each", "open the store")),
    *(("enqueue to begin, p99", way) for way in ("Selene, driver", "pyselene, driver", "pyselene, run_forever")),
    *(("runs beside one that hangs", way) for way in ("Selene, driver", "pyselene, threads", "pyselene, asyncio")),
    ("load", "libselene.so above it"),
    ("size", "libselene.so, stripped"),
    ("FULL: register, start, complete", "Selene"),
}
if Path(sys.argv[2]).exists():
    wanted.add(("decide", "libuv timers, ten due"))
assert wanted <= measured, sorted(wanted - measured)
for one in found["measurements"]:
    assert one["min"] <= one["q1"] <= one["median"] <= one["q3"] and one["repeats"] > 0, one
assert found["machine"]["processor"] and found["left_out"]
END
result "make bench: results.json has what is asked for" $?
results
