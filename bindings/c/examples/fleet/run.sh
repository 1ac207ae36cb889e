#!/bin/bash
# A fleet of three nodes on a database of its own, one of which is killed in the middle of its work: run.sh NODE
# The database is in a private folder, listens on a socket there alone, and is gone afterwards, as the nodes are.
set -u
node=$(realpath "$1")
count=24
here=$(mktemp -d "${TMPDIR:-/tmp}/selene-fleet.XXXXXX") || exit 1
programs=$(dirname "$(ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null | sort -V | tail -n 1)" 2>/dev/null)
[ -x "$programs/initdb" ] || programs=$(dirname "$(command -v initdb)")
# PostgreSQL does not run as root.
as=()
if [ "$(id -u)" = 0 ]; then
  user=$(id -un postgres 2>/dev/null || echo nobody)
  chown "$user" "$here"
  as=(setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups)
fi
declare -A pids=()

clean() {
  trap '' INT TERM
  for name in "${!pids[@]}"; do kill -9 "${pids[$name]}" 2>/dev/null; done
  [ ! -f "$here/data/postmaster.pid" ] || (cd "$here" && "${as[@]}" "$programs/pg_ctl" -D data -m immediate -w stop >/dev/null 2>&1)
  rm -rf "$here"
}
trap clean EXIT
trap 'exit 130' INT TERM

say() { printf '%6.1f s  %s\n' "$(tenths $(($(date +%s%N) - FLEET_BEGAN * 1000000000)))" "$1"; }
tenths() { printf '%d.%d' $(($1 / 1000000000)) $(($1 / 100000000 % 10)); }
patience() { [ $(($(date +%s) - FLEET_BEGAN)) -lt 300 ] || { say "this takes too long"; exit 1; }; }
begin() { "$node" work "$1" & pids[$1]=$!; }

FLEET_BEGAN=$(date +%s)
export FLEET_BEGAN PGHOST=$here PGUSER=fleet PGDATABASE=postgres
unset PGPORT PGSERVICE PGOPTIONS PGPASSWORD
cd "$here" || exit 1
say "a database is made in $here"
if ! "${as[@]}" "$programs/initdb" -D data -U fleet -A trust -E UTF8 --no-locale -N >log 2>&1 ||
  ! "${as[@]}" "$programs/pg_ctl" -D data -w -t 60 -l log2 -o \
    "-c listen_addresses='' -c unix_socket_directories='$here'" start >>log 2>&1; then
  cat log log2
  exit 1
fi
"$node" install || exit 1
say "a fleet is installed in its schema selene"
for name in A B C; do begin $name; done
say "three nodes begin: A, B and C, each with two lanes, and a lease of 2 s"
sleep 1
"$node" tasks $count || exit 1
say "$count tasks are registered, export-1 to export-$count; each takes 1.5 s"
# B stands still while one looks, so that it does run two when it is killed.
until kill -STOP "${pids[B]}" && [ "$("$node" wait $count | grep -c 'running, .* by B, ')" = 2 ]; do
  kill -CONT "${pids[B]}"
  sleep 0.2
  patience
done
kill -9 "${pids[B]}"
wait "${pids[B]}" 2>/dev/null
unset "pids[B]"
say "node B is killed (kill -9) in the middle of two tasks; A and C go on"
until waiting=$("$node" wait $count | grep 'its node ended'); do sleep 0.02; patience; done
say "the lease of B is over, and A or C has taken its tasks back. Why these do not run yet:"
echo "$waiting"
say "(any of them may be what ended it: a node runs one of them at a time, beside other work, and no attempt has failed)"
until "$node" wait $count >/dev/null; [ $? -ne 2 ]; do
  sleep 0.5
  patience
done
say "all $count tasks have ended. How the fleet is:"
"$node" status
for name in A C; do kill -TERM "${pids[$name]}"; done
for name in A C; do wait "${pids[$name]}" || { say "node $name failed"; exit 1; }; unset "pids[$name]"; done
say "the nodes have said good-bye; the database is stopped, and its folder removed"
