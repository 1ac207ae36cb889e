#!/bin/sh
# Runs the example workload for a few short windows: run.sh SELENE-RUN [OPTION]...
# The network is said to be away, so that one of the tasks is seen waiting for it.
set -e
runner=$(realpath "$1")
shift
cd "$(dirname "$0")/../../.."
exec "$runner" --budget 3s --every 4s --cycles 4 --lanes 2 --no-network "$@" \
    bindings/c/examples/workload.selene
