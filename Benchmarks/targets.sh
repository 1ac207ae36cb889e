#!/bin/bash
# What the same program costs on each target whose libraries are built (make TARGET=…): bytes, and instructions, counted by
# the emulator one by one, so that what this machine does beside it and how fast it emulates count for nothing.
set -eu
cd "$(dirname "$0")/.."
out=$PWD/build/bench/targets
mkdir -p "$out"
native=$(uname -m)-linux-gnu

# instructions PROGRAM TASKS WINDOWS: how many there are from the first one to the last.
instructions() {
  # A line for each, and some of the emulator's own.
  yes '' | head -n "$3" | "${run[@]}" -singlestep -d nochain,exec -D /dev/fd/3 "$1" "$2" 3>&1 >/dev/null | grep -c '^Trace'
}

printf '%-20s %12s %12s %12s %12s\n' target library selene-run 'to start' 'a run'
for target in "$native" "${native%-gnu}-musl" aarch64-linux-gnu aarch64-linux-musl riscv64-linux-gnu; do
  build=build/$target own=$target
  [ "$target" != "$native" ] || build=build own=
  [ -e "$build/libselene.so" ] || { printf '%-20s not built\n' "$target"; continue; }
  make -s --no-print-directory TARGET="$own" libraries program >/dev/null
  sysroot=$PWD/build/$target/sysroot libraries=$PWD/$build compiler=$target-gcc flags=() run=("qemu-${target%%-*}")
  case $target in
    "$native") compiler=gcc ;;
    *-musl)
      compiler=$sysroot/cc libraries+=:$sysroot/usr/lib/$target
      flags=("-L$sysroot/usr/lib/$target" "-Wl,-rpath-link,$sysroot/usr/lib/$target"
        "-Wl,-dynamic-linker,$sysroot/lib/ld-musl-${target%%-*}.so.1")
      ;;
    *)
      libraries+=:$sysroot/usr/lib/$target
      flags=("-L$sysroot/usr/lib/$target" "-Wl,-rpath-link,$sysroot/usr/lib/$target") run+=(-L "/usr/$target")
      ;;
  esac
  run+=(-E "LD_LIBRARY_PATH=$libraries")
  "$compiler" -std=c11 -D_GNU_SOURCE -O2 -Iinclude bindings/c/benches/pulled.c -o "$out/$target" "-L$build" -lselene "${flags[@]}"
  start=$(instructions "$out/$target" 1 0)
  one=$(instructions "$out/$target" 200 1)
  three=$(instructions "$out/$target" 200 3)
  printf '%-20s %12d %12d %12d %12d\n' "$target" "$(stat -L -c %s "$build/libselene.so")" "$(stat -c %s "$build/install/selene-run")" \
    "$start" $(((three - one) / 400))
done
