#!/bin/bash
# selene-run takes the words, units and combinations that pyselene takes: Tests/vectors/commands.json, played by both.
#
# Usage: selene_commands.sh [SELENE_RUN]
here=$(cd "$(dirname "$0")" && pwd)
exec python3 -B "$here/../vectors/commands.py" "${1:-$here/../../build/selene-run}"
