#!/bin/bash
# Runs the example workload through Python: run.sh [OPTION]...
# The network is said to be away, so that one of the tasks is seen waiting for it.
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
"$root/bindings/python/test.sh" environment >/dev/null
cd "$root"
PYSELENE_LIBRARY=$root/build/libselene.so PYTHONPATH=bindings/python/src exec build/python/venv/bin/python -m pyselene \
  run bindings/python/examples/workload.toml --cycles 4 --no-network "$@"
