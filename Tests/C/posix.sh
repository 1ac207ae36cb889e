#!/bin/bash
# X9: what only Linux has is in Sources/CPlatform/linux, behind system.h and CPlatform.h. All other C of the library compiles
# where a C library shows nothing but POSIX of 2008, and three names that came to POSIX in 2024.
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
. "$here/results.bash"

# Of the names of 2024 the C library shows those that every system has had for long under a switch of its own.
cat >"$work/posix2024.h" <<'END_OF_HEADER'
int asprintf(char **restrict text, const char *restrict format, ...);
#define SEEK_DATA 3
#define SEEK_HOLE 4
END_OF_HEADER
cp -r "$root/Sources/CPlatform" "$root/Sources/CService" "$work/"
rm "$work/CService/none.c" # for WebAssembly, in place of the others
sed -i '/^#define _GNU_SOURCE$/d' "$work"/CPlatform/*.[ch] "$work"/CService/*.[ch]

# What is POSIX says nothing of these.
foreign='#include <(linux/|sys/(epoll|eventfd|inotify|prctl|signalfd|syscall|timerfd|sysinfo|random|event)\.h)|"/(proc|sys)/|SO_PEERCRED|accept4'

for file in "$work"/CPlatform/*.c "$work"/CService/*.c; do
  name=${file#"$work/"}
  { clang -std=c11 -D_XOPEN_SOURCE=700 -include "$work/posix2024.h" -fsyntax-only -Wall -Wextra -Werror "-I$root/include" \
    "-I$work/CPlatform" "-I$work/CPlatform/include" "-I$work/CService/include" "$file" &&
    ! grep -n -E "$foreign" "$file"; } >"$work/log" 2>&1
  result "X9 Sources/$name is POSIX" $?
done

# The check is one: what is Linux's is found by both halves of it.
{ ! grep -q -E "$foreign" "$work/CPlatform/linux/watch.c" ||
  clang -std=c11 -D_XOPEN_SOURCE=700 -fsyntax-only "-I$work/CPlatform" "-I$work/CPlatform/include" -x c - \
    <<<"$(sed '/^#define _GNU_SOURCE$/d' "$work/CPlatform/linux/system.c")"; } >"$work/log" 2>&1
[ $? -ne 0 ]
result "X9 what is Linux's own is not taken for POSIX" $?

results
