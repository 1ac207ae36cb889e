#!/bin/bash
# Makes a virtual environment with what the named extras of pyproject.toml list, unless it is there and up to date:
# environment.sh FOLDER EXTRA... Without arguments it prints which Python it would take. Needs a package registry. The
# versions are those of constraints.txt.
set -u
project=$(dirname "$0")/pyproject.toml
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_RETRIES=10 PIP_CONSTRAINT=${project%/*}/constraints.txt

# The newest Python of this machine that is new enough.
python() {
  local candidate
  for candidate in ${PYTHON:-} python3.14 python3.13 python3.12 python3.11 python3 \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.1[1-9].*/bin/python; do
    "$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$candidate" && return
  done
  echo "no Python 3.11 or newer" >&2
  return 1
}

[ $# -gt 0 ] || { python; exit; }
folder=$1
shift
# One at a time makes it; who comes meanwhile finds it.
mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
! command -v flock >/dev/null || flock 9
wanted=$(echo "$*" | cat - "$project" "$PIP_CONSTRAINT" | cksum)
[ "$(cat "$folder/installed" 2>/dev/null)" = "$wanted" ] && "$folder/bin/python" -c 0 2>/dev/null && exit
newest=$(python) || exit 1
rm -rf "$folder" && "$newest" -m venv "$folder" && "$folder/bin/python" - "$project" "$@" <<'END' >"$folder/requirements" &&
import sys
import tomllib
extras = tomllib.load(open(sys.argv[1], "rb"))["project"]["optional-dependencies"]
print(*{line for name in sys.argv[2:] for line in extras[name]}, sep="\n")
END
  "$folder/bin/pip" install -q -r "$folder/requirements" && echo "$wanted" >"$folder/installed"
