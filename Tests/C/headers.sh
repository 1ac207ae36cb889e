#!/bin/bash
# The header compiles wherever it says that it does, alone, twice, and with every macro used; C++ finds the C names; and
# abi.c has every number and field of it.
#
# Usage: headers.sh [INCLUDE_DIR]
here=$(cd "$(dirname "$0")" && pwd)
include=${1:-$here/../../include}
header=$include/selene.h
. "$here/results.bash"

# expect NAME COMMAND…: the command succeeds and says nothing.
expect() {
  name=$1
  shift
  "$@" >"$work/log" 2>&1 && [ ! -s "$work/log" ]
  result "$name" $?
}

# What every language compiles: the header first and twice, each number in an initialiser, a struct, and the
# address of every function.
{
  echo '#include <selene.h>'
  echo '#include <selene.h>'
  echo 'extern selene_text text_value;'
  echo '#ifdef __cplusplus'
  echo 'selene_text text_value = SELENE_TEXT("text");'
  echo '#else'
  echo 'selene_text text_value = {"text", 4};'
  echo '#endif'
  echo 'extern int64_t numbers[];'
  echo 'int64_t numbers[] = {'
  sed -n 's/^ *\(SELENE_[A-Z_]*\) = -\{0,1\}[0-9]*,\{0,1\}$/    \1,/p' "$header"
  sed -n 's/^#define \(SELENE_[A-Z_]*\) [0-9A-Z].*/    \1,/p' "$header" | grep -v -e API -e _STRING -e _INIT
  echo '    0};'
  echo 'extern const char *version;'
  echo 'const char *version = SELENE_VERSION_STRING;'
  echo 'typedef void (*any)(void);'
  echo 'extern any functions[];'
  echo 'any functions[] = {'
  sed -n '/^SELENE_API/,/)/p' "$header" | tr '\n' ' ' | grep -o 'selene_[a-z0-9_]*(' | sed 's/($/,/; s/^/    (any)/'
  echo '    (any)0};'
  echo 'extern int64_t use(void);'
  echo 'int64_t use(void) {'
  echo '    selene_task task = SELENE_INIT(selene_task);'
  echo '    selene_window window = SELENE_INIT(selene_window);'
  echo '    task.id = SELENE_TEXT("id");'
  echo '    window.task = SELENE_TEXT("");'
  echo '    return task.id.length + window.task.length;'
  echo '}'
} >"$work/whole.c"
# In C++ without the casts of C, so that what is left of them stands in the header.
sed -e 's/(any)\(selene_[a-z0-9_]*\)/reinterpret_cast<any>(\1)/' -e 's/(any)0/nullptr/' "$work/whole.c" >"$work/whole.cc"

count() { grep -c "$1" "$work/whole.c"; }
: >"$work/log"
[ "$(count '(any)selene_')" -ge 50 ] && [ "$(count '^    SELENE_')" -ge 100 ]
result "the numbers and functions of the header are found" $?

strict="-Wall -Wextra -pedantic -Werror -I$include"
for compiler in gcc clang; do
  for standard in c99 c11 c17; do
    # shellcheck disable=SC2086 # the options are words
    expect "$compiler compiles the header as $standard, included twice and used" \
      "$compiler" -std=$standard $strict -O1 -c "$work/whole.c" -o "$work/whole.o"
    # shellcheck disable=SC2086
    expect "$compiler compiles the header as $standard, alone" \
      "$compiler" -std=$standard $strict -fsyntax-only -include selene.h -x c /dev/null
  done
done
for compiler in g++ clang++; do
  # shellcheck disable=SC2086
  expect "$compiler compiles the header as c++17, included twice and used" \
    "$compiler" -std=c++17 $strict -Wold-style-cast -O1 -c "$work/whole.cc" -o "$work/whole.o"
  # shellcheck disable=SC2086
  expect "$compiler compiles the header as c++17, alone" \
    "$compiler" -std=c++17 $strict -Wold-style-cast -fsyntax-only -include selene.h -x c++ /dev/null
  nm --undefined-only "$work/whole.o" 2>&1 | awk '$2 !~ /^(selene_[a-z0-9_]*|_GLOBAL_OFFSET_TABLE_)$/' >"$work/log"
  [ ! -s "$work/log" ]
  result "$compiler gives the functions their C names" $?
done

# The header stands alone: nothing but these is included.
grep '^#include' "$header" | grep -v -x -e '#include <stddef.h>' -e '#include <stdint.h>' >"$work/log"
[ ! -s "$work/log" ]
result "the header includes stddef.h and stdint.h, no more" $?

# Every number stands in abi.c.
sed -n 's/^ *\(SELENE_[A-Z_]*\) = -\{0,1\}[0-9]*,\{0,1\}$/\1/p' "$header" | while read -r number; do
  grep -q "NUMBER($number," "$here/abi.c" || echo "$number is not there"
done >"$work/log"
[ ! -s "$work/log" ]
result "abi.c has every number of the header" $?

# And every field: members of structs are what is indented by four and ends with a semicolon.
awk '/^typedef struct selene_/ { name = $3 }
  /^}/ { name = "" }
  name && /^    [a-z].*;$/ { field = $NF; gsub(/[*;]|\[.*\]/, "", field); print name, field }' "$header" >"$work/fields"
while read -r name field; do
  grep -q "FIELD($name, $field," "$here/abi.c" || echo "$name.$field is not there"
done <"$work/fields" >"$work/log"
[ "$(wc -l <"$work/fields")" -ge 150 ] && [ ! -s "$work/log" ]
result "abi.c has every field of the header" $?

results
