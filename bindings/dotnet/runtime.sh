#!/bin/bash
# Prints the command that starts a program of .NET Core: dotnet, if the system has it, else a runtime of its own in the folder
# that is named, which it gets from a package registry: runtime.sh FOLDER. CoreCLR needs no ICU then.
set -u
command -v dotnet && exit
folder=$1
runtime() { echo "$folder"/lib/python3*/site-packages/dotnetcore2/bin/dotnet; }
if [ ! -x "$(runtime)" ]; then
  python=$("$(dirname "$0")/../python/environment.sh") || exit 1
  rm -rf "$folder" && "$python" -m venv "$folder" &&
    PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_RETRIES=10 "$folder/bin/pip" install -q --no-deps dotnetcore2==3.1.23 >&2 || exit 1
fi
runtime
